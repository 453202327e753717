"""How well a story fits a topic as people phrase it: one function for all writers, pure and deterministic.

A topic that :mod:`news_digest.lexicon` knows is found by its words, names and products; any other phrase by its stemmed
words. An embedding, where one is given, adds the meaning. Scores are calibrated per topic so that one bound holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from news_digest.grouping import Similarity, Vector, dot, story_text
from news_digest.lexicon import Topic, topic_for
from news_digest.model import Story
from news_digest.words import stem, terms, words

__all__ = ["FITS", "belongs", "topic_scores"]

FITS = 0.5
"""The score from which a story belongs to a topic."""

TITLE_STRONG, TEXT_STRONG, TITLE_WEAK, TEXT_WEAK = 0.75, 0.5, 0.4, 0.2
"""What one distinct word of a topic contributes, as independent evidence: 1 - (1 - a)(1 - b)..."""


def topic_scores(
    stories: Sequence[Story], topics: Sequence[str], similarity: Similarity | None = None
) -> tuple[tuple[float, ...], ...]:
    """Return per story one score per topic, from 0 to 1; from :data:`FITS` on it belongs to the topic."""
    known = [topic_for(topic) for topic in topics]
    rows = [
        tuple(_by_words(story, topic, entry) for topic, entry in zip(topics, known, strict=True)) for story in stories
    ]
    if similarity is None or not stories or not topics:
        return tuple(rows)
    texts = similarity([story_text(story) for story in stories])
    phrases = similarity([entry.phrase if entry else topic for topic, entry in zip(topics, known, strict=True)])
    return tuple(
        tuple(_with_meaning(score, text, phrase) for score, phrase in zip(row, phrases, strict=True))
        for row, text in zip(rows, texts, strict=True)
    )


def belongs(topics: Sequence[str], similarity: Similarity | None = None) -> Callable[[Story], bool]:
    """Return the question whether a story belongs to one of the topics; without topics every story does."""

    def asked(story: Story) -> bool:
        return not topics or max(topic_scores([story], topics, similarity)[0]) >= FITS

    return asked


def _by_words(story: Story, topic: str, entry: Topic | None) -> float:
    if entry is None:
        return _by_phrase(story, topic)
    title = entry.strong(story.title), entry.weak(story.title)
    text = entry.strong(story.excerpt) - title[0], entry.weak(story.excerpt) - title[1]
    against = (
        (1 - TITLE_STRONG) ** len(title[0])
        * (1 - TITLE_WEAK) ** len(title[1])
        * (1 - TEXT_STRONG) ** len(text[0])
        * (1 - TEXT_WEAK) ** len(text[1])
    )
    return 1 - against


def _by_phrase(story: Story, topic: str) -> float:
    """Return the share of the phrase's words that the story has; those only in the excerpt count for less."""
    wanted = set(terms(topic)) or {stem(word) for word in words(topic)}
    if not wanted:
        return 0.0
    title, text = set(terms(story.title)), set(terms(story.excerpt))
    found = sum(1.0 if term in title else 0.7 if term in text else 0.0 for term in sorted(wanted))
    return min(1.0, found / len(wanted)) if found / len(wanted) > 0.6 else found / len(wanted) / 2  # noqa: PLR2004


def _with_meaning(score: float, text: Vector, phrase: Vector) -> float:
    return min(1.0, max(0.0, 0.6 * score + dot(text, phrase)))
