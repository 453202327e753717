"""The sample feeds: real dialects over real HTTP, fresh, with the cases that a demonstration is for."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from calendar import timegm
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import feedparser
import pytest

from news_digest.demo import serve
from news_digest.demo.dialects import OUTLETS, Outlet
from news_digest.demo.stories import HARBOUR, MERIDIAN, OPENBENCH, SIGNAL

NOW = datetime(2026, 8, 20, 8, 0, tzinfo=UTC)
ALL = (*MERIDIAN, *OPENBENCH, *SIGNAL, *HARBOUR)


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return bytes(answer.read())


@pytest.mark.parametrize(
    "outlet", [outlet for outlet in OUTLETS if not outlet.path.endswith("json")], ids=lambda o: o.path
)
def test_an_independent_parser_reads_every_story_of_a_sample_feed(outlet: Outlet) -> None:
    document = feedparser.parse(outlet.write(NOW).encode())
    assert not document.bozo
    assert [entry.title for entry in document.entries] == [story.title for story in outlet.stories]
    assert [entry.link for entry in document.entries] == [story.link for story in outlet.stories]


def test_the_feeds_are_served_and_the_last_address_answers_404() -> None:
    with serve(NOW) as demo:
        *good, missing = demo.urls
        assert [len(fetch(url)) > 1000 for url in good] == [True] * 4
        with pytest.raises(urllib.error.HTTPError) as caught:
            fetch(missing)
    caught.value.close()
    assert caught.value.code == 404


def test_nothing_is_served_after_the_block() -> None:
    with serve(NOW) as demo:
        url = demo.urls[0]
    with pytest.raises(urllib.error.URLError):
        fetch(url)


def test_dates_follow_the_present_and_most_stories_are_within_two_days() -> None:
    later = NOW + timedelta(days=40)
    document = feedparser.parse(OUTLETS[0].write(later))
    dates = [
        datetime.fromtimestamp(timegm(entry.published_parsed), UTC)
        for entry in document.entries
        if "published" in entry
    ]
    assert max(dates) == later - timedelta(hours=3)
    assert sum(story.hours_ago is not None and story.hours_ago <= 48 for story in ALL) >= 22


def test_the_cases_that_a_demonstration_is_for_are_there() -> None:
    links = [story.link.partition("?")[0] for story in ALL]
    assert len(links) - len(set(links)) == 1, "one article in two feeds"
    for event in ("Lakeside", "Kestrel"):
        outlets = {urlsplit(story.link).hostname for story in ALL if event in story.title}
        assert len(outlets) == 2, f"{event}: one event, two outlets"
    assert any(story.hours_ago is None for story in ALL)
    assert any(not story.text for story in ALL)


def test_only_reserved_domains_are_named() -> None:
    hosts = {urlsplit(story.link).hostname or "" for story in ALL}
    assert all(re.search(r"\.example\.(com|org|net)$", host) for host in hosts)
