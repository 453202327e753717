"""Dates as feeds write them: RFC 822 and 3339 first, then what people do instead. By table, to aware UTC.

``email.utils`` ignores AM/PM and reads zones that it does not know as UTC, both without a word: up to twelve hours off,
which inside a window of 48 hours is a wrong answer that nobody sees. Here a date is read whole or not at all;
impossible ones (month 0, the year 1 that programs print for "never") count as undated.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final

from news_digest.feeds.date_words import HALF_DAYS, LOCAL_ZONES, MONTHS, REGIONS, WEEKDAYS, ZONES, folded, month_of

__all__ = ["read_date"]

_OLDEST_YEAR: Final = 1970
"""Feeds are younger; the years 1 and 1900 are how programs print "never"."""
_CENTURY_TURN: Final = 70
"""Two digits from here on are of the last century (POSIX ``%y`` turns at 69)."""
_BUDDHIST: Final = 543
_BUDDHIST_LEAST: Final = 2500
"""Thailand counts from the death of Buddha."""

_ISO: Final = re.compile(
    r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?"
    r"(?:[T ]\s*(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,]\d+)?)?\s*(Z|UTC|GMT|[+-]\d{1,2}:?\d{2}|[+-]\d{2})?)?",
    re.IGNORECASE,
)
_COMPACT: Final = re.compile(
    r"(\d{4})(\d{2})(\d{2})(?:[T ]?(\d{2}):?(\d{2})(?::?(\d{2}))?\s*(Z|[+-]\d{2}:?\d{2})?)?", re.IGNORECASE
)
_SECONDS: Final = re.compile(r"(1\d{9})(?:\d{3})?(?:\.\d+)?")
"""Since 1970, or milliseconds, as programs count."""
_USUAL: Final = re.compile(
    r"(?:[A-Z][a-z]{2}, +)?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2})(?::(\d{2}))? (GMT|UTC|Z|[+-]\d{4})"
)
"""RFC 822 as nearly all feeds have it."""

_UNSEEN: Final = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_ASIDE: Final = re.compile(r"\([^)]*\)|\[[^\]]*\]|<[^>]*>")
_DASHES: Final = {ord(each): "-" for each in "\u2010\u2011\u2012\u2013\u2014\u2212"}
_DOTTED: Final = re.compile(r"(?<=[^\s\d.])\.[ \u00a0\u202f]?(?=[^\s\d.]\.)|(?<=[^\s\d.][^\s\d.])\.(?=[^\s\d.])")
"""The dots within ``a.m.`` and the like."""
_EAST: Final = r"(?:(오전|오후|上午|下午|午前|午後)\s*)?"
_TIMES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_EAST}(?:(?<![\d:])|(?<=\d{{4}}:))(\d\d?):(\d\d?)(?::(\d\d?)(?:[.,]\d+)?)?(?::00(?=$|\s))?(?!\d|:(?![+-]))",
        rf"{_EAST}\b(\d\d?)\s?(?:h(?![a-z])|[시時时点])\s?(?:(\d\d)(?:\s?[분分](?:\s?(\d\d)\s?[초秒])?)?)?(?!\d)",
        r"(?<=\d{4})()\D{1,8}(\d{1,2})\.(\d{2})(?:\.(\d{2}))?(?![\d.])",
        r"()\b(\d{1,2})()()(?=\s?[ap]\.?m\b)",
        r"(?<=\d{4} )()(\d{2})()()(?= [+-]\d{4}$)",
    )
)
"""Times, the likeliest first: half of the day, hours, minutes, seconds."""
_HALF: Final = re.compile(r"\s?([ap])\.?m\b\.?|\s?(πμ|μμ|[صم])(?!\w)\.?", re.IGNORECASE)
_BEHIND: Final = re.compile(
    r"\s*[:-]?(?:\s?[a-z]{1,6})?\s?[+-]?(?:"
    r"([+-])\s?(0\d|1[0-4]|\d(?=:?\d\d(?!\d))):?([0-5]\d)(?::00)?|([+-])(0?\d|1[0-4])(?!\s?[ap]m))(?:Z|GMT|UTC)?(?![\d:./\w-])",
    re.IGNORECASE,
)
"""An offset behind a time, perhaps with a name before it."""
_NAME_BEHIND: Final = re.compile(r"\s?([A-Za-z]{1,6})(?![A-Za-z/])")
_LAST_OFFSET: Final = re.compile(r"\s(?:GMT|UTC)?([+-])(0\d|1[0-4]):?([0-5]\d)$")
_REGION: Final = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z]+/[A-Z][A-Za-z_+\-0-9/]*")
_STRANGE: Final = re.compile(r"[+-][A-Za-z0-9]{1,2}:[A-Za-z0-9]{2}|\d:\w")
_YEAR_FIRST: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]",
        r"(?<!\d)(\d{4})\s*[/.]\s*(\d{1,2})\s*[/.]\s*(\d{1,2})(?!\d)",
        r"(\d{4})-(\d{1,2})-(\d{1,2})(?![\d-])",
    )
)
_YEAR_LAST: Final = re.compile(r"(?<![\d/.-])(\d{1,2})([/. -]|\. )(\d{1,2})\2(\d{4}|\d{2}(?=$|[\s,]))")
_VIETNAMESE: Final = re.compile(r"(\d{1,2})\s*(?:thang|thg)\s*(\d{1,2})\D+(\d{4})")
_WORDS: Final = re.compile(r"\d+|[^\d\s!-/:-@\[-`{-~’׳،॰]+")


def read_date(text: str) -> datetime | None:
    """Return the instant of a feed's date in UTC, None for what is no date; a date without a zone is UTC."""
    return _read(text.strip()[:120])


@lru_cache(maxsize=4096)
def _read(text: str) -> datetime | None:
    if not text:
        return None
    try:
        found = _usual(text) or _iso(text) or _compact(text) or _counted(text) or _spoken(text)
    except (ValueError, OverflowError):
        return None
    return found if found is not None and found.year >= _OLDEST_YEAR else None


def _usual(text: str) -> datetime | None:
    match = _USUAL.fullmatch(text)
    month = MONTHS.get(match[2].lower()) if match else None
    if match is None or month is None:
        return None
    clock = int(match[4]), int(match[5]), int(match[6] or 0)
    return _instant(int(match[3]), month, int(match[1]), clock, _zone(match[7]))


def _iso(text: str) -> datetime | None:
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, zone = match.groups()
    return _instant(
        int(year), int(month), int(day or 1), (int(hour or 0), int(minute or 0), int(second or 0)), _zone(zone)
    )


def _compact(text: str) -> datetime | None:
    match = _COMPACT.fullmatch(text)
    if match is None:
        return _instant(int(text), 1, 1, (0, 0, 0), UTC) if re.fullmatch(r"(19|20)\d\d", text) else None
    year, month, day, hour, minute, second, zone = match.groups()
    return _instant(int(year), int(month), int(day), (int(hour or 0), int(minute or 0), int(second or 0)), _zone(zone))


def _counted(text: str) -> datetime | None:
    match = _SECONDS.fullmatch(text)
    return datetime.fromtimestamp(int(match[1]), UTC) if match else None


def _instant(year: int, month: int, day: int, clock: tuple[int, int, int], zone: tzinfo) -> datetime:
    hour, minute, second = clock
    if second == 60:  # noqa: PLR2004 - a leap second
        second = 59
    extra = timedelta(0)
    if (hour, minute, second) == (24, 0, 0):
        hour, extra = 0, timedelta(days=1)
    return (datetime(year, month, day, hour, minute, second, tzinfo=zone) + extra).astimezone(UTC)


def _zone(text: str | None) -> tzinfo:
    if not text or text.upper() in ("Z", "UTC", "GMT"):
        return UTC
    sign = -1 if text[0] == "-" else 1
    digits = text[1:].replace(":", "").zfill(4) if len(text) > 3 else text[1:].zfill(2) + "00"  # noqa: PLR2004 - "+hh"
    return _offset(sign, int(digits[:-2]), int(digits[-2:]))


def _offset(sign: int, hours: int, minutes: int) -> tzinfo:
    if hours > 14 or minutes > 59:  # noqa: PLR2004 - no place is further than 14 hours from UTC
        raise ValueError(hours)
    return timezone(sign * timedelta(hours=hours, minutes=minutes))


# --- dates in words ------------------------------------------------------------------------------------------------


def _spoken(text: str) -> datetime | None:
    """Read a date by its parts: a time, a zone, a year, a month, a day, in whatever order they stand."""
    rest = _ASIDE.sub(" ", _UNSEEN.sub("", text).translate(_DASHES))
    region = _REGION.search(rest)
    zone = _named_region(region[0]) if region else None
    rest = _DOTTED.sub("", rest.replace(region[0], " ") if region else rest)
    clock, before, behind = _find_time(rest)
    if zone is None:
        zone, before, behind = _find_zone(before, behind)
    rest = f"{before} {behind}"
    day = _numeric_day(rest) or _named_day(rest)
    if day is None or _STRANGE.search(rest):  # half a time or zone is left
        return None
    aside = _ASIDE.search(text)
    if zone is None and aside is not None:
        zone, _, _ = _find_zone("", aside[0][1:-1])
    if zone is None:
        zone = timezone(timedelta(hours=next((hours for mark, hours in LOCAL_ZONES if mark in text), 0.0)))
    return _instant(*day, clock, zone)


def _find_time(text: str) -> tuple[tuple[int, int, int], str, str]:
    """Return a time, with what stands before and behind it; midnight and the text where there is none."""
    match = next((found for pattern in _TIMES if (found := pattern.search(text))), None)
    if match is None:
        return (0, 0, 0), text, ""
    hour, minute, second = (int(each or 0) for each in match.group(2, 3, 4))
    behind = text[match.end() :]
    half = match[1] or ""
    said = _HALF.match(behind)
    if said:
        half, behind = (said[1] or said[2]).lower(), behind[said.end() :]
    if half and hour <= 12:  # noqa: PLR2004 - 13 PM is 13:00
        hour = hour % 12 + HALF_DAYS[half]
    return (hour, minute, second), text[: match.start()], behind


def _find_zone(before: str, behind: str) -> tuple[tzinfo | None, str, str]:
    """Return the zone behind a time, or at the end, or named anywhere in capitals; and the rest of the text."""
    match = _BEHIND.match(behind)
    if match is not None:
        sign, hours, minutes, short, only = match.groups()
        zone = _offset(-1 if (sign or short) == "-" else 1, int(hours or only), int(minutes or 0))
        return zone, before, behind[match.end() :]
    match = _LAST_OFFSET.search(behind or before)
    if match is not None:
        zone = _offset(-1 if match[1] == "-" else 1, int(match[2]), int(match[3]))
        return (zone, before, behind[: match.start()]) if behind else (zone, before[: match.start()], "")
    named = _NAME_BEHIND.match(behind)
    if named is not None and named[1].lower() in ZONES and (named[1].isupper() or len(named[1]) > 2):  # noqa: PLR2004 - "at", "et"
        return _called(named[1].lower()), before, behind[named.end() :]
    for word in re.findall(r"[A-Z]+", before + behind)[::-1]:
        if word.lower() in ZONES:
            pattern = rf"(?<![A-Za-z]){word}(?![A-Za-z])"
            return _called(word.lower()), re.sub(pattern, " ", before), re.sub(pattern, " ", behind)
    return None, before, behind


def _called(name: str) -> tzinfo:
    region = _named_region(REGIONS[name]) if name in REGIONS else None
    return region or timezone(timedelta(hours=ZONES[name]))


def _named_region(name: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - rare, and it reads files

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _numeric_day(text: str) -> tuple[int, int, int] | None:
    for pattern in _YEAR_FIRST:
        match = pattern.search(text)
        if match is not None:
            return int(match[1]), int(match[2]), int(match[3])
    match = _YEAR_LAST.search(text)
    if match is None:
        return None
    first, sign, second, year = int(match[1]), match[2], int(match[3]), _whole_year(int(match[4]))
    if len(match[4]) == 2 and (sign in " -" or (sign == "/" and first > 12)):  # noqa: PLR2004 - it may be the day
        return None
    orders = [(year, first, second), (year, second, first)]
    if sign in (".", ". ", "-"):
        orders.reverse()
    possible = [each for each in orders if _is_day(*each)]
    word = _WORDS.search(folded(text))
    said = WEEKDAYS.get(word[0][:3]) if word else None
    return next((each for each in possible if datetime(*each, tzinfo=UTC).weekday() == said), (possible or orders)[0])


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return False
    return True


def _whole_year(year: int) -> int:
    if year >= 100:  # noqa: PLR2004 - more than two digits
        return year
    return year + (1900 if year >= _CENTURY_TURN else 2000)


def _named_day(text: str) -> tuple[int, int, int] | None:
    """Read a day with a month's name: the year has four digits, or two behind the day."""
    plain = folded(text)
    match = _VIETNAMESE.search(plain)
    if match is not None:
        return int(match[3]), int(match[2]), int(match[1])
    words = _WORDS.findall(plain)
    # The last one: "mar." is also a Tuesday (mardi, martes, martedì), and a weekday stands before the month.
    month = next((found for word in reversed(words) if (found := month_of(word))), None)
    numbers = [word for word in words if word.isdecimal()]
    years = [int(word) for word in numbers if len(word) == 4]  # noqa: PLR2004 - a written-out year
    days = [int(word) for word in numbers if len(word) <= 2]  # noqa: PLR2004
    if month is None or not days or len(numbers) > 3 or len(years) > 1:  # noqa: PLR2004 - anything more is no date
        return None
    if years:
        return years[0] - (_BUDDHIST if years[0] > _BUDDHIST_LEAST else 0), month, days[0]
    if len(days) != 2:  # noqa: PLR2004 - day and year
        return None
    return _whole_year(days[1]), month, days[0]
