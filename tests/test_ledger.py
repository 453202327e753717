"""The only place that saves: conflicts, saves without an answer, and giving up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from news_digest.errors import Conflict, DocumentTooLarge, StoreError, StoreFull, StoreUnavailable
from news_digest.ledger import Ledger
from news_digest.model import Fingerprint, Limits, Period, State
from news_digest.ports import Loaded, Version
from news_digest.stores.memory import MemoryStore
from news_digest.testing import FakeClock

NOW = datetime(2026, 8, 20, 8, 0, tzinfo=UTC)
PRINTS = [Fingerprint(f"{number:016x}") for number in range(2000)]


@dataclass
class FaultyStore:
    """A memory store whose saves run a script: an error to raise before or after the save really happens."""

    script: list[tuple[str, StoreError]] = field(default_factory=list)
    inner: MemoryStore = field(default_factory=MemoryStore)
    warnings: tuple[str, ...] = ()
    before_save: list[Callable[[MemoryStore], None]] = field(default_factory=list)
    saves: int = 0

    def load(self) -> Loaded:
        return replace(self.inner.load(), warnings=self.warnings)

    def save(self, state: State, expected: Version) -> Version:
        self.saves += 1
        if self.before_save:
            self.before_save.pop(0)(self.inner)
        when, error = self.script.pop(0) if self.script else ("", None)
        if when == "before" and error:
            raise error
        version = self.inner.save(state, expected)
        if when == "after" and error:
            raise error
        return version


def a_ledger(store: FaultyStore, clock: FakeClock | None = None) -> Ledger:
    clock = clock or FakeClock(NOW)
    return Ledger(store, today=Period.of(NOW), limits=Limits(), clock=clock, sleep=clock.sleep, jitter=lambda: 0.5)


def remember(number: int) -> Callable[[State], State]:
    def move(state: State) -> State:
        known = PRINTS[number] in state.seen
        return state if known else replace(state, seen=(*state.seen, PRINTS[number]))

    return move


def test_a_move_is_saved_with_the_time_and_seen_by_the_next_load() -> None:
    store = FaultyStore()
    state = a_ledger(store).apply(remember(1))
    assert state.updated_at == NOW
    assert store.load().state.seen == (PRINTS[1],)


def test_a_move_without_effect_saves_nothing() -> None:
    store = FaultyStore()
    ledger = a_ledger(store)
    ledger.apply(remember(1))
    ledger.apply(remember(1))
    assert store.saves == 1


def test_a_lost_race_applies_the_move_to_what_the_other_run_left() -> None:
    def other(inner: MemoryStore) -> None:
        loaded = inner.load()
        inner.save(replace(loaded.state, seen=(PRINTS[9],)), loaded.version)

    store = FaultyStore(before_save=[other])
    assert a_ledger(store).apply(remember(1)).seen == (PRINTS[9], PRINTS[1])
    assert store.saves == 2


def test_a_save_without_an_answer_that_happened_is_found_done() -> None:
    store = FaultyStore([("after", StoreUnavailable("cannot save", cause="timeout"))])
    assert a_ledger(store).apply(remember(1)).seen == (PRINTS[1],)
    assert store.saves == 1


def test_a_save_without_an_answer_that_did_not_happen_is_done_again() -> None:
    store = FaultyStore([("before", StoreUnavailable("cannot save", cause="timeout"))])
    assert a_ledger(store).apply(remember(1)).seen == (PRINTS[1],)
    assert store.saves == 2


def test_a_store_that_never_answers_is_given_up_after_three_saves() -> None:
    store = FaultyStore([("before", StoreUnavailable("cannot save", cause="timeout"))] * 9)
    with pytest.raises(StoreUnavailable, match="timeout"):
        a_ledger(store).apply(remember(1))
    assert store.saves == 3


def test_losing_every_race_ends_with_an_error_and_pauses_that_grow_to_their_limit() -> None:
    store = FaultyStore([("before", Conflict("another run saved first"))] * 99)
    clock = FakeClock(NOW)
    with pytest.raises(StoreUnavailable, match="12 times in a row"):
        a_ledger(store, clock).apply(remember(1))
    assert store.saves == 12
    assert timedelta(seconds=6) < clock.now - NOW < timedelta(seconds=12)


def test_any_other_error_of_the_store_comes_through() -> None:
    store = FaultyStore([("before", StoreFull("cannot save", cause="disk full"))])
    with pytest.raises(StoreFull):
        a_ledger(store).apply(remember(1))
    assert store.load().state == State()


def test_every_save_applies_the_caps() -> None:
    store = FaultyStore()
    state = a_ledger(store).apply(lambda state: replace(state, seen=tuple(PRINTS)))
    assert state.seen == tuple(PRINTS[-1000:])


def test_a_claim_without_room_to_settle_it_is_refused_and_nothing_is_saved() -> None:
    store = FaultyStore()
    ledger = a_ledger(store)
    foreign = {"theirs": "x" * 60_000}
    with pytest.raises(DocumentTooLarge):
        ledger.apply(lambda state: replace(state, seen=tuple(PRINTS[:100]), origin=foreign), reserve_bytes=4096)
    assert store.saves == 0


def test_warnings_of_the_store_are_told_once() -> None:
    ledger = a_ledger(FaultyStore(warnings=("the file was damaged",)))
    ledger.load()
    ledger.load()
    assert ledger.warnings == ["the file was damaged"]
