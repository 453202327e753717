"""A day of real processes: a feed on loopback, ``news-digest run`` as a scheduler starts it, and the next day.

A day takes seconds here, so the clock cannot pass: the state document is edited through its store instead. ``age`` makes
everything in it older than the stalled claim's 15 minutes; ``next_day`` moves every record one day back.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from news_digest.errors import Conflict
from news_digest.model import Foreign, Limits, Period, Settled, State, Task
from news_digest.stores import Kept

COMMAND = [sys.executable, "-c", "import sys; from news_digest.cli.main import main; sys.exit(main())"]
LAUNCHER = [sys.executable, str(Path(__file__).with_name("launcher.py"))]
BEYOND_STALLED = timedelta(minutes=16)
STORIES = 3
"""New stories a day; the feed shows those of yesterday, too."""


class FeedServer:
    """Serves the stories of the day. With ``gather`` set, answers wait until so many runs have asked (or a moment)."""

    def __init__(self) -> None:
        self.day = 0
        self.asked = threading.Event()
        self._gate = threading.Barrier(1)
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.set()
                server.wait_for_others()
                body = server.document()
                self.send_response(200)
                self.send_header("Content-Type", "application/rss+xml")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Stay quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/feed.xml"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def gather(self, runs: int) -> None:
        """Let the next answers wait for so many requests: the runs then go on at the same instant."""
        self._gate = threading.Barrier(runs)

    def wait_for_others(self) -> None:
        try:
            self._gate.wait(timeout=3)
        except threading.BrokenBarrierError:
            return

    def new_day(self) -> None:
        self.day += 1
        self.asked.clear()

    def links(self, day: int) -> list[str]:
        """Return the links of the stories that came out on a day."""
        return [f"https://paper.example/{day:04d}-{number}" for number in range(STORIES)] if day > 0 else []

    def document(self) -> bytes:
        items = "".join(_item(link) for day in (self.day, self.day - 1) for link in self.links(day))
        head = "<title>The Paper</title><link>https://paper.example/</link><description>News</description>"
        return f'<?xml version="1.0"?><rss version="2.0"><channel>{head}{items}</channel></rss>'.encode()


def _item(link: str) -> str:
    name = link.rpartition("/")[2]
    return (
        f"<item><title>Harbour report {name} is out</title><link>{link}</link><guid isPermaLink='false'>paper-{name}</guid>"
        f"<pubDate>{format_datetime(datetime.now(UTC))}</pubDate>"
        f"<description>The harbour office published report {name} this morning. It names many ships.</description></item>"
    )


@dataclass
class Site:
    """One digest: its feed, its store, its folders."""

    folder: Path
    feeds: FeedServer
    kept: Kept
    store: str
    launcher: Launcher
    environment: dict[str, str] = field(default_factory=dict)
    started: int = 0

    def __post_init__(self) -> None:
        self.configuration = self.folder / "news-digest.toml"
        self.configuration.write_text(
            f'feeds = ["{self.feeds.url}"]\nallow_private_hosts = true\nchannels = ["archive"]\nstore = "{self.store}"\n'
            f'[paths]\nstate = "{self.state}"\narchive = "{self.folder}/archive"\ncache = "{self.folder}/cache"\n'
        )

    @property
    def state(self) -> Path:
        return self.folder / "state" / "news.json"

    def start(self, *, whole: bool = False) -> Run:
        """Start a run: forked from a process that has imported everything, or (``whole``) from nothing."""
        return Run(self, whole=whole)

    def run(self) -> dict[str, Any]:
        """Run once, undisturbed, and return its report."""
        return self.start().report()

    @property
    def today(self) -> Period:
        """Return the day that a run would claim now."""
        return Period.of(datetime.now(UTC))

    # --- what the digest is ----------------------------------------------------------------------------------------

    def load(self) -> State:
        """Return the document; a damaged one, or a warning about one, is an error."""
        loaded = self.kept.store.load()
        assert loaded.warnings == ()
        return loaded.state

    def archived(self) -> str:
        """Return today's digest as people find it, empty where there is none."""
        path = self.folder / "archive" / f"{self.today}.md"
        return path.read_text() if path.exists() else ""

    def check(self, told_before: int) -> int:
        """Check that today has one digest, with all of today's stories and no other; return how many were told by now."""
        state = self.load()
        text = self.archived()
        assert [link for link in self.feeds.links(self.feeds.day) if link not in text] == [], "a story is lost"
        assert [link for link in self.feeds.links(self.feeds.day - 1) if link in text] == [], "a story is repeated"
        today = state.tasks[self.today.key]
        assert isinstance(today, Settled)
        assert (today.outcome, today.story_count, today.owed, today.workspace) == ("completed", STORIES, (), "")
        told = len(state.seen)
        most = Limits().seen_fingerprints
        assert told == min(most, told_before + 2 * STORIES), "remembered is what was told today"
        kept = self.kept.outbox.get(today.period)  # A run killed between delivery and this leaves it: of use to nobody.
        assert kept is None or kept["ticket"] == today.ticket
        assert list((self.state.parent / "workspaces").rglob("*.json")) == [], "a workspace is left"
        return told

    # --- time ------------------------------------------------------------------------------------------------------

    def age(self) -> None:
        """Let 16 minutes pass."""
        self._edit(_aged)

    def next_day(self) -> None:
        """Let a day pass, and new stories come out."""
        self._edit(_earlier)
        self.feeds.new_day()

    def _edit(self, change: Callable[[Task], Task]) -> None:
        """Change every record; once more where the last request of a run that was killed is still being answered."""
        for _ in range(5):
            loaded = self.kept.store.load()
            if not loaded.version:
                return
            changed = [change(task) for task in loaded.state.tasks.values()]
            tasks = {task.period.key: task for task in changed if not isinstance(task, Foreign)}
            try:
                self.kept.store.save(replace(loaded.state, tasks=tasks), loaded.version)
            except Conflict:
                continue
            return


def _aged(task: Task) -> Task:
    assert not isinstance(task, Foreign)
    task = replace(task, last_activity=task.last_activity - BEYOND_STALLED)
    if not isinstance(task, Settled):
        return task
    receipts = (
        replace(receipt, taken_at=receipt.taken_at - BEYOND_STALLED) if receipt.taken_at else receipt
        for receipt in task.receipts
    )
    return replace(task, receipts=tuple(receipts))


def _earlier(task: Task) -> Task:
    assert not isinstance(task, Foreign)
    return replace(task, period=Period(task.period.day - timedelta(days=1)))


class Launcher:
    """The process that forks runs; context manager."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(LAUNCHER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._read() == "ready"
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def start(self, order: dict[str, Any]) -> int:
        """Return the process id of a new run."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._read())

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


class Run:
    """One ``news-digest run``, as a process of its own."""

    def __init__(self, site: Site, *, whole: bool) -> None:
        site.started += 1
        base = site.folder / "runs" / str(site.started)
        base.parent.mkdir(exist_ok=True)
        self._out, self._err, self._code = (base.with_suffix(ending) for ending in (".out", ".err", ".code"))
        self._whole: subprocess.Popen[bytes] | None = None
        arguments = ["run", "--json", "--config", str(site.configuration)]
        environment = {**os.environ, "HOME": str(site.folder), **site.environment}
        if whole:
            with self._out.open("wb") as out, self._err.open("wb") as err:
                self._whole = subprocess.Popen(
                    [*COMMAND, *arguments], env=environment, cwd=site.folder, stdout=out, stderr=err
                )
            pid = self._whole.pid
        else:
            names = {"out": str(self._out), "err": str(self._err), "code": str(self._code)}
            order = {"arguments": arguments, "environment": environment, "folder": str(site.folder), **names}
            pid = site.launcher.start(order)
        try:
            self._handle: int | None = os.pidfd_open(pid)
        except ProcessLookupError:
            self._handle = None

    def _end(self) -> None:
        """Wait for the end, however it comes."""
        if self._handle is not None:
            ended, _, _ = select.select([self._handle], [], [], 60)
            assert ended, "a run did not end within a minute"
            os.close(self._handle)
            self._handle = None
        if self._whole is not None:
            self._code.write_text(str(self._whole.wait()))

    def kill(self) -> bool:
        """Kill it (SIGKILL); False where it had ended by then."""
        if self._handle is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        self._end()
        return not self._code.exists() or self._code.read_text() == str(-signal.SIGKILL)

    def report(self) -> dict[str, Any]:
        """Return what it printed, after its end; a run that failed is an error."""
        self._end()
        assert self._code.read_text() == "0", self._err.read_text()
        value: dict[str, Any] = json.loads(self._out.read_text())
        return value


@contextmanager
def fed() -> Iterator[FeedServer]:
    server = FeedServer()
    try:
        yield server
    finally:
        server.close()


def at_once(site: Site, runs: int, *, whole: bool) -> list[dict[str, Any]]:
    """Start runs that read the feed at the same instant; return their reports."""
    site.feeds.gather(runs)
    return [run.report() for run in [site.start(whole=whole) for _ in range(runs)]]


def killed(site: Site, seconds: float, *, whole: bool) -> bool:
    """Start a run and kill it so long after it asked for the feed, or (``whole``) after its start; False: it was done."""
    site.feeds.gather(1)
    site.feeds.asked.clear()
    run = site.start(whole=whole)
    if not whole:
        site.feeds.asked.wait(timeout=10)
    time.sleep(seconds)
    return run.kill()
