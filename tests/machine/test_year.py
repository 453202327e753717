"""A year, day by day, as whole runs with the clock as an argument: repeated 0, lost 0, the document below its ceiling.

By default a month of each schedule; the whole year with ``make prove``, and recorded days where the archive is at hand.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from news_digest.ceiling import size
from news_digest.document import encode
from news_digest.fingerprint import canonical_link
from news_digest.model import FeedSource, Limits
from news_digest.ports import Edges
from news_digest.run import Job, run
from news_digest.stores.memory import MemoryStore
from news_digest.testing import (
    FakeChannel,
    FakeClock,
    FakeFeeds,
    FakeJournal,
    FakeOutbox,
    Publication,
    ScriptedWriter,
)

pytestmark = pytest.mark.slow

DAYS = 365 if os.environ.get("HYPOTHESIS_PROFILE") == "prove" else 20
FEEDS = tuple(f"https://{name}.example/feed" for name in "abcde")
REMEMBERED = timedelta(days=14)
"""What a thousand fingerprints (specification) reach back to on the busiest recorded days; a link that the archive runs
again after that is news to any document of this size."""
SHOWN = 40
"""Entries that a feed shows at once."""


@dataclass
class Year:
    """One digest over many days."""

    failing: float = 0.0
    limits: Limits = field(default_factory=Limits)
    clock: FakeClock = field(default_factory=lambda: FakeClock(datetime(2026, 1, 1, 8, 0, tzinfo=UTC)))
    feeds: FakeFeeds = field(default_factory=FakeFeeds)
    store: MemoryStore = field(default_factory=MemoryStore)
    outbox: FakeOutbox = field(default_factory=FakeOutbox)
    writer: ScriptedWriter = field(default_factory=ScriptedWriter)
    channel: FakeChannel = field(default_factory=FakeChannel)
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    published: dict[str, datetime] = field(default_factory=dict)
    above_cap: set[str] = field(default_factory=set)
    largest: int = 0
    runs: int = 0

    def publish(self, feed: str, title: str, link: str, *, excerpt: str = "") -> None:
        self.feeds.publish(feed, Publication(title, link, self.clock(), "", excerpt))
        self.published.setdefault(canonical_link(link), self.clock())
        del self.feeds.published[feed][SHOWN * 4 :]

    def run(self) -> None:
        self.runs += 1
        self.writer.mode = "fail" if self.chance.random() < self.failing else "write"
        journal = FakeJournal()
        edges = Edges(
            clock=self.clock,
            sleep=self.clock.sleep,
            feeds=self.feeds,
            store=self.store,
            outbox=self.outbox,
            writer=lambda _name: self.writer,
            channels={"memory": self.channel},
            journal=journal,
        )
        sources = tuple(FeedSource(url) for url in FEEDS)
        run(Job("year", sources, (), "scripted", f"run-{self.runs}"), edges, self.limits)
        self.above_cap |= {canonical_link(event.link) for event in journal.events if event.what == "above the cap"}
        self.largest = max(self.largest, size(encode(self.store.load().state)))

    def told(self) -> Counter[str]:
        return Counter(canonical_link(story.link) for digest in self.channel.digests for story in digest.stories)

    def check(self) -> None:
        told = self.told()
        repeated = [link for link, count in told.items() if count > 1]
        old_enough = self.clock() - timedelta(days=2)
        lost = [
            link
            for link, when in self.published.items()
            if when < old_enough and link not in told and link not in self.above_cap
        ]
        days = Counter(digest.period for digest in self.channel.digests)
        assert repeated == []
        assert lost == []
        assert max(days.values()) == 1
        assert self.largest <= self.limits.document_bytes


def stream(year: Year, runs_a_day: int) -> Iterator[None]:
    """Publish some thirty stories a day in five feeds, a tenth of them in two, and stop at every run."""
    number = 0
    for _ in range(DAYS):
        for _ in range(runs_a_day):
            for _ in range(max(1, 30 // runs_a_day)):
                number += 1
                link = f"https://news.example/{number}"
                for feed in year.chance.sample(FEEDS, 2 if year.chance.random() < 0.1 else 1):
                    year.publish(feed, f"Story {number} of émigrés 😀", link, excerpt="It happened. " * 20)
            yield
            year.clock.sleep(timedelta(days=1) / runs_a_day)


@pytest.mark.parametrize("failing", [0.0, 0.2], ids=["writer works", "a fifth fails"])
@pytest.mark.parametrize("runs_a_day", [1, 4, 24])
def test_a_year_tells_every_story_once(runs_a_day: int, failing: float) -> None:
    year = Year(failing)
    for _ in stream(year, runs_a_day):
        year.run()
    year.writer.mode, year.failing = "write", 0.0
    for _ in range(8):
        year.clock.sleep(timedelta(days=1))
        year.run()
    year.check()
    assert len(year.told()) > 20 * DAYS


def test_more_than_the_cap_is_counted_and_named() -> None:
    year = Year(limits=Limits(shortlist_stories=10))
    for _ in stream(year, 1):
        year.run()
    year.check()
    assert year.above_cap
    assert all(len(digest.stories) <= 10 for digest in year.channel.digests)


def test_recorded_days_are_told_once(shared: Path) -> None:
    archive = shared / "eval" / "tldr_archive.jsonl.gz"
    if not archive.is_file():
        pytest.skip("the recorded days are not beside the checkout")
    days: dict[date, list[dict[str, str]]] = defaultdict(list)
    with gzip.open(archive, "rt", encoding="utf-8") as lines:
        for line in lines:
            item = json.loads(line)
            days[date.fromisoformat(item["date"])].append(item)
    year = Year(limits=Limits(shortlist_stories=100))
    first = min(days)
    year.clock.now = datetime(first.year, first.month, first.day, 8, tzinfo=UTC)
    for offset in range(DAYS):
        for number, item in enumerate(days.get(first + timedelta(days=offset), ())):
            before = year.published.get(canonical_link(item["link"]), year.clock())
            if year.clock() - before > REMEMBERED:
                continue
            year.publish(FEEDS[number % len(FEEDS)], item["title"], item["link"], excerpt=item.get("excerpt", ""))
        year.run()
        year.clock.sleep(timedelta(days=1))
    year.check()
    assert len(year.told()) > 10 * DAYS
