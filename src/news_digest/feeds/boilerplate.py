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

_TITLE: Final = "\0"
"""What stands for the item's own title while its text is looked at."""
_APPEARED: Final = (
    f"The post .{{1,300}}? appeared first on|The post {_TITLE} (?:first )?appeared on",
    "Der Beitrag .{1,300}? erschien zuerst auf",
    "L.article .{1,300}? est apparu en premier sur|La entrada .{1,300}? (?:se publicó primero en|aparece primero en)",
    "L.articolo .{1,300}? (?:proviene da|sembra essere il primo su)|O post .{1,300}? apareceu primeiro em",
    "Het bericht .{1,300}? verscheen eerst op|Artykuł .{1,300}? pochodzi z serwisu",
    "Inlägget .{1,300}? dök först upp på|Запись .{1,300}? впервые появилась",
    "Сообщение .{1,300}? появились сначала на|Indlægget .{1,300}? blev først udgivet på",
    "Příspěvek .{1,300}? pochází z|Artikkelen .{1,300}? dukket først opp på|L.entrada .{1,300}? ha aparegut primer a",
)
"""What WordPress puts under each item, in its translations."""
_MORE: Final = (
    "Continue reading|Keep reading|Read more|Weiter ?lesen|Mehr lesen|Lire la suite|Continuer la lecture",
    "En savoir plus|Leer más|Seguir leyendo|Sigue leyendo|Continúa leyendo|Leggi tutto|Continua a leggere|Leia mais",
    "Continue lendo|Lees verder|Lees meer|Läs mer|Læs mere|Les mer|Lue lisää|Czytaj (?:dalej|więcej)",
    "Číst dál|Celý článek|Tovább(?: olvasom)?|Baca selengkapnya|Đọc tiếp|Xem thêm|और पढ़ें|阅读更多|اقرأ أكثر",
    "Читать (?:далее|дальше|полностью)|Подробнее|Читати далі|Διαβάστε περισσότερα|Devamını oku",
    "続きを読む|阅读全文|继续阅读|閱讀全文|繼續閱讀|계속 읽기|더 보기|اقرأ المزيد|ادامه مطلب|קרא עוד",
)
"""Words of a link to the rest."""
_WHOLE: Final = (
    r"(?:Read|Continue reading) (?:the )?(?:full|whole|entire|complete|original|rest of (?:the|this)) \w+",
    r"(?:Read|Continue reading) the rest\b",
    r"(?:Read more|Continue reading)(?::| (?:about|at|from|here|on)\b)",
)
_START: Final = r"(?:^|(?<=[.!?…।۔؟。！？\])»\"”])\s*)"
_END: Final = r"[.!?…→»›>\])\s]*$"
_KNOWN: Final = re.compile(
    rf"(?:{'|'.join(_APPEARED)})\s+[^.!?]{{1,100}}(?:\.[^\s.!?]+)*[.!?]?$"
    rf"|{_START}[\[(]?\s*(?:{'|'.join(_MORE)})(?:\s*:?\s*[\"“„«']?{_TITLE}[^.!?]{{0,60}})?{_END}"
    rf"|\b(?:{'|'.join(_MORE)})\b[^.!?]{{0,160}}→[\])\s]*$"
    rf"|(?<![«‹])(?<![«‹]\s)\b(?-i:(?![a-zß-ÿа-я]))(?:{'|'.join(_MORE)})\b[^.!?]{{0,160}}[»›][\])\s]*$"
    rf"|{_START}(?:{'|'.join(_WHOLE)})[^.!?]{{0,160}}{_END}"
    r"|[\[(]more(?:…|\.\.\.)[\])]$"
    r"|\(Feed generated with [^)]{1,60}\)$"
    r"|^submitted by /?u/\S{1,60}(?: to r/\S{1,60})?(?: \[link\])?(?: \[comments\])?$|\[link\] \[comments\]$"
    r"|^(?:Article|Comments) URL: \S+$|^(?:Points: \d+|# Comments: \d+)$|^Comments$",
    re.IGNORECASE,
)
_TAIL: Final = 500
"""Characters at the end of a line that are looked at: more than any of these has."""
_SENTENCE: Final = re.compile(r"(?<=[.!?…।۔؟]\s)(?=\S)|(?<=[。！？])(?=\S)")
"""Where a sentence begins; the space before it stays with the one before."""


def stripped(lines: Sequence[str], title: str, repeating: frozenset[str]) -> list[str]:
    """Return the lines of an item without known boilerplate and without what repeats in its feed."""
    kept = []
    for line in lines:
        sentences = [each for each in _SENTENCE.split(line) if _key(each, title) not in repeating]
        rest = _key("".join(sentences).replace(_TITLE, ""), title)
        known = _KNOWN.search(rest, max(0, len(rest) - _TAIL))
        rest = rest[: known.start()].rstrip() if known else rest
        if rest:
            kept.append(rest.replace(_TITLE, title))
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
    sentence = sentence.strip()
    return sentence.replace(title, _TITLE) if title else sentence
