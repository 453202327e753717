"""The journal: what happened to each story, one JSON object a line, for ``news-digest why``.

Losing it loses no story, so that nothing here raises: a full disk costs history, never a digest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from news_digest.errors import StoreError
from news_digest.ports import Event
from news_digest.stores.durable import Disk, beside, locked, make_folder, read
from news_digest.wire import from_json, to_json

__all__ = ["LONGEST_BYTES", "FileJournal", "NoJournal"]

LONGEST_BYTES: Final = 4 * 1024 * 1024
"""A file longer than this becomes ``<name>.1`` and a new one begins: some 20 to 100 days of events, twice in all."""
LOCK_WAIT_SECONDS: Final = 2.0


class FileJournal:
    """Appends to a file beside the archive; two files are kept at most."""

    def __init__(self, path: str | os.PathLike[str], *, longest_bytes: int = LONGEST_BYTES) -> None:
        self.where = Path(path)
        """Where it is kept, for whoever asks."""
        self._longest_bytes = longest_bytes

    def note(self, events: Sequence[Event]) -> None:
        """Append events, all in one write; what cannot be written is lost."""
        if not events:
            return
        data = b"".join(json.dumps(to_json(event)).encode("ascii") + b"\n" for event in events)
        try:
            make_folder(self.where.absolute().parent, Disk())
            with locked(beside(self.where, ".lock"), wait_seconds=LOCK_WAIT_SECONDS):
                self._append(data)
        except (OSError, StoreError):
            return

    def _append(self, data: bytes) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        if self.where.exists() and self.where.stat().st_size + len(data) > self._longest_bytes:
            self.where.replace(beside(self.where, ".1"))
        descriptor = os.open(self.where, flags, 0o600)
        try:
            os.write(descriptor, (b"\n" if _is_cut(descriptor) else b"") + data)
        finally:
            os.close(descriptor)

    def read(self) -> Sequence[Event]:
        """Return all kept events, oldest first; a line that cannot be read (one cut by a crash) is passed over."""
        return tuple(event for path in (beside(self.where, ".1"), self.where) for event in _events(path))


class NoJournal:
    """Keeps nothing: there is no disk between runs."""

    where: Final = "not kept"

    def note(self, events: Sequence[Event]) -> None:
        """Keep nothing."""

    def read(self) -> Sequence[Event]:
        """Return nothing."""
        return ()


def _is_cut(descriptor: int) -> bool:
    """Say whether the file ends within a line: its writer died."""
    size = os.lseek(descriptor, 0, os.SEEK_END)
    if not size:
        return False
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) != b"\n"


def _events(path: Path) -> Iterator[Event]:
    try:
        data = read(path) or b""
    except OSError:
        return
    for line in data.splitlines():
        try:
            yield from_json(Event, json.loads(line))
        except (ValueError, RecursionError):
            continue
