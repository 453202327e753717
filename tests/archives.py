"""Archives of any length, of our own making: for tests and benchmarks of the pages."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from random import Random
from uuid import UUID

from tests.conftest import SHARED

from news_digest.channels.archive import Archive
from news_digest.digest import compose
from news_digest.model import (
    Brief,
    Claim,
    Digest,
    Draft,
    FeedFailure,
    Fingerprint,
    Funnel,
    Identity,
    Item,
    Period,
    Section,
    Story,
    Ticket,
)

LAST_DAY = date(2026, 12, 1)

WHO = (
    *(
        "Northwind",
        "Ferrous",
        "Harbour Board",
        "Meridian Labs",
        "the port authority",
        "Quillon",
        "Tallow Systems",
        "Ember",
    ),
    *("the observatory", "Brightwater", "the city council", "Osprey", "Lumen Grid", "the national library", "Kestrel"),
)
DOES = (
    *(
        "publishes",
        "delays",
        "opens",
        "rewrites",
        "tests",
        "withdraws",
        "explains",
        "measures",
        "buys",
        "audits",
        "repairs",
    ),
)
WHAT = (
    *(
        "the weights of a small language model",
        "a compiler without a daemon",
        "its archive of tide tables",
        "a faster index",
    ),
    *(
        "the plans for a second bridge",
        "a survey of repair shops",
        "the source of its firmware",
        "a map of night buses",
    ),
    *(
        "an open catalogue of seeds",
        "rules for automatic hiring",
        "a battery that survives frost",
        "its largest telescope",
    ),
    *(
        "a study of reading habits",
        "the price of spare parts",
        "a tool that finds leaked keys",
        "timetables as open data",
    ),
)
WHERE = (
    "in Zürich",
    "in 東京",
    "on Monday",
    "after two years",
    "for schools",
    "at sea",
    "with volunteers",
    "under review",
)
FEEDS = (
    ("The Gazette", "gazette.example"),
    ("Courier", "courier.example"),
    ("Open Source Weekly", "osw.example"),
    ("Harbour News", "harbour.example"),
    ("Lab Notes", "labnotes.example"),
    ("Planet Bridge", "planet.example"),
)
TOPICS = ("artificial intelligence", "open source", "developer tools")


def made(day: date, count: int = 24) -> Digest:
    """Return the digest of a day; the same for the same day and count."""
    random = Random(day.toordinal())
    until = datetime(day.year, day.month, day.day, 6, 30, tzinfo=UTC)
    stories = tuple(_story(random, day, number, until) for number in range(1, count + 1))
    items = [_item(random, story, number) for number, story in enumerate(stories, start=1)]
    told = max(1, count // 2)
    sections = tuple(
        Section(topic, tuple(items[start:told:3])) for start, topic in enumerate(TOPICS) if items[start:told:3]
    )
    lead = tuple(Claim(f"{items[n].headline}.", (n + 1,)) for n in range(min(2, count)))
    noted = tuple(Item(item.headline, (), item.stories) for item in items[told:])
    brief = Brief(
        Period(day), until - timedelta(days=2), until, TOPICS, stories,
        failures=(FeedFailure("https://quiet.example/rss?key=sesame", "HTTP 503"),) if day.day % 5 == 0 else (),
        funnel=Funnel(count * 9, count * 3, count * 2, count),
    )  # fmt: skip
    draft = Draft(lead, sections, noted, writer="embedded")
    ticket = Ticket(str(UUID(int=day.toordinal(), version=5)))
    return compose(brief, draft, ticket, until + timedelta(minutes=1), on_topic=lambda _story: True)


def _story(random: Random, day: date, number: int, until: datetime) -> Story:
    title = f"{random.choice(WHO)} {random.choice(DOES)} {random.choice(WHAT)} {random.choice(WHERE)}"
    name, host = random.choice(FEEDS)
    others = random.sample([feed for feed in FEEDS if feed[1] != host], random.choice([0, 0, 1, 3]))
    path = f"{day.isoformat()}/{number}"
    return Story(
        title=title[0].upper() + title[1:],
        link=f"https://{host}/{path}",
        source=name,
        feed=f"https://{host}/feed.xml?key=sesame",
        published=None if number % 11 == 0 else until - timedelta(minutes=random.randrange(5, 2800)),
        excerpt=f"It is the {number}th of the day. Nobody had asked for it before {random.choice(WHERE)}.",
        identity=Identity((Fingerprint(f"{day.toordinal():08x}{number:08x}"),)),
        also=tuple((other, f"https://{elsewhere}/{path}") for other, elsewhere in others),
        suspicious=("hidden text",) if number == 7 else (),
    )


def _item(random: Random, story: Story, number: int) -> Item:
    sentences = (
        f"{random.choice(WHO).capitalize()} had announced it {random.choice(WHERE)}, and {random.randrange(3, 90)} people took part.",
        f"The next step follows {random.choice(WHERE)}.",
    )
    return Item(story.title, sentences[: random.choice([1, 2])], (number,), update=number % 9 == 0)


def fill(archive: Archive, count: int, *, items: int = 8, last: date = LAST_DAY) -> list[date]:
    """Put the digests of ``count`` days into an archive, the last one on ``last``; return the days, oldest first."""
    days = [last - timedelta(days=back) for back in range(count - 1, -1, -1)]
    for day in days:
        archive.put(made(day, items))
    return days


def attacks() -> list[dict[str, str]]:
    """Return the attacks of ``eval/injections.jsonl`` beside the checkout; none where it is not there."""
    file = SHARED / "eval" / "injections.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
