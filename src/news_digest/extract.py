"""A draft in the stories' own words: verbatim sentences, nothing generated, nothing left out, always the same.

Every event gets a headline first; what is left of the words goes to the lead, and to sentences in order of rank. So the
digest is complete before it is rich. Events on a topic stand under it; others with a sentence under their source; the
rest are headlines at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from news_digest.accounts import Account, accounts
from news_digest.echoes import Echo
from news_digest.grouping import Similarity
from news_digest.model import Brief, Claim, Draft, Item, Section
from news_digest.quotes import stands_alone, trimmed
from news_digest.ranking import voices
from news_digest.rules import HEADLINES, ITEM_WORDS, NOTHING, QUIET
from news_digest.sentences import word_total
from news_digest.words import terms

__all__ = ["FRAME_WORDS", "compose_draft"]

NAME = "embedded"

LEAD_LEAST, LEAD_MOST = 2, 3
"""Sentences of the lead, where there are so many worth it."""

CROWDED_SHARE = 0.25
"""Part of the words that lead and sentences must at least have for the digest's words about itself to be counted."""

RICH_SHARE = 0.4
"""Part of the words that is kept for lead and sentences; headlines are trimmed before it gets less."""

HEADLINE_WORDS = (40, 16, 14, 12, 11, 10, 9, 8, 7, 6, 5, 4)
"""Lengths that headlines are trimmed to, one after the other, until they fit."""

NOTED_LEAST = 6
"""Headlines are not trimmed below this for the sake of sentences, only to fit at all."""

FRAME_WORDS = 60
"""Words that are kept for what the digest says about itself: day, window, counts, failed feeds, writer."""

FRAME_SHARE = 0.25
"""Most that is kept for that, where few words are wanted."""

ADDS = 0.4
"""Least part of a sentence's words of subject that its event has not said yet, headline and lead included."""


def compose_draft(brief: Brief, similarity: Similarity | None = None) -> Draft:
    """Return the embedded writer's draft; pure and deterministic, also with an embedding that is.

    At most ``brief.style.max_words`` words (of 200 and more) in all that is shown, with sources, list marks and the
    digest's words about itself. On a day that would leave hardly a sentence, the last two come on top; and where even
    headlines of four words do not fit, they are as many as there are stories.
    """
    if not brief.stories:
        return Draft(lead=(Claim(NOTHING, ()),), writer=NAME)
    events = accounts(brief, similarity)
    left = _words_left(events, brief)
    lead = _lead(events, left, of_topics=bool(brief.topics))
    left -= sum(word_total(claim.text) for claim in lead)
    leading = {claim.stories for claim in lead}
    left -= sum(_restore(event, left // LEAD_MOST) for event in events if event.numbers in leading)
    _tell(events, left, lead)
    return _draft(brief, events, lead)


# --- words ---------------------------------------------------------------------------------------------------------


def _words_left(events: Sequence[Account], brief: Brief) -> int:
    """Trim the headlines, and return the words that are left for lead and sentences."""
    most = brief.style.max_words
    topics = sorted({event.topic for event in events if event.topic is not None})
    headings = sum(word_total(brief.topics[at]) for at in topics) + word_total(HEADLINES)
    list_marks = len(events) + len(topics) + 1
    frame = min(FRAME_WORDS, int(most * FRAME_SHARE))
    left = _trim(events, most - headings - list_marks - frame)
    return left if left >= most * CROWDED_SHARE else _trim(events, most - headings)


def _trim(events: Sequence[Account], limit: int) -> int:
    """Trim all headlines to the greatest length that leaves enough words for sentences; return how many are left."""
    left = limit
    for most in HEADLINE_WORDS:
        for event in events:
            event.title = trimmed(event.full_title, most)
        left = limit - sum(event.words + event.beside for event in events)
        if left >= (limit * RICH_SHARE if most > NOTED_LEAST else 0):
            break
    return left


def _lead(events: Sequence[Account], left: int, *, of_topics: bool) -> tuple[Claim, ...]:
    """Return a sentence of each of the weightiest events that can be read alone, or that the day is quiet.

    Events on topic and those of several sources come first; others fill it up to the least length.
    """
    weighty = [each for each in events if each.topic is not None or not of_topics or len(voices(each.stories)) > 1]
    claims: list[Claim] = []
    for pool, most in ((weighty, LEAD_MOST), (events if weighty else (), LEAD_LEAST)):
        for event in pool:
            text = _leading(event, left) if len(claims) < most else ""
            if text and all(event.numbers != claim.stories for claim in claims):
                claims.append(Claim(text, event.numbers))
                left -= word_total(text)
    return tuple(claims) or ((Claim(QUIET, ()),) if word_total(QUIET) <= left else ())


def _leading(event: Account, left: int) -> str:
    """Return the best sentence for the lead; empty where none fits."""
    if event.echo is Echo.REPEAT:
        return ""
    fit = (text for text in event.quotes if word_total(text) <= left and stands_alone(text, event.full_title))
    return next(fit, "")


def _tell(events: Sequence[Account], left: int, lead: Sequence[Claim]) -> None:
    """Give sentences, one to each event in order of rank and then a second, while words are left.

    An event that is told gets its whole headline back where that can be paid.
    """
    used = {claim.text: claim.stories for claim in lead}
    named: set[str] = set()
    for event in events:
        if event.numbers in used.values() and event.topic is None:
            left -= _heading_cost(event, named)
            named.add(event.stories[0].source)
    for most in (1, 2):
        for event in events:
            if event.echo is Echo.REPEAT or len(event.sentences) >= most:
                continue
            heading = _heading_cost(event, named)
            said = [event.title, *event.sentences, *(text for text, told in used.items() if told == event.numbers)]
            for text in event.quotes:
                cost = word_total(text)
                fits = cost + heading <= left and event.words + cost <= ITEM_WORDS
                if text in used or not fits or not _adds(text, said):
                    continue
                event.sentences = _in_order(event, [*event.sentences, text])
                used[text] = event.numbers
                if event.topic is None:
                    named.add(event.stories[0].source)
                left -= cost + heading
                left -= _restore(event, left)
                break


def _adds(text: str, said: Sequence[str]) -> bool:
    """Return whether a sentence says enough that was not said."""
    found = set(terms(text))
    return len(found - set(terms(" ".join(said)))) >= ADDS * len(found)


def _heading_cost(event: Account, named: set[str]) -> int:
    """Return the words of the heading that the event would be the first one under."""
    source = event.stories[0].source
    return 1 + word_total(source) if event.topic is None and source not in named else 0


def _restore(event: Account, left: int) -> int:
    cost = word_total(event.full_title) - word_total(event.title)
    if not 0 < cost <= left or event.words + cost > ITEM_WORDS:
        return 0
    event.title = event.full_title
    return cost


def _in_order(event: Account, texts: Iterable[str]) -> list[str]:
    """Return sentences in the order in which the stories have them."""
    whole = " ".join(" ".join(story.excerpt.split()) for story in event.stories)
    return sorted(texts, key=cache(whole.find))


# --- the draft -----------------------------------------------------------------------------------------------------


def _draft(brief: Brief, events: Sequence[Account], lead: tuple[Claim, ...]) -> Draft:
    topics: dict[int, list[Item]] = {at: [] for at in range(len(brief.topics))}
    sources: dict[str, list[Item]] = {}
    rest = []
    leading = {claim.stories for claim in lead}
    for event in events:
        update = event.echo is Echo.UPDATE
        item = Item(event.title, tuple(event.sentences), event.numbers, update=update)
        if event.topic is not None:
            topics[event.topic].append(item)
        elif event.sentences or event.numbers in leading:
            sources.setdefault(event.stories[0].source or HEADLINES, []).append(item)
        else:
            rest.append(item)
    titled = [(brief.topics[at], items) for at, items in topics.items()] + list(sources.items())
    sections = tuple(Section(title, _richest_first(items)) for title, items in titled if items)
    return Draft(lead=lead, sections=sections, headlines=tuple(rest), writer=NAME)


def _richest_first(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return items with sentences before those of a headline alone, each kind in its order."""
    return tuple(sorted(items, key=lambda item: not item.sentences))
