"""The events of a brief, each with the words that its stories have for it: the embedded writer's material."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from news_digest.echoes import Echo, echoes
from news_digest.grouping import Similarity, Vector, same_events
from news_digest.model import Brief, Story
from news_digest.quotes import best_titled, headline, quotable
from news_digest.ranking import ranked
from news_digest.relevance import FITS, topic_scores
from news_digest.sentences import sentences, word_total
from news_digest.shown import source_label

__all__ = ["Account", "accounts"]

CAUTION_WORDS = 5
"""Words before what was found in a suspicious text."""

WORN = 3
"""A sentence that so many stories have is no news but a rubric or an advertisement."""


@dataclass(slots=True)
class Account:
    """One event while the digest is made; ``numbers`` begin with the story that gives the headline."""

    numbers: tuple[int, ...]
    stories: tuple[Story, ...]
    fit: tuple[float, ...]
    title: str
    full_title: str
    quotes: tuple[str, ...]
    echo: Echo
    beside: int
    """Words that are shown with it: the names of its sources, and a caution."""
    sentences: list[str] = field(default_factory=list)

    @property
    def topic(self) -> int | None:
        """Return the position of the topic it stands under: of those that fit, the first one configured."""
        if self.echo is Echo.REPEAT:
            return None
        return next((at for at, score in enumerate(self.fit) if score >= FITS), None)

    @property
    def words(self) -> int:
        """Return the words of headline and sentences."""
        return word_total(self.title) + sum(map(word_total, self.sentences))


def accounts(brief: Brief, similarity: Similarity | None) -> list[Account]:
    """Return all events, the weightiest first, repeats of the last digest behind all others."""
    meaning = _once(similarity)
    fits = topic_scores(brief.stories, brief.topics, meaning)
    told = echoes(brief.stories, brief.previous)
    worn = _worn(brief.stories)
    events = []
    for group in same_events(brief.stories, meaning):
        first = group[best_titled([brief.stories[position] for position in group])]
        order = (first, *(position for position in group if position != first))
        stories = tuple(brief.stories[position] for position in order)
        title, _ = headline(stories)
        events.append(
            Account(
                numbers=tuple(position + 1 for position in order),
                stories=stories,
                fit=tuple(map(max, zip(*(fits[position] for position in order), strict=True))),
                title=title,
                full_title=title,
                quotes=quotable(stories, title, worn),
                echo=_echo([told[position] for position in order]),
                beside=_words_beside(stories),
            )
        )
    topic = [float(event.topic is not None) for event in events]
    order = ranked([event.stories for event in events], topic, brief.since, brief.until)
    return sorted((events[position] for position in order), key=lambda event: event.echo is Echo.REPEAT)


def _once(similarity: Similarity | None) -> Similarity | None:
    """Return an embedding that computes no text twice."""
    if similarity is None:
        return None
    known: dict[str, Vector] = {}

    def remembering(texts: Sequence[str]) -> Sequence[Vector]:
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(fresh, similarity(fresh), strict=True) if fresh else ())
        return [known[text] for text in texts]

    return remembering


def _words_beside(stories: Sequence[Story]) -> int:
    places = [place for story in stories for place in ((story.source, story.link), *story.also)]
    labels = list(dict.fromkeys(source_label(*place) for place in places))
    caution = {what for story in stories for what in story.suspicious}
    joints = (len(labels) > 1) + (CAUTION_WORDS if caution else 0)
    return joints + sum(map(word_total, labels)) + sum(map(word_total, caution))


def _worn(stories: Sequence[Story]) -> frozenset[str]:
    counts = Counter(text for story in stories for text in dict.fromkeys(sentences(story.excerpt)))
    return frozenset(text for text, count in counts.items() if count >= WORN)


def _echo(each: Sequence[Echo]) -> Echo:
    """Return what an event is: a repeat only if all its stories are, new only if all are, else an update."""
    if all(echo is Echo.REPEAT for echo in each):
        return Echo.REPEAT
    return Echo.NEW if all(echo is Echo.NEW for echo in each) else Echo.UPDATE
