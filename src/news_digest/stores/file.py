"""The state document in a file: a true compare-and-set between processes, and always one good copy.

Beside ``state.json`` stand ``state.json.lock`` (the lock, empty), ``state.json.previous`` (the document before the last
save) and ``state.outbox/``. A damaged file is never read as "nothing seen": the previous copy is used, with a warning,
and the next save puts the damaged file aside as ``state.json.damaged-<its time>-<its hash>``. Loading changes nothing.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from news_digest.document import decode, encode
from news_digest.errors import ConfigError, Conflict, DocumentDamaged, StoreError
from news_digest.model import State
from news_digest.ports import Loaded, Version
from news_digest.stores import Kept, Place
from news_digest.stores.durable import (
    LOCK_WAIT_SECONDS,
    Disk,
    beside,
    failure,
    keep_copy,
    locked,
    make_folder,
    read,
    replace,
)
from news_digest.stores.outbox import FileOutbox

__all__ = ["FileStore", "open_file"]

_ABSENT: Final = ""


@dataclass(frozen=True, slots=True)
class _Found:
    """What stands at a path: the document that counts, and whether the file itself is damaged."""

    state: State
    version: Version
    warnings: tuple[str, ...] = ()
    damaged: bool = False


class FileStore:
    """Keeps the state in one file; safe for any number of processes and threads on one machine.

    ``path`` may be a link: the file that it leads to is replaced, the link stays. On a network file system the lock is
    as good as the server's ``flock``.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, disk: Disk | None = None, lock_wait_seconds: float = LOCK_WAIT_SECONDS
    ) -> None:
        self.path = Path(path)
        self._disk = disk or Disk()
        self._lock_wait_seconds = lock_wait_seconds

    def load(self) -> Loaded:
        """Return the document, or the one before with a warning where the file is damaged or gone; changes nothing."""
        path = _real(self.path)
        try:
            found = _find(path)
        except OSError as error:
            raise failure(error, "cannot read the state", self.path) from error
        return Loaded(found.state, found.version, found.warnings)

    def save(self, state: State, expected: Version) -> Version:
        """Save in place of the version ``expected``; the version is the content's hash."""

        def judged(path: Path) -> bool:
            found = _find(path)
            if found.version != expected:
                raise Conflict(
                    "cannot save the state", thing=str(self.path), cause="another run saved first", hint="load again"
                )
            return found.damaged

        return self._write(state, judged)

    def restore(self, state: State) -> Version:
        """Put a state in place of whatever stands there, for a person who imports one; what is damaged is put aside.

        Raises ``DocumentTooNew`` all the same.
        """

        def judged(path: Path) -> bool:
            try:
                return _find(path).damaged
            except DocumentDamaged:
                return os.path.lexists(path)

        return self._write(state, judged)

    def _write(self, state: State, judged: Callable[[Path], bool]) -> Version:
        """Under the lock ask ``judged`` whether the file is damaged (or raise), keep what stands there, write."""
        data = json.dumps(encode(state)).encode("ascii") + b"\n"
        path = _real(self.path)
        try:
            make_folder(path.parent, self._disk)
            with locked(beside(path, ".lock"), wait_seconds=self._lock_wait_seconds):
                if judged(path):
                    keep_copy(path, _aside(path), self._disk)
                elif os.path.lexists(path):
                    keep_copy(path, beside(path, ".previous"), self._disk)
                replace(path, data, self._disk)
        except OSError as error:
            raise failure(error, "cannot save the state", self.path) from error
        return _version(data)


def open_file(place: Place) -> Kept:
    """Return the file store and outbox of a place; raises :class:`~news_digest.errors.ConfigError` without a path."""
    if not place.path:
        raise ConfigError("cannot keep the state in a file", cause="no path is configured", hint="name a file")
    return Kept(FileStore(place.path), FileOutbox(_real(Path(place.path)).with_suffix(".outbox")))


def _real(path: Path) -> Path:
    """Return where a path leads; a link that leads to itself is left to be met when it is opened."""
    return Path(os.path.realpath(path))


def _find(path: Path) -> _Found:
    """Return the document that counts; raises ``OSError``, ``DocumentDamaged`` or ``DocumentTooNew``."""
    data = read(path)
    previous = beside(path, ".previous")
    if data is not None:
        try:
            return _Found(_parse(path, data), _version(data))
        except DocumentDamaged as error:
            trouble = f"{path} is damaged ({error.cause or error})"
            cure = f"the next save puts it aside as {_aside(path).name}"
            damage: StoreError = error
    else:
        trouble, cure = f"{path} is gone", f"to start anew, remove {previous.name} too"
        damage = _damaged(path, "it is gone, and the previous copy is damaged")
    copy = read(previous)
    if copy is None and data is None:
        return _Found(State(), _ABSENT)
    if copy is None:
        raise damage
    try:
        state = _parse(previous, copy)
    except DocumentDamaged:
        raise damage from None
    warning = f"{trouble}; the copy before the last save is used; {cure}"
    return _Found(state, _version(copy), (warning,), damaged=data is not None)


def _parse(path: Path, data: bytes) -> State:
    """Return the state in a file's content; an empty file and one of NULs (a power cut's work) are damaged."""
    if not data.strip(b"\0 \r\n\t"):
        raise _damaged(path, "it is empty" if not data else f"it holds {len(data)} bytes of nothing")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"no JSON: {error}") from error
    try:
        return decode(document)
    except DocumentDamaged as error:
        raise _damaged(path, f"{error.thing} {error.cause}") from error


def _damaged(path: Path, cause: str) -> DocumentDamaged:
    return DocumentDamaged(
        "cannot read the state",
        thing=str(path),
        cause=cause,
        hint="restore a copy with `news-digest state import FILE`; to start with no memory at all, move the file away",
    )


def _version(data: bytes) -> Version:
    return sha256(data).hexdigest()


def _aside(path: Path) -> Path:
    """Return the name for a damaged file: the same for the same damage, so that a second save adds no second copy."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(path.stat().st_mtime))
    return beside(path, f".damaged-{stamp}-{_version(read(path) or b'')[:8]}")
