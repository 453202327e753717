"""Runs that a person starts from the page: one at a time, in a thread, each step kept for whoever watches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from news_digest.errors import NewsDigestError
from news_digest.ports import Step, Tell

__all__ = ["Action", "Jobs", "Line"]

_MOST_LINES: Final = 1000

Action: TypeAlias = Callable[[Tell], Sequence[str]]
"""Do something, tell its steps, and return what came of it, one sentence a line."""


@dataclass(frozen=True, slots=True)
class Line:
    """A step (``done`` of ``total`` where that is known), or with ``stage`` ``end`` a line of the outcome."""

    stage: str
    text: str
    done: int = 0
    total: int = 0


class Jobs:
    """The actions that the page offers; starting one while another runs does nothing."""

    def __init__(self, actions: Mapping[str, Action]) -> None:
        self.actions = dict(actions)
        self._lock = threading.Lock()
        self._lines: list[Line] = []
        self._name = ""
        self._running = False

    def start(self, name: str) -> bool:
        """Start an action in a thread; False where one runs already."""
        with self._lock:
            if self._running:
                return False
            self._running, self._name, self._lines = True, name, []
        threading.Thread(target=self._work, args=(self.actions[name],), name=f"news-digest {name}", daemon=True).start()
        return True

    def seen(self) -> tuple[str, bool, tuple[Line, ...]]:
        """Return the name of the last action, whether it runs still, and its lines so far."""
        with self._lock:
            return self._name, self._running, tuple(self._lines)

    def _work(self, action: Action) -> None:
        outcome: Sequence[str] = ("It broke off by a fault; the server's own log has it.",)
        try:
            outcome = action(self._tell)
        except NewsDigestError as error:
            outcome = (str(error), *([f"Next: {error.hint}"] if error.hint else []))
        finally:
            with self._lock:
                self._lines += [Line("end", text) for text in outcome]
                self._running = False

    def _tell(self, step: Step) -> None:
        line = Line(step.stage, step.text, step.done, step.total)
        with self._lock:
            same = self._lines and (self._lines[-1].stage, self._lines[-1].text) == (line.stage, line.text)
            if same:
                self._lines[-1] = line
            elif len(self._lines) < _MOST_LINES:
                self._lines.append(line)
