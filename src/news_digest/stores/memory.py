"""The state document in memory, for tests and for trying things out; forgotten with the process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from threading import Lock

from news_digest.document import decode, encode
from news_digest.errors import Conflict, DocumentDamaged
from news_digest.model import Json, Period, State
from news_digest.ports import Loaded, Version
from news_digest.stores import Kept, Place

__all__ = ["MemoryOutbox", "MemoryStore", "open_memory"]


class MemoryStore:
    """Keeps the state as JSON text, so that what no store could keep fails here too; safe for threads."""

    def __init__(self, document: Mapping[str, Json] | None = None) -> None:
        self._lock = Lock()
        self._text = json.dumps(document) if document is not None else ""
        self._count = 1 if document is not None else 0

    @property
    def document(self) -> Json:
        """Return the stored document, None where there is none."""
        return json.loads(self._text) if self._text else None

    def load(self) -> Loaded:
        """Return the document, an empty one where there is none."""
        with self._lock:
            text, version = self._text, self._version
        return Loaded(decode(json.loads(text)) if text else State(), version)

    def save(self, state: State, expected: Version) -> Version:
        """Save in place of the version ``expected``; the version counts saves."""
        text = json.dumps(encode(state))
        with self._lock:
            if self._version != expected:
                raise Conflict("cannot save the state", cause="another run saved first", hint="load again")
            self._text = text
            self._count += 1
            return self._version

    def restore(self, state: State) -> Version:
        """Put a state in place of whatever stands there, for a person who imports one."""
        with suppress(DocumentDamaged):
            self.load()
        return self.save(state, self._version)

    @property
    def _version(self) -> Version:
        return str(self._count) if self._count else ""


class MemoryOutbox:
    """Keeps values as JSON text."""

    def __init__(self) -> None:
        self._kept: dict[Period, str] = {}

    def put(self, period: Period, value: Mapping[str, Json]) -> None:
        """Keep the value in place of what was kept for the period."""
        self._kept[period] = json.dumps(value)

    def get(self, period: Period) -> Mapping[str, Json] | None:
        """Return what is kept for the period, None where nothing is."""
        text = self._kept.get(period)
        value: Mapping[str, Json] | None = json.loads(text) if text else None
        return value

    def drop(self, period: Period) -> None:
        """Forget the period."""
        self._kept.pop(period, None)


def open_memory(_place: Place) -> Kept:
    """Return a new, empty store and outbox."""
    return Kept(MemoryStore(), MemoryOutbox())
