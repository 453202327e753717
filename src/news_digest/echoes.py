"""What of today's stories the last digest told already: a repeat, or an update of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from news_digest.model import Story
from news_digest.words import terms

__all__ = ["Echo", "echoes"]


class Echo(StrEnum):
    """What a story is to the last digest."""

    NEW = "new"
    UPDATE = "update"
    """It goes on with something that was told: much of its title stood there, and it says more."""
    REPEAT = "repeat"
    """It was told: its title stood there, all but whole."""


LINK = re.compile(r"\]\([^)]*\)|https?://\S+")
"""An address is no word of a digest."""

SHORTEST = 3
"""Words of subject; a shorter title is like too much."""

FOLLOWS = 0.6
"""Share of a title's words that one line of the last digest has where the event is the same."""

TOLD = 0.85
"""Share from which nothing new is left to tell."""

FRESH = 0.5
"""Share of the story's own words beyond its title that the line lacks, from which it is an update all the same."""


def echoes(stories: Sequence[Story], previous: str) -> tuple[Echo, ...]:
    """Return for each story what it is to the text of the last digest; all are new where there is none.

    Compared with one line at a time, since a digest has a line per event. Time grows with stories times lines.
    """
    lines = [found for line in previous.splitlines() if len(found := set(terms(LINK.sub(" ", line)))) >= SHORTEST]
    return tuple(_echo(story, lines) for story in stories)


def _echo(story: Story, lines: Sequence[set[str]]) -> Echo:
    title = set(terms(story.title))
    if len(title) < SHORTEST or not lines:
        return Echo.NEW
    line = max(lines, key=lambda each: len(title & each))
    share = len(title & line) / len(title)
    if share < FOLLOWS:
        return Echo.NEW
    said = set(terms(story.excerpt)) - title
    fresh = len(said - line) / len(said) if said else 0.0
    return Echo.REPEAT if share >= TOLD and fresh < FRESH else Echo.UPDATE
