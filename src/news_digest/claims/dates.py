"""Dates as a text states them, and whether the stories have them, said in the same or another way.

``Monday`` in a story published on Tuesday 1 December bears out ``30 November``; a story's year bears out its dates. The
names of months and days are English ones; in other languages they are compared as words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

__all__ = ["Calendar", "DateClaim", "calendar", "date_claims", "without_dates"]

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
RELATIVE = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<{0}>[0-3]?\d)(?:st|nd|rd|th)?(?![\d:%])"
_YEAR = r"(?P<{0}>(?:1[5-9]|20)\d\d)(?!\d)"
_CUE = "|".join(
    f"(?<={word} )" for word in ("in", "of", "since", "until", "by", "last", "next", "early", "late", "this")
)
_DATE = re.compile(
    rf"(?<!\d){_YEAR.format('y1')}-(?P<m1>[01]\d)-(?P<d1>[0-3]\d)(?!\d)"
    rf"|\b(?P<m2>{_MONTH})\s+{_DAY.format('d2')}(?:,?\s+{_YEAR.format('y2')})?"
    rf"|(?<!\d)(?<!\d[.,]){_DAY.format('d3')}(?:\s+of)?\s+(?P<m3>{_MONTH})(?:,?\s+{_YEAR.format('y3')})?"
    rf"|\b(?P<m4>{_MONTH}),?\s+(?:of\s+)?{_YEAR.format('y4')}"
    rf"|(?:{_CUE})(?P<m5>{_MONTH})"
    r"|\b(?P<m6>January|February|April|June|July|August|September|October|November|December)\b"
    r"|\b(?P<w>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)\b"
    rf"|(?<![\d.,$\u20ac\u00a3])(?<!\d-){_YEAR.format('y7')}(?:\u2019?s)?(?![\d%,.]\d)"
)
_DAYS = r"[0-3]?\d(?:st|nd|rd|th)?(?:(?:, | and | or | to | ?[-\u2013] ?)[0-3]?\d(?:st|nd|rd|th)?(?![\d:%]))+"
_LISTED = re.compile(rf"\b(?P<m1>{_MONTH})\s+(?P<list1>{_DAYS})|(?<![\d.,])(?P<list2>{_DAYS})\s+(?P<m2>{_MONTH})")
"""Several days of one month: ``December 9 and 11``, ``9-11 December``."""

_YEAR_WORDS = {"last year": -1, "this year": 0, "next year": 1}

_RELATIVE = re.compile(r"\b(today|tonight|yesterday|tomorrow)\b(?!'s|\u2019s)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DateClaim:
    """A date as far as a text gives it; ``weekday`` counts from Monday, ``offset`` in days from today."""

    text: str
    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Calendar:
    """All dates that stories bear out."""

    days: frozenset[tuple[int, int]]
    """(month, day)"""
    months: frozenset[int]
    weekdays: frozenset[int]
    years: frozenset[int]
    offsets: frozenset[int]
    whole: frozenset[date]

    def has(self, claim: DateClaim, today: date) -> bool:
        """Return whether the stories bear the date out; ``today`` is the day of the digest."""
        if claim.offset is not None:
            return claim.offset in self.offsets or today + timedelta(days=claim.offset) in self.whole
        if claim.weekday is not None:
            return claim.weekday in self.weekdays
        if claim.month is not None and claim.day is not None:
            if (claim.month, claim.day) not in self.days:
                return False
        elif claim.month is not None and claim.month not in self.months:
            return False
        return claim.year is None or claim.year in self.years


def date_claims(text: str) -> list[DateClaim]:
    """Return the dates of a text in order; an impossible one (31 February) is returned as it stands."""
    found = [_claim(match) for match in _DATE.finditer(text)]
    for match in _LISTED.finditer(text):
        month = MONTHS.index((match["m1"] or match["m2"])[:3].lower()) + 1
        days = re.findall(r"\d+", match["list1"] or match["list2"])
        found += [DateClaim(match.group(), month=month, day=int(day)) for day in days]
    return found + [
        DateClaim(match.group(), offset=RELATIVE[match.group().lower()]) for match in _RELATIVE.finditer(text)
    ]


def without_dates(text: str) -> str:
    """Return the text with its dates blanked, so that their numbers are not taken for quantities; same length."""
    blanked = _LISTED.sub(lambda match: " " * len(match.group()), text)
    return _DATE.sub(lambda match: " " * len(match.group()), blanked)


def _claim(match: re.Match[str]) -> DateClaim:
    found = {name[0]: value for name, value in match.groupdict().items() if value}
    if "w" in found:
        return DateClaim(match.group(), weekday=DAYS.index(found["w"][:3].lower()))
    month = found.get("m")
    return DateClaim(
        match.group().rstrip("."),
        year=int(found["y"]) if "y" in found else None,
        month=None if month is None else int(month) if month.isdigit() else MONTHS.index(month[:3].lower()) + 1,
        day=int(found["d"]) if "d" in found else None,
    )


def calendar(texts: Iterable[tuple[str, datetime | None]]) -> Calendar:
    """Return the dates that texts bear out, each with the instant when it was published."""
    claims: list[DateClaim] = []
    whole: set[date] = set()
    years: set[int] = set()
    for text, published in texts:
        found = date_claims(text)
        claims += found
        if published:
            years |= {published.year} | {published.year + step for said, step in _YEAR_WORDS.items() if said in text}
            whole |= {day for claim in found for day in _resolved(claim, published.date())}
    whole |= {day for claim in claims if claim.year for day in _exact(claim, claim.year)}
    return Calendar(
        days=frozenset({(day.month, day.day) for day in whole})
        | {(claim.month, claim.day) for claim in claims if claim.month and claim.day},
        months=frozenset({day.month for day in whole}) | {claim.month for claim in claims if claim.month},
        weekdays=frozenset({day.weekday() for day in whole})
        | {claim.weekday for claim in claims if claim.weekday is not None},
        years=frozenset(years | {claim.year for claim in claims if claim.year} | {day.year for day in whole}),
        offsets=frozenset(claim.offset for claim in claims if claim.offset is not None),
        whole=frozenset(whole),
    )


def _resolved(claim: DateClaim, published: date) -> list[date]:
    """Return the days that a date may mean in a text of that day."""
    if claim.offset is not None:
        return [published + timedelta(days=claim.offset)]
    if claim.weekday is not None:
        back = published - timedelta(days=(published.weekday() - claim.weekday) % 7)
        return [back, back + timedelta(days=7)]
    return _exact(claim, claim.year or published.year)


def _exact(claim: DateClaim, year: int) -> list[date]:
    if not claim.month or not claim.day:
        return []
    try:
        return [date(year, claim.month, claim.day)]
    except ValueError:
        return []
