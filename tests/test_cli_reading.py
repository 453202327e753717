"""``site``, ``deliver`` and ``serve`` as a user types them, with sample feeds over real HTTP and real files."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import pytest
from tests.archives import LAST_DAY, fill
from tests.mailboxes import Mailbox, mailbox

from news_digest.channels.archive import Archive
from news_digest.cli.main import main
from news_digest.demo import serve

pytest.importorskip("starlette", reason="the extra web is not installed")


@dataclass
class Home:
    """A working folder with a configuration that keeps everything in it."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    def configure(self, text: str = "", feeds: Sequence[str] = ("https://outlet.example/feed",)) -> None:
        paths = "\n".join(f'{name} = "{self.folder / name}"' for name in ("state", "archive", "cache"))
        head = f"feeds = {json.dumps(list(feeds))}\nallow_private_hosts = true\n"
        (self.folder / "news-digest.toml").write_text(f"{head}{text}\n[paths]\n{paths}\n")

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        out, err = self.capsys.readouterr()
        return code, out, err

    @property
    def archive(self) -> Archive:
        return Archive(self.folder / "archive")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Home:
    for name in list(os.environ):
        if name.startswith(("NEWS_DIGEST_", "XDG_", "AUTOMATION_", "WORKSPACE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    made = Home(tmp_path, capsys)
    made.configure()
    return made


# --- site ------------------------------------------------------------------------------------------------------------


def test_site_makes_the_pages_and_the_second_time_nothing(home: Home) -> None:
    fill(home.archive, 3)
    code, _, err = home("site", "pages", "--url", "https://news.example")
    assert (code, "index.html" in err) == (0, True)
    assert (home.folder / "pages" / f"{LAST_DAY}.html").exists()
    assert "https://news.example/2026-12-01.html" in (home.folder / "pages" / "atom.xml").read_text()
    code, out, _ = home("site", "pages", "--url", "https://news.example", "--json")
    assert (code, json.loads(out)["written"]) == (0, [])


def test_site_into_a_file_is_a_usage_error(home: Home) -> None:
    (home.folder / "pages").write_text("a file stands here")
    assert home("site", "pages")[0] == 2


# --- deliver ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def box() -> Iterator[Mailbox]:
    with mailbox() as made:
        yield made


def with_mail(box: Mailbox) -> str:
    table = {
        "host": "127.0.0.1",
        "port": box.port,
        "security": "none",
        "from": "d@mail.example",
        "to": ["r@mail.example"],
    }
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in table.items())
    return f'channels = ["archive", "email"]\n[channel.email]\n{lines}'


def test_what_a_channel_did_not_take_is_delivered_by_hand_once(home: Home, box: Mailbox) -> None:
    box.answers["DATA"] = "451 try later"
    with serve(datetime.now(UTC)) as feeds:
        home.configure(with_mail(box), feeds.urls)
        code, _, err = home("run")
    assert (code, "451 try later" in err) == (6, True)
    code, _, err = home("deliver")
    assert (code, "451 try later" in err, "next run" in err) == (6, True, True)
    box.answers.clear()
    code, out, _ = home("deliver", "--json")
    assert (code, [each["channel"] for each in json.loads(out)]) == (0, ["email"])
    code, _, err = home("deliver")
    assert (code, "nothing is owed" in err) == (0, True)
    assert len(box.letters) == 1


def test_a_digest_of_the_archive_goes_out_again_where_one_says_so(home: Home, box: Mailbox) -> None:
    fill(home.archive, 3)
    home.configure(with_mail(box))
    code, _, err = home("deliver", "2026-11-30", "--to", "email")
    assert (code, "2026-11-30 to email: delivered" in err) == (0, True)
    assert "30 November" in str(box.messages()[0]["Subject"])
    assert home("deliver", "--to", "email")[0] == 0
    assert "1 December" in str(box.messages()[1]["Subject"])


def test_what_was_owed_and_went_out_by_hand_is_not_sent_again(home: Home, box: Mailbox) -> None:
    box.answers["DATA"] = "451 try later"
    with serve(datetime.now(UTC)) as feeds:
        home.configure(with_mail(box), feeds.urls)
        home("run")
        box.answers.clear()
        assert home("deliver", "--to", "email")[0] == 0
        assert home("run")[0] == 0
    assert "nothing is owed" in home("deliver")[2]
    assert len(box.letters) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--to", "pigeon"], 2, "configured are archive, log"),
        (["2026-01-01", "--to", "archive"], 1, "no digest to deliver"),
        (["yesterday"], 2, "not a date"),
    ],
)
def test_what_deliver_cannot_do_it_says(home: Home, arguments: list[str], code: int, said: str) -> None:
    fill(home.archive, 1)
    got, _, err = home("deliver", *arguments)
    assert (got, said in err) == (code, True)


# --- serve -----------------------------------------------------------------------------------------------------------


@dataclass
class Running:
    """``news-digest serve`` in a process of its own."""

    url: str

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=20) as answer:
            return str(answer.read().decode())

    def post(self, path: str, **form: str) -> str:
        with urllib.request.urlopen(self.url + path, urlencode(form).encode(), timeout=20) as answer:
            return str(answer.read().decode())


@pytest.fixture
def serving(home: Home) -> Iterator[Running]:
    with serve(datetime.now(UTC)) as feeds:
        home.configure('channels = ["archive"]', feeds.urls)
        command = [sys.executable, "-c", "from news_digest.cli.main import main; raise SystemExit(main())"]
        source = str(Path(__file__).resolve().parents[1] / "src")
        process = subprocess.Popen(
            [*command, "serve", "--port", "0"],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": source},
        )
        assert process.stderr is not None
        address = re.match(r"(http://127\.0\.0\.1:[1-9]\d*/) ", process.stderr.readline())
        assert address
        yield Running(address[1])
        process.send_signal(signal.SIGINT)
        process.wait(10)
        process.stderr.close()


def test_a_first_run_from_the_page_ends_with_todays_digest_on_it(serving: Running) -> None:
    assert "No digest yet" in serving.get("")
    page = serving.get("state.html")
    key = re.search(r'name="key" value="([0-9a-f]{64})"', page)
    assert key
    assert "today is open" in page.lower()
    serving.post("do/run", key=key[1])
    assert "event: end" in serving.get("events")
    today = datetime.now(UTC).date()
    assert f'datetime="{today}"' in serving.get("")
    assert "the day is done" in serving.get("state.html") or "told" in serving.get("state.html")
    assert "entries read" in serving.get("state.html")


def test_serve_beyond_this_machine_wants_a_token(home: Home) -> None:
    code, _, err = home("serve", "--host", "0.0.0.0")
    assert (code, "without a token" in err, "--token-env" in err) == (2, True, True)
    code, _, err = home("serve", "--host", "0.0.0.0", "--token-env", "NOT_SET")
    assert (code, "without a token" in err) == (2, True)


def test_serve_on_a_port_that_is_taken_says_so(home: Home, box: Mailbox) -> None:
    code, _, err = home("serve", "--port", str(box.port))
    assert (code, "cannot listen" in err, "--port" in err) == (2, True, True)
