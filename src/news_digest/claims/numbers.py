"""Numbers as a text states them, and whether another text has them: digits, words, scales, honest rounding.

Compared are values, so ``4.2 million``, ``$4.2M`` and ``4,200,000`` agree, and a changed digit or scale does not. The
words are English ones; digits are read in any language.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Quantity", "agrees", "ordinals", "quantities"]

UNITS = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
SCALES = {
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "dozen": 12.0,
    "k": 1e3,
    "m": 1e6,
    "mn": 1e6,
    "mln": 1e6,
    "b": 1e9,
    "bn": 1e9,
    "tn": 1e12,
    "t": 1e12,
    "lakh": 1e5,
    "crore": 1e7,
}
ORDINALS = {
    word: float(value)
    for value, word in enumerate(
        ["second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], start=2
    )
}
SHORT = frozenset("kmbt")
"""One letter may be a scale or a unit (5 m); a story's is read as both, a sentence's as a scale."""

OVER = frozenset(["over", "above", "exceeding", "exceeds", "least", "topped", "topping", "past", "beyond"])
UNDER = frozenset(["nearly", "almost", "under", "below", "fewer", "less", "up", "close", "approaching", "just", "most"])
NEAR = frozenset(["about", "around", "roughly", "approximately", "approx", "some", "circa", "ca", "near", "estimated"])
HEDGES = OVER | UNDER | NEAR | {"more", "than"}

_WORDS = "|".join(
    sorted([*UNITS, *TENS, "hundred", "thousand", "million", "billion", "trillion", "dozen"], key=len)[::-1]
)
_TOKEN = re.compile(
    r"(?P<label>\d+(?:\.\d+){2,})"  # a version, a network address: compared as it is
    r"|(?P<clock>(?<!\d)\d{1,2}:\d{2}(?::\d{2})?)"
    r"|(?<![A-Za-z\d])(?P<digits>\d{1,3}(?:[,\u00a0\u202f\u2009'\u2019]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)"
    r"(?:st|nd|rd|th)?"
    r"(?:[ \u00a0-]?(?P<scale>(?:hundred|thousand|million|billion|trillion|dozen|lakh|crore)s?|mn|mln|bn|tn|[kmbt])"
    r"(?![^\W_]))?"
    rf"|(?<![^\W_])(?P<words>(?:half a |a )?(?:{_WORDS})s?(?:(?:[ -]| and )(?:{_WORDS}))*)(?![^\W_])",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"(?<![\d,.])(\d[\d,.]{0,15})\s?(?:-|\u2013|to|and|or)\s?[$\u20ac\u00a3]?\d[\d,.]*[ -]?"
    r"(hundred|thousand|million|billion|trillion|mn|bn|tn|[kmbt])\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text: its value, how many of its digits are meant, and how it is hedged (``over``, ``about``)."""

    text: str
    value: float
    digits: int
    label: str = ""
    """Set for what is no quantity (2.0.1, 9:30): compared as text."""
    hedge: str = ""
    also: tuple[float, ...] = ()
    """Other values that the text may mean."""


def quantities(text: str) -> list[Quantity]:
    """Return the numbers of a text in order; the words "one" and "a" alone count for none."""
    found = []
    for match in _TOKEN.finditer(text):
        if match["label"]:
            found.append(Quantity(match.group(), math.nan, 0, label=match["label"]))
        elif match["clock"]:
            found.append(_clock(match["clock"]))
        elif match["digits"]:
            found.append(_digits(text, match))
        elif (value := _spoken(match["words"])) is not None:
            found.append(Quantity(match.group(), value, _significant(value), hedge=_hedge(text, match.start())))
    for first, scale in _RANGE.findall(text):
        value = _plain(first) * SCALES[scale.lower()]
        found.append(Quantity(first, _plain(first), _significant(value), also=(value,)))
    return found


def ordinals(text: str) -> list[Quantity]:
    """Return the ordinal words of a text: the ninth outbreak bears out that there were nine."""
    found = (ORDINALS.get(word) for word in re.findall(r"[a-z]+", text.lower()))
    return [Quantity(str(value), value, 1) for value in found if value]


def _clock(text: str) -> Quantity:
    hour, minute = text.split(":")[:2]
    also = (float(hour), float(int(hour) % 12 or 12)) if minute == "00" else ()
    return Quantity(text, math.nan, 0, label=f"{int(hour)}:{minute}", also=also)


def _digits(text: str, match: re.Match[str]) -> Quantity:
    value, scale = _plain(match["digits"]), (match["scale"] or "").lower().removesuffix("s")
    digits = len(re.sub(r"\D", "", match["digits"]).lstrip("0")) or 1
    if "." not in match["digits"]:
        digits = _significant(value)
    hedge = _hedge(text, match.start())
    if text[match.end() : match.end() + 1] == "+" or text[match.end() : match.end() + 6] == " or so":
        hedge = hedge or "over"
    also = (value,) if scale in SHORT and scale else ()
    return Quantity(match.group(), value * SCALES.get(scale, 1.0), digits, hedge=hedge, also=also)


def _plain(digits: str) -> float:
    """Return the value of digits with either convention of separators: 1,234.5 and 3,5 and 1'000."""
    bare = re.sub(r"[\u00a0\u202f\u2009'\u2019]", "", digits).strip(".,")
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", bare):
        return float(bare.replace(",", ""))
    if re.fullmatch(r"\d+,\d+", bare):
        return float(bare.replace(",", "."))
    whole = bare.replace(",", "")
    return float(whole) if re.fullmatch(r"\d+(?:\.\d+)?", whole) else math.nan


def _spoken(words: str) -> float | None:
    half = words.lower().startswith("half a ")
    parts = re.findall(r"[a-z]+", words.lower().removeprefix("half "))
    total = current = 0.0
    counted = False
    for part in parts:
        word = part if part in UNITS or part in TENS or part in SCALES else part.removesuffix("s")
        if word in UNITS or word in TENS:
            current += UNITS.get(word, TENS.get(word, 0))
            counted = True
        elif word in SCALES:
            current = (current or 1) * SCALES[word]
            counted = True
            if SCALES[word] > 100:  # noqa: PLR2004 - "two hundred thousand": the hundred belongs to what follows
                total, current = total + current, 0.0
    value = (total + current) / (2 if half else 1)
    return value if counted and value not in (0, 1) else None


def _significant(value: float) -> int:
    if not value or math.isnan(value):
        return 1
    return len(f"{value:.12g}".replace(".", "").split("e")[0].strip("0")) or 1


def _hedge(text: str, start: int) -> str:
    before = re.findall(r"[a-z]+|~", text[max(0, start - 30) : start].lower())[-3:]
    if "~" in before or any(word in NEAR for word in before):
        return "about"
    if any(word in OVER for word in before) or before[-2:] == ["more", "than"]:
        return "over"
    return "under" if any(word in UNDER for word in before) else ""


def agrees(said: Quantity, known: Iterable[Quantity]) -> bool:
    """Return whether the number is one of the known ones, as it is or honestly rounded."""
    return any(_same(said, other) or _rounded(said, other) for other in known)


def _same(said: Quantity, other: Quantity) -> bool:
    if said.label or other.label:
        if said.label and other.label:
            return said.label == other.label
        return said.value in other.also or other.value in said.also
    values = (other.value, *other.also)
    return any(math.isclose(said.value, value, rel_tol=1e-9) for value in values)


def _rounded(said: Quantity, other: Quantity) -> bool:
    """Return whether ``said`` is ``other`` with fewer digits; to a single digit only where the text says "about"."""
    if said.label or other.label or _significant(other.value) <= said.digits or other.value <= 0:
        return False
    if said.digits < 2 and not said.hedge:  # noqa: PLR2004 - 40 for 41 is a changed number, not a rounded one
        return False
    step = 10.0 ** (math.floor(math.log10(other.value)) + 1 - said.digits)
    steps = other.value / step
    allowed = {round(steps), math.floor(steps + 0.5)}
    if said.hedge == "over":
        allowed.add(math.floor(steps))
    if said.hedge == "under":
        allowed.add(math.ceil(steps))
    return any(math.isclose(said.value, each * step, rel_tol=1e-9) for each in allowed)
