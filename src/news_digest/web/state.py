"""The state as people understand it: days in a calendar, the funnel, feeds and their weeks, how full it is. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from news_digest.channels.site.views import DayLink, MonthView, day_file, months_of
from news_digest.model import Digest, FeedSource, Funnel, Limits, State
from news_digest.shown import host_alone, hosts_alone, visible
from news_digest.standing import Day, Standing, standing

__all__ = ["ACTIVITY_DAYS", "Activity", "FeedPast", "FeedRow", "FunnelBar", "StateView", "activity_of", "state_view"]

ACTIVITY_DAYS: Final = 28
_CALENDAR_DAYS: Final = 62
_DAYS_WITH_WORDS: Final = 7


@dataclass(frozen=True, slots=True)
class FeedPast:
    """What is known of a feed beside the archive; everything may be missing."""

    read_at: datetime | None = None
    failing_since: datetime | None = None
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Activity:
    """What one day's digest has of each feed, by its address: how many stories, and which feeds had failed."""

    stories: Mapping[str, int]
    failed: frozenset[str]


def activity_of(digest: Digest) -> Activity:
    """Return a day's activity."""
    counts: dict[str, int] = {}
    for story in digest.stories:
        counts[story.feed] = counts.get(story.feed, 0) + 1
    return Activity(counts, frozenset(failure.feed for failure in digest.failures))


@dataclass(frozen=True, slots=True)
class FeedRow:
    """A feed in the table: its name and host, how it is, and its last weeks, oldest day first."""

    name: str
    host: str
    mood: str
    """``good``, ``wait`` or ``bad``; the words say the same."""
    words: str
    bars: tuple[int, ...]
    missed: tuple[bool, ...]

    @property
    def sum(self) -> str:
        """Return the plot in words."""
        stories, days = sum(self.bars), sum(self.missed)
        text = f"{stories} {'story' if stories == 1 else 'stories'} offered"
        return text + (f", not readable on {days} {'day' if days == 1 else 'days'}" if days else "")


@dataclass(frozen=True, slots=True)
class FunnelBar:
    """A stage of the funnel; ``share`` of the first one, ``lost`` says what the stage left out."""

    name: str
    count: int
    share: float
    lost: str


@dataclass(frozen=True, slots=True)
class StateView:
    """Everything that the page of the state shows."""

    standing: Standing
    months: tuple[MonthView, ...]
    days: tuple[Day, ...]
    funnel: tuple[FunnelBar, ...]
    feeds: tuple[FeedRow, ...]
    feed_errors: tuple[str, ...]
    size_share: float
    can_retry: bool


def state_view(
    state: State,
    now: datetime,
    limits: Limits,
    archived: Sequence[date],
    sources: Sequence[FeedSource],
    activity: Mapping[date, Activity],
    past: Callable[[str], FeedPast],
) -> StateView:
    """Return the state as the page shows it; ``archived`` are the days with a digest, oldest first."""
    found = standing(state, now, limits)
    today = now.astimezone(UTC).date()
    current = next((day for day in found.days if day.day == today.isoformat()), None)
    return StateView(
        standing=found,
        months=_months(found, today, archived),
        days=tuple(day for day in found.days if day.status != "completed" or day.next_step)[:_DAYS_WITH_WORDS],
        funnel=_funnel(state.last_funnel),
        feeds=tuple(_feed(source, today, activity, past(source.url)) for source in sources),
        feed_errors=tuple(hosts_alone(error) for error in found.feed_errors),
        size_share=min(1.0, found.size_bytes / found.ceiling_bytes),
        can_retry=current is not None and current.status in ("failed", "empty", "expired"),
    )


def _months(found: Standing, today: date, archived: Sequence[date]) -> tuple[MonthView, ...]:
    """Return the calendar: archived days as links, what the ledger says of a day as its status."""
    recent = archived[bisect_left(archived, today - timedelta(days=_CALENDAR_DAYS - 1)) :]
    links = {day: DayLink(day, day_file(day), "completed") for day in recent}
    for record in found.days:
        day = _date(record.day)
        if day is not None:
            file = day_file(day) if day in links else ""
            links[day] = DayLink(day, file, _status(record), visible(record.story))
    links.setdefault(today, DayLink(today, status="open", detail="not told yet"))
    return months_of([], links)[:3]


def _status(record: Day) -> str:
    return "owed to a channel" if record.status == "completed" and record.next_step else record.status


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _funnel(funnel: Funnel | None) -> tuple[FunnelBar, ...]:
    if funnel is None:
        return ()
    stages = (
        ("entries read", funnel.fetched, ""),
        ("not seen before", funnel.unseen, "told or noted before, or being written about"),
        ("new enough", funnel.fresh, "too old"),
        ("offered to the writer", funnel.picked, "above the cap; they compete again"),
    )
    bars, before = [], funnel.fetched
    for name, count, lost in stages:
        share = count / funnel.fetched if funnel.fetched else 0.0
        bars.append(FunnelBar(name, count, share, f"{before - count} {lost}" if lost and before > count else ""))
        before = count
    return tuple(bars)


def _feed(source: FeedSource, today: date, activity: Mapping[date, Activity], past: FeedPast) -> FeedRow:
    days = [today - timedelta(days=back) for back in range(ACTIVITY_DAYS - 1, -1, -1)]
    known = [activity.get(day) for day in days]
    bars = tuple(each.stories.get(source.url, 0) if each else 0 for each in known)
    missed = tuple(bool(each and source.url in each.failed) for each in known)
    host = host_alone(source.url)
    mood, words = _health(past, bars, missed)
    return FeedRow(visible(source.name) or host, host, mood, words, bars, missed)


def _health(past: FeedPast, bars: Sequence[int], missed: Sequence[bool]) -> tuple[str, str]:
    if past.failing_since is not None:
        times = f", {past.failures} times in a row" if past.failures > 1 else ""
        return "bad", f"failing since {_minute(past.failing_since)}{times}"
    if missed and missed[-1]:
        return "bad", "could not be read today"
    if past.read_at is not None:
        return "good", f"read {_minute(past.read_at)}"
    return ("good", "had stories lately") if any(bars) else ("wait", "nothing known yet")


def _minute(instant: datetime) -> str:
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
