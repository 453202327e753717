"""What stories bear out, taken apart once: their numbers, dates, words; and what a sentence claims beyond it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from news_digest.claims.dates import Calendar, calendar, date_claims, without_dates
from news_digest.claims.language import language_of
from news_digest.claims.names import Known, known, name_claims
from news_digest.claims.numbers import Quantity, agrees, ordinals, quantities
from news_digest.claims.quotations import is_quoted_from, quotations
from news_digest.model import Story
from news_digest.words import STOP_WORDS, stem, words

__all__ = ["Evidence", "content"]


def content(text: str) -> frozenset[str]:
    """Return the stems of the words that carry a text's subject."""
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS)


@dataclass(frozen=True)
class Evidence:
    """The stories that a sentence rests on; its parts are made when first asked for."""

    stories: Sequence[Story]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Return titles and excerpts: a headline may hold a number that its excerpt lacks."""
        return tuple(text for story in self.stories for text in (story.title, story.excerpt) if text)

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """Return the words of each text between single spaces."""
        return tuple(" ".join(words(text)) for text in self.texts)

    @cached_property
    def content(self) -> frozenset[str]:
        """Return the stems of all texts."""
        return frozenset[str]().union(*map(content, self.texts))

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Return all numbers, those of dates included."""
        return tuple(each for text in self.texts for each in (*quantities(text), *ordinals(text)))

    @cached_property
    def calendar(self) -> Calendar:
        """Return all dates."""
        return calendar((text, story.published) for story in self.stories for text in (story.title, story.excerpt))

    @cached_property
    def known(self) -> Known:
        """Return all words that may bear out a name, those of the sources' own names included."""
        names = [name for story in self.stories for name in (story.source, *(other for other, _ in story.also))]
        return known([*self.texts, *names])

    @cached_property
    def language(self) -> str:
        """Return the language of the texts, nothing where it cannot be told."""
        return language_of(" ".join(self.texts))

    def holds(self, sentence: str) -> bool:
        """Return whether a text has the sentence word for word, whatever its marks and its spaces."""
        run = " ".join(words(re.sub(r"(?:\u2026|\.\.\.)$", "", sentence.strip())))
        return bool(run) and any(f" {run} " in f" {other} " for other in self.runs)

    def strange_numbers(self, sentence: str) -> list[str]:
        """Return the numbers of a sentence that no story has."""
        return [said.text.strip() for said in quantities(without_dates(sentence)) if not agrees(said, self.quantities)]

    def strange_dates(self, sentence: str, today: date) -> list[str]:
        """Return the dates of a sentence that no story bears out."""
        return [said.text for said in date_claims(sentence) if not self.calendar.has(said, today)]

    def strange_quotations(self, sentence: str) -> list[str]:
        """Return the quotations of a sentence that no story has word for word."""
        return [said for said in quotations(sentence) if not any(is_quoted_from(said, run) for run in self.runs)]

    def strange_names(self, sentence: str, proper: Iterable[str] = (), *, capitals_tell: bool = True) -> list[str]:
        """Return the names of a sentence that no story has in any form."""
        claims = name_claims(sentence, frozenset(proper), capitals_tell=capitals_tell)
        return list(dict.fromkeys(claim.word for claim in claims if not self.known.has(claim)))

    def coverage(self, sentence: str) -> float:
        """Return the share of a sentence's words that the stories have, as they are or abbreviated; 1.0 without any."""
        said = content(sentence)
        names = {stem(word) for claim in name_claims(sentence) if self.known.has(claim) for word in words(claim.word)}
        return len(said & (self.content | names)) / len(said) if said else 1.0
