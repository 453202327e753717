"""Two runs, any order of steps, any fault: no story twice, none lost, one digest a day, nothing forgotten.

A short search runs with the suite; ``make prove`` runs a long one (``HYPOTHESIS_PROFILE=prove``).
"""

from __future__ import annotations

import os
from datetime import timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.machine.world import FEEDS, Process, World, foreign

from news_digest.errors import Conflict, Refused, StoreFull, StoreUnavailable, Unclear, WriterUnavailable
from news_digest.stores.memory import MemoryStore

LONGEST_OUTAGE = timedelta(days=6)
"""Outages of up to seven days lose nothing; the day that healing takes is part of them."""

FAULTS = (
    ("before", StoreUnavailable("cannot save", cause="no answer")),
    ("after", StoreUnavailable("cannot save", cause="no answer, but it happened")),
    ("before", Conflict("another run saved first")),
    ("before", StoreFull("cannot save", cause="the disk is full")),
)


class Runs(RuleBasedStateMachine):
    """Everything that can happen to two runs of one digest."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(MemoryStore())
        self.since = self.world.clock()

    @initialize()
    def foreign_keys(self) -> None:
        self.world.judge.foreign = {"theirs": {"kept": [1, 2.5, None]}}
        loaded = self.world.store.load()
        state = loaded.state
        self.world.store.inner.save(foreign(state, self.world.judge.foreign), loaded.version)
        self.world.run()

    @property
    def running(self) -> list[Process]:
        return [process for process in self.world.processes if not process.ended]

    @rule(feed=st.sampled_from(FEEDS), dated=st.booleans())
    def publish(self, feed: str, *, dated: bool) -> None:
        self.world.publish(feed, dated=dated)

    @precondition(lambda self: len(self.running) < 2)
    @rule()
    def start(self) -> None:
        self.world.start()

    @precondition(lambda self: not self.running)
    @rule()
    def run_alone(self) -> None:
        self.world.run()

    @precondition(lambda self: self.running)
    @rule(which=st.integers(0, 1), count=st.integers(1, 12))
    def go_on(self, which: int, count: int) -> None:
        self.running[which % len(self.running)].step(count)

    @precondition(lambda self: self.running)
    @rule(which=st.integers(0, 1))
    def finish(self, which: int) -> None:
        self.running[which % len(self.running)].finish()

    @precondition(lambda self: self.running)
    @rule(which=st.integers(0, 1))
    def kill(self, which: int) -> None:
        self.world.kill(self.running[which % len(self.running)])

    @precondition(lambda self: self.world.clock() - self.since < LONGEST_OUTAGE)
    @rule(minutes=st.sampled_from([1, 14, 16, 59, 119, 121, 8 * 60, 24 * 60, 49 * 60]))
    def time_passes(self, minutes: int) -> None:
        self.world.clock.sleep(timedelta(minutes=minutes))

    @rule(minutes=st.sampled_from([-1, -20, -180]))
    def clock_is_set_back(self, minutes: int) -> None:
        self.world.clock.sleep(timedelta(minutes=minutes))

    @rule(feed=st.sampled_from(FEEDS), down=st.booleans())
    def feed_fails_or_recovers(self, feed: str, *, down: bool) -> None:
        if down:
            self.world.feeds.down[feed] = "HTTP 503"
        else:
            self.world.feeds.down.pop(feed, None)

    @rule(mode=st.sampled_from(["write", "write", "hang", "idle", "empty", "fail", "gone"]))
    def writer_changes(self, mode: str) -> None:
        self.world.writer.mode = mode

    @rule(
        refuse=st.sampled_from(
            [None, None, Refused("cannot begin", cause="429"), Unclear("cannot begin", cause="timeout")]
        ),
        unavailable=st.sampled_from([None, None, WriterUnavailable("cannot ask", cause="connection refused")]),
    )
    def writer_answers(self, refuse: Exception | None, unavailable: Exception | None) -> None:
        self.world.writer.refuse = refuse
        self.world.writer.unavailable = unavailable

    @rule(fault=st.sampled_from(FAULTS))
    def store_fails(self, fault: tuple[str, StoreUnavailable]) -> None:
        self.world.store.faults.append(fault)
        self.world.judge.killed()  # a run that cannot save its receipt ends like one that was killed

    @rule(cause=st.sampled_from(["", "", "SMTP 451"]))
    def channel_breaks_or_recovers(self, cause: str) -> None:
        self.world.channel.broken = cause

    @invariant()
    def one_digest_a_day(self) -> None:
        self.world.judge.check_one_a_day()

    def teardown(self) -> None:
        outage_ends = self.world.clock()
        self.world.heal()
        judge = self.world.judge
        above_cap = {event.link for event in self.world.journal.events if event.what == "above the cap"}
        judge.check_nothing_lost(outage_ends, above_cap)
        judge.check_copies()
        judge.check_one_a_day()
        judge.check_nothing_left(self.world.state)


TestRuns = Runs.TestCase
TestRuns.settings = settings(
    deadline=None,
    suppress_health_check=list(HealthCheck),
    stateful_step_count=40,
    max_examples=2000 if os.environ.get("HYPOTHESIS_PROFILE") == "prove" else 80,
)
