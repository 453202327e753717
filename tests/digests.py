"""Stories, briefs and digests of our own making, for the tests of what is written, checked and shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

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

SINCE = datetime(2026, 11, 29, 6, 30, tzinfo=UTC)
UNTIL = datetime(2026, 12, 1, 6, 30, tzinfo=UTC)
WRITTEN = datetime(2026, 12, 1, 6, 31, tzinfo=UTC)
TICKET = Ticket("5f0c6a52-90f2-5f8e-9c7d-3d7f60a9d0a1")


def story(number: int, **changes: object) -> Story:
    """Return the story of that number, with fields changed."""
    base = Story(
        title=f"Story {number}",
        link=f"https://outlet.example/{number}",
        source="Outlet",
        feed="https://outlet.example/feed?key=sesame",
        published=UNTIL,
        excerpt=f"Excerpt of story {number}.",
        identity=Identity(stored=(Fingerprint(f"{number:016x}"),)),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


STORIES = (
    story(
        1,
        title="Northwind publishes the weights of its 70B model",
        excerpt=(
            "Northwind released the weights of Gale, a model with 70 billion parameters, on Monday. "
            "“We want people to run it themselves,” said Mira Oduya, who leads the company. "
            "Training it cost $4.2 million."
        ),
        link="https://gazette.example/gale",
        source="Gazette",
        also=(("Planet", "https://planet.example/gale"),),
    ),
    story(
        2,
        title="Gale can now be downloaded",
        excerpt="Anyone may download Gale, Northwind's new language model, from Monday on.",
        link="https://courier.example/gale",
        source="The Courier",
    ),
    story(
        3,
        title="Ferrous 2.0 drops its build daemon",
        excerpt="Ferrous 2.0 no longer needs a daemon. Builds of large projects finish in 41 seconds instead of 95.",
        link="https://ferrous.example/2.0",
        source="Ferrous blog",
    ),
    story(4, title="Harbour bridge closed until Friday", excerpt="", link="", source="City desk"),
    story(
        5,
        title="A *bold* [claim](https://evil.example) <b>",
        excerpt="1. See https://evil.example & www.evil.example",
        link="https://odd.example/a)](https://evil.example/x",
        source="Reuters",
        suspicious=("hidden text",),
    ),
)


def brief(*stories: Story, **changes: object) -> Brief:
    """Return a brief of these stories, or of STORIES."""
    base = Brief(
        period=Period(date(2026, 12, 1)),
        since=SINCE,
        until=UNTIL,
        topics=("artificial intelligence", "developer tools"),
        stories=stories or STORIES,
        failures=(FeedFailure("https://dead.example/rss?key=sesame", "HTTP 500"),),
        funnel=Funnel(fetched=412, unseen=390, fresh=380, picked=5),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


DRAFT = Draft(
    lead=(
        Claim("Northwind released the weights of Gale, a model with 70 billion parameters.", (1, 2)),
        Claim("Ferrous 2.0 no longer needs a daemon.", (3,)),
    ),
    sections=(
        Section(
            "artificial intelligence",
            (
                Item(
                    "Northwind publishes the weights of its 70B model",
                    ("Training it cost $4.2 million.",),
                    (1, 2),
                ),
            ),
        ),
        Section(
            "developer tools",
            (
                Item(
                    "Ferrous 2.0 drops its build daemon",
                    ("Builds of large projects finish in 41 seconds instead of 95.",),
                    (3,),
                    update=True,
                ),
            ),
        ),
    ),
    headlines=(Item("Harbour bridge closed until Friday", (), (4,)),),
    writer="embedded",
)


def digest(draft: Draft = DRAFT, of: Brief | None = None, **changes: object) -> Digest:
    """Return the digest of that draft and brief."""
    return replace(compose(of or brief(), draft, TICKET, WRITTEN), **changes)  # type: ignore[arg-type]
