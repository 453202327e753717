"""The page served for real, on a free port of loopback, with a state and feeds of our own making."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import uvicorn
from tests.archives import FEEDS, LAST_DAY

from news_digest.channels.archive import Archive
from news_digest.channels.feed import Heading
from news_digest.channels.folder import Folder, QuickDisk
from news_digest.channels.site.search import Index
from news_digest.model import (
    Active,
    FeedSource,
    Fingerprint,
    Foreign,
    Funnel,
    Outcome,
    Period,
    Receipt,
    Settled,
    Starting,
    State,
    Task,
    Ticket,
)
from news_digest.ports import Step, Tell
from news_digest.testing import FakeClock
from news_digest.web.app import Desk, create_app
from news_digest.web.gate import Gate
from news_digest.web.jobs import Jobs
from news_digest.web.state import FeedPast

NOW = datetime(LAST_DAY.year, LAST_DAY.month, LAST_DAY.day, 9, 0, tzinfo=UTC)
SOURCES = (
    *(FeedSource(f"https://{host}/feed.xml?key=sesame", name) for name, host in FEEDS),
    FeedSource("https://quiet.example/rss?key=sesame", "Quiet paper"),
    FeedSource("https://user:sesame@nameless.example/rss"),
)


def lived_in() -> State:
    """Return a state with a day of every kind."""
    tasks: dict[str, Task] = {}

    def settled(back: int, outcome: Outcome, **changes: Any) -> None:
        period = Period(LAST_DAY - timedelta(days=back))
        task = Settled(period, Ticket(f"t{back}"), outcome, 24, NOW, completed_at=NOW)
        tasks[period.key] = replace(task, **changes)

    for back in (3, 4, 6, 7, 9):
        settled(back, Outcome.COMPLETED)
    settled(0, Outcome.FAILED, reason="the model answered with an error")
    settled(1, Outcome.COMPLETED, receipts=(Receipt("archive", NOW), Receipt("email", None, "451 4.3.0 greylisted")))
    settled(2, Outcome.EMPTY)
    settled(8, Outcome.EXPIRED, expired_after=timedelta(hours=2), completed_at=None)
    for back, record in ((5, Starting), (10, Active)):
        period = Period(LAST_DAY - timedelta(days=back))
        tasks[period.key] = record(period, Ticket(f"t{back}"), (), (), 12, NOW - timedelta(minutes=4))
    tasks["news:2026-11-18"] = Foreign("news:2026-11-18")
    return State(
        tasks=tasks,
        seen=tuple(Fingerprint(f"{number:016x}") for number in range(600)),
        last_checked=NOW,
        last_funnel=Funnel(412, 180, 64, 50),
        last_above_cap=14,
        last_feed_errors=("https://quiet.example/rss?key=sesame: HTTP 503",),
    )


def past(url: str) -> FeedPast:
    """Return one failing feed; the others were read a moment ago."""
    if "quiet" in url:
        return FeedPast(None, NOW - timedelta(days=4), 9)
    return FeedPast() if "nameless" in url else FeedPast(NOW - timedelta(minutes=3))


def working(tell: Tell) -> Sequence[str]:
    """Tell some steps, as a run does."""
    for number in range(1, 4):
        tell(Step("feeds", "reading 3 feeds", number, 3))
        time.sleep(0.05)
    tell(Step("write", "<b>embedded</b> writes about 50 stories"))
    time.sleep(0.2)
    return ["2026-12-01: wrote", "note: nothing else"]


def desk(folder: Path, **changes: Any) -> Desk:
    """Return a desk over ``folder``/archive."""
    made = Desk(
        archive=Archive(folder / "archive"),
        index=Index(Folder(folder / "index", disk=QuickDisk())),
        clock=FakeClock(NOW),
        state=lived_in,
        sources=SOURCES,
        past=past,
        jobs=Jobs({"run": working, "retry": working}),
        heading=Heading("Morning digest"),
    )
    return replace(made, **changes)


@dataclass(frozen=True)
class Answer:
    """What the server answered; header names in lower case."""

    status: int
    headers: dict[str, str]
    text: str


@dataclass(frozen=True)
class Site:
    """A server that listens."""

    port: int
    gate: Gate

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self.port}/"

    def ask(self, path: str, *, method: str = "GET", body: str | bytes | None = None, **headers: str) -> Answer:
        """Send a request; header names with ``_`` for ``-``."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            given.setdefault("content-type", "application/x-www-form-urlencoded")
        try:
            connection.request(method, path, body=body, headers=given)
            answer = connection.getresponse()
            text = answer.read().decode()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, text)
        finally:
            connection.close()

    def post(self, path: str, *, key: str | None = None, **headers: str) -> Answer:
        """Send a form as a page of ours does."""
        return self.ask(path, method="POST", body=f"key={self.gate.seal('form') if key is None else key}", **headers)


@contextmanager
def serving_page(shown: Desk, gate: Gate | None = None) -> Iterator[Site]:
    """Serve until the block ends."""
    gate = gate or Gate(b"0" * 32)
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        create_app(shown, gate), log_level="warning", lifespan="off", ws="none", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        yield Site(listener.getsockname()[1], gate)
    finally:
        server.should_exit = True
        thread.join(5)
        listener.close()
