"""A draft in the stories' own words: verbatim sentences, nothing generated, nothing left out, the same for the same brief.

Every event gets a headline first; what is left of the words goes to the lead, and to sentences in order of rank. So the
digest is complete before it is rich. Events of a topic stand under it; others with a sentence under their source; the
rest are headlines at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from news_digest.grouping import Similarity, remembered, same_events
from news_digest.model import Brief, Claim, Draft, Item, Section, Story
from news_digest.quotes import headline, quotable, trimmed
from news_digest.ranking import ranked, voices
from news_digest.relevance import FITS, topic_scores
from news_digest.rules import HEADLINES
from news_digest.sentences import word_total

__all__ = ["ITEM_WORDS", "QUIET", "compose_draft"]

ITEM_WORDS = 45
"""Most words of an item, headline included."""

LEAD_SENTENCES = 3

QUIET = "A quiet day: no story on the topics stands out."
"""The lead, in our own words, where no event on topic has a sentence to quote."""

NOTHING = "A quiet day: no new stories."

RICH_SHARE = 0.4
"""Part of the words that is kept for lead and sentences; headlines are trimmed, down to the least, before it gets less."""

HEADLINE_WORDS = (16, 14, 12, 10, 9, 8, 7, 6, 5, 4)
"""Lengths that headlines are trimmed to, one after the other, until they fit."""

NOTED_LEAST = 8
"""Headlines are not trimmed below this for the sake of sentences, only to fit at all."""


@dataclass(slots=True)
class _Event:
    """One event while the digest is made."""

    numbers: tuple[int, ...]
    stories: tuple[Story, ...]
    fit: tuple[float, ...]
    title: str
    source: str
    quotes: tuple[str, ...] = ()
    update: bool = False
    repeat: bool = False
    sentences: list[str] = field(default_factory=list)

    @property
    def topic(self) -> int | None:
        """Return the position of the topic it stands under: of those that fit, the first one configured."""
        return next((at for at, score in enumerate(self.fit) if score >= FITS), None)

    @property
    def words(self) -> int:
        """Return the words of headline and sentences."""
        return word_total(self.title) + sum(map(word_total, self.sentences))


def compose_draft(brief: Brief, similarity: Similarity | None = None) -> Draft:
    """Return the embedded writer's draft; pure and deterministic, also with an embedding that is."""
    if not brief.stories:
        return Draft(lead=(Claim(NOTHING, ()),), writer="embedded")
    events = _events(brief, similarity)
    _trim(events, brief.style.max_words)
    left = brief.style.max_words - sum(_room(event) for event in events) - _headings(brief, events)
    lead = _lead(events, brief, left)
    left -= sum(word_total(claim.text) for claim in lead)
    _tell(events, left, {claim.text for claim in lead})
    return _draft(brief, events, lead)


def _events(brief: Brief, similarity: Similarity | None) -> list[_Event]:
    """Return all events, the weightiest first."""
    groups = same_events(brief.stories, similarity)
    fits = topic_scores(brief.stories, brief.topics, similarity)
    echoes = remembered(brief.stories, brief.previous)
    events = []
    for group in groups:
        stories = tuple(brief.stories[position] for position in group)
        fit = tuple(max(column) for column in zip(*(fits[position] for position in group), strict=True))
        told = [echoes[position] for position in group if echoes[position]]
        title, source = headline(stories)
        events.append(
            _Event(
                numbers=tuple(position + 1 for position in group),
                stories=stories,
                fit=fit,
                title=title,
                source=source,
                quotes=quotable(stories, title),
                update=bool(told) and "repeat" not in told,
                repeat="repeat" in told,
            )
        )
    topic = [0.0 if event.repeat else max(event.fit, default=0.0) for event in events]
    order = ranked([event.stories for event in events], topic, brief.since, brief.until)
    return sorted((events[position] for position in order), key=lambda event: event.repeat)


# --- words ---------------------------------------------------------------------------------------------------------


def _room(event: _Event) -> int:
    """Return the words that an event takes with the names of its sources, which stand beside it."""
    return word_total(event.title) + sum(word_total(name) for name in _names(event))


def _names(event: _Event) -> list[str]:
    pairs = [(story.source, story.also) for story in event.stories]
    return [name for source, also in pairs for name in (source, *(other for other, _ in also))]


def _headings(brief: Brief, events: Sequence[_Event]) -> int:
    used = {event.topic for event in events} - {None}
    return sum(word_total(brief.topics[at]) for at in used if at is not None) + 1


def _trim(events: Sequence[_Event], limit: int) -> None:
    """Trim headlines, the last ranked first by what little they weigh, until enough words are left for sentences."""
    for most in HEADLINE_WORDS:
        share = RICH_SHARE if most >= NOTED_LEAST else 0.0
        if sum(map(_room, events)) <= limit * (1 - share):
            return
        for event in events:
            event.title = trimmed(event.title, most)


def _lead(events: Sequence[_Event], brief: Brief, left: int) -> tuple[Claim, ...]:
    """Return the best sentence of each of the weightiest events, or that the day is quiet."""
    claims: list[Claim] = []
    for event in events:
        if len(claims) == LEAD_SENTENCES:
            break
        text = event.quotes[0] if event.quotes and not event.repeat else ""
        if text and (event.topic is not None or not brief.topics or len(voices(event.stories)) > 1):
            cost = word_total(text)
            if cost <= left:
                claims.append(Claim(text, event.numbers))
                left -= cost
    return tuple(claims) or ((Claim(QUIET, ()),) if word_total(QUIET) <= left else ())


def _tell(events: Sequence[_Event], left: int, used: set[str]) -> None:
    """Give sentences, one to each event in order of rank and then a second, while words are left."""
    for most in (1, 2):
        for event in events:
            if event.repeat or len(event.sentences) >= most:
                continue
            for text in event.quotes:
                cost = word_total(text)
                if text not in used and cost <= left and event.words + cost <= ITEM_WORDS:
                    event.sentences = _in_order(event, [*event.sentences, text])
                    used.add(text)
                    left -= cost
                    break


def _in_order(event: _Event, texts: Iterable[str]) -> list[str]:
    """Return sentences in the order in which the stories have them."""
    whole = " ".join(" ".join(story.excerpt.split()) for story in event.stories)
    return sorted(texts, key=whole.find)


# --- the draft -----------------------------------------------------------------------------------------------------


def _draft(brief: Brief, events: Sequence[_Event], lead: tuple[Claim, ...]) -> Draft:
    topics: dict[int, list[Item]] = {at: [] for at in range(len(brief.topics))}
    sources: dict[str, list[Item]] = {}
    rest = []
    for event in events:
        item = Item(event.title, tuple(event.sentences), event.numbers, update=event.update)
        if event.topic is not None and not event.repeat:
            topics[event.topic].append(item)
        elif event.sentences:
            sources.setdefault(event.source, []).append(item)
        else:
            rest.append(replace(item, update=False))
    titled = [(brief.topics[at], items) for at, items in topics.items()] + list(sources.items())
    sections = tuple(Section(title or HEADLINES, tuple(items)) for title, items in titled if items)
    return Draft(lead=lead, sections=sections, headlines=tuple(rest), writer="embedded")
