"""The order of a batch: one request after the other within a host, with a pause between, all hosts side by side."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush

__all__ = ["Lanes"]


class Lanes:
    """Hands out the positions of a batch; the time is an argument, in seconds of any clock that only goes forward.

    A host that is asked twice rests for ``pause`` times something between 0.5 and 1.5 (``jitter`` gives [0, 1)), so
    that feeds of one site neither arrive as a burst nor hold anybody else up.
    """

    def __init__(self, hosts: Sequence[str], pause: float, jitter: Callable[[], float]) -> None:
        self._hosts = hosts
        self._pause = pause
        self._jitter = jitter
        self._waiting: dict[str, deque[int]] = {}
        for position, host in enumerate(hosts):
            self._waiting.setdefault(host, deque()).append(position)
        self._ready = deque(self._waiting)
        self._resting: list[tuple[float, str]] = []
        self.left = len(hosts)
        """How many positions were not handed out yet."""

    def take(self, now: float) -> int | None:
        """Return the next position that may start, None while every host with work is busy or rests."""
        while self._resting and self._resting[0][0] <= now:
            self._ready.append(heappop(self._resting)[1])
        if not self._ready:
            return None
        self.left -= 1
        return self._waiting[self._ready.popleft()].popleft()

    def give_back(self, position: int, now: float, *, asked: bool = True) -> None:
        """Say that a position is done; its host may be asked again after a pause, or at once if it was not asked."""
        host = self._hosts[position]
        if not self._waiting[host]:
            del self._waiting[host]
        elif asked:
            heappush(self._resting, (now + self._pause * (0.5 + self._jitter()), host))
        else:
            self._ready.append(host)

    def rest(self, now: float) -> float | None:
        """Return the seconds until a resting host may be asked again, None where none rests."""
        return max(0.0, self._resting[0][0] - now) if self._resting else None

    def abandon(self) -> list[int]:
        """Return all positions that were not handed out, and forget them."""
        positions = sorted(position for queue in self._waiting.values() for position in queue)
        for queue in self._waiting.values():
            queue.clear()
        self._ready.clear()
        self._resting.clear()
        self.left = 0
        return positions
