"""The moves of the ledger: each takes a state and returns the next one (specification, "Lifecycle").

::

    (no record) --claim--> Starting --activate--> Active --settle--> Settled (completed, empty, failed, expired)
                              |                                         |
                          drop_claim --> (no record) <---- reopen ------+  (today, without a digest)

Moves are pure and total: the ledger may apply one again to a fresh document after a conflict. Each names the ticket it
acts for. A record that carries another ticket is left alone (``Superseded``); finding one's own move already done is
success; an arrow that is not drawn raises ``IllegalMove``. Only ``completed`` widens ``seen``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, assert_never

from news_digest.errors import DayTaken, IllegalMove, StoriesTaken, Superseded
from news_digest.model import (
    Active,
    Fingerprint,
    Foreign,
    LastDigest,
    Limits,
    Outcome,
    Period,
    Receipt,
    Selection,
    Settled,
    Starting,
    State,
    Task,
    Ticket,
)

__all__ = [
    "ALL_FEEDS",
    "Ending",
    "activate",
    "age",
    "claim",
    "describe",
    "drop_claim",
    "escaped_prefix",
    "in_flight",
    "known",
    "mark_delivered",
    "mark_undelivered",
    "newest",
    "next_attempt",
    "open_tasks",
    "prune",
    "rebase",
    "record_check",
    "release_workspace",
    "reopen",
    "settle",
    "stalled_claims",
    "take_delivery",
]


ALL_FEEDS: Final = "*"
"""The key of ``State.behind`` that stands for every feed."""


# --- questions -----------------------------------------------------------------------------------------------------


def known(state: State) -> frozenset[Fingerprint]:
    """Return every fingerprint that was told."""
    return frozenset(state.seen).union(state.seen_wide)


def open_tasks(state: State) -> tuple[Starting | Active, ...]:
    """Return the tasks whose outcome is not known yet, oldest period first."""
    tasks = [task for task in state.tasks.values() if isinstance(task, Starting | Active)]
    return tuple(sorted(tasks, key=lambda task: task.period))


def in_flight(state: State) -> Mapping[Fingerprint, Period]:
    """Return the fingerprints that open tasks hold, each with the period that holds it."""
    return {key: task.period for task in open_tasks(state) for key in (*task.stories, *task.wide)}


def stalled_claims(state: State, now: datetime, limits: Limits) -> tuple[Starting, ...]:
    """Return the claims that are more than ``limits.stalled_claim`` old: their run has died."""
    return tuple(
        task for task in open_tasks(state) if isinstance(task, Starting) and age(task, now) > limits.stalled_claim
    )


def age(task: Starting | Active, now: datetime) -> timedelta:
    """Return how long a task has been without activity; an activity in the future counts as now."""
    return max(now - task.last_activity, timedelta(0))


def rebase(state: State, now: datetime, limits: Limits) -> State:
    """Let open tasks whose last activity lies ahead age from now on: a clock set back would hold them for ever.

    What is ahead by less than a claim takes to stall is two machines' clocks; it is left, and counts as now.
    """
    ahead = [task for task in open_tasks(state) if task.last_activity - now > limits.stalled_claim]
    for task in ahead:
        state = _with(state, replace(task, last_activity=now))
    return state


def next_attempt(state: State, period: Period) -> int:
    """Return the number of the next attempt at a period, counted from 1; a ticket is never used twice."""
    return state.attempts.get(str(period), 0) + 1


# --- the day -------------------------------------------------------------------------------------------------------


def claim(state: State, wanted: Starting, lookups: Iterable[Fingerprint]) -> State:
    """Claim a period for a ticket; ``lookups`` is all by which its stories would be recognised.

    Judged on the state given, which the ledger has just loaded: raises ``DayTaken`` when the period has a record, or
    the attempt was used, and ``StoriesTaken`` when one of the stories has been told or is held by another task by now
    (two runs on two sides of midnight choose the same stories and claim different days).
    """
    existing = state.tasks.get(wanted.period.key)
    if (
        isinstance(existing, Starting)
        and existing.run == wanted.run
        and existing.ticket == wanted.ticket
        and wanted.run
    ):
        return state
    if existing is not None:
        raise DayTaken("cannot claim the day", thing=str(wanted.period), cause=f"it is {describe(existing)}")
    if wanted.attempt != next_attempt(state, wanted.period):
        raise DayTaken(
            "cannot claim the day", thing=str(wanted.period), cause="another run claimed it and let it go meanwhile"
        )
    held = known(state).union(in_flight(state))
    if not held.isdisjoint(lookups):
        raise StoriesTaken(
            "cannot claim the day",
            thing=str(wanted.period),
            cause="another run tells some of its stories by now",
            hint="the next run selects anew",
        )
    attempts = {**state.attempts, str(wanted.period): wanted.attempt}
    return replace(state, tasks={**state.tasks, wanted.period.key: wanted}, attempts=attempts)


def describe(task: Task) -> str:
    """Return a task's status in one word."""
    match task:
        case Starting():
            return "starting"
        case Active():
            return "active"
        case Settled(outcome=outcome):
            return str(outcome)
        case Foreign():
            return "kept in a form that this version cannot read"
        case _:
            assert_never(task)


def activate(state: State, ticket: Ticket, now: datetime, conversation_url: str = "") -> State:
    """Record that the conversation of a claim exists."""
    task = _task_of(state, ticket)
    if isinstance(task, Active | Settled):
        return state
    active = Active(
        period=task.period,
        ticket=ticket,
        stories=task.stories,
        wide=task.wide,
        story_count=task.story_count,
        last_activity=now,
        conversation_url=conversation_url,
        workspace=task.workspace,
        attempt=task.attempt,
        writer=task.writer,
        brief_hash=task.brief_hash,
        since=task.since,
        caught_up=task.caught_up,
    )
    return _with(state, active)


def drop_claim(state: State, period: Period, ticket: Ticket | None) -> State:
    """Open the day again: its conversation certainly does not exist. ``ticket`` is None for a claim without one.

    Its stories were not told, so the window of the next run reaches back to where its window began.
    """
    task = state.tasks.get(period.key)
    if task is None:
        return state
    if isinstance(task, Foreign) or task.ticket != ticket:
        raise Superseded("cannot drop the claim", thing=str(period), cause="the day carries another ticket")
    if not isinstance(task, Starting):
        raise IllegalMove("cannot drop the claim", thing=str(period), cause=f"it is {describe(task)}")
    return _without(_untold(state, task), task.period)


def _untold(state: State, task: Starting | Active) -> State:
    """Return the state that remembers to offer a task's stories again, however long they wait for it."""
    since = task.since or task.last_activity - Limits().lookback
    return replace(state, behind={**state.behind, ALL_FEEDS: min(since, state.behind.get(ALL_FEEDS, since))})


def _caught_up(state: State, covered: Mapping[str, datetime]) -> State:
    """Return the state without what was caught up with; an entry that has changed meanwhile stays."""
    kept = {key: since for key, since in state.behind.items() if covered.get(key) != since}
    return replace(state, behind=kept) if kept != dict(state.behind) else state


@dataclass(frozen=True, slots=True)
class Ending:
    """How a conversation ended, and for a completed one what is to be remembered of it."""

    outcome: Outcome
    at: datetime
    reason: str = ""
    text: str = ""
    until: datetime | None = None
    """When the stories of a completed digest were selected; None where that is not known any more."""
    conversation_url: str = ""
    channels: tuple[str, ...] = ()
    """Who is owed the digest; the settling run takes the deliveries at once."""
    run: str = ""


def settle(state: State, ticket: Ticket, ending: Ending, limits: Limits) -> State:
    """Record a conversation's end; ``completed`` remembers its stories and its text, nothing else does."""
    task = _task_of(state, ticket)
    if isinstance(task, Settled):
        return state
    if isinstance(task, Starting):
        raise IllegalMove("cannot settle the day", thing=str(task.period), cause="its conversation does not exist yet")
    completed = ending.outcome is Outcome.COMPLETED
    expired = ending.outcome is Outcome.EXPIRED
    settled = Settled(
        period=task.period,
        ticket=ticket,
        outcome=ending.outcome,
        story_count=task.story_count,
        last_activity=task.last_activity,
        completed_at=None if expired else ending.at,
        expired_after=age(task, ending.at) if expired else None,
        conversation_url=ending.conversation_url or task.conversation_url,
        workspace=task.workspace,
        attempt=task.attempt,
        writer=task.writer,
        reason=escaped_prefix(ending.reason, limits.reason_bytes),
        receipts=tuple(Receipt(name, taken_at=ending.at, run=ending.run) for name in ending.channels)
        if completed
        else (),
    )
    state = _with(state, settled)
    return _remember(state, task, ending, limits) if completed else _untold(state, task)


def _remember(state: State, task: Active, ending: Ending, limits: Limits) -> State:
    last = state.last_digest
    if last is None or last.period <= str(task.period):
        text = ending.text[: limits.digest_text_characters]
        url = ending.conversation_url or task.conversation_url
        last = LastDigest(str(task.period), text, ending.at, url, ending.until or task.last_activity)
    seen, wide = newest(state.seen, task.stories), newest(state.seen_wide, task.wide)
    return _caught_up(replace(state, seen=seen, seen_wide=wide, last_digest=last), task.caught_up)


def newest(remembered: Sequence[Fingerprint], added: Iterable[Fingerprint]) -> tuple[Fingerprint, ...]:
    """Return the list with ``added`` at its newest end, each once."""
    moved = dict.fromkeys(added)
    return (*(key for key in remembered if key not in moved), *moved)


def escaped_prefix(text: str, limit: int) -> str:
    """Return the longest beginning of a text whose escaped JSON form has at most ``limit`` bytes."""
    used = 0
    for index, character in enumerate(text):
        used += len(json.dumps(character)) - 2
        if used > limit:
            return text[:index]
    return text


def reopen(state: State, period: Period, today: Period) -> State:
    """Open today again after it ended without a digest; raises ``IllegalMove`` for any other day.

    A past day is not opened: the next run's window covers its stories. A day that still knows of a workspace is
    released first.
    """
    task = state.tasks.get(period.key)
    if task is None:
        return state
    cause = _why_closed(task, period, today)
    if cause:
        raise IllegalMove("cannot open the day again", thing=str(period), cause=cause)
    return _without(state, period)


def _why_closed(task: Task, period: Period, today: Period) -> str:
    if not isinstance(task, Settled):
        return f"it is {describe(task)}"
    if task.outcome is Outcome.COMPLETED:
        return "its digest was written"
    if period != today:
        return "it is past; the window of the next run covers its stories"
    if task.workspace:
        return "its workspace is still on disk"
    return ""


# --- after the end -------------------------------------------------------------------------------------------------


def release_workspace(state: State, ticket: Ticket) -> State:
    """Forget the folder of a settled task, once it is gone or must be left alone."""
    task = _task_of(state, ticket)
    if not isinstance(task, Settled):
        raise IllegalMove("cannot forget the workspace", thing=str(task.period), cause=f"it is {describe(task)}")
    return _with(state, replace(task, workspace="")) if task.workspace else state


def take_delivery(state: State, ticket: Ticket, run: str, now: datetime, limits: Limits) -> State:
    """Take every delivery that is owed and that no living run is sending, so that no other run sends it meanwhile."""

    def take(receipt: Receipt) -> Receipt:
        free = receipt.taken_at is None or abs(now - receipt.taken_at) > limits.delivery_lease
        return replace(receipt, taken_at=now, run=run) if receipt.at is None and free else receipt

    return _with_receipts(state, ticket, take)


def mark_delivered(state: State, ticket: Ticket, receipt: Receipt) -> State:
    """Record that a channel took the digest; a receipt that is there already stays."""
    return _with_receipts(
        state, ticket, lambda old: receipt if old.channel == receipt.channel and old.at is None else old
    )


def mark_undelivered(state: State, ticket: Ticket, channel: str, cause: str, limits: Limits) -> State:
    """Give a delivery back, with the reason, so that the next run tries at once."""
    detail = escaped_prefix(cause, limits.reason_bytes)
    return _with_receipts(
        state,
        ticket,
        lambda old: Receipt(channel, detail=detail) if old.channel == channel and old.at is None else old,
    )


def _with_receipts(state: State, ticket: Ticket, change: Callable[[Receipt], Receipt]) -> State:
    task = _task_of(state, ticket)
    if not isinstance(task, Settled):
        raise IllegalMove("cannot record a delivery", thing=str(task.period), cause=f"it is {describe(task)}")
    return _with(state, replace(task, receipts=tuple(map(change, task.receipts))))


# --- the check and the caps ----------------------------------------------------------------------------------------


def record_check(
    state: State,
    now: datetime,
    selection: Selection,
    errors: Sequence[str],
    present: Iterable[Fingerprint],
    limits: Limits,
    notices: Sequence[str] = (),
) -> State:
    """Record that the feeds were read; what a feed still shows (``present``) moves to the newest end of its list.

    A feed that failed is behind from here on, until its stories were told or, as now, it has nothing to tell. Where the
    window had reached back and more was new than the cap allows, all feeds stay behind: the rest competes again.
    """
    shown = frozenset(present)
    funnel = selection.funnel
    reached_back = selection.since < now - limits.lookback
    behind = (*selection.failed, ALL_FEEDS) if selection.above_cap and reached_back else selection.failed
    state = replace(state, behind={**dict.fromkeys(behind, selection.since), **state.behind})
    if not funnel.fresh and not selection.in_flight:
        state = _caught_up(state, selection.caught_up)
    return replace(
        state,
        last_checked=now,
        last_funnel=replace(funnel, picked=0),
        last_above_cap=funnel.above_cap,
        last_feed_errors=_short(errors, limits),
        last_feed_notices=_short(notices, limits),
        seen=newest(state.seen, (key for key in state.seen if key in shown)),
        seen_wide=newest(state.seen_wide, (key for key in state.seen_wide if key in shown)),
    )


def _short(texts: Sequence[str], limits: Limits) -> tuple[str, ...]:
    return tuple(text[: limits.feed_error_characters] for text in texts[: limits.feed_errors])


def prune(state: State, today: Period, limits: Limits) -> State:
    """Apply the caps of the specification: oldest out first, never an open task, one with a workspace, or today's."""
    return replace(
        state,
        seen=state.seen[-limits.seen_fingerprints :],
        seen_wide=state.seen_wide[-limits.seen_wide_fingerprints :],
        tasks=_pruned_tasks(state.tasks, today, limits),
        attempts=_pruned_attempts(state, today, limits),
        behind=dict(sorted(state.behind.items(), key=lambda pair: (pair[0] == ALL_FEEDS, pair[1]))[-limits.behind :]),
    )


def _pruned_tasks(tasks: Mapping[str, Task], today: Period, limits: Limits) -> Mapping[str, Task]:
    excess = len(tasks) - limits.tasks
    if excess <= 0:
        return tasks
    evictable = [task for task in tasks.values() if isinstance(task, Settled) and not task.workspace]
    others = (task for task in evictable if task.period != today)
    oldest = sorted(others, key=lambda task: (bool(task.owed), task.period))
    gone = {task.period.key for task in oldest[:excess]}
    return {key: task for key, task in tasks.items() if key not in gone}


def _pruned_attempts(state: State, today: Period, limits: Limits) -> Mapping[str, int]:
    """Keep the newest counts, and those of every period that has a record."""
    needed = {str(today), *(key.removeprefix("news:") for key in state.tasks)}
    recent = frozenset(sorted(state.attempts)[-limits.attempts :])
    return {day: count for day, count in state.attempts.items() if day in recent or day in needed}


# --- records -------------------------------------------------------------------------------------------------------


def _task_of(state: State, ticket: Ticket) -> Starting | Active | Settled:
    for task in state.tasks.values():
        if not isinstance(task, Foreign) and task.ticket == ticket:
            return task
    raise Superseded("the day is no longer this run's", thing=str(ticket), cause="no record carries its ticket")


def _with(state: State, task: Starting | Active | Settled) -> State:
    return replace(state, tasks={**state.tasks, task.period.key: task})


def _without(state: State, period: Period) -> State:
    return replace(state, tasks={key: task for key, task in state.tasks.items() if key != period.key})
