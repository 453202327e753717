"""What a page shows of a digest, as plain text and safe links: the templates decide nothing. Pure."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from news_digest.model import Digest, Item
from news_digest.render import EMPTY_DAY, foot_lines
from news_digest.rules import HEADLINES
from news_digest.shown import (
    Source,
    lead_text,
    numbers_line,
    reading_minutes,
    shown,
    title_line,
    visible,
    window_line,
)

__all__ = [
    "DayLink",
    "DayView",
    "ItemView",
    "MonthView",
    "SectionView",
    "day_file",
    "day_name",
    "day_view",
    "months_of",
    "year_file",
]

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class ItemView:
    """An item: ``anchor`` is its place in the page, ``source`` the first one, ``also`` who tells it too."""

    anchor: str
    headline: str
    text: str
    caution: str
    source: Source
    also: tuple[Source, ...]
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SectionView:
    """Items under a heading; ``brief`` ones are headlines without text."""

    title: str
    anchor: str
    items: tuple[ItemView, ...]
    brief: bool = False


@dataclass(frozen=True, slots=True)
class DayView:
    """A digest as a page shows it."""

    day: date
    title: str
    heading: str
    lead: str
    sections: tuple[SectionView, ...]
    window: str
    numbers: str
    minutes: int
    foot: tuple[str, ...]
    findings: tuple[str, ...]
    conversation_url: str


def day_view(digest: Digest) -> DayView:
    """Return what the page of a day shows."""
    return DayView(
        day=digest.period.day,
        title=title_line(digest),
        heading=day_name(digest.period.day),
        lead=lead_text(digest) or ("" if digest.stories else EMPTY_DAY),
        sections=tuple(_sections(digest)),
        window=window_line(digest),
        numbers=numbers_line(digest),
        minutes=reading_minutes(digest),
        foot=tuple(foot_lines(digest)),
        findings=tuple(visible(each) for each in digest.findings),
        conversation_url=digest.conversation_url if digest.conversation_url.startswith(("http://", "https://")) else "",
    )


def _sections(digest: Digest) -> Iterable[SectionView]:
    number = 0
    told = [(section.title, section.items, False) for section in digest.draft.sections if section.items]
    noted = [(HEADLINES, digest.draft.headlines, True)] if digest.draft.headlines else []
    for index, (title, items, brief) in enumerate([*told, *noted], start=1):
        views = []
        for item in items:
            number += 1
            views.append(_item(digest, item, number, "" if brief else visible(title)))
        yield SectionView(visible(title), f"s{index}", tuple(views), brief)


def _item(digest: Digest, item: Item, number: int, topic: str) -> ItemView:
    seen = shown(digest, item)
    first, *others = seen.sources or (Source("unknown source", ""),)
    return ItemView(
        anchor=f"i{number}",
        headline=seen.headline,
        text=seen.text,
        caution=seen.caution,
        source=first,
        also=tuple(others),
        why=tuple(_why(digest, item, topic, len(seen.sources))),
    )


def _why(digest: Digest, item: Item, topic: str, sources: int) -> Iterable[str]:
    """Yield why an item is in the digest, one sentence each."""
    yield f"It was filed under “{topic}”." if topic else "It was noted by its headline only."
    if sources > 1:
        yield f"{sources} sources tell it."
    dates = [each for number in item.stories if (each := digest.stories[number - 1].published) is not None]
    if dates:
        yield f"It was published on {_minute(min(dates))}, and no earlier digest had told it."
    else:
        yield "Its feed gives no date, and no earlier digest had told it."
    if item.update:
        yield "It goes on with a story of the digest before."
    if len(item.stories) > 1:
        yield f"{len(item.stories)} stories were recognised as the same event."


def _minute(instant: datetime) -> str:
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


# --- days and files --------------------------------------------------------------------------------------------------


def day_file(day: date) -> str:
    """Return the file name of a day's page."""
    return f"{day.isoformat()}.html"


def year_file(year: int) -> str:
    """Return the file name of a year's archive page."""
    return f"archive-{year:04}.html"


def day_name(day: date) -> str:
    """Return a day as people write it, day and month on one line: ``Tuesday, 1 December 2026``."""
    return f"{_WEEKDAYS[day.weekday()]}, {day.day}\N{NO-BREAK SPACE}{calendar.month_name[day.month]} {day.year}"


@dataclass(frozen=True, slots=True)
class DayLink:
    """A day in a calendar; without ``file`` there is no page, ``status`` says in a word or two what became of it."""

    day: date
    file: str = ""
    status: str = ""
    detail: str = ""

    @property
    def label(self) -> str:
        """Return the whole date, and the status, for those who do not see the calendar."""
        return ": ".join(filter(None, (day_name(self.day), self.status)))


@dataclass(frozen=True, slots=True)
class MonthView:
    """A month as weeks from Monday to Sunday; None stands outside the month."""

    name: str
    weeks: tuple[tuple[DayLink | None, ...], ...]


def months_of(days: Sequence[date], links: Mapping[date, DayLink] | None = None) -> tuple[MonthView, ...]:
    """Return the months that hold one of the days, newest first, each day with its link.

    ``links`` says more of a day than that it has a page.
    """
    known = {day: DayLink(day, day_file(day)) for day in days} | dict(links or {})
    months = sorted({(day.year, day.month) for day in known}, reverse=True)
    weeks = calendar.Calendar()
    return tuple(
        MonthView(
            f"{calendar.month_name[month]} {year}",
            tuple(
                tuple(known.get(day, DayLink(day)) if day.month == month else None for day in week)
                for week in weeks.monthdatescalendar(year, month)
            ),
        )
        for year, month in months
    )
