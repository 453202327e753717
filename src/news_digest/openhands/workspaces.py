"""The folder that a conversation works in: where it is, what may be read of it, and when it may be removed.

A folder is removed, or read, only where it is one of ours: ``<root>/automation-runs/<uuid>/news-digest/<day>``, or
``<base>/news-digest/<day>`` for a workspace that the service does not isolate by run, below the root of today's
environment and with no link on the way. The agent may have made anything inside it, so every step down opens the folder
itself.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import Final
from uuid import UUID

from news_digest.model import Period

__all__ = ["DIGEST", "Workspaces"]

FOLDER: Final = "news-digest"
RUNS: Final = "automation-runs"
DIGEST: Final = "digest.md"
_LINK_OR_FILE: Final = (errno.ELOOP, errno.ENOTDIR)
_DOWN: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Workspaces:
    """The workspaces below one base: ``WORKSPACE_BASE`` of the run, or a folder that stays.

    ``per_run``: the base is the folder of this run alone, ``<root>/automation-runs/<run id>``.
    """

    def __init__(self, base: str) -> None:
        self._base = PurePosixPath(os.path.normpath(base))
        parent = self._base.parent
        self.per_run = parent.name == RUNS and _is_uuid(self._base.name)
        self._root = parent.parent if self.per_run else self._base

    def path(self, period: Period, ticket: str) -> str:
        """Return the folder for a conversation; pure."""
        base = self._base if self.per_run else self._base / RUNS / ticket
        return str(base / FOLDER / str(period))

    def is_ours(self, workspace: str, period: Period) -> bool:
        """Return whether a path has the shape of one of our folders for that day, below today's root."""
        return self._steps(workspace, period) is not None

    def read_digest(self, workspace: str, period: Period, most: int) -> str | None:
        """Return the digest that an agent left; empty where there is none, None where the folder is not on this disk.

        At most ``most`` bytes are read, and no link is followed.
        """
        steps = self._steps(workspace, period)
        if steps is None:
            return None
        with suppress(OSError), self._opened(steps) as folder:
            return _read(folder, most)
        return None

    def remove(self, workspace: str, period: Period) -> bool:
        """Remove a folder of ours and its empty parents; missing counts as removed. False: it is not ours.

        Raises :class:`OSError` where the system does not let it go.
        """
        steps = self._steps(workspace, period)
        if steps is None:
            return False
        try:
            with self._opened(steps):
                pass
            with self._opened(steps[:-1]) as parent:
                shutil.rmtree(steps[-1], dir_fd=parent)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno in _LINK_OR_FILE:
                return False
            raise
        self._remove_empty(steps[:-1])
        return True

    def _steps(self, workspace: str, period: Period) -> tuple[str, ...] | None:
        """Return the names from the root down to a folder of ours, None for any other path."""
        path = PurePosixPath(workspace)
        if str(path) != workspace or not path.is_relative_to(self._root):
            return None
        steps = path.relative_to(self._root).parts
        match steps:
            case (runs, run, folder, day) if runs == RUNS and _is_uuid(run):
                found = (folder, day)
            case (folder, day) if not self.per_run:
                found = (folder, day)
            case _:
                return None
        return steps if found == (FOLDER, str(period)) else None

    @contextmanager
    def _opened(self, steps: tuple[str, ...]) -> Iterator[int]:
        """Open a folder step by step from the root, no step through a link (an error of ``_LINK_OR_FILE``)."""
        at = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for step in steps:
                below = os.open(step, _DOWN, dir_fd=at)
                os.close(at)
                at = below
            yield at
        finally:
            os.close(at)

    def _remove_empty(self, steps: tuple[str, ...]) -> None:
        """Remove ``news-digest``, and the folder of a run of ours, where nothing else is in them."""
        with suppress(OSError):
            for count in range(len(steps) - 1, 0, -1):
                with self._opened(steps[:count]) as parent:
                    os.rmdir(steps[count], dir_fd=parent)


def _read(folder: int, most: int) -> str:
    try:
        descriptor = os.open(DIGEST, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:  # none, or a link: no digest of ours
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        content = b""
        while len(content) < most and (part := os.read(descriptor, most - len(content))):
            content += part
    finally:
        os.close(descriptor)
    return content.decode("utf-8", "replace")


def _is_uuid(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False
