"""A folder of files that are each complete or absent, and written only where they change."""

from __future__ import annotations

import os
from typing import Final

from news_digest.errors import DeliveryError, StoreError
from news_digest.stores.durable import Disk, failure, locked, make_folder, read, replace

__all__ = ["Folder", "PublicDisk"]

LOCK: Final = ".lock"


class PublicDisk(Disk):
    """Writes files that others (a web server) may read, as the user's mask allows, and leaves flushing to the system.

    For what can be made again from the archive: a file that a power cut damaged differs from what it should be, and the
    next build writes it again.
    """

    def create(self, path: str) -> int:
        """Return the descriptor of a new, empty file; a leftover is removed first."""
        if os.path.lexists(path):
            os.unlink(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        return os.open(path, flags, 0o666)

    def flush(self, descriptor: int) -> None:
        """Do nothing."""

    def flush_folder(self, folder: str) -> None:
        """Do nothing."""


class Folder:
    """Files below one folder; raises :class:`~news_digest.errors.DeliveryError` with the reason and what to do."""

    def __init__(self, path: str | os.PathLike[str], *, disk: Disk | None = None) -> None:
        self.path = os.path.realpath(os.fspath(path))
        self._disk = disk or Disk()
        self._made: set[str] = set()

    def put(self, name: str, data: bytes) -> bool:
        """Write a file where it is absent or different; True when it was written."""
        path = self._at(name)
        try:
            if read(path) == data:
                return False
            self._make(os.path.dirname(path))
            with locked(os.path.join(self.path, LOCK)):
                replace(path, data, self._disk)
        except OSError as error:
            raise _undelivered(failure(error, "cannot write", path)) from error
        except StoreError as error:
            raise _undelivered(error) from error
        return True

    def get(self, name: str) -> bytes | None:
        """Return a file's content, None where there is none."""
        path = self._at(name)
        try:
            return read(path)
        except OSError as error:
            raise _undelivered(failure(error, "cannot read", path)) from error

    def remove(self, name: str) -> None:
        """Remove a file; a second call finds nothing and is content."""
        path = self._at(name)
        try:
            if os.path.lexists(path):
                os.unlink(path)
        except OSError as error:
            raise _undelivered(failure(error, "cannot remove", path)) from error

    def names(self, below: str = "") -> list[str]:
        """Return the names in a folder, sorted; none where it does not exist."""
        path = self._at(below)
        try:
            return sorted(os.listdir(path))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _undelivered(failure(error, "cannot list", path)) from error

    def version(self) -> int:
        """Return a number that changes when a file of the folder is added, replaced or removed."""
        try:
            return os.stat(self.path).st_mtime_ns
        except OSError:
            return 0

    def _at(self, name: str) -> str:
        return os.path.join(self.path, *name.split("/")) if name else self.path

    def _make(self, folder: str) -> None:
        if folder in self._made:
            return
        if isinstance(self._disk, PublicDisk):
            os.makedirs(folder, exist_ok=True)
        else:
            make_folder(folder, self._disk)
        self._made.add(folder)


def _undelivered(error: StoreError) -> DeliveryError:
    return DeliveryError(error.what, thing=error.thing, cause=error.cause, hint=error.hint)
