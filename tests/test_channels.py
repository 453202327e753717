"""The contract of every registered channel, and what the simple ones write."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.digests import STORIES, brief, digest
from tests.mailboxes import mailbox
from tests.servers import reply, serving

from news_digest.channels import CHANNELS, Target, load, open_channel
from news_digest.channels.archive import Archive
from news_digest.channels.log import MARKER, between_markers
from news_digest.errors import ConfigError, DeliveryError
from news_digest.model import Claim, Digest, Draft, Json, Period, Receipt
from news_digest.ports import Channel
from news_digest.render import markdown
from news_digest.testing import FakeClock

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
"""Apprise imports it."""

NOW = datetime(2026, 12, 1, 7, 0, tzinfo=UTC)
CLOCK = FakeClock(NOW)


def target(name: str, options: Mapping[str, Json], **changes: Any) -> Target:
    return replace(Target(name, CLOCK, options), **changes)


# --- the contract ----------------------------------------------------------------------------------------------------


@dataclass
class Far:
    """A channel of one kind with a far end that works, and how to break that far end and to read what it got."""

    channel: Channel
    breaks: Callable[[], None]
    received: Callable[[], list[str]]
    once: bool = True
    """A second delivery of the same digest changes nothing at the far end."""


@contextmanager
def archive_far(folder: Path) -> Iterator[Far]:
    where = folder / "archive"
    channel = open_channel("archive", target("shelf", {"folder": str(where)}))

    def breaks() -> None:
        where.write_text("a file stands here")

    yield Far(channel, breaks, lambda: [path.read_text() for path in sorted(where.glob("*.md"))])


@contextmanager
def feed_far(folder: Path) -> Iterator[Far]:
    where = folder / "feeds"
    channel = open_channel("feed", target("shelf", {"folder": str(where)}, archive=str(folder / "archive")))

    def breaks() -> None:
        where.write_text("a file stands here")

    def received() -> list[str]:
        file = where / "feed.json"
        return [each["content_html"] for each in json.loads(file.read_text())["items"]] if file.exists() else []

    yield Far(channel, breaks, received)


@contextmanager
def email_far(folder: Path) -> Iterator[Far]:
    del folder
    with mailbox() as box:
        options = {
            "host": "127.0.0.1",
            "port": box.port,
            "security": "none",
            "from": "d@mail.example",
            "to": "r@mail.example",
        }

        def received() -> list[str]:
            parts = [message.get_body(("plain",)) for message in box.messages()]
            return [part.get_content() for part in parts if part is not None]

        def breaks() -> None:
            box.answers["DATA"] = "451 try later"

        yield Far(open_channel("email", target("shelf", options)), breaks, received, once=False)


@contextmanager
def notify_far(folder: Path) -> Iterator[Far]:
    pytest.importorskip("apprise")
    del folder
    statuses = ["200 OK"]
    with serving(lambda _asked: reply(statuses[0])) as server:
        environment = {"HOOK": f"json://127.0.0.1:{server.port}/hook"}

        def received() -> list[str]:
            return [
                f"{value['title']}\n{value['message']}" for value in (json.loads(each.body) for each in server.asked)
            ]

        def breaks() -> None:
            statuses[0] = "503 Busy"

        channel = open_channel("notify", target("shelf", {"url_env": "HOOK"}, environment=environment))
        yield Far(channel, breaks, received, once=False)


@contextmanager
def page_far(folder: Path) -> Iterator[Far]:
    pytest.importorskip("jinja2")
    where = folder / "site"
    channel = open_channel("page", target("shelf", {"folder": str(where)}, archive=str(folder / "archive")))

    def breaks() -> None:
        where.write_text("a file stands here")

    yield Far(channel, breaks, lambda: [path.read_text() for path in sorted(where.glob("20*.html"))])


@contextmanager
def log_far(folder: Path) -> Iterator[Far]:
    stream = io.StringIO()
    channel = open_channel("log", target("shelf", {}, stream=stream))
    del folder

    def received() -> list[str]:
        return [f"{MARKER} News{part}" for part in stream.getvalue().split(f"{MARKER} News")[1:]]

    yield Far(channel, stream.close, received, once=False)


FARS = {
    "archive": archive_far,
    "email": email_far,
    "feed": feed_far,
    "log": log_far,
    "notify": notify_far,
    "page": page_far,
}


@pytest.fixture(params=sorted(CHANNELS))
def far(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Far]:
    with FARS[request.param](tmp_path) as end:
        yield end


def test_every_registered_channel_has_its_far_end_here() -> None:
    assert set(FARS) == set(CHANNELS)


def test_a_delivery_returns_a_receipt_of_the_channels_own_name_and_instant(far: Far) -> None:
    receipt = far.channel.deliver(digest())
    assert far.channel.name == "shelf"
    assert (receipt.channel, receipt.at) == ("shelf", NOW)
    assert isinstance(receipt, Receipt)


def test_a_delivery_arrives_with_its_stories_and_links(far: Far) -> None:
    far.channel.deliver(digest())
    (text,) = far.received()
    assert "Harbour bridge closed until Friday" in text
    assert "https://ferrous.example/2.0" in text


def test_what_is_delivered_twice_is_there_once_where_the_far_end_allows_it(far: Far) -> None:
    far.channel.deliver(digest())
    before = far.received()
    far.channel.deliver(digest())
    assert far.received() == (before if far.once else before * 2)


def test_two_days_are_two_deliveries(far: Far) -> None:
    far.channel.deliver(digest())
    far.channel.deliver(digest(period=Period(date(2026, 12, 2))))
    text = "\n".join(far.received())
    assert re.search(r"Tuesday,? 1\sDecember", text)
    assert re.search(r"Wednesday,? 2\sDecember", text)


def test_a_digest_without_stories_can_be_delivered(far: Far) -> None:
    far.channel.deliver(digest(Draft(writer="embedded"), replace(brief(), stories=())))
    assert "Nothing new to tell" in "".join(far.received())


def test_a_broken_far_end_is_one_error_that_says_what_to_do(far: Far) -> None:
    far.breaks()
    with pytest.raises(DeliveryError) as raised:
        far.channel.deliver(digest())
    assert raised.value.hint


def test_no_control_character_reaches_the_far_end(far: Far) -> None:
    nasty = "Read \x1b]8;;https://evil.example\x07this\x1b]8;;\x07 \x9b31m now\u202e\u200b\U000e0041"
    stories = (replace(STORIES[0], title=nasty, excerpt=nasty, source=nasty), *STORIES[1:])
    far.channel.deliver(digest(Draft(lead=(Claim(nasty, (1,)),), writer=nasty), brief(*stories)))
    text = "".join(far.received())
    assert "Read" in text
    assert not [character for character in text if character in "\x1b\x07\x9b\u202e\u200b\U000e0041"]


NEEDED: dict[str, dict[str, Json]] = {
    "archive": {"folder": "f"},
    "email": {"host": "mail.example", "from": "d@mail.example", "to": ["r@mail.example"]},
    "feed": {"folder": "f", "archive": "a"},
    "log": {},
    "notify": {"url_env": "HOOK"},
    "page": {"folder": "f", "archive": "a"},
}


@pytest.mark.parametrize("kind", sorted(CHANNELS))
def test_an_unknown_option_is_an_error_that_names_it_and_the_nearest(kind: str) -> None:
    options = NEEDED[kind] | {"widht" if kind == "log" else "foldre": "x"}
    with pytest.raises(ConfigError) as raised:
        open_channel(kind, configured(options))
    assert "shelf.widht" in str(raised.value) or "shelf.foldre" in str(raised.value)
    assert raised.value.hint


@pytest.mark.parametrize("kind", sorted(CHANNELS))
def test_what_is_needed_is_enough_and_the_kind_may_stand_there(kind: str) -> None:
    assert open_channel(kind, configured(NEEDED[kind] | {"kind": kind})).name == "shelf"


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind, options in NEEDED.items() for key in options])
def test_what_is_needed_and_missing_is_named(kind: str, key: str) -> None:
    options = {name: value for name, value in NEEDED[kind].items() if name != key}
    with pytest.raises(ConfigError) as raised:
        open_channel(kind, configured(options))
    assert f"shelf.{key}" in str(raised.value)


def configured(options: Mapping[str, Json]) -> Target:
    environment = {"HOOK": "json://127.0.0.1:9/hook"}
    return target("shelf", options, environment=environment, stream=io.StringIO())


def test_an_unknown_kind_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError) as raised:
        load("archiv")
    assert "archive" in raised.value.hint


# --- the archive -----------------------------------------------------------------------------------------------------


def test_the_archive_gives_back_the_digest_that_it_was_given(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.put(digest())
    assert archive.load(date(2026, 12, 1)) == digest()
    assert archive.last() == digest()
    assert archive.days() == (date(2026, 12, 1),)


def test_the_archive_keeps_a_markdown_file_with_front_matter(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.put(digest())
    text = archive.text(date(2026, 12, 1))
    assert text == markdown(digest(), matter=True)
    assert text.startswith("---\ntitle: ")


def test_the_archive_writes_only_what_changes(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    assert archive.put(digest())
    assert not archive.put(digest())
    assert archive.put(digest(notices=("A feed has moved.",)))


def test_the_archive_lists_days_in_order_and_sees_new_ones(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    for day in (3, 1, 2):
        archive.put(digest(period=Period(date(2026, 12, day))))
        assert date(2026, 12, day) in archive.days()
    assert [day.day for day in archive.days()] == [1, 2, 3]


def test_an_empty_or_missing_archive_has_no_days(tmp_path: Path) -> None:
    assert Archive(tmp_path / "nowhere").days() == ()
    assert Archive(tmp_path / "nowhere").last() is None


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"period": "2026-12-01"}', b"[" * 100_000],
    ids=["empty", "cut", "a list", "null", "bytes", "a part", "deep"],
)
def test_a_damaged_day_is_no_digest_and_the_one_before_is_the_last(tmp_path: Path, data: bytes) -> None:
    archive = Archive(tmp_path)
    archive.put(digest(period=Period(date(2026, 11, 30))))
    (tmp_path / "2026-12-01.json").write_bytes(data)
    assert archive.load(date(2026, 12, 1)) is None
    last = archive.last()
    assert last is not None
    assert last.period.day == date(2026, 11, 30)


def test_a_day_that_names_a_story_that_it_does_not_have_is_no_digest(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.put(digest())
    path = tmp_path / "2026-12-01.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"stories": []}))
    assert archive.load(date(2026, 12, 1)) is None


def test_a_day_under_another_days_name_is_no_digest(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.put(digest())
    (tmp_path / "2026-12-01.json").rename(tmp_path / "2026-12-02.json")
    assert archive.load(date(2026, 12, 2)) is None


def test_files_that_are_no_days_are_passed_over(tmp_path: Path) -> None:
    for name in ("2026-13-01.json", "notes.json", "2026-12-01.json.new", "2026-12-01.txt"):
        (tmp_path / name).write_text("{}")
    assert Archive(tmp_path).days() == ()


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a user whom modes bind")
def test_a_folder_that_may_not_be_written_is_a_delivery_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(DeliveryError):
        Archive(tmp_path).put(digest())


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_the_archive_is_its_owners_only(tmp_path: Path) -> None:
    Archive(tmp_path / "new" / "archive").put(digest())
    assert (tmp_path / "new" / "archive").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "new" / "archive" / "2026-12-01.json").stat().st_mode & 0o777 == 0o600


# --- the log ---------------------------------------------------------------------------------------------------------

ANY_TEXT = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "===== end of digest =====\n===== News digest 2031-01-01 =====",
            "===== end of digest 2026-12-01 =====",
            "\r\n===== end of digest 2026-12-01 =====\r\n",
            "\u2028===== end of digest 2026-12-01 =====\u2029",
            "::error::forged",
            "##[error]forged",
        ]
    ),
)


@given(title=ANY_TEXT, lead=ANY_TEXT, source=ANY_TEXT, writer=ANY_TEXT)
def test_no_text_of_a_feed_can_forge_a_marker(title: str, lead: str, source: str, writer: str) -> None:
    stories = (replace(STORIES[0], title=title or "x", source=source), *STORIES[1:])
    made = digest(Draft(lead=(Claim(lead, (1,)),), writer=writer), brief(*stories), notices=(title,))
    lines = between_markers(made).splitlines()
    assert [line for line in lines if line.startswith("=")] == [
        "===== News digest 2026-12-01 =====",
        "===== end of digest 2026-12-01 =====",
    ]
    assert (lines[0][:1], lines[-1][:1]) == ("=", "=")
    assert not [line for line in lines if line.lstrip().startswith(("::", "##["))]


@pytest.mark.parametrize("form", ["markers", "markdown", "text"])
def test_no_text_of_a_feed_is_a_command_to_a_build_service(form: str) -> None:
    stream = io.StringIO()
    log = open_channel("log", target("log", {"form": form}, stream=stream))
    log.deliver(digest(Draft(lead=(Claim("::set-output name=x::y", (1,)),), writer="embedded")))
    assert "set-output name=x" in stream.getvalue()
    assert not [line for line in stream.getvalue().splitlines() if line.lstrip().startswith("::")]


def test_a_stream_that_lacks_a_character_gets_an_escape() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    made: Digest = digest(Draft(lead=(Claim("Über “Gale”", (1,)),), writer="embedded"))
    open_channel("log", target("log", {"form": "text"}, stream=stream)).deliver(made)
    assert b"\\xdcber \\u201cGale\\u201d" in raw.getvalue()


def test_a_log_without_a_stream_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError):
        open_channel("log", target("log", {}))


@pytest.mark.parametrize(
    ("options", "named"),
    [({"form": "html"}, "form"), ({"width": -1}, "width"), ({"width": True}, "width"), ({"form": 1}, "form")],
)
def test_a_wrong_option_names_itself_and_what_is_allowed(options: dict[str, Json], named: str) -> None:
    with pytest.raises(ConfigError) as raised:
        open_channel("log", target("log", options, stream=io.StringIO()))
    assert f"log.{named}" in str(raised.value)
