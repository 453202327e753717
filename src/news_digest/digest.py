"""Draft and brief become a digest, with numbers that add up and nothing lost.

How it is shown stands in :mod:`news_digest.shown` and the renderers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from news_digest.claims.markup import plain
from news_digest.model import Brief, Claim, Counts, Digest, Draft, Item, Section, Story, Ticket

UNTITLED = "Untitled"
"""A headline of our own, for a story that has none."""

__all__ = ["UNTITLED", "compose", "items_of", "lost", "word_count"]


def compose(
    brief: Brief,
    draft: Draft,
    ticket: Ticket,
    now: datetime,
    *,
    on_topic: Callable[[Story], bool] | None = None,
    findings: Sequence[str] = (),
    notices: Sequence[str] = (),
    conversation_url: str = "",
) -> Digest:
    """Return the digest of a draft that the checker has passed.

    Numbers that name no story are dropped, and every story of the brief that the draft does not name is appended to the
    headlines under its own title, so that nothing offered vanishes. ``on_topic`` says whether a story belongs to the
    topics; without it, all do. Deterministic in its arguments.
    """
    kept = _complete(_known(draft, len(brief.stories)), brief.stories)
    told = {number for section in kept.sections for item in section.items for number in item.stories}
    noted = {number for item in kept.headlines for number in item.stories} - told
    counts = Counts(
        read=brief.funnel.fetched,
        new=brief.funnel.fresh,
        on_topic=sum(1 for story in brief.stories if on_topic is None or on_topic(story)),
        told=len(told),
        noted=len(noted),
        above_cap=brief.funnel.above_cap,
    )
    return Digest(
        period=brief.period,
        ticket=ticket,
        written_at=now,
        since=brief.since,
        until=brief.until,
        draft=kept,
        stories=brief.stories,
        counts=counts,
        failures=brief.failures,
        notices=tuple(notices),
        findings=tuple(findings),
        conversation_url=conversation_url,
    )


def _known(draft: Draft, count: int) -> Draft:
    """Return the draft without numbers that name no story, without items that then rest on nothing, empty sections.

    Where there are no stories at all (the brief was lost) the items keep their words.
    """

    def real(numbers: Iterable[int]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(number for number in numbers if 1 <= number <= count))

    def resting(items: Iterable[Item]) -> tuple[Item, ...]:
        grounded = (replace(item, stories=real(item.stories)) for item in items)
        return tuple(item for item in grounded if (item.stories or not count) and item.headline.strip())

    sections = (Section(section.title, resting(section.items)) for section in draft.sections)
    return replace(
        draft,
        lead=tuple(Claim(claim.text, real(claim.stories)) for claim in draft.lead if claim.text.strip()),
        sections=tuple(section for section in sections if section.items),
        headlines=resting(draft.headlines),
    )


def _complete(draft: Draft, stories: Sequence[Story]) -> Draft:
    named = {number for item in items_of(draft) for number in item.stories}
    missing = [number for number in range(1, len(stories) + 1) if number not in named]
    rest = tuple(Item(plain(stories[number - 1].title) or UNTITLED, (), (number,)) for number in missing)
    return replace(draft, headlines=draft.headlines + rest)


def items_of(draft: Draft) -> tuple[Item, ...]:
    """Return all items of a draft in reading order, headlines last."""
    return tuple(item for section in draft.sections for item in section.items) + draft.headlines


def lost(digest: Digest) -> int:
    """Return how many stories were offered and are neither told nor noted; zero for everything that compose made."""
    return len(digest.stories) - digest.counts.told - digest.counts.noted


def word_count(draft: Draft) -> int:
    """Return the words of lead and items, without the headlines at the end: what the length limit is about."""
    texts = [claim.text for claim in draft.lead]
    for section in draft.sections:
        for item in section.items:
            texts += [item.headline, *item.sentences]
    return sum(len(text.split()) for text in texts)
