"""The feeds of digests, read by feedparser and by the package's own parser."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import feedparser
import pytest
from tests.digests import STORIES, WRITTEN, brief, digest

from news_digest.channels import Target, open_channel
from news_digest.channels.feed import ATOM, JSON_FEED, Heading, feed_files
from news_digest.errors import ConfigError
from news_digest.feeds.parse import parse_feed
from news_digest.model import Claim, Digest, Draft, Json, Period, Ticket
from news_digest.render_html import identifier
from news_digest.testing import FakeClock

HEADING = Heading("Morning", "https://news.example/digest/")
NS = "{http://www.w3.org/2005/Atom}"


def days(count: int) -> list[Digest]:
    first = date(2026, 12, 1)
    return [
        digest(
            period=Period(first - timedelta(days=n)),
            ticket=Ticket(f"00000000-0000-5000-8000-{n:012}"),
            written_at=WRITTEN - timedelta(days=n),
        )
        for n in range(count)
    ]


def test_feedparser_reads_every_entry_with_id_date_link_and_content() -> None:
    read = feedparser.parse(feed_files(days(3), HEADING)[ATOM])
    assert not read.bozo
    assert read.feed.title == "Morning"
    assert [entry.id for entry in read.entries] == [identifier(each) for each in days(3)]
    assert [entry.link for entry in read.entries] == [
        f"https://news.example/digest/2026-1{d}.html" for d in ("2-01", "1-30", "1-29")
    ]
    assert read.entries[0].updated == "2026-12-01T06:31:00Z"
    assert "https://ferrous.example/2.0" in read.entries[0].content[0].value


def test_atom_has_what_the_standard_demands_of_feed_and_entry() -> None:
    root = ET.fromstring(feed_files(days(2), HEADING)[ATOM])
    for element in (root, *root.findall(f"{NS}entry")):
        for name in ("id", "title", "updated"):
            (found,) = element.findall(f"{NS}{name}")
            assert found.text
    assert all(entry.find(f"{NS}author/{NS}name") is not None for entry in root.findall(f"{NS}entry"))
    assert {link.get("rel") for link in root.findall(f"{NS}link")} == {"self", "alternate"}


def test_json_feed_has_what_the_standard_demands() -> None:
    value = json.loads(feed_files(days(2), HEADING)[JSON_FEED])
    assert value["version"] == "https://jsonfeed.org/version/1.1"
    assert value["feed_url"] == "https://news.example/digest/feed.json"
    ids = [item["id"] for item in value["items"]]
    assert ids == [identifier(each) for each in days(2)]
    assert all(item["content_html"] and item["title"] and item["date_published"] for item in value["items"])


def test_both_feeds_say_the_same() -> None:
    files = feed_files(days(5), HEADING)
    atom, other = feedparser.parse(files[ATOM]), json.loads(files[JSON_FEED])
    assert [(e.id, e.title) for e in atom.entries] == [(item["id"], item["title"]) for item in other["items"]]


@pytest.mark.parametrize("name", [ATOM, JSON_FEED])
def test_our_own_parser_reads_every_entry_with_id_date_and_link(name: str) -> None:
    read = parse_feed(feed_files(days(3), HEADING)[name], HEADING.url + name)
    assert read.title == "Morning"
    assert [entry.identifier for entry in read.entries] == [identifier(each) for each in days(3)]
    assert [entry.link for entry in read.entries] == [f"{HEADING.url}{each.period}.html" for each in days(3)]
    assert [entry.published for entry in read.entries] == [each.written_at for each in days(3)]


def test_without_an_address_there_are_no_links_and_ids_stay() -> None:
    plain = feed_files(days(2), Heading("Morning"))
    assert [e.id for e in feedparser.parse(plain[ATOM]).entries] == [identifier(each) for each in days(2)]
    assert "url" not in json.loads(plain[JSON_FEED])["items"][0]


def test_an_empty_feed_is_a_valid_one() -> None:
    assert not feedparser.parse(feed_files([], HEADING)[ATOM]).bozo


def test_markup_and_control_characters_of_feeds_stay_text() -> None:
    attack = "]]><script>alert(1)</script>&lt;b&gt;\x00\x1b[31m\ufffe<!--"
    stories = (replace(STORIES[0], title=attack, source=attack), *STORIES[1:])
    made = digest(Draft(lead=(Claim(attack, (1,)),), writer=attack), brief(*stories), notices=(attack,))
    files = feed_files([made], HEADING)
    read = feedparser.parse(files[ATOM], sanitize_html=False)
    assert not read.bozo
    assert "<script" not in read.entries[0].content[0].value
    assert "<script" not in json.loads(files[JSON_FEED])["items"][0]["content_html"]


def test_a_feed_keeps_as_many_days_as_it_is_told(tmp_path: Path) -> None:
    options: dict[str, Json] = {"folder": str(tmp_path / "out"), "archive": str(tmp_path / "archive"), "entries": 2}
    channel = open_channel("feed", Target("feed", FakeClock(), options))
    for each in reversed(days(4)):
        channel.deliver(each)
    read = feedparser.parse((tmp_path / "out" / ATOM).read_bytes())
    assert [entry.id for entry in read.entries] == [identifier(each) for each in days(2)]


def test_a_digest_that_was_written_again_keeps_its_place_and_its_id(tmp_path: Path) -> None:
    options: dict[str, Json] = {"folder": str(tmp_path / "out"), "archive": str(tmp_path / "archive")}
    channel = open_channel("feed", Target("feed", FakeClock(), options))
    channel.deliver(digest())
    assert channel.deliver(digest()).detail.endswith("unchanged")
    channel.deliver(digest(notices=("Something else.",)))
    (entry,) = feedparser.parse((tmp_path / "out" / ATOM).read_bytes()).entries
    assert entry.id == identifier(digest())
    assert "Something else" in entry.content[0].value


def test_feeds_can_be_read_by_a_web_server(tmp_path: Path) -> None:
    options: dict[str, Json] = {"folder": str(tmp_path / "out"), "archive": str(tmp_path / "archive")}
    open_channel("feed", Target("feed", FakeClock(), options)).deliver(digest())
    assert (tmp_path / "out" / ATOM).stat().st_mode & 0o044 == 0o044
    assert (tmp_path / "archive" / "2026-12-01.json").stat().st_mode & 0o044 == 0


def test_the_address_must_be_one_of_the_web(tmp_path: Path) -> None:
    options: dict[str, Json] = {"folder": str(tmp_path), "archive": str(tmp_path), "url": "javascript:alert(1)"}
    with pytest.raises(ConfigError):
        open_channel("feed", Target("feed", FakeClock(), options))
