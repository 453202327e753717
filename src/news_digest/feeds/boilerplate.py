"""What publishing software adds to each item: known sentences, and whatever repeats across a feed's items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

__all__ = ["repeated", "stripped"]

_SAMPLE_LEAST: Final = 3
"""Two items may well share a sentence that is news in both."""
_SHARE: Final = 0.6
_LINE_MOST: Final = 300
"""A longer line that repeats is an article given twice, no boilerplate."""

_APPEARED: Final = (
    "The post .{1,300}? (?:first )?appeared (?:first )?on|Der Beitrag .{1,300}? erschien zuerst auf",
    "L.article .{1,300}? est apparu en premier sur|La entrada .{1,300}? (?:se publicó primero en|aparece primero en)",
    "L.articolo .{1,300}? (?:proviene da|sembra essere il primo su)|O post .{1,300}? apareceu primeiro em",
    "Het bericht .{1,300}? verscheen eerst op|Artykuł .{1,300}? pochodzi z serwisu",
    "Inlägget .{1,300}? dök först upp på|Запись .{1,300}? впервые появилась",
    "Сообщение .{1,300}? появились сначала на|Indlægget .{1,300}? blev først udgivet på",
    "Příspěvek .{1,300}? pochází z|Artikkelen .{1,300}? dukket først opp på|L.entrada .{1,300}? ha aparegut primer a",
)
"""What WordPress puts under each item, in its translations."""
_KNOWN: Final = re.compile(
    rf"(?:{'|'.join(_APPEARED)})\s+[^.!?]{{1,100}}(?:\.[^\s.!?]+)*[.!?]?$"
    r"|(?:\[?\s*(?:Continue reading|Read (?:the )?(?:full|whole|more|rest)|Weiterlesen|Lire la suite|Leer más|"
    r"Leggi tutto|"
    r"Lees verder|Читать далее|Czytaj więcej)\b[^.!?]{0,160}[.!?…→»\]\s]*)$"
    r"|\(Feed generated with [^)]{1,60}\)$"
    r"|^submitted by /?u/\S{1,60}(?: to r/\S{1,60})?(?: \[link\])?(?: \[comments\])?$|\[link\] \[comments\]$"
    r"|^(?:Article|Comments) URL: \S+$|^(?:Points: \d+|# Comments: \d+)$|^Comments$",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+(?=\S)")


def stripped(lines: Sequence[str], title: str, repeating: frozenset[str]) -> list[str]:
    """Return the lines of an item without known boilerplate and without what repeats in its feed."""
    kept = []
    for line in lines:
        sentences = [each for each in _SENTENCE.split(line) if _key(each, title) not in repeating]
        rest = _KNOWN.sub("", " ".join(sentences)).strip()
        if rest:
            kept.append(rest)
    return kept


def repeated(items: Iterable[tuple[Sequence[str], str]]) -> frozenset[str]:
    """Return the sentences that most items of a feed hold, their own titles aside; items are (lines, title)."""
    counts: Counter[str] = Counter()
    total = 0
    for lines, title in items:
        total += 1
        counts.update(
            {_key(each, title) for line in lines for each in _SENTENCE.split(line) if len(each) <= _LINE_MOST}
        )
    if total < _SAMPLE_LEAST:
        return frozenset()
    return frozenset(key for key, count in counts.items() if count >= max(_SAMPLE_LEAST, _SHARE * total))


def _key(sentence: str, title: str) -> str:
    """Return a sentence as it is compared: without the item's own title."""
    return sentence.replace(title, "\0") if title else sentence
