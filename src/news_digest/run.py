"""One run of the lifecycle, top to bottom: what a scheduler calls.

::

    load -> recover stalled claims, settle open days, deliver what is owed -> today has a record? stop, no feed is read
         -> read feeds -> select -> nothing new? record the check, the day stays open
         -> claim (persisted before the slow work) -> write -> wait within the budget -> settle, deliver

Starting the same day's run twice is always safe, also at the same instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from news_digest.brief import brief_hash
from news_digest.errors import (
    DayTaken,
    LedgerError,
    NewsDigestError,
    Refused,
    StoreError,
    StoriesTaken,
    Superseded,
    Unclear,
    WriterUnavailable,
)
from news_digest.ledger import Ledger
from news_digest.lifecycle import activate, claim, describe, drop_claim, next_attempt, record_check
from news_digest.model import (
    Active,
    Brief,
    Conversation,
    FeedFailure,
    FeedResult,
    FeedSource,
    Limits,
    Outcome,
    Period,
    Selection,
    Settled,
    Starting,
    State,
    Story,
    Style,
    Ticket,
)
from news_digest.ports import Edges, Step, Writer
from news_digest.report import RunOutcome, RunReport
from news_digest.selection import lookups, prints, select
from news_digest.settling import Settling, journal_events, kept

__all__ = ["Job", "make_brief", "run", "ticket_for"]

_TICKET_NAMESPACE = "6f1d3c52-3c8e-5d0b-9a76-0d5a3f6b8c21"
"""The UUIDv5 namespace of tickets; changing it would let a day be written twice."""


@dataclass(frozen=True, slots=True)
class Job:
    """Which digest a run makes: nothing about it is global, so one process may run many."""

    automation_id: str
    sources: tuple[FeedSource, ...]
    topics: tuple[str, ...]
    writer: str
    run_id: str
    """Unique to this run: two runs that try the same attempt of a day have the same ticket."""
    style: Style = field(default_factory=Style)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values of the environment that may stand in no digest, whoever wrote it."""


def run(job: Job, edges: Edges, limits: Limits) -> RunReport:
    """Run the lifecycle once and return what happened; raises :class:`~news_digest.errors.NewsDigestError`.

    The period is computed once, from the clock at the start. Ends within the feeds' deadline plus the run's budget.
    """
    now = edges.clock()
    report = RunReport(Period.of(now), now)
    ledger = Ledger(
        edges.store, today=report.period, limits=limits, clock=edges.clock, sleep=edges.sleep, jitter=edges.jitter
    )
    settling = Settling(ledger, edges, limits, report, job)
    ledger.load()
    settling.settle_open()
    settling.deliver_owed()
    if report.period.key in ledger.state.tasks:
        _day_done(ledger.state, report)
    else:
        results = _read(job, edges, limits, report)
        selection = select(results, ledger.state, now, limits)
        check = _Check(now, selection, results, limits)
        report.funnel = selection.funnel
        if not selection.picked:
            ledger.apply(check.record)
            _nothing_new(selection, results, report)
        else:
            task = _write(job, edges, check, ledger, report)
            if task is not None:
                settling.wait_for(task)
    report.warnings += ledger.warnings
    return report


# --- reading -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Check:
    """That the feeds were read, and what selection made of them."""

    now: datetime
    selection: Selection
    results: Sequence[FeedResult]
    limits: Limits

    def record(self, state: State) -> State:
        """Return the state with this check recorded."""
        errors = [str(result.failure) for result in self.results if result.failure]
        entries = [entry for result in self.results for entry in result.entries]
        present = [
            key for entry in entries for key in (*entry.identity.lookup, *entry.identity.stored, *entry.identity.wide)
        ]
        most = self.limits.feed_error_characters
        notices = [_within(notice, most) for result in self.results for notice in result.notices]
        return record_check(state, self.now, self.selection, errors, present, self.limits, notices)


def _within(notice: str, most: int) -> str:
    """Return a notice whole: where its addresses make it too long for the document, with their hosts alone."""
    from news_digest.shown import hosts_alone  # noqa: PLC0415 - few are as long

    return notice if len(notice) <= most else hosts_alone(notice)


def _read(job: Job, edges: Edges, limits: Limits, report: RunReport) -> Sequence[FeedResult]:
    edges.tell(Step("feeds", f"reading {len(job.sources)} feeds", total=len(job.sources)))
    results = edges.feeds.read(job.sources, limits.feeds_deadline)
    report.failures = tuple(result.failure for result in results if result.failure)
    report.notices = tuple(notice for result in results for notice in result.notices)
    report.feeds_read = len(results) - len(report.failures)
    return results


def _day_done(state: State, report: RunReport) -> None:
    task = state.tasks[report.period.key]
    match task:
        case Starting():
            report.detail = f"claimed by another run at {task.last_activity:%H:%M:%S} UTC"
            report.hint = "if that run died, its claim is released 15 minutes after it was made"
        case Active():
            report.outcome, report.detail = RunOutcome.WAITING, "the writer is still at work"
            report.hint = "a later run reads its digest"
        case _:
            report.detail = f"the day is done ({describe(task)}); no feed was read"
            if isinstance(task, Settled) and task.outcome is not Outcome.COMPLETED:
                report.hint = "`news-digest retry` opens the day again"
    if isinstance(task, Active | Settled):
        report.conversation_id, report.conversation_url = task.ticket or "", task.conversation_url


def _nothing_new(selection: Selection, results: Sequence[FeedResult], report: RunReport) -> None:
    funnel = selection.funnel
    if results and all(result.failure for result in results):
        report.outcome = RunOutcome.FEEDS_FAILED
        report.detail = f"none of {len(results)} feeds could be read"
        report.hint = "`news-digest feeds check` looks at each of them"
        return
    report.outcome = RunOutcome.NOTHING_NEW
    if not funnel.fetched:
        report.detail = "the feeds have no entries"
    elif not funnel.unseen:
        held = f", {len(selection.in_flight)} are being written about" if selection.in_flight else ""
        report.detail = f"all {funnel.fetched} entries were told before{held}"
    else:
        report.detail = f"none of {funnel.unseen} unseen stories is newer than {selection.since:%Y-%m-%d %H:%M} UTC"
    report.hint = "the day stays open; a later run looks again"


# --- writing -------------------------------------------------------------------------------------------------------


def _write(job: Job, edges: Edges, check: _Check, ledger: Ledger, report: RunReport) -> Active | None:
    """Claim the day and begin the conversation; return its task, None when the report says why there is none."""
    writer = edges.writer(job.writer)
    stories = edges.feeds.stories(check.selection.picked)
    brief = make_brief(job, check.selection, stories, report.failures, check.now, ledger.state)
    wanted = _wanted(job, writer, brief, check, ledger.state, edges.clock())
    ticket = wanted.ticket or Ticket("")
    edges.tell(Step("claim", f"claiming {report.period} for {len(brief.stories)} stories"))
    keys = [key for group in check.selection.picked for key in lookups(group)]
    try:
        ledger.apply(
            lambda state: claim(check.record(state), wanted, keys), reserve_bytes=check.limits.claim_reserve_bytes
        )
    except (DayTaken, StoriesTaken) as error:
        report.outcome, report.detail, report.hint = RunOutcome.OVERTAKEN, str(error), error.hint
        return None
    _empty_outbox(edges, ledger.state, brief.period)
    edges.journal.note(journal_events(check.selection, brief, check.now))
    try:
        edges.outbox.put(brief.period, kept(ticket, brief))
    except StoreError:
        with suppress(LedgerError):
            ledger.apply(lambda state: drop_claim(state, brief.period, ticket))
        raise
    return _begin(edges, writer, brief, wanted, ledger, report)


def _empty_outbox(edges: Edges, state: State, today: Period) -> None:
    """Drop what a run that was killed behind its last receipt left in the outbox: the last ended day's, if any."""
    ended = [task for task in state.tasks.values() if isinstance(task, Settled) and task.period < today]
    last = max(ended, key=lambda task: task.period, default=None)
    if last is not None and not last.owed:
        edges.outbox.drop(last.period)


def make_brief(
    job: Job,
    selection: Selection,
    stories: tuple[Story, ...],
    failures: tuple[FeedFailure, ...],
    now: datetime,
    state: State,
) -> Brief:
    """Return what a writer is asked: the stories of a selection, numbered, and everything around them."""
    return Brief(
        period=Period.of(now),
        since=selection.since,
        until=now,
        topics=job.topics,
        stories=stories,
        failures=failures,
        funnel=selection.funnel,
        previous=state.last_digest.text if state.last_digest else "",
        style=job.style,
    )


def _wanted(job: Job, writer: Writer, brief: Brief, check: _Check, state: State, now: datetime) -> Starting:
    attempt = next_attempt(state, brief.period)
    ticket = ticket_for(job.automation_id, brief.period, attempt)
    remembered = [prints(group) for group in check.selection.picked]
    return Starting(
        period=brief.period,
        ticket=ticket,
        stories=tuple(dict.fromkeys(key for stored, _ in remembered for key in stored)),
        wide=tuple(dict.fromkeys(key for _, wide in remembered for key in wide)),
        story_count=len(brief.stories),
        last_activity=now,
        workspace=writer.workspace(brief.period, ticket),
        attempt=attempt,
        writer=job.writer,
        brief_hash=brief_hash(brief),
        run=job.run_id,
        since=check.selection.since,
        caught_up=check.selection.caught_up,
    )


def ticket_for(automation_id: str, period: Period, attempt: int) -> Ticket:
    """Return the conversation id of an attempt at a period (UUIDv5, RFC 9562)."""
    from uuid import UUID, uuid5  # noqa: PLC0415 - a run on a finished day does without it

    return Ticket(str(uuid5(UUID(_TICKET_NAMESPACE), f"{automation_id}/{period}/{attempt}")))


def _begin(
    edges: Edges, writer: Writer, brief: Brief, claimed: Starting, ledger: Ledger, report: RunReport
) -> Active | None:
    ticket = claimed.ticket or Ticket("")
    edges.tell(Step("write", f"{claimed.writer} writes about {len(brief.stories)} stories"))
    try:
        conversation = writer.begin(brief, ticket)
    except Refused as error:
        report.outcome, report.detail = RunOutcome.REFUSED, str(error)
        report.hint = error.hint or "the day stays open; the next run tries again"
        _abandon(edges, writer, claimed, ledger, report)
        return None
    except Unclear as error:
        report.outcome, report.detail = RunOutcome.UNCLEAR, str(error)
        report.hint = error.hint or "a run in 15 minutes or later looks whether the conversation exists"
        return None
    except KeyboardInterrupt:
        with suppress(NewsDigestError):  # a later run recovers what cannot be cleaned up now
            if writer.find(ticket, brief.period, claimed.brief_hash) is None:
                _abandon(edges, writer, claimed, ledger, report)
        raise
    return _activate(edges, writer, brief, conversation, ledger, report)


def _activate(
    edges: Edges, writer: Writer, brief: Brief, conversation: Conversation, ledger: Ledger, report: RunReport
) -> Active | None:
    try:
        state = ledger.apply(lambda state: activate(state, conversation.ticket, edges.clock(), conversation.url))
    except Superseded as error:
        with suppress(WriterUnavailable):
            writer.release(conversation, brief.period)
        report.outcome, report.detail = RunOutcome.OVERTAKEN, str(error)
        return None
    report.conversation_id, report.conversation_url = conversation.ticket, conversation.url
    task = state.tasks[brief.period.key]
    return task if isinstance(task, Active) else None


def _abandon(edges: Edges, writer: Writer, claimed: Starting, ledger: Ledger, report: RunReport) -> None:
    """Open the day again, as the writer certainly did not start; a workspace that cannot be removed keeps the claim."""
    ticket = claimed.ticket or Ticket("")
    conversation = Conversation(ticket, claimed.writer, "", claimed.workspace, claimed.brief_hash)
    try:
        writer.release(conversation, claimed.period)
    except WriterUnavailable as error:
        report.warnings.append(f"the claim stays for a later run: {error}")
        return
    try:
        ledger.apply(lambda state: drop_claim(state, claimed.period, ticket))
    except LedgerError as error:
        report.warnings.append(f"the claim is another run's by now: {error}")
        return
    edges.outbox.drop(claimed.period)
