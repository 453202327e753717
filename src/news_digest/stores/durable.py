"""Files that are complete or absent, through a crash and a power cut: exclusive lock, write, flush, rename, flush.

The data goes to ``<file>.new`` in the same folder and is flushed to the disk; then the name is moved over in one step;
then the folder is flushed, so that the move itself survives. Without the first flush a file system may move the name
before the data is there: files of NULs after a power cut (qbittorrent/qBittorrent#10277).

macOS: the flush is ``F_FULLFSYNC``, because ``fsync`` there stops at the drive's cache. Windows: the lock is
``msvcrt.locking`` and a folder cannot be flushed. Both paths are written from their documentation and untried.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from news_digest.errors import StoreError, StoreFull, StoreUnavailable

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = [
    "LOCK_WAIT_SECONDS",
    "LONGEST_READ_BYTES",
    "Disk",
    "beside",
    "failure",
    "keep_copy",
    "locked",
    "make_folder",
    "read",
    "replace",
]

LOCK_WAIT_SECONDS: Final = 10.0
"""How long a save waits for another: one takes milliseconds, so that a longer wait means a stuck disk or process."""
LOCK_POLL_SECONDS: Final = 0.005
LONGEST_READ_BYTES: Final = 16 * 1024 * 1024
"""More than any document or outbox entry of ours has (64 KB; some 200 KB): what is larger is something else."""

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS, errno.EXDEV})
_HINTS: Final = {
    errno.EROFS: "the file system is read-only; mount it writable, or keep the state elsewhere",
    errno.EACCES: "this user may not; look at the owner and the mode of the file and its folder",
    errno.EPERM: "this user may not; look at the owner and the mode of the file and its folder",
    errno.EBUSY: "it is mounted by itself, so that nothing can take its place; mount its folder instead",
    errno.EISDIR: "that is a folder; name a file in it",
    errno.ENOTDIR: "a part of the path is a file; name another place",
    errno.ELOOP: "a link in the path leads to itself, or stands where a file of ours should; remove it",
    errno.ENAMETOOLONG: "the name is too long for the file system; name another place",
}


class Disk:
    """The steps of a durable write, each one call to the system; a test passes one that fails or dies at a step."""

    def create(self, path: Path) -> int:
        """Return the descriptor of a new, empty file that only its owner can read; a leftover is removed first."""
        path.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        return os.open(path, flags, 0o600)

    def write(self, descriptor: int, data: bytes) -> None:
        """Write all of the data; a call may take only a part of it."""
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]

    def flush(self, descriptor: int) -> None:
        """Return when the data is on the disk."""
        if sys.platform == "darwin":
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        else:
            os.fsync(descriptor)

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name."""
        target.hardlink_to(source)

    def rename(self, source: Path, target: Path) -> None:
        """Move a name over another, in one step."""
        source.replace(target)

    def flush_folder(self, folder: Path) -> None:
        """Return when the folder's names are on the disk; not every system can."""
        if sys.platform == "win32":
            return
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(descriptor)


def beside(path: Path, ending: str) -> Path:
    """Return a file in the same folder: the name with something behind it."""
    return path.with_name(path.name + ending)


def read(path: Path) -> bytes | None:
    """Return a file's content, None where there is none.

    Raises ``OSError``; also for what is no regular file (reading a pipe would wait for ever), or larger than
    :data:`LONGEST_READ_BYTES`.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        if status.st_size > LONGEST_READ_BYTES:
            raise OSError(errno.EINVAL, f"it has {status.st_size} bytes, so it is none of ours", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def replace(path: Path, data: bytes, disk: Disk) -> None:
    """Put the data in place of a file, completely or not at all; raises ``OSError``, and then the old one stands.

    Only an error of the last step (flushing the folder) leaves the new one, and says so with ``EIO``. The caller holds
    the lock: two writers would share ``<file>.new``.
    """
    fresh = beside(path, ".new")
    descriptor = disk.create(fresh)
    try:
        try:
            disk.write(descriptor, data)
            disk.flush(descriptor)
        finally:
            os.close(descriptor)
        disk.rename(fresh, path)
    except OSError:
        with suppress(OSError):
            fresh.unlink()
        raise
    try:
        disk.flush_folder(path.parent)
    except OSError as error:
        cause = f"the new file stands, but may not survive a power cut: {error.strerror}"
        raise OSError(errno.EIO, cause, str(path)) from error


def keep_copy(path: Path, copy: Path, disk: Disk) -> None:
    """Let ``copy`` be what ``path`` is now, in one step: a second name where the file system has such, else a copy."""
    fresh = beside(copy, ".new")
    fresh.unlink(missing_ok=True)
    try:
        disk.link(path, fresh)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        replace(copy, read(path) or b"", disk)
        return
    disk.rename(fresh, copy)


def make_folder(folder: Path, disk: Disk) -> None:
    """Create a folder and its missing parents, each for its owner only, and let that survive a power cut."""
    if folder.is_dir():
        return
    make_folder(folder.parent, disk)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    disk.flush_folder(folder.parent)


@contextmanager
def locked(
    path: Path,
    *,
    wait_seconds: float = LOCK_WAIT_SECONDS,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[None]:
    """Hold the exclusive lock of a lock file; the system releases it when its process dies, whatever the cause.

    The lock file stays: removing it would let two processes hold locks of two files of one name. Raises
    ``StoreUnavailable`` after ``wait_seconds``, ``OSError`` where the file cannot be created.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        deadline = clock() + wait_seconds
        while not _take(descriptor):
            if clock() >= deadline:
                raise StoreUnavailable(
                    "cannot lock",
                    thing=str(path),
                    cause=f"another process has held it for {wait_seconds:g} s",
                    hint="see which one (`fuser` or `lsof` on that file); nothing was changed",
                )
            sleep(LOCK_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> bool:
    """Try to lock; False while another holds it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def failure(error: OSError, what: str, path: Path) -> StoreError:
    """Return what went wrong with a file, and what a person can do."""
    cause = error.strerror or str(error)
    if error.errno in _FULL:
        hint = "make room (or raise the quota) and run again; the file stands as it was"
        return StoreFull(what, thing=str(path), cause=cause, hint=hint)
    hint = _HINTS.get(error.errno or 0, "look at the disk and at the path; the next run goes on from here")
    return StoreUnavailable(what, thing=str(path), cause=cause, hint=hint)
