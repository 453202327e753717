"""Topics as people phrase them: synonyms, names of companies and products, per common topic.

Entries (in :mod:`news_digest.topics`) are separated by commas. One with a capital letter is matched as written, any
other in any case; a ``*`` at its end stands for any ending, and a plural s is always allowed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from news_digest.topics import ENTRIES, LEXICON_VERSION
from news_digest.words import fold

__all__ = ["LEXICON_VERSION", "Topic", "known_topics", "topic_for"]


@dataclass(frozen=True, slots=True)
class Topic:
    """A common topic: its phrase, what else people call it, words that settle it, words that only hint at it."""

    phrase: str
    names: str
    strong_words: str
    weak_words: str

    def strong(self, text: str) -> frozenset[str]:
        """Return the distinct settling words that a text has, in lower case."""
        return _found(self.strong_words, text)

    def weak(self, text: str) -> frozenset[str]:
        """Return the distinct hinting words that a text has, in lower case."""
        return _found(self.weak_words, text)


def known_topics() -> tuple[Topic, ...]:
    """Return all topics of the lexicon."""
    return tuple(_by_name_and_phrase()[0])


def topic_for(phrase: str) -> Topic | None:
    """Return the topic that a phrase means, ``News about A.I.`` for one; None for a phrase that is not known."""
    return _by_name_and_phrase()[1].get(_key(phrase))


def _key(phrase: str) -> str:
    plain = " ".join(re.findall(r"[\w+#]+", fold(phrase).replace("a.i.", "ai")))
    return re.sub(r"^(?:the|latest|news (?:about|on|from)|all about) | (?:news|stories|updates)$", "", plain)


@cache
def _by_name_and_phrase() -> tuple[list[Topic], Mapping[str, Topic]]:
    topics = [Topic(*entry) for entry in ENTRIES]
    names = {_key(name): topic for topic in reversed(topics) for name in _entries(topic.names)}
    return topics, names | {_key(topic.phrase): topic for topic in topics}


def _found(listed: str, text: str) -> frozenset[str]:
    if not text:
        return frozenset()
    return frozenset(match.lower().removesuffix("s") for match in _pattern(listed).findall(text))


@cache
def _pattern(listed: str) -> re.Pattern[str]:
    """Compile a list at its first use; longer entries first, so that the fuller one is the one that is found."""
    entries = sorted(_entries(listed), key=lambda entry: (-len(entry), entry))
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(_expression, entries))})(?!\w)")


def _entries(listed: str) -> list[str]:
    return [entry.strip() for entry in " ".join(listed.split()).split(",") if entry.strip()]


def _expression(entry: str) -> str:
    body = re.escape(entry.removesuffix("*")).replace(r"\ ", r"[\s-]+").replace("'", "['\u2019]")
    body += r"[\w.-]*" if entry.endswith("*") else "s?"
    return body if entry != entry.lower() else f"(?i:{body})"
