"""A folder of files that are each complete or absent, and written only where they change."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from news_digest.errors import DeliveryError, StoreError
from news_digest.stores.durable import Disk, failure, locked, make_folder, read, replace

__all__ = ["Folder", "PublicDisk", "QuickDisk"]

LOCK: Final = ".lock"
_SETTLED_NS: Final = 1_000_000_000
"""Coarser than any file system's clock but FAT's (2 s)."""


class QuickDisk(Disk):
    """Leaves flushing to the system: for what can be made again, such as an index."""

    def flush(self, descriptor: int) -> None:
        """Do nothing."""

    def flush_folder(self, folder: Path) -> None:
        """Do nothing."""


class PublicDisk(QuickDisk):
    """Writes files that others (a web server) may read, as the user's mask allows.

    They are made from the archive: one that a power cut damaged differs from what it should be, and is written again.
    """

    def create(self, path: Path) -> int:
        """Return the descriptor of a new, empty file; a leftover is removed first."""
        path.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        return os.open(path, flags, 0o666)


class Folder:
    """Files below one folder; raises :class:`~news_digest.errors.DeliveryError` with the reason and what to do."""

    def __init__(self, path: str | os.PathLike[str], *, disk: Disk | None = None) -> None:
        self.path = Path(path).expanduser().resolve()
        self._disk = disk or Disk()
        self._made: set[Path] = set()

    def put(self, name: str, data: bytes) -> bool:
        """Write a file where it is absent or different; True when it was written."""
        path = self.path / name
        try:
            self._make(path.parent)
            if read(path) == data:
                return False
            with locked(self.path / LOCK):
                replace(path, data, self._disk)
        except OSError as error:
            raise _undelivered(failure(error, "cannot write", path)) from error
        except StoreError as error:
            raise _undelivered(error) from error
        return True

    def get(self, name: str) -> bytes | None:
        """Return a file's content, None where there is none."""
        path = self.path / name
        try:
            return read(path)
        except OSError as error:
            raise _undelivered(failure(error, "cannot read", path)) from error

    def remove(self, name: str) -> None:
        """Remove a file; a second call finds nothing and is content."""
        path = self.path / name
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise _undelivered(failure(error, "cannot remove", path)) from error

    def names(self, below: str = "") -> list[str]:
        """Return the names in a folder, sorted; none where it does not exist."""
        path = self.path / below
        try:
            return sorted(each.name for each in path.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _undelivered(failure(error, "cannot list", path)) from error

    def version(self) -> int:
        """Return a number that changes when a file of the folder is added, replaced or removed.

        0: it changed a moment ago, or is not there; nothing may be remembered by that, because a file system's clock is
        too coarse to tell two such changes apart.
        """
        try:
            changed = self.path.stat().st_mtime_ns
        except OSError:
            return 0
        return changed if time.time_ns() - changed > _SETTLED_NS else 0

    def mark(self, name: str) -> str:
        """Return what changes when a file is replaced: its time and size; nothing where there is none."""
        try:
            status = (self.path / name).stat()
        except OSError:
            return ""
        return f"{status.st_mtime_ns}-{status.st_size}"

    def _make(self, folder: Path) -> None:
        if folder in self._made:
            return
        if isinstance(self._disk, PublicDisk):
            folder.mkdir(parents=True, exist_ok=True)
        else:
            make_folder(folder, self._disk)
        self._made.add(folder)


def _undelivered(error: StoreError) -> DeliveryError:
    return DeliveryError(error.what, thing=error.thing, cause=error.cause, hint=error.hint)
