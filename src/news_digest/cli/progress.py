"""Progress of a run on stderr: a line that moves on a terminal, a line a step in a log, nothing when quiet."""

from __future__ import annotations

import os
from typing import Final, TextIO

from news_digest.hygiene import clean
from news_digest.ports import Step

__all__ = ["ProgressLine"]

_CLEAR_LINE: Final = "\r\x1b[2K"
_COLUMNS: Final = 79
"""At most, and where a terminal does not say how wide it is."""


class ProgressLine:
    """Shows steps as they come; ``close`` leaves the terminal as it was."""

    def __init__(self, stream: TextIO, *, quiet: bool = False, terminal: bool | None = None) -> None:
        self._stream = stream
        self._quiet = quiet
        self._terminal = stream.isatty() if terminal is None else terminal
        self._width = _columns(stream) - 1  # a line that wraps could not be cleared
        self._shown = ""

    def __call__(self, step: Step) -> None:
        """Show a step; the same step again only moves its count."""
        if self._quiet:
            return
        count = f" {step.done}/{step.total}" if step.total and step.done else ""
        line = clean(f"{step.stage}: {step.text}")
        if self._terminal:
            self._write(_CLEAR_LINE + line[: max(0, self._width - len(count))] + count)
        elif not step.done or step.done == step.total:
            self._write(f"{line}{count}\n")
        self._shown = line

    def close(self) -> None:
        """Remove the moving line."""
        if self._terminal and self._shown:
            self._write(_CLEAR_LINE)
            self._shown = ""

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            # A closed stderr must not cost the digest.
            self._quiet = True


def _columns(stream: TextIO) -> int:
    try:
        return min(os.get_terminal_size(stream.fileno()).columns or _COLUMNS, _COLUMNS)
    except (OSError, ValueError, AttributeError):
        return _COLUMNS  # no terminal, or a stream that is no file
