"""The only place that saves: a pure move, applied to a fresh document, compare-and-set, again after a conflict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

from news_digest.document import encode
from news_digest.errors import Conflict, StoreUnavailable
from news_digest.lifecycle import prune
from news_digest.model import Limits, Period, State
from news_digest.ports import Clock, Sleep, StateStore

__all__ = ["Ledger", "Move"]

Move = Callable[[State], State]
"""A pure change of the state; it may be applied more than once, to different documents."""

_TRIES: Final = 12
"""Saves that may lose against other runs in a row; eight writers at once needed eight at most."""
_UNANSWERED_TRIES: Final = 3
"""Saves without an answer in a row, before the store counts as down."""
_FIRST_PAUSE: Final = timedelta(milliseconds=20)
_LONGEST_PAUSE: Final = timedelta(seconds=1)


class Ledger:
    """One run's view of the state document, and the way to change it.

    ``state`` is the document as last loaded or saved. ``warnings`` collects what the store had to say.
    """

    def __init__(
        self,
        store: StateStore,
        *,
        today: Period,
        limits: Limits,
        clock: Clock,
        sleep: Sleep,
        jitter: Callable[[], float],
    ) -> None:
        self._store = store
        self._today = today
        self._limits = limits
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self.state = State()
        self.warnings: list[str] = []

    def load(self) -> State:
        """Return the document as it is now; raises :class:`~news_digest.errors.StoreError`."""
        loaded = self._store.load()
        self.warnings += [warning for warning in loaded.warnings if warning not in self.warnings]
        self.state = loaded.state
        self._version = loaded.version
        return self.state

    def apply(self, move: Move, *, reserve_bytes: int = 0) -> State:
        """Load, apply the move, save what it changed, and return the new state; a move without effect saves nothing.

        A conflict applies the move to what the other run left. A save without an answer may have happened, so that too
        is loaded again: a move finds itself done. Raises what the move raises, and
        :class:`~news_digest.errors.StoreError`.
        """
        unanswered = 0
        for turn in range(_TRIES):
            before = self.load()
            after = move(before)
            if after == before:
                return before
            after = prune(replace(after, updated_at=self._clock()), self._today, self._limits)
            if reserve_bytes:
                encode(after, ceiling=self._limits.document_bytes - reserve_bytes)
            try:
                self._store.save(after, self._version)
            except Conflict:
                pass
            except StoreUnavailable:
                unanswered += 1
                if unanswered == _UNANSWERED_TRIES:
                    raise
            else:
                self.state = after
                return after
            self._sleep(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**turn) * (0.5 + self._jitter()))
        raise StoreUnavailable(
            "cannot save the state",
            cause=f"other runs saved first {_TRIES} times in a row",
            hint="run again in a minute; nothing was changed",
        )
