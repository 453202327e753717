"""Each promise can be broken: with the mechanism that holds it switched off, the sweep or the search finds it.

A check that cannot fail proves nothing. Every entry switches off one mechanism of the real code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from tests.machine.judge import BrokenPromiseError
from tests.machine.sweep import SCENARIOS, sweep

import news_digest.lifecycle
import news_digest.run
import news_digest.selection
import news_digest.settling
from news_digest.document import decode, encode
from news_digest.errors import Conflict, LedgerError
from news_digest.ledger import Ledger
from news_digest.lifecycle import Ending
from news_digest.model import Fingerprint, Limits, Period, Settled, Starting, State, Ticket
from news_digest.ports import Version
from news_digest.settling import Settling
from news_digest.stores.memory import MemoryStore

Patch = pytest.MonkeyPatch
_claim, _settle, _select = news_digest.lifecycle.claim, news_digest.lifecycle.settle, news_digest.selection.select


pytestmark = pytest.mark.slow


class Blind(MemoryStore):
    """A store without compare-and-set: the last write wins."""

    def save(self, state: State, expected: Version) -> Version:
        del expected
        return super().save(state, super().load().version)


class Forgetful(MemoryStore):
    """A store that keeps only the keys it knows."""

    def save(self, state: State, expected: Version) -> Version:
        return super().save(decode(encode(replace(state, origin={}))), expected)


def _claim_taken_days(state: State, wanted: Starting, lookups: Iterable[Fingerprint]) -> State:
    others = {key: task for key, task in state.tasks.items() if key != wanted.period.key}
    claimed = _claim(replace(state, tasks=others, attempts={}), replace(wanted, attempt=1), lookups)
    return replace(claimed, attempts=state.attempts)


def _claim_any_story(state: State, wanted: Starting, _lookups: Iterable[Fingerprint]) -> State:
    return _claim(state, wanted, [])


def _remember_nothing(state: State, ticket: Ticket, ending: Ending, limits: Limits) -> State:
    settled = _settle(state, ticket, ending, limits)
    return replace(settled, seen=state.seen, seen_wide=state.seen_wide)


def _remember_failures(state: State, ticket: Ticket, ending: Ending, limits: Limits) -> State:
    settled = _settle(state, ticket, ending, limits)
    before = next(task for task in state.tasks.values() if getattr(task, "ticket", "") == ticket)
    return replace(settled, seen=(*settled.seen, *getattr(before, "stories", ())))


def _select_without(field: str) -> Callable[..., Any]:
    def select(results: Any, state: State, now: datetime, limits: Limits) -> Any:
        if field == "in flight":
            tasks = {key: task for key, task in state.tasks.items() if isinstance(task, Settled)}
            return _select(results, replace(state, tasks=tasks), now, limits)
        if field == "seen":
            return _select(results, replace(state, seen=(), seen_wide=()), now, limits)
        return _select(results, replace(state, behind={}, last_digest=None, last_checked=None), now, limits)

    return select


def _evict_everything(state: State, today: Period, limits: Limits) -> State:
    del today, limits
    return replace(state, tasks=dict(list(state.tasks.items())[-1:]))


def _never(*_: object, **__: object) -> None:
    return None


def _take_always(state: State, ticket: Ticket, run: str, now: datetime, limits: Limits) -> State:
    free = replace(limits, delivery_lease=-limits.delivery_lease)
    return news_digest.lifecycle.take_delivery(state, ticket, run, now, free)


def _apply_to_what_was_read(self: Ledger, move: Callable[[State], State], *, reserve_bytes: int = 0) -> State:
    """Save what this run believes, over whatever stands there: what the reference does."""
    del reserve_bytes
    after = move(self.state)
    loaded = self._store.load()
    try:
        self._store.save(after, loaded.version)
    except Conflict:
        return after
    self.state = after
    return after


def _forget_the_workspace(self: Settling, task: Settled) -> None:
    ticket = task.ticket
    if ticket is not None:
        self._ledger.apply(lambda state: replace(state, tasks={k: t for k, t in state.tasks.items() if t != task}))


def _select_blindly(monkeypatch: Patch) -> None:
    monkeypatch.setattr(news_digest.run, "select", _select_without("in flight"))
    monkeypatch.setattr(news_digest.run, "claim", _claim_any_story)


def _replaced(module: object, attribute: str, value: object) -> Callable[[Patch], None]:
    return lambda monkeypatch: monkeypatch.setattr(module, attribute, value)


RUN, SETTLING = news_digest.run, news_digest.settling
MUTATIONS: dict[str, tuple[Callable[[Patch], type[MemoryStore] | None], str]] = {
    "saves without compare-and-set": (lambda _patch: Blind, "two runs at once"),
    "unknown keys are dropped": (lambda _patch: Forgetful, "two runs at once"),
    "saves what it believes": (_replaced(Ledger, "apply", _apply_to_what_was_read), "two runs at once"),
    "a day is claimed twice": (_replaced(RUN, "claim", _claim_taken_days), "two runs see different feeds"),
    "a claim does not look again": (_replaced(RUN, "claim", _claim_any_story), "two sides of midnight"),
    "a completed day is not remembered": (_replaced(SETTLING, "settle", _remember_nothing), "two runs at once"),
    "a failed day is remembered": (
        _replaced(SETTLING, "settle", _remember_failures),
        "the writer failed for four days",
    ),
    "what is in flight is offered": (_select_blindly, "yesterday's conversation is open, and stays"),
    "told stories are offered again": (_replaced(RUN, "select", _select_without("seen")), "asleep for a day"),
    "the window never reaches back": (
        _replaced(RUN, "select", _select_without("behind")),
        "a feed was down for four days",
    ),
    "open days are not settled": (
        _replaced(Settling, "settle_open", _never),
        "killed, the next run after the claim has stalled",
    ),
    "what is owed is not delivered": (_replaced(Settling, "deliver_owed", _never), "a channel is down"),
    "a delivery is taken from its sender": (_replaced(SETTLING, "take_delivery", _take_always), "two runs at once"),
    "open days are evicted": (
        _replaced(news_digest.ledger, "prune", _evict_everything),
        "yesterday's conversation is open, and stays",
    ),
    "a workspace is forgotten": (_replaced(Settling, "_release", _forget_the_workspace), "two runs at once"),
    "stalled claims are not looked at": (
        _replaced(SETTLING, "stalled_claims", lambda *_: ()),
        "killed, the next run after the claim has stalled",
    ),
    "a clock that was set back holds a claim": (
        _replaced(SETTLING, "rebase", lambda state, *_: state),
        "the clock is set back by a month",
    ),
}
"""By name: what switches the mechanism off, and the scenario that sees it."""


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_promise_is_seen_to_break(name: str, monkeypatch: Patch) -> None:
    patch, scenario_name = MUTATIONS[name]
    store = patch(monkeypatch) or MemoryStore
    (scenario,) = (scenario for scenario in SCENARIOS if scenario.name == scenario_name)
    with pytest.raises((BrokenPromiseError, LedgerError)):
        sweep(scenario, store)
