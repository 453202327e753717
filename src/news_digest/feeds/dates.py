"""Dates as feeds write them: RFC 822 and 3339 first, then what people do instead. By table, to aware UTC.

``email.utils`` ignores AM/PM and reads zones that it does not know as UTC, both without a word: up to twelve hours off,
which inside a window of 48 hours is a wrong answer that nobody sees. Here a date is read whole or not at all;
impossible ones (month 0, the year 1 that programs print for "never") count as undated.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final

__all__ = ["read_date"]

_OLDEST_YEAR: Final = 1970
"""Feeds are younger; the years 1 and 1900 are how programs print "never"."""
_CENTURY_TURN: Final = 70
"""Two digits from here on are of the last century (POSIX ``%y`` turns at 69)."""

_MONTH_NAMES: Final = """
january jan januar janvier janv enero ene gennaio gen janeiro januari styczen stycznia sty leden ledna led ocak oca
ianuarie ian januarja januaria yanvar tammikuu januarius ιαν ιανουαριου январь января янв січня січ

february feb februar fevrier fevr fev febrero febbraio fevereiro februari luty lutego lut unor unora uno subat sub
februarie helmikuu φεβ φεβρουαριου февраль февраля фев лютого лют

march mar marz maerz mrz mars marzo março marco maart mrt marzec marca brezen brezna bre mart martie marec maaliskuu
marcius μαρ μαρτ μαρτιου март марта мар березня бер

april apr avril avr abril abr aprile kwiecien kwietnia kwi duben dubna dub nisan nis aprilie huhtikuu aprilis απρ
απριλιου апрель апреля апр квітня кві

may mai mayo maggio mag maio mei maj maja kveten kvetna kve mayis toukokuu majus μαι μαϊ μαιος μαιου μαϊου май мая
травня тра

june jun juin junio giugno giu junho juni czerwiec czerwca cze cerven cervna cer haziran haz iunie kesakuu junius
ιουν ιουνιου июнь июня июн червня чер

july jul juillet juil julio luglio lug julho juli lipiec lipca lip cervenec cervence temmuz tem iulie heinakuu
julius ιουλ ιουλιου июль июля июл липня лип

august aug aout aou agosto ago ags augustus sierpien sierpnia sie srpen srpna srp agustos agu elokuu augusztus αυγ
αυγουστου август августа авг серпня сер

september sep sept septembre septiembre settembre set setembro setembre wrzesien wrzesnia wrz zari eylul eyl
septembrie syyskuu szeptember szept σεπ σεπτ σεπτεμβριου сентябрь сентября сен сент вересня вер

october oct oktober okt octobre octubre ottobre ott outubro out pazdziernik pazdziernika paz rijen rijna rij ekim
eki octombrie lokakuu οκτ οκτωβριου октябрь октября окт жовтня жов

november nov novembre noviembre novembro listopad listopada lis listopadu kasim kas noiembrie marraskuu νοε νοεμ
νοεμβριου ноябрь ноября ноя листопада лис

december dec dezember dez decembre diciembre dic dicembre dezembro desember des grudzien grudnia gru prosinec
prosince pro aralik ara decembrie joulukuu δεκ δεκεμβριου декабрь декабря дек грудня гру
"""
"""Names of months, a paragraph each, folded (no accents, no case): English, German, French, Spanish, Italian,
Portuguese, Dutch, Polish, Czech, Turkish, Romanian, Finnish, Hungarian, Greek, Russian, Ukrainian. Of a word that means
two months (listopad is November in Polish and October in Croatian), the meaning in these languages stands."""
_MONTHS: Final[Mapping[str, int]] = {
    name: number for number, names in enumerate(_MONTH_NAMES.split("\n\n"), start=1) for name in names.split()
}

_HOURS: Final[Mapping[str, float]] = {
    **dict.fromkeys(("utc", "gmt", "z", "ut", "wet"), 0),
    **{"bst": 1, "west": 1, "cet": 1, "met": 1, "mez": 1, "cest": 2, "mest": 2, "mesz": 2, "eet": 2, "sast": 2},
    **{"eest": 3, "msk": 3, "gst": 4, "pkt": 5, "ist": 5.5, "npt": 5.75, "wib": 7, "ict": 7, "sgt": 8, "hkt": 8},
    **{"awst": 8, "jst": 9, "kst": 9, "acst": 9.5, "aest": 10, "acdt": 10.5, "aedt": 11, "nzst": 12, "nzdt": 13},
    **{"est": -5, "edt": -4, "et": -5, "cst": -6, "cdt": -5, "ct": -6, "mst": -7, "mdt": -6, "mt": -7},
    **{"pst": -8, "pdt": -7, "pt": -8, "akst": -9, "akdt": -8, "hst": -10, "ast": -4, "adt": -3, "at": -4},
    **{"nst": -3.5, "ndt": -2.5, "brt": -3, "art": -3, "clt": -4},
}
"""Hours east of UTC. Where a name has several meanings, the one that feeds were found to mean (IST: India)."""

_HALF_DAYS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("am", "오전", "上午", "午前"), 0),
    **dict.fromkeys(("pm", "오후", "下午", "午後"), 12),
}
_LOCAL_ZONES: Final = (("오전", 9.0), ("오후", 9.0), ("년", 9.0), ("上午", 8.0), ("下午", 8.0))
"""Dates in these scripts without a zone are of the place where the script is read."""

_ISO: Final = re.compile(
    r"(\d{4})-(\d{1,2})(?:-(\d{1,2}))?"
    r"(?:[T ]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|UTC|GMT|[+-]\d{1,2}:?\d{2}|[+-]\d{2})?)?",
    re.IGNORECASE,
)
_COMPACT: Final = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T?(\d{2})(\d{2})(\d{2})?(Z|[+-]\d{2}:?\d{2})?)?")
_USUAL: Final = re.compile(
    r"(?:[A-Z][a-z]{2}, +)?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2})(?::(\d{2}))? (GMT|UTC|Z|[+-]\d{4})"
)
"""RFC 822 as nearly all feeds have it."""
_TIME: Final = re.compile(r"(?<![\d:])(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?![\d:])")
_OFFSET: Final = re.compile(r"(?<![\d/.-])(?:GMT|UTC|UT)?([+-])(\d{1,2}):?(\d{2})(?![\d:])")
_HOURS_OFFSET: Final = re.compile(r"(?:GMT|UTC)([+-])(\d{1,2})(?![\d:])", re.IGNORECASE)
_SLASHED: Final = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})")
_DAY_FIRST: Final = re.compile(r"(\d{1,2})[.](\d{1,2})[.](\d{4})")
_AMERICAN: Final = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_CJK: Final = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]")
_REGION: Final = re.compile(r"\b[A-Z][A-Za-z]+/[A-Za-z_+\-0-9/]+\b")
_PARENTHESES: Final = re.compile(r"\([^)]*\)")
_WORDS: Final = re.compile(r"[^\W\d_]+|\d+")


def read_date(text: str) -> datetime | None:
    """Return the instant of a feed's date in UTC, None for what is no date; a date without a zone is UTC."""
    return _read(text.strip()[:120])


@lru_cache(maxsize=4096)
def _read(text: str) -> datetime | None:
    if not text:
        return None
    try:
        found = _usual(text) or _iso(text) or _compact(text) or _spoken(text)
    except (ValueError, OverflowError):
        return None
    return found if found is not None and found.year >= _OLDEST_YEAR else None


def _usual(text: str) -> datetime | None:
    match = _USUAL.fullmatch(text)
    month = _MONTHS.get(match[2].lower()) if match else None
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
    rest = _PARENTHESES.sub(" ", text)
    zone, rest = _find_zone(rest)
    clock, rest = _find_time(rest)
    day = _numeric_day(rest) or _named_day(rest)
    if day is None or _has_strange_zone(rest):
        return None
    if zone is None:
        hours = next((hours for mark, hours in _LOCAL_ZONES if mark in text), 0.0)
        zone = timezone(timedelta(hours=hours))
    return _instant(*day, clock, zone)


def _find_zone(text: str) -> tuple[tzinfo | None, str]:
    region = _REGION.search(text)
    if region is not None:
        return _named_region(region[0]), text.replace(region[0], " ")
    for pattern in (_OFFSET, _HOURS_OFFSET):
        match = pattern.search(text)
        if match is not None:
            minutes = int(match[3]) if pattern is _OFFSET else 0
            zone = _offset(-1 if match[1] == "-" else 1, int(match[2]), minutes)
            return zone, text[: match.start()] + " " + text[match.end() :]
    for word in re.findall(r"[A-Za-z]+", text)[::-1]:
        hours = _HOURS.get(word.lower())
        if hours is not None and word.isupper():
            return timezone(timedelta(hours=hours)), re.sub(rf"\b{word}\b", " ", text)
    return None, text


def _named_region(name: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - rare, and it reads files

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _has_strange_zone(rest: str) -> bool:
    """Return whether half a time or zone is left: what cannot be read makes the whole date unreadable."""
    return re.search(r"[+-][A-Za-z0-9]{1,2}:[A-Za-z0-9]{2}|\d:\w", rest) is not None


def _find_time(text: str) -> tuple[tuple[int, int, int], str]:
    match = _TIME.search(text)
    if match is None:
        return (0, 0, 0), text
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
    rest = text[: match.start()] + " " + text[match.end() :]
    for word in re.findall(r"[^\W\d_]+", rest.replace(".m.", "m").lower()):
        half = _HALF_DAYS.get(word)
        if half is not None and hour <= 12:  # noqa: PLR2004 - 13 PM is 13:00
            hour = hour % 12 + half
    return (hour, minute, second), rest


def _numeric_day(text: str) -> tuple[int, int, int] | None:
    for pattern in (_CJK, _SLASHED, re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?![\d-])")):
        match = pattern.search(text)
        if match is not None:
            return int(match[1]), int(match[2]), int(match[3])
    match = _DAY_FIRST.search(text)
    if match is not None:
        return int(match[3]), int(match[2]), int(match[1])
    match = _AMERICAN.search(text)
    if match is not None:
        first, second = int(match[1]), int(match[2])
        month, day = (first, second) if first <= 12 else (second, first)  # noqa: PLR2004 - the American order unless impossible
        return int(match[3]), month, day
    return None


def _named_day(text: str) -> tuple[int, int, int] | None:
    """Read a day with a month's name: the year has four digits, or two behind the day."""
    words = _WORDS.findall(_folded(text))
    # The last one: "mar." is also a Tuesday (mardi, martes, martedì), and a weekday stands before the month.
    month = next((_MONTHS[word] for word in reversed(words) if word in _MONTHS), None)
    numbers = [word for word in words if word.isdecimal()]
    years = [word for word in numbers if len(word) == 4]  # noqa: PLR2004 - a written-out year
    days = [int(word) for word in numbers if len(word) <= 2]  # noqa: PLR2004
    if month is None or not days or len(numbers) > 3 or len(years) > 1:  # noqa: PLR2004 - anything more is no date
        return None
    if years:
        return int(years[0]), month, days[0]
    if len(days) != 2:  # noqa: PLR2004 - day and year
        return None
    return days[1] + (1900 if days[1] >= _CENTURY_TURN else 2000), month, days[0]


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold()).replace("ł", "l").replace("ı", "i")
    return "".join(character for character in plain if not unicodedata.combining(character))
