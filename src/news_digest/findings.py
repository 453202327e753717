"""What the checker may find, each thing named, with its place and the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from news_digest.model import Draft

__all__ = ["WHOLE", "Finding", "Kind", "Place", "Review"]

WHOLE = -2

SHOWN_CHARACTERS = 200
"""Most of a sentence that a finding's own sentence shows."""


class Kind(StrEnum):
    """What is wrong."""

    LINK = "link"
    """An address in the text: links are made from the stories alone."""
    MARKUP = "markup"
    """An image, HTML, a code fence, a template token, a control character."""
    LEAK = "leak"
    """Words of the prompt, a fence mark, a secret."""
    SOURCE = "source"
    """No story stands behind it, or one that does not exist."""
    NUMBER = "number"
    DATE = "date"
    QUOTATION = "quotation"
    NAME = "name"
    CITATION = "citation"
    """The words are not those of the stories that it names; often they are another story's."""
    SUSPECT = "suspect"
    """The lead rests on a story whose text tried to give orders, or hid something."""
    REPEAT = "repeat"
    """A story in two items, or a sentence twice."""
    EMPTY = "empty"
    """A section without items."""
    LENGTH = "length"
    LANGUAGE = "language"
    FORM = "form"
    """A headline or sentence of a single word, or without any."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where in a draft: ``section`` 0 is the lead, -1 the headlines, -2 all of it, others count from 1, as items do.

    An item's sentence 0 is its headline; -1 means the item, or the section, as a whole.
    """

    section: int
    item: int = -1
    sentence: int = -1

    def __str__(self) -> str:
        """Return the place in words."""
        if self.section == WHOLE:
            return "digest"
        if self.section == 0:
            return f"lead, sentence {self.sentence}" if self.sentence > 0 else "lead"
        part = "headlines" if self.section < 0 else f"section {self.section}"
        if self.item < 0:
            return part
        where = {-1: "", 0: ", headline"}.get(self.sentence, f", sentence {self.sentence}")
        return f"{part}, item {self.item}{where}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: what kind, where, the sentence, and what the stories say to it."""

    kind: Kind
    place: Place
    sentence: str
    evidence: str

    def __str__(self) -> str:
        """Return kind, place, sentence and evidence."""
        text = self.sentence if len(self.sentence) <= SHOWN_CHARACTERS else self.sentence[: SHOWN_CHARACTERS - 1] + "…"
        return (
            f"{self.kind} ({self.place}): “{text}”: {self.evidence}"
            if text
            else f"{self.kind} ({self.place}): {self.evidence}"
        )


@dataclass(frozen=True, slots=True)
class Review:
    """A draft and what is wrong with it; the draft that ``checked`` returns has been put right."""

    draft: Draft
    findings: tuple[Finding, ...] = ()

    @property
    def clean(self) -> bool:
        """Return whether nothing was found."""
        return not self.findings

    def counts(self) -> dict[str, int]:
        """Return how many findings there are of each kind that was found."""
        return {str(kind): total for kind in Kind if (total := sum(each.kind == kind for each in self.findings))}
