"""The moves: what each does, what it refuses, and every boundary instant."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.errors import DayTaken, IllegalMove, LedgerError, StoriesTaken, Superseded
from news_digest.lifecycle import (
    ALL_FEEDS,
    Ending,
    activate,
    age,
    claim,
    describe,
    drop_claim,
    escaped_prefix,
    in_flight,
    known,
    mark_delivered,
    mark_undelivered,
    newest,
    next_attempt,
    open_tasks,
    prune,
    rebase,
    record_check,
    release_workspace,
    reopen,
    settle,
    stalled_claims,
    take_delivery,
)
from news_digest.model import (
    Active,
    Entry,
    Fingerprint,
    Foreign,
    Funnel,
    Identity,
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

LIMITS = Limits()
NOW = datetime(2026, 8, 20, 8, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
DAY = Period(date(2026, 8, 20))
NEXT = Period(date(2026, 8, 21))
ONE, TWO, THREE = (Fingerprint(f"{number:016x}") for number in (1, 2, 3))
TICKET, OTHER = Ticket("ticket-1"), Ticket("ticket-2")
CLAIM = Starting(DAY, TICKET, (ONE,), (TWO,), 1, NOW, "/w", 1, "embedded", "hash", "run-1")


def claimed(state: State | None = None) -> State:
    return claim(state or State(), CLAIM, [ONE, TWO])


def active(state: State | None = None) -> State:
    return activate(claimed(state), TICKET, NOW, "url")


def ended(outcome: Outcome, *, channels: tuple[str, ...] = (), at: datetime = NOW) -> State:
    return settle(active(), TICKET, Ending(outcome, at, "because", "text", channels=channels, run="run-1"), LIMITS)


def settled(state: State, day: Period = DAY) -> Settled:
    task = state.tasks[day.key]
    assert isinstance(task, Settled)
    return task


# --- claim ---------------------------------------------------------------------------------------------------------


def test_a_claim_holds_its_stories_and_counts_the_attempt() -> None:
    state = claimed()
    assert open_tasks(state) == (CLAIM,)
    assert in_flight(state) == {ONE: DAY, TWO: DAY}
    assert known(state) == frozenset()
    assert state.attempts == {"2026-08-20": 1}
    assert next_attempt(state, DAY) == 2


def test_the_same_claim_of_the_same_run_is_success() -> None:
    state = claimed()
    assert claim(state, CLAIM, [ONE, TWO]) is state


@pytest.mark.parametrize("run", ["run-2", ""])
def test_the_same_ticket_from_another_run_is_not_this_runs_claim(run: str) -> None:
    with pytest.raises(DayTaken, match="starting"):
        claim(claimed(), replace(CLAIM, run=run), [ONE])


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (active(), "active"),
        (ended(Outcome.COMPLETED), "completed"),
        (ended(Outcome.FAILED), "failed"),
        (State(tasks={DAY.key: Foreign(DAY.key)}), "cannot read"),
    ],
)
def test_a_day_with_a_record_is_taken(state: State, word: str) -> None:
    with pytest.raises(DayTaken, match=word):
        claim(state, replace(CLAIM, attempt=next_attempt(state, DAY), run="run-2"), [THREE])


def test_an_attempt_that_was_used_is_not_used_again() -> None:
    state = drop_claim(claimed(), DAY, TICKET)
    with pytest.raises(DayTaken, match="let it go"):
        claim(state, replace(CLAIM, run="run-2"), [ONE])
    again = claim(state, replace(CLAIM, attempt=2, ticket=OTHER), [ONE])
    assert again.attempts == {"2026-08-20": 2}


@pytest.mark.parametrize(
    "state",
    [
        State(seen=(ONE,)),
        State(seen_wide=(ONE,)),
        claim(State(), replace(CLAIM, period=NEXT, ticket=OTHER), [ONE]),
        claim(State(), replace(CLAIM, period=NEXT, ticket=OTHER, stories=(THREE,), wide=(ONE,)), [ONE]),
    ],
)
def test_a_story_that_another_task_told_or_holds_refuses_the_claim(state: State) -> None:
    with pytest.raises(StoriesTaken):
        claim(state, CLAIM, [ONE, THREE])


# --- activate, drop ------------------------------------------------------------------------------------------------


def test_activating_keeps_what_the_claim_knew() -> None:
    task = active().tasks[DAY.key]
    assert task == Active(DAY, TICKET, (ONE,), (TWO,), 1, NOW, "url", "/w", 1, "embedded", "hash")


@pytest.mark.parametrize("state", [active(), ended(Outcome.FAILED)])
def test_activating_what_is_past_that_is_success(state: State) -> None:
    assert activate(state, TICKET, NOW) is state


Move = Callable[[State], State]
MOVES: dict[str, Move] = {
    "activate": lambda state: activate(state, OTHER, NOW),
    "settle": lambda state: settle(state, OTHER, Ending(Outcome.FAILED, NOW), LIMITS),
    "release": lambda state: release_workspace(state, OTHER),
    "take": lambda state: take_delivery(state, OTHER, "run", NOW, LIMITS),
    "deliver": lambda state: mark_delivered(state, OTHER, Receipt("log", NOW)),
    "undeliver": lambda state: mark_undelivered(state, OTHER, "log", "no", LIMITS),
}


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("state", [State(), claimed(), active(), State(tasks={DAY.key: Foreign(DAY.key)})])
def test_a_record_that_carries_another_ticket_is_left_alone(name: str, state: State) -> None:
    with pytest.raises(Superseded):
        MOVES[name](state)


def test_dropping_a_claim_opens_the_day_and_keeps_the_count() -> None:
    state = drop_claim(claimed(), DAY, TICKET)
    assert state.tasks == {}
    assert state.attempts == {"2026-08-20": 1}
    assert drop_claim(state, DAY, TICKET) is state


@pytest.mark.parametrize("ticket", [OTHER, None])
def test_another_tickets_claim_is_not_dropped(ticket: Ticket | None) -> None:
    with pytest.raises(Superseded):
        drop_claim(claimed(), DAY, ticket)


def test_a_record_that_cannot_be_read_is_not_dropped() -> None:
    with pytest.raises(Superseded):
        drop_claim(State(tasks={DAY.key: Foreign(DAY.key)}), DAY, None)


@pytest.mark.parametrize("state", [active(), ended(Outcome.COMPLETED), ended(Outcome.EMPTY)])
def test_only_a_claim_can_be_dropped(state: State) -> None:
    with pytest.raises(IllegalMove):
        drop_claim(state, DAY, TICKET)


# --- settle --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", Outcome)
def test_only_a_completed_day_widens_what_is_seen(outcome: Outcome) -> None:
    state = ended(outcome)
    remembered = outcome is Outcome.COMPLETED
    assert state.seen == ((ONE,) if remembered else ())
    assert state.seen_wide == ((TWO,) if remembered else ())
    assert (state.last_digest is not None) == remembered
    assert in_flight(state) == {}


def test_settling_records_when_why_and_for_whom() -> None:
    task = settled(ended(Outcome.COMPLETED, channels=("archive", "log")))
    assert task.completed_at == NOW
    assert task.expired_after is None
    assert task.conversation_url == "url"
    assert task.workspace == "/w"
    assert task.owed == ("archive", "log")
    assert {receipt.run for receipt in task.receipts} == {"run-1"}
    failed = settled(ended(Outcome.FAILED, channels=("log",)))
    assert failed.reason == "because"
    assert failed.receipts == ()


def test_an_expired_day_says_after_how_long() -> None:
    task = settled(ended(Outcome.EXPIRED, at=NOW + timedelta(hours=2, seconds=1)))
    assert task.expired_after == timedelta(hours=2, seconds=1)
    assert task.completed_at is None


def test_settling_twice_changes_nothing() -> None:
    state = ended(Outcome.COMPLETED)
    assert settle(state, TICKET, Ending(Outcome.FAILED, NOW), LIMITS) is state


def test_a_claim_cannot_be_settled() -> None:
    with pytest.raises(IllegalMove):
        settle(claimed(), TICKET, Ending(Outcome.FAILED, NOW), LIMITS)


def test_the_last_digest_is_of_the_latest_day_and_has_at_most_its_characters() -> None:
    later = LastDigest("2026-08-21", "later", NOW)
    state = replace(active(), last_digest=later)
    ending = Ending(Outcome.COMPLETED, NOW, text="x" * 4001, conversation_url="new")
    assert settle(state, TICKET, ending, LIMITS).last_digest == later
    earlier = replace(later, period="2026-08-19")
    written = settle(replace(state, last_digest=earlier), TICKET, ending, LIMITS).last_digest
    assert written == LastDigest("2026-08-20", "x" * 4000, NOW, "new", NOW)
    earlier_selection = replace(ending, until=NOW - SECOND)
    written = settle(replace(state, last_digest=earlier), TICKET, earlier_selection, LIMITS).last_digest
    assert written == LastDigest("2026-08-20", "x" * 4000, NOW, "new", NOW - SECOND)


def test_the_reason_is_cut_by_its_escaped_bytes() -> None:
    ending = Ending(Outcome.FAILED, NOW, "😀" * 100)
    reason = settled(settle(active(), TICKET, ending, LIMITS)).reason
    assert len(json.dumps(reason)) - 2 <= 200 < len(json.dumps(reason + "😀")) - 2


@given(st.text(max_size=80), st.integers(0, 100))
def test_an_escaped_prefix_is_the_longest_that_fits(text: str, limit: int) -> None:
    prefix = escaped_prefix(text, limit)
    assert text.startswith(prefix)
    assert len(json.dumps(prefix)) - 2 <= limit
    assert prefix == text or len(json.dumps(text[: len(prefix) + 1])) - 2 > limit


# --- boundary instants ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("passed", "stalled"),
    [
        (timedelta(minutes=15), False),
        (timedelta(minutes=15) + timedelta(microseconds=1), True),
        (timedelta(minutes=15) + SECOND, True),
        (timedelta(0), False),
        (-timedelta(days=30), False),
    ],
)
def test_a_claim_stalls_after_more_than_fifteen_minutes(passed: timedelta, *, stalled: bool) -> None:
    assert bool(stalled_claims(claimed(), NOW + passed, LIMITS)) is stalled


def test_only_claims_stall() -> None:
    assert stalled_claims(active(), NOW + timedelta(days=1), LIMITS) == ()


def test_an_activity_in_the_future_counts_as_now() -> None:
    assert age(CLAIM, NOW - timedelta(days=30)) == timedelta(0)


@pytest.mark.parametrize(
    ("ahead", "moved"),
    [
        (timedelta(minutes=15), False),
        (timedelta(minutes=15) + SECOND, True),
        (timedelta(days=30), True),
        (-SECOND, False),
    ],
)
def test_a_task_ahead_of_a_clock_that_was_set_back_ages_from_now_on(ahead: timedelta, *, moved: bool) -> None:
    for state in (claimed(), active()):
        after = rebase(state, NOW - ahead, LIMITS)
        task = after.tasks[DAY.key]
        assert isinstance(task, Starting | Active)
        assert task.last_activity == (NOW - ahead if moved else NOW)
        assert replace(task, last_activity=NOW) == state.tasks[DAY.key]


@pytest.mark.parametrize(
    ("instant", "day"),
    [
        (datetime(2026, 8, 20, 23, 59, 59, tzinfo=UTC), "2026-08-20"),
        (datetime(2026, 8, 21, 0, 0, 0, tzinfo=UTC), "2026-08-21"),
    ],
)
def test_a_period_is_the_utc_day(instant: datetime, day: str) -> None:
    assert str(Period.of(instant)) == day


# --- reopen --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.EMPTY, Outcome.EXPIRED])
def test_a_day_without_a_digest_can_be_opened_again_today(outcome: Outcome) -> None:
    state = reopen(release_workspace(ended(outcome), TICKET), DAY, DAY)
    assert state.tasks == {}
    assert next_attempt(state, DAY) == 2


def test_opening_an_open_day_is_success() -> None:
    assert reopen(State(), DAY, DAY) == State()


@pytest.mark.parametrize(
    ("state", "today", "cause"),
    [
        (claimed(), DAY, "starting"),
        (active(), DAY, "active"),
        (ended(Outcome.COMPLETED), DAY, "digest was written"),
        (ended(Outcome.FAILED), NEXT, "window of the next run"),
        (ended(Outcome.FAILED), DAY, "workspace"),
        (State(tasks={DAY.key: Foreign(DAY.key)}), DAY, "cannot read"),
    ],
)
def test_no_other_day_can_be_opened(state: State, today: Period, cause: str) -> None:
    with pytest.raises(IllegalMove, match=cause):
        reopen(state, DAY, today)


# --- delivery and workspaces ---------------------------------------------------------------------------------------


def test_a_workspace_is_forgotten_once() -> None:
    state = release_workspace(ended(Outcome.COMPLETED), TICKET)
    assert settled(state).workspace == ""
    assert release_workspace(state, TICKET) is state


@pytest.mark.parametrize("state", [claimed(), active()])
def test_an_open_task_keeps_its_workspace_and_has_no_receipts(state: State) -> None:
    with pytest.raises(IllegalMove):
        release_workspace(state, TICKET)
    with pytest.raises(IllegalMove):
        mark_delivered(state, TICKET, Receipt("log", NOW))


def test_a_receipt_is_recorded_once_and_for_its_channel() -> None:
    state = ended(Outcome.COMPLETED, channels=("archive", "log"))
    state = mark_delivered(state, TICKET, Receipt("log", NOW, "first"))
    assert settled(state).owed == ("archive",)
    again = mark_delivered(state, TICKET, Receipt("log", NOW + SECOND, "second"))
    assert again == state


def test_a_failed_delivery_is_given_back_with_its_reason() -> None:
    state = ended(Outcome.COMPLETED, channels=("email",))
    state = mark_undelivered(state, TICKET, "email", "refused", LIMITS)
    assert settled(state).receipts == (Receipt("email", detail="refused"),)
    done = mark_delivered(state, TICKET, Receipt("email", NOW))
    assert mark_undelivered(done, TICKET, "email", "late", LIMITS) == done


@pytest.mark.parametrize(
    ("passed", "taken"),
    [
        (timedelta(0), False),
        (timedelta(minutes=15), False),
        (timedelta(minutes=15) + SECOND, True),
        (-SECOND, False),
        (-timedelta(minutes=15), False),
        (-timedelta(minutes=15) - SECOND, True),
    ],
)
def test_a_delivery_that_another_run_is_sending_is_taken_when_its_lease_has_passed(
    passed: timedelta, *, taken: bool
) -> None:
    state = ended(Outcome.COMPLETED, channels=("log",))
    after = take_delivery(state, TICKET, "run-2", NOW + passed, LIMITS)
    assert (settled(after).receipts[0].run == "run-2") is taken


def test_what_nobody_sends_is_taken_and_what_was_delivered_is_not() -> None:
    state = mark_undelivered(ended(Outcome.COMPLETED, channels=("log", "email")), TICKET, "log", "no", LIMITS)
    state = mark_delivered(state, TICKET, Receipt("email", NOW))
    first, second = settled(take_delivery(state, TICKET, "run-2", NOW, LIMITS)).receipts
    assert first == Receipt("log", None, "no", NOW, "run-2")
    assert second == Receipt("email", NOW)


# --- the check and the caps ----------------------------------------------------------------------------------------


NOTHING = Funnel()


def a_selection(
    funnel: Funnel = NOTHING, *, failed: tuple[Fingerprint, ...] = (), caught_up: dict[str, datetime] | None = None
) -> Selection:
    return Selection((), (), (), (), (), funnel, NOW - timedelta(hours=48), failed, caught_up or {})


def test_a_check_records_what_it_saw_within_its_limits() -> None:
    state = record_check(
        State(), NOW, a_selection(Funnel(60, 12, 9, 5)), ["e" * 300] * 12, [], LIMITS, ["n" * 300] * 11
    )
    assert state.last_checked == NOW
    assert state.last_funnel == Funnel(60, 12, 9)
    assert state.last_above_cap == 4
    assert state.last_feed_errors == ("e" * 200,) * 10
    assert state.last_feed_notices == ("n" * 200,) * 10
    assert record_check(state, NOW, a_selection(), [], [], LIMITS).last_feed_notices == ()


def test_what_a_feed_still_shows_is_not_forgotten_first() -> None:
    state = State(seen=(ONE, TWO, THREE), seen_wide=(ONE, TWO))
    state = record_check(state, NOW, a_selection(), [], [ONE, Fingerprint("f" * 16)], LIMITS)
    assert state.seen == (TWO, THREE, ONE)
    assert state.seen_wide == (TWO, ONE)


# --- what is behind ------------------------------------------------------------------------------------------------

EARLIER, LATER = NOW - timedelta(days=4), NOW - timedelta(days=1)


def test_a_feed_that_fails_is_behind_from_its_first_failure_on() -> None:
    state = record_check(State(), NOW, a_selection(failed=(ONE,)), [], [], LIMITS)
    assert state.behind == {ONE: NOW - timedelta(hours=48)}
    again = record_check(replace(state, behind={ONE: EARLIER}), NOW, a_selection(failed=(ONE,)), [], [], LIMITS)
    assert again.behind == {ONE: EARLIER}


@pytest.mark.parametrize(
    ("selection", "kept"),
    [
        (a_selection(caught_up={ONE: EARLIER}), False),
        (a_selection(Funnel(1, 1, 0), caught_up={ONE: EARLIER}), False),
        (a_selection(Funnel(1, 1, 1), caught_up={ONE: EARLIER}), True),
        (a_selection(caught_up={ONE: LATER}), True),
        (a_selection(), True),
    ],
)
def test_a_check_that_covers_it_and_finds_nothing_to_tell_catches_up(selection: Selection, *, kept: bool) -> None:
    state = record_check(State(behind={ONE: EARLIER}), NOW, selection, [], [], LIMITS)
    assert (ONE in state.behind) is kept


@pytest.mark.parametrize(("since", "kept"), [(timedelta(hours=48), False), (timedelta(hours=48) + SECOND, True)])
def test_what_is_above_the_cap_of_a_window_that_reached_back_keeps_all_feeds_behind(
    since: timedelta, *, kept: bool
) -> None:
    entry = Entry("f", "f", "", "", None, Identity((ONE,)))
    selection = replace(a_selection(Funnel(1, 1, 1)), above_cap=((entry,),), since=NOW - since)
    assert (ALL_FEEDS in record_check(State(), NOW, selection, [], [], LIMITS).behind) is kept


def test_stories_in_flight_keep_a_feed_behind() -> None:
    entry = Entry("f", "f", "", "", None, Identity((ONE,)))
    selection = replace(a_selection(caught_up={ONE: EARLIER}), in_flight=(entry,))
    assert record_check(State(behind={ONE: EARLIER}), NOW, selection, [], [], LIMITS).behind == {ONE: EARLIER}


@pytest.mark.parametrize("outcome", Outcome)
def test_a_task_that_tells_its_stories_catches_up_and_one_that_does_not_leaves_all_feeds_behind(
    outcome: Outcome,
) -> None:
    wanted = replace(CLAIM, since=LATER, caught_up={ONE: EARLIER, TWO: EARLIER})
    state = activate(claim(State(behind={ONE: EARLIER, TWO: LATER}), wanted, [ONE]), TICKET, NOW)
    state = settle(state, TICKET, Ending(outcome, NOW), LIMITS)
    untold = {ONE: EARLIER, TWO: LATER, ALL_FEEDS: LATER}
    assert state.behind == ({TWO: LATER} if outcome is Outcome.COMPLETED else untold)


def test_a_dropped_claim_leaves_all_feeds_behind_at_least_as_far_as_before() -> None:
    assert drop_claim(claimed(), DAY, TICKET).behind == {ALL_FEEDS: NOW - timedelta(hours=48)}
    state = claim(State(behind={ALL_FEEDS: EARLIER}), replace(CLAIM, since=LATER), [ONE])
    assert drop_claim(state, DAY, TICKET).behind == {ALL_FEEDS: EARLIER}


def test_the_feeds_that_are_longest_behind_go_first_and_what_stands_for_all_never() -> None:
    feeds = {f"{number:016x}": NOW + timedelta(hours=number) for number in range(70)}
    kept = prune(State(behind={**feeds, ALL_FEEDS: EARLIER}), DAY, LIMITS).behind
    assert len(kept) == 64
    assert kept[ALL_FEEDS] == EARLIER
    assert f"{0:016x}" not in kept


def test_newest_moves_and_never_repeats() -> None:
    assert newest((ONE, TWO), (ONE, THREE, ONE)) == (TWO, ONE, THREE)


def prints(count: int) -> tuple[Fingerprint, ...]:
    return tuple(Fingerprint(f"{number:016x}") for number in range(count))


@pytest.mark.parametrize("count", [999, 1000, 1001])
def test_the_oldest_fingerprints_are_evicted_above_the_caps(count: int) -> None:
    state = prune(State(seen=prints(count), seen_wide=prints(count)), DAY, LIMITS)
    assert state.seen == prints(count)[-1000:]
    assert state.seen_wide == prints(count)[-500:]


def a_settled_day(number: int, workspace: str = "") -> Settled:
    return Settled(
        Period(date(2026, 7, number)), Ticket(f"t{number}"), Outcome.COMPLETED, 1, NOW, NOW, workspace=workspace
    )


def test_the_oldest_ended_days_are_evicted_and_what_is_open_or_on_disk_or_today_never() -> None:
    today = Period(date(2026, 7, 1))
    first = a_settled_day(1)
    held = a_settled_day(2, "/w")
    running = replace(CLAIM, period=Period(date(2026, 7, 3)))
    strange = Foreign("news:2026-07-04")
    days = [a_settled_day(number) for number in range(5, 20)]
    dated: list[Starting | Active | Settled] = [*reversed(days), first, held, running]
    tasks: dict[str, Task] = {**{task.period.key: task for task in dated}, strange.key: strange}
    kept = prune(State(tasks=tasks), today, LIMITS).tasks
    assert len(kept) == 14
    assert {first.period.key, held.period.key, running.period.key, strange.key} <= set(kept)
    assert {task.period.key for task in days[:5]}.isdisjoint(kept)


def test_fourteen_days_are_kept_as_they_are() -> None:
    tasks = {task.period.key: task for task in map(a_settled_day, range(1, 15))}
    state = State(tasks=tasks)
    assert prune(state, NEXT, LIMITS) == state


def test_counts_of_attempts_are_kept_for_recent_days_and_for_every_record() -> None:
    days = [str(Period(date(2026, 1, 1) + timedelta(days=number))) for number in range(70)]
    old = Period(date(2025, 1, 1))
    state = State(tasks={old.key: replace(CLAIM, period=old)}, attempts={**dict.fromkeys(days, 1), str(old): 3})
    kept = prune(state, Period(date(2026, 1, 1)), LIMITS).attempts
    assert str(old) in kept
    assert "2026-01-01" in kept
    assert set(days[-64:]) <= set(kept)
    assert "2026-01-02" not in kept


# --- any order of moves --------------------------------------------------------------------------------------------


def test_every_status_has_a_word() -> None:
    states = [claimed(), active(), *(ended(outcome) for outcome in Outcome)]
    words = [describe(state.tasks[DAY.key]) for state in states]
    assert words == ["starting", "active", "completed", "empty", "failed", "expired"]
    assert "cannot read" in describe(Foreign("x"))


moves = st.sampled_from(
    [
        lambda s: claim(
            s, replace(CLAIM, attempt=next_attempt(s, DAY), ticket=Ticket(f"t{next_attempt(s, DAY)}")), [ONE]
        ),
        lambda s: activate(s, Ticket(f"t{next_attempt(s, DAY) - 1}"), NOW),
        lambda s: drop_claim(s, DAY, Ticket(f"t{next_attempt(s, DAY) - 1}")),
        lambda s: settle(s, Ticket(f"t{next_attempt(s, DAY) - 1}"), Ending(Outcome.COMPLETED, NOW), LIMITS),
        lambda s: settle(s, Ticket(f"t{next_attempt(s, DAY) - 1}"), Ending(Outcome.FAILED, NOW), LIMITS),
        lambda s: release_workspace(s, Ticket(f"t{next_attempt(s, DAY) - 1}")),
        lambda s: reopen(s, DAY, DAY),
        lambda s: prune(s, DAY, LIMITS),
    ]
)


@given(st.lists(moves, max_size=20))
def test_moves_in_any_order_give_a_state_or_a_named_refusal_and_repeat_without_effect(order: list[Move]) -> None:
    state = State()
    for move in order:
        try:
            after = move(state)
        except LedgerError:
            continue
        assert state.attempts.get("2026-08-20", 0) <= after.attempts.get("2026-08-20", 0)
        assert set(state.seen) <= set(after.seen)
        state = after
    completed = [
        task for task in state.tasks.values() if isinstance(task, Settled) and task.outcome is Outcome.COMPLETED
    ]
    assert bool(completed) == (ONE in state.seen)
