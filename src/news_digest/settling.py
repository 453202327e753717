"""From an open task to a delivered digest: recover, poll, judge the age, settle, deliver, release.

Everything here may run in any later run than the one that claimed the day, and in two runs at once: each step is a
move of the ledger, and what one of them did is found done by the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from news_digest.errors import ConfigError, DeliveryError, IllegalMove, Superseded, WriterUnavailable
from news_digest.ledger import Ledger
from news_digest.lifecycle import (
    Ending,
    activate,
    age,
    drop_claim,
    mark_delivered,
    mark_undelivered,
    open_tasks,
    rebase,
    release_workspace,
    settle,
    stalled_claims,
    take_delivery,
)
from news_digest.model import (
    Active,
    Brief,
    Conversation,
    Digest,
    Json,
    Limits,
    Outcome,
    Period,
    Receipt,
    Selection,
    Settled,
    Starting,
    Task,
    Ticket,
)
from news_digest.ports import Edges, Event, Progress, Running, Step, Stopped, Writer, Wrote
from news_digest.report import Delivered, Ended, RunOutcome, RunReport

if TYPE_CHECKING:
    from news_digest.run import Job

__all__ = ["Settling", "journal_events", "kept"]

_REFERENCE_WRITER = "openhands"
"""Who polls a record that names no writer: the reference knows only conversations of the agent server."""


class Settling:
    """One run's work on tasks that are open, owed or not cleaned up."""

    def __init__(self, ledger: Ledger, edges: Edges, limits: Limits, report: RunReport, job: Job) -> None:
        self._ledger = ledger
        self._edges = edges
        self._limits = limits
        self._report = report
        self._job = job
        self._tried: set[tuple[Period, str]] = set()
        """A channel that failed is tried again by the next run, not by this one."""

    # --- what earlier runs left ------------------------------------------------------------------------------------

    def settle_open(self) -> None:
        """Recover stalled claims, settle what has ended, and clean up behind it; never raises for one task's writer."""
        now = self._edges.clock()
        if rebase(self._ledger.state, now, self._limits) != self._ledger.state:
            self._ledger.apply(lambda state: rebase(state, now, self._limits))
        for claimed in stalled_claims(self._ledger.state, now, self._limits):
            self._recover(claimed, now)
        for task in open_tasks(self._ledger.state):
            if isinstance(task, Active):
                self._settle(task)
        for settled in list(self._ledger.state.tasks.values()):
            if isinstance(settled, Settled) and settled.workspace:
                self._release(settled)

    def _recover(self, claimed: Starting, now: datetime) -> None:
        """Look for the conversation of a run that died: there -> active; not there -> the day is open again."""
        self._edges.tell(Step("settle", f"looking for the conversation of {claimed.period}"))
        found: Conversation | None = None
        writer: Writer | None = None
        try:
            writer = self._edges.writer(claimed.writer or _REFERENCE_WRITER)
            if claimed.ticket is not None:
                found = writer.find(claimed.ticket, claimed.period, claimed.brief_hash)
            if found is None and claimed.workspace:
                writer.release(_conversation(claimed), claimed.period)
        except (WriterUnavailable, ConfigError) as error:
            if age(claimed, now) <= self._limits.active_age:
                self._warn(f"{claimed.period} stays claimed: {error}")
                return
        try:
            if found is not None:
                url = found.url
                self._ledger.apply(lambda state: activate(state, found.ticket, now, url))
            else:
                self._ledger.apply(lambda state: drop_claim(state, claimed.period, claimed.ticket))
                self._warn(f"the claim of {claimed.period} had stalled; the day is open again")
        except (Superseded, IllegalMove):
            return  # another run recovered it first, or its owner woke up

    # --- waiting ---------------------------------------------------------------------------------------------------

    def wait_for(self, task: Active) -> None:
        """Poll until the conversation has ended or the run's budget is used up; then settle and deliver."""
        deadline = self._edges.clock() + self._limits.run_budget
        while not self._settle(task):
            if self._edges.clock() >= deadline:
                self._report.outcome = RunOutcome.WAITING
                self._report.detail = "the writer is still at work"
                self._report.hint = "a later run reads its digest"
                return
            self._edges.sleep(self._limits.poll_interval)
        self._conclude(task)

    def _conclude(self, task: Active) -> None:
        settled = self._ledger.state.tasks.get(task.period.key)
        if not isinstance(settled, Settled) or settled.ticket != task.ticket:
            self._report.outcome = RunOutcome.OVERTAKEN
            self._report.detail = "another run took the day over"
        elif settled.outcome is Outcome.COMPLETED:
            self._report.outcome = RunOutcome.WROTE
            self._report.detail = f"told {settled.story_count} stories"
        else:
            self._report.outcome = RunOutcome.NO_DIGEST
            self._report.detail = f"{settled.outcome}" + (f": {settled.reason}" if settled.reason else "")
            self._report.hint = "its stories are offered again; `news-digest retry` opens the day today"
        if isinstance(settled, Settled) and settled.workspace:
            self._release(settled)

    # --- settling --------------------------------------------------------------------------------------------------

    def _settle(self, task: Active) -> bool:
        """Poll first, then judge the age; True when the task is no longer this run's to wait for."""
        try:
            writer = self._edges.writer(task.writer or _REFERENCE_WRITER)
            brief = self._brief_of(task)
            progress = writer.poll(_conversation(task), brief)
        except (WriterUnavailable, ConfigError) as error:
            if age(task, self._edges.clock()) <= self._limits.active_age:
                self._warn(f"{task.period} stays open: {error}")
                return False
            progress, brief = Running(), None
        ending = self._ending(task, progress)
        if ending is None:
            return False
        try:
            if isinstance(progress, Wrote) and ending.outcome is Outcome.COMPLETED:
                self._complete(task, progress, brief or progress.brief, ending)
            else:
                self._end(task, ending)
        except Superseded:
            self._warn(f"{task.period} was taken over by another run")
        return True

    def _ending(self, task: Active, progress: Progress) -> Ending | None:
        """Return how the conversation ended, None while it may go on."""
        now = self._edges.clock()
        old = age(task, now)
        match progress:
            case Stopped(reason=reason):
                return Ending(Outcome.FAILED, now, reason)
            case Wrote(draft=draft) if draft.lead or draft.sections or draft.headlines:
                return Ending(Outcome.COMPLETED, now)
            case Wrote():
                return Ending(Outcome.EMPTY, now, "the writer stopped without writing anything")
            case Running(started=False) if old > self._limits.never_started:
                return Ending(Outcome.FAILED, now, "never started")
            case Running() if old > self._limits.active_age:
                return Ending(Outcome.EXPIRED, now, "the conversation did not end in time")
            case Running():
                return None

    def _end(self, task: Active, ending: Ending) -> None:
        state = self._ledger.apply(lambda state: settle(state, task.ticket, ending, self._limits))
        if _ended_so(state.tasks.get(task.period.key), ending):
            self._edges.outbox.drop(task.period)
            self._note_end(task, ending)

    def _note_end(self, task: Active, ending: Ending) -> None:
        url = task.conversation_url
        self._report.ended.append(Ended(task.period, ending.outcome, ending.reason, task.ticket, url))
        self._report.conversation_id, self._report.conversation_url = task.ticket, url

    def _complete(self, task: Active, wrote: Wrote, brief: Brief | None, ending: Ending) -> None:
        """Check and compose the digest, keep it in the outbox, then settle; a crash in between loses no digest."""
        from news_digest.finishing import finish  # noqa: PLC0415 - a run on a finished day does without it
        from news_digest.render import markdown  # noqa: PLC0415

        self._edges.tell(Step("check", f"checking the digest of {task.period}"))
        # A later run finishes the digest before it reads any feed: what the check found odd stands in the document.
        notices = self._report.notices or self._ledger.state.last_feed_notices
        digest = finish(wrote, brief, task, ending.at, notices, self._job.secrets)
        self._edges.outbox.put(task.period, kept(task.ticket, brief, digest))
        ending = replace(
            ending,
            text=markdown(digest),
            until=brief.until if brief else None,
            channels=tuple(self._edges.channels),
            run=self._job.run_id,
        )
        state = self._ledger.apply(lambda state: settle(state, task.ticket, ending, self._limits))
        settled = state.tasks.get(task.period.key)
        if not isinstance(settled, Settled) or not _ended_so(settled, ending):
            self._edges.outbox.drop(task.period)
            return
        self._note_end(task, ending)
        self._edges.journal.note(_told_events(digest, ending.at))
        self._deliver(settled, digest)

    def _brief_of(self, task: Active) -> Brief | None:
        value = self._edges.outbox.get(task.period)
        if value is None or value.get("ticket") != task.ticket:
            return None
        from news_digest.wire import from_json  # noqa: PLC0415

        try:
            return from_json(Brief, value.get("brief"))
        except ValueError:
            return None

    # --- delivery --------------------------------------------------------------------------------------------------

    def deliver_owed(self, period: Period | None = None) -> None:
        """Send every finished digest to the channels that have not taken it; ``period`` narrows it to one day."""
        for task in list(self._ledger.state.tasks.values()):
            if (
                not isinstance(task, Settled)
                or not task.owed
                or task.ticket is None
                or period not in (None, task.period)
            ):
                continue
            ticket = task.ticket
            if any((task.period, name) not in self._tried for name in task.owed):
                now = self._edges.clock()
                state = self._ledger.apply(
                    lambda state: take_delivery(state, ticket, self._job.run_id, now, self._limits)  # noqa: B023
                )
                taken = state.tasks.get(task.period.key)
                if isinstance(taken, Settled):
                    self._deliver(taken, self._digest_of(taken))

    def _digest_of(self, task: Settled) -> Digest | None:
        value = self._edges.outbox.get(task.period)
        if value is None or value.get("ticket") != task.ticket:
            return None
        from news_digest.wire import from_json  # noqa: PLC0415

        try:
            return from_json(Digest, value.get("digest"))
        except ValueError:
            return None

    def _deliver(self, task: Settled, digest: Digest | None) -> None:
        ticket = task.ticket or Ticket("")
        mine = self._taken(task)
        if mine and digest is None:
            self._warn(f"the digest of {task.period} is no longer in the outbox; it cannot go to {', '.join(mine)}")
            return
        for name in mine:
            if digest is not None and self._still_taken(name, task):
                self._deliver_to(name, task.period, ticket, digest)
        settled = self._ledger.state.tasks.get(task.period.key)
        if isinstance(settled, Settled) and not settled.owed:
            self._edges.outbox.drop(task.period)
        if digest is not None and mine:
            self._report.digests.append(digest)

    def _taken(self, task: Settled) -> list[str]:
        taken = [r.channel for r in task.receipts if r.at is None and r.run == self._job.run_id]
        return [name for name in taken if (task.period, name) not in self._tried]

    def _still_taken(self, name: str, task: Settled) -> bool:
        """Return whether this run may still send; one that slept through its lease asks again."""
        ticket, now = task.ticket or Ticket(""), self._edges.clock()
        since = next((r.taken_at for r in task.receipts if r.channel == name and r.taken_at), now)
        if abs(now - since) <= self._limits.delivery_lease:
            return True
        state = self._ledger.apply(lambda state: take_delivery(state, ticket, self._job.run_id, now, self._limits))
        current = state.tasks.get(task.period.key)
        return isinstance(current, Settled) and name in self._taken(current)

    def _deliver_to(self, name: str, period: Period, ticket: Ticket, digest: Digest) -> None:
        self._edges.tell(Step("deliver", f"{period} to {name}"))
        self._tried.add((period, name))
        try:
            channel = self._edges.channels.get(name)
            receipt = (
                channel.deliver(digest)
                if channel is not None
                else Receipt(name, at=self._edges.clock(), detail="no longer configured")
            )
        except (DeliveryError, ConfigError) as error:
            cause = str(error)
            self._ledger.apply(lambda state: mark_undelivered(state, ticket, name, cause, self._limits))
            self._report.delivered.append(Delivered(period, name, cause, error.hint))
            return
        done = replace(receipt, channel=name, at=receipt.at or self._edges.clock())
        self._ledger.apply(lambda state: mark_delivered(state, ticket, done))
        self._report.delivered.append(Delivered(period, name))

    # --- cleaning up -----------------------------------------------------------------------------------------------

    def _release(self, task: Settled) -> None:
        """Remove a settled task's workspace; what is not ours to remove is left, its field dropped with a warning."""
        ticket = task.ticket
        try:
            writer = self._edges.writer(task.writer or _REFERENCE_WRITER)
            if not writer.release(_conversation(task), task.period):
                self._warn(f"the workspace of {task.period} was left alone: {task.workspace}")
        except (WriterUnavailable, ConfigError) as error:
            self._warn(f"the workspace of {task.period} is cleaned up later: {error}")
            return
        if ticket is not None:
            try:
                self._ledger.apply(lambda state: release_workspace(state, ticket))
            except Superseded:
                return

    def _warn(self, text: str) -> None:
        if text not in self._report.warnings:
            self._report.warnings.append(text)


def _ended_so(task: Task | None, ending: Ending) -> bool:
    """Return whether a task ended as this run says: another run may have settled it first, and otherwise."""
    return isinstance(task, Settled) and task.outcome is ending.outcome


def _conversation(task: Starting | Active | Settled) -> Conversation:
    brief_hash = "" if isinstance(task, Settled) else task.brief_hash
    url = "" if isinstance(task, Starting) else task.conversation_url
    return Conversation(task.ticket or Ticket(""), task.writer or _REFERENCE_WRITER, url, task.workspace, brief_hash)


def kept(ticket: Ticket, brief: Brief | None, digest: Digest | None = None) -> Mapping[str, Json]:
    """Return what the outbox keeps of a day: whose it is, what the writer was given, and what came of it."""
    from news_digest.wire import to_json  # noqa: PLC0415 - a run on a finished day does without it

    return {"ticket": ticket, "brief": to_json(brief), "digest": to_json(digest)}


# --- the journal ---------------------------------------------------------------------------------------------------


def journal_events(selection: Selection, brief: Brief, now: datetime) -> Sequence[Event]:
    """Return what selection did with each entry that was not told before, for ``why``."""
    offered = [
        Event(now, brief.period, "offered", story.title, story.link, story.feed, story.identity.lookup)
        for story in brief.stories
    ]
    left = [
        *(("above the cap", entry) for group in selection.above_cap for entry in group),
        *(("in flight", entry) for entry in selection.in_flight),
        *(("stale", entry) for entry in selection.stale),
    ]
    return [
        *offered,
        *(Event(now, brief.period, what, "", entry.link, entry.feed, entry.identity.lookup) for what, entry in left),
    ]


def _told_events(digest: Digest, at: datetime) -> Sequence[Event]:
    told = {number for section in digest.draft.sections for item in section.items for number in item.stories}
    return [
        Event(
            at,
            digest.period,
            "told" if number in told else "noted",
            story.title,
            story.link,
            story.feed,
            story.identity.lookup,
        )
        for number, story in enumerate(digest.stories, start=1)
    ]
