"""How well a story fits a topic as people phrase it: one function for all writers, pure and deterministic.

A topic that :mod:`news_digest.lexicon` knows is found by its words, names and products; any other phrase by its stemmed
words. An embedding, where one is given, adds the meaning. Scores are scaled so that one bound holds for every topic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from news_digest.grouping import Similarity, dot, story_text
from news_digest.lexicon import Topic, topic_for
from news_digest.model import Story
from news_digest.words import stem, terms, words

__all__ = ["FITS", "belongs", "topic_scores"]

FITS = 0.5
"""The score from which a story belongs to a topic."""

STRONG_IN_TITLE, STRONG_IN_TEXT, WEAK_IN_TITLE, WEAK_IN_TEXT = 0.75, 0.5, 0.4, 0.2
"""What one distinct word of a known topic contributes, as independent evidence: 1 - (1 - a)(1 - b)..."""

KNOWN_FITS = 0.70
"""Evidence plus meaning from which a known topic fits; chosen on the calibration part of ``benchmarks/labels``."""

PHRASE_LEAST = 0.75
"""Share of an unknown phrase's words that a story must have; one that only the excerpt has counts for 0.8."""

MEANING_FITS, MEANING_SCALE = 0.33, 1.5
"""Cosine from which an unknown phrase fits by meaning alone, and how fast the score changes around it."""


def topic_scores(
    stories: Sequence[Story], topics: Sequence[str], similarity: Similarity | None = None
) -> tuple[tuple[float, ...], ...]:
    """Return per story one score per topic, from 0 to 1; from :data:`FITS` on it belongs to the topic."""
    known = [topic_for(topic) for topic in topics]
    evidence = [
        [_evidence(story, entry) if entry else _share(story, topic) for topic, entry in zip(topics, known, strict=True)]
        for story in stories
    ]
    if similarity is None or not stories or not topics:
        return tuple(map(tuple, evidence))
    texts = similarity([story_text(story) for story in stories])
    phrases = similarity([entry.phrase if entry else topic for topic, entry in zip(topics, known, strict=True)])
    return tuple(
        tuple(
            _known_score(score, dot(text, phrase)) if entry else _unknown_score(score, dot(text, phrase))
            for score, phrase, entry in zip(row, phrases, known, strict=True)
        )
        for row, text in zip(evidence, texts, strict=True)
    )


def belongs(topics: Sequence[str], similarity: Similarity | None = None) -> Callable[[Story], bool]:
    """Return the question whether a story belongs to one of the topics; without topics every story does."""

    def asked(story: Story) -> bool:
        return not topics or max(topic_scores([story], topics, similarity)[0]) >= FITS

    return asked


def _evidence(story: Story, topic: Topic) -> float:
    """Return how sure the words of a known topic make it, from 0 to 1."""
    strong, weak = topic.strong(story.title), topic.weak(story.title)
    against = (
        (1 - STRONG_IN_TITLE) ** len(strong)
        * (1 - WEAK_IN_TITLE) ** len(weak)
        * (1 - STRONG_IN_TEXT) ** len(topic.strong(story.excerpt) - strong)
        * (1 - WEAK_IN_TEXT) ** len(topic.weak(story.excerpt) - weak)
    )
    return 1 - against


def _share(story: Story, phrase: str) -> float:
    """Return the share of an unknown phrase's words that a story has; below :data:`PHRASE_LEAST` it counts half."""
    wanted = set(terms(phrase)) or {stem(word) for word in words(phrase)}
    if not wanted:
        return 0.0
    title, text = set(terms(story.title)), set(terms(story.excerpt))
    share = sum(1.0 if term in title else 0.8 if term in text else 0.0 for term in sorted(wanted)) / len(wanted)
    return share if share >= PHRASE_LEAST else share / 2


def _known_score(evidence: float, meaning: float) -> float:
    return _bounded((evidence + meaning) * FITS / KNOWN_FITS)


def _unknown_score(share: float, meaning: float) -> float:
    return _bounded(max(share, FITS + MEANING_SCALE * (meaning - MEANING_FITS)))


def _bounded(score: float) -> float:
    return min(1.0, max(0.0, score))
