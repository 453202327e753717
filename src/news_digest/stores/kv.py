"""The state document and the outbox in the automation service's KV store (``AUTOMATION_KV_TOKEN``).

Keys: ``state`` (the document, as the specification names it), ``digest:<day>`` (the outbox), ``save:<version>``
(markers of the last eight writes, see :mod:`news_digest.stores.kv_service`), ``save:first``.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from news_digest.document import decode, encode
from news_digest.errors import ConfigError, Conflict, DocumentDamaged, StoreFull, StoreUnavailable
from news_digest.model import Json, Period, State
from news_digest.ports import Http, Loaded, Version
from news_digest.stores import Kept, Place
from news_digest.stores.kv_service import VALUE_BYTES, KvService, Stored

__all__ = ["MOST_PARTS", "PART_CHARACTERS", "KvOutbox", "KvStore", "open_kv"]

KEY: Final = "state"
OUTBOX_TRIES: Final = 12
"""Writes of the outbox that may lose against other runs in a row; as many as the ledger's saves may."""
FIRST_PAUSE_SECONDS: Final = 0.02
LONGEST_PAUSE_SECONDS: Final = 1.0

PART_CHARACTERS: Final = 16_000
"""A part of a value that is too large for one key: as text within JSON a character takes four bytes at most."""
MOST_PARTS: Final = 64
"""A million characters: a brief of 400 stories, and the digest with the same stories again. One batch takes 100."""


class KvStore:
    """Keeps the state under one key; safe for any number of runs, on SQLite as on PostgreSQL."""

    def __init__(self, http: Http, base_url: str, token: str, key: str = KEY, automation_id: str = "") -> None:
        self._service = KvService(http, base_url, token, automation_id)
        self._key = key

    def load(self) -> Loaded:
        """Return the document, an empty one where there is none; one request."""
        stored = self._service.get(self._key)
        return Loaded(State(), "") if stored is None else Loaded(decode(stored.value), str(stored.version))

    def save(self, state: State, expected: Version) -> Version:
        """Save if no key of the automation was written since ``expected``; one request unless its end is unclear."""
        operation: dict[str, Json] = {"op": "set", "key": self._key, "value": encode(state)}
        if not expected:
            return str(self._service.write([{**operation, "nx": True}], None))
        return str(self._service.write([operation], int(expected)))

    def restore(self, state: State) -> Version:
        """Put a state in place of whatever stands there, for a person who imports one; raises like :meth:`save`."""
        stored = self._service.get(self._key)
        with suppress(DocumentDamaged):
            decode(stored.value if stored is not None else {})
        return self.save(state, "" if stored is None else str(stored.version))


class KvOutbox:
    """Keeps values under ``digest:<day>``; one that is too large for a key goes in parts to further ones.

    Nothing is cut, because a brief is recognised by its hash. The parts of a value are written in one batch, and each
    carries the value's mark, so that no reader puts parts of two values together.
    """

    def __init__(
        self,
        http: Http,
        base_url: str,
        token: str,
        key: str = KEY,
        automation_id: str = "",
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._service = KvService(http, base_url, token, automation_id)
        self._state_key = key
        self._sleep = sleep

    def put(self, period: Period, value: Mapping[str, Json]) -> None:
        """Keep the value in place of what was kept; raises ``StoreFull`` for one of more than :data:`MOST_PARTS`."""
        held = _in_parts(value, period)
        sets = [{"op": "set", "key": key, "value": part} for key, part in zip(_keys(period), held, strict=False)]
        self._write([*sets, *_deletes(_keys(period)[len(held) :])])

    def get(self, period: Period) -> Mapping[str, Json] | None:
        """Return what is kept for the period, None where nothing is, or nothing readable."""
        first, *others = _keys(period)
        stored = self._service.get(first)
        match stored:
            case Stored(value={"parts": int(count), "mark": mark, "text": str(text)}):
                for key in others[: count - 1]:
                    part = self._service.get(key)
                    if part is None or not isinstance(part.value, dict) or part.value.get("mark") != mark:
                        return None
                    text += str(part.value.get("text"))
                return _object(text)
            case Stored(value=dict(value)):
                return value
            case _:
                return None

    def drop(self, period: Period) -> None:
        """Forget the period; a second call finds nothing and is content."""
        if self._service.get(_keys(period)[0]) is not None:
            self._write(_deletes(_keys(period)))

    def _write(self, operations: Sequence[Mapping[str, Json]]) -> None:
        """Write with a marker like the store's own, so that no write of ours can set the counter back."""
        for turn in range(OUTBOX_TRIES):
            state = self._service.get(self._state_key)
            try:
                self._service.write(operations, state.version if state is not None else None)
            except Conflict:
                spread = 0.5 + os.urandom(1)[0] / 256
                self._sleep(min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2**turn) * spread)
            else:
                return
        raise StoreUnavailable(
            "cannot keep the digest",
            thing=str(operations[0]["key"]),
            cause=f"other runs wrote first {OUTBOX_TRIES} times in a row",
            hint="run again in a minute; nothing was changed",
        )


def open_kv(place: Place) -> Kept:
    """Return the KV store and outbox of a place; raises ``ConfigError`` for what is missing."""
    if place.http is None or not place.base_url or not place.token:
        missing = "a token" if place.base_url else "the service's address"
        raise ConfigError(
            "cannot keep the state in the KV store",
            cause=f"{missing} is missing",
            hint="inside an automation both come from the environment; elsewhere keep the state in a file",
        )
    reach = (place.http, place.base_url, place.token, KEY, place.automation_id)
    return Kept(KvStore(*reach), KvOutbox(*reach))


def _keys(period: Period) -> Sequence[str]:
    return [f"digest:{period}", *(f"digest:{period}:{number}" for number in range(2, MOST_PARTS + 1))]


def _deletes(keys: Sequence[str]) -> Sequence[Mapping[str, Json]]:
    return [{"op": "delete", "key": key} for key in keys]


def _in_parts(value: Mapping[str, Json], period: Period) -> Sequence[Json]:
    """Return the value itself where one key takes it, else its text in pieces."""
    if _fits(value):
        return [value]
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")
    pieces = [text[start : start + PART_CHARACTERS] for start in range(0, len(text), PART_CHARACTERS)]
    if len(pieces) > MOST_PARTS:
        raise StoreFull(
            "cannot keep the digest",
            thing=f"digest:{period}",
            cause=f"{len(text)} characters, and {MOST_PARTS * PART_CHARACTERS} are what the outbox holds",
            hint="lower max_items, or keep the state in a file",
        )
    mark = os.urandom(8).hex()
    return [{"parts": len(pieces), "mark": mark, "text": piece} for piece in pieces]


def _fits(value: Mapping[str, Json]) -> bool:
    """Say whether one key takes the value as it is; a lone surrogate only goes as escaped text."""
    try:
        return len(json.dumps(value, ensure_ascii=False).encode()) <= VALUE_BYTES
    except UnicodeEncodeError:
        return False


def _object(text: str) -> Mapping[str, Json] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
