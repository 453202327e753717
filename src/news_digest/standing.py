"""How a digest stands: its days and what to do next, from the state alone. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, assert_never

from news_digest.ceiling import size
from news_digest.document import encode
from news_digest.lifecycle import age
from news_digest.model import Active, Foreign, Json, Limits, Outcome, Period, Settled, Starting, State, Task

__all__ = ["Day", "Standing", "standing"]

_RETRYABLE: Final = (Outcome.FAILED, Outcome.EMPTY, Outcome.EXPIRED)


@dataclass(frozen=True, slots=True)
class Day:
    """One day of the ledger: its status, what happened, and what happens or can be done next."""

    day: str
    status: str
    stories: int
    story: str
    next_step: str = ""
    conversation_url: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """Everything that ``status`` says, newest day first."""

    days: tuple[Day, ...]
    next_step: str
    last_checked: datetime | None
    funnel: tuple[int, int, int] | None
    above_cap: int
    feed_errors: tuple[str, ...]
    feed_notices: tuple[str, ...]
    remembered: int
    size_bytes: int
    ceiling_bytes: int

    def to_json(self) -> dict[str, Json]:
        """Return the standing as a JSON object."""
        fetched, unseen, fresh = self.funnel or (None, None, None)
        return {
            "next_step": self.next_step,
            "last_checked": self.last_checked.isoformat() if self.last_checked else None,
            "funnel": {"fetched": fetched, "unseen": unseen, "fresh": fresh, "above_cap": self.above_cap},
            "feed_errors": list(self.feed_errors),
            "feed_notices": list(self.feed_notices),
            "remembered_fingerprints": self.remembered,
            "state_bytes": self.size_bytes,
            "state_ceiling_bytes": self.ceiling_bytes,
            "days": [
                {
                    "day": day.day,
                    "status": day.status,
                    "stories": day.stories,
                    "story": day.story,
                    "next_step": day.next_step,
                    "conversation_url": day.conversation_url,
                }
                for day in self.days
            ],
        }


def standing(state: State, now: datetime, limits: Limits) -> Standing:
    """Return how the digest stands at an instant."""
    today = Period.of(now)
    tasks = sorted(state.tasks.items(), reverse=True)
    days = tuple(_day(key, task, now, today, limits) for key, task in tasks)
    current = next((day for day in days if day.day == str(today)), None)
    funnel = state.last_funnel
    return Standing(
        days=days,
        next_step=_next_step(current),
        last_checked=state.last_checked,
        funnel=(funnel.fetched, funnel.unseen, funnel.fresh) if funnel else None,
        above_cap=state.last_above_cap,
        feed_errors=state.last_feed_errors,
        feed_notices=state.last_feed_notices,
        remembered=len(state.seen) + len(state.seen_wide),
        size_bytes=size(encode(state)),
        ceiling_bytes=limits.document_bytes,
    )


def _next_step(current: Day | None) -> str:
    if current is None:
        return "today is open: the next run reads the feeds"
    return current.next_step or "nothing to do until tomorrow (UTC)"


def _day(key: str, task: Task, now: datetime, today: Period, limits: Limits) -> Day:
    match task:
        case Foreign():
            return Day(key.removeprefix("news:"), "unreadable", 0, "kept as it is; this version cannot read it")
        case Starting():
            return _starting(task, now, limits)
        case Active():
            return _active(task, now, limits)
        case Settled():
            return _settled(task, today)
        case _:
            assert_never(task)


def _starting(task: Starting, now: datetime, limits: Limits) -> Day:
    since = f"claimed at {task.last_activity:%Y-%m-%d %H:%M} UTC by a run that has not started its conversation yet"
    if age(task, now) > limits.stalled_claim:
        step = "that run has died; the next run finds its conversation, or opens the day again"
    else:
        step = f"wait; after {_minutes(limits.stalled_claim)} the next run looks what became of it"
    return Day(str(task.period), "starting", task.story_count, since, step)


def _active(task: Active, now: datetime, limits: Limits) -> Day:
    story = f"the writer is at work since {task.last_activity:%Y-%m-%d %H:%M} UTC"
    overdue = age(task, now) > limits.active_age
    step = "the next run reads the digest" + (", or lets it expire" if overdue else "")
    return Day(str(task.period), "active", task.story_count, story, step, task.conversation_url)


def _settled(task: Settled, today: Period) -> Day:
    day, status = str(task.period), str(task.outcome)
    if task.outcome in _RETRYABLE:
        story = _untold(task)
        step = (
            "`news-digest retry` opens the day again"
            if task.period == today
            else "the window of the next run covers its stories"
        )
        return Day(day, status, task.story_count, story, step, task.conversation_url)
    when = f" at {task.completed_at:%H:%M} UTC" if task.completed_at else ""
    story = f"told {task.story_count} stories{when}"
    step = ""
    if task.owed:
        causes = [
            f"{receipt.channel}: {receipt.detail}" for receipt in task.receipts if not receipt.at and receipt.detail
        ]
        story += f"; still owed to {', '.join(task.owed)}" + (f" ({'; '.join(causes)})" if causes else "")
        step = "the next run delivers it, or `news-digest deliver`"
    return Day(day, status, task.story_count, story, step, task.conversation_url)


def _untold(task: Settled) -> str:
    reason = f": {task.reason}" if task.reason else ""
    if task.outcome is Outcome.EXPIRED and task.expired_after is not None:
        return f"gave up after {_minutes(task.expired_after)}{reason}"
    return f"ended without a digest{reason}"


def _minutes(span: timedelta) -> str:
    return f"{int(span.total_seconds() // 60)} minutes"
