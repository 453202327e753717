"""Sentences of a plain text, each a verbatim piece of it."""

from __future__ import annotations

import re

__all__ = ["ends_whole", "sentences", "word_total"]

_WIDE = "\u3002\uff01\uff1f\u0964\u061f\u06d4"
"""Marks of Chinese and Japanese, Devanagari, Arabic and Urdu; what follows them has no capitals."""

_CLOSING = r"""["'\u201d\u2019)\]\uff09\u300d\u300f]*+"""

_END = re.compile(
    rf"(?P<mark>(?<![.!?\u2026])[.!?\u2026]++{_CLOSING})\s++"  # a mark and a space, then a capital, a digit or a sign
    r"""(?=["'\u201c\u2018(\[]*[^\W_a-z]|[^\w\s\x00-\x7f])"""
    rf"|(?P<wide>[{_WIDE}]++{_CLOSING})"
)

_ABBREVIATIONS = frozenset(
    """
    mr mrs ms dr prof rev gen col lt sgt capt gov sen rep st jr sr inc ltd co corp vs etc no vol fig approx dept est
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun eg ie al u.s u.k u.n e.g i.e a.m p.m
    d.c ph.d
    """.split()  # noqa: SIM905
)
"""A full stop after these ends no sentence where a capital or digit follows; it may be the wrong call at a true end,
which joins two sentences: still verbatim."""

_WHOLE = re.compile(rf"[.!?{_WIDE}]{_CLOSING}$")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, white space folded; joined by single spaces they are the folded text again.

    (Chinese and Japanese marks need no space after them.) A cut text ends in a fragment, which is returned too: see
    :func:`ends_whole`.
    """
    flat = " ".join(text.split())
    found, start = [], 0
    for match in _END.finditer(flat):
        end = match.end("wide") if match["wide"] else match.end("mark")
        if match["mark"] and _is_abbreviation(flat[start : match.start("mark")], match["mark"]):
            continue
        found.append(flat[start:end].strip())
        start = match.end()
    found.append(flat[start:].strip())
    return [each for each in found if each]


def _is_abbreviation(before: str, mark: str) -> bool:
    if mark != ".":
        return False
    last = before.rsplit(" ", 1)[-1].lstrip("(\"'\u201c\u2018[").lower()
    return last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha())


def ends_whole(sentence: str) -> bool:
    """Return whether a sentence ends as one, and was not cut off or left open."""
    return bool(_WHOLE.search(sentence)) and not sentence.endswith("...")


_WIDE_CHARACTERS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def word_total(text: str) -> int:
    """Return how many words a text has, two characters of an unspaced script counted as one word."""
    spaced = len(text.split())
    wide = 0 if text.isascii() else len(_WIDE_CHARACTERS.findall(text))
    others = sum(1 for word in _WIDE_CHARACTERS.sub(" ", text).split() if any(map(str.isalnum, word))) if wide else 0
    return max(spaced, others + (wide + 1) // 2)
