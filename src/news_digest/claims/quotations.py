"""Quotations of a text, and whether a story has them word for word."""

from __future__ import annotations

import re

from news_digest.words import words

__all__ = ["is_quoted_from", "quotations"]

_QUOTED = re.compile(
    r'"([^"\n]{2,}?)"'
    r"|[\u201c\u201e]([^\u201c\u201d\u201e\n]{2,}?)[\u201d\u201c]"
    r"|[\u00ab\u2039]\s?([^\u00ab\u00bb\u2039\u203a\n]{2,}?)\s?[\u00bb\u203a]"
    r"|[\u300c\u300e]([^\u300c-\u300f\n]{2,}?)[\u300d\u300f]"
    r"|(?<![\w\u2019'])[\u2018']([^\u2018\n]{2,}?[^\s])[\u2019'](?![\w])"
)
"""Between marks of any kind; single ones only where they are no apostrophe."""

_OMITTED = re.compile(r"\u2026|\.\.\.|\[[^\]]*\]")
"""What a quotation may leave out or put in: an ellipsis, a word in square brackets."""


def quotations(text: str) -> list[str]:
    """Return what stands between quotation marks, without them; an open quotation reaches to the end of the text."""
    found = [next(filter(None, match.groups())) for match in _QUOTED.finditer(text)]
    rest = _QUOTED.sub(" ", text)
    closed = max(map(rest.rfind, "\u201d\u00bb")) + 1
    opened = min((at for mark in "\u201c\u201e\u00ab" if (at := rest.find(mark, closed)) >= 0), default=-1)
    return [*found, rest[opened + 1 :]] if 0 <= opened < len(rest) - 2 else found


def is_quoted_from(quotation: str, run: str) -> bool:
    """Return whether the words of a quotation stand so, piece by piece, in ``run``: words between single spaces."""
    start = 0
    for piece in _OMITTED.split(quotation):
        wanted = " ".join(words(piece))
        if not wanted:
            continue
        found = f" {run} ".find(f" {wanted} ", start)
        if found < 0:
            return False
        start = found + len(wanted)
    return True
