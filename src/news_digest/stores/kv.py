"""The state document and the outbox in the automation service's KV store (``AUTOMATION_KV_TOKEN``).

Keys: ``state`` (the document, as the specification names it), ``digest:<day>`` (the outbox), ``save:<version>``
(markers of the last eight writes, see :mod:`news_digest.stores.kv_service`), ``save:first``.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from news_digest.document import decode, encode
from news_digest.errors import ConfigError, Conflict, DocumentDamaged, StoreFull, StoreUnavailable
from news_digest.model import Json, Period, State
from news_digest.ports import Http, Loaded, Version
from news_digest.stores import Kept, Place
from news_digest.stores.kv_service import VALUE_BYTES, KvService

__all__ = ["EXCERPTS", "KvOutbox", "KvStore", "open_kv"]

KEY: Final = "state"
OUTBOX_TRIES: Final = 12
"""Writes of the outbox that may lose against other runs in a row; as many as the ledger's saves may."""
FIRST_PAUSE_SECONDS: Final = 0.02
LONGEST_PAUSE_SECONDS: Final = 1.0

EXCERPTS: Final = (1000, 600, 400, 250, 150, 80, 0)
"""Longest excerpt, in characters, that a value in the outbox keeps: the first with which it fits."""


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
    """Keeps values under ``digest:<day>``, the stories' excerpts cut to what the service takes."""

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
        """Keep the value in place of what was kept; raises ``StoreFull`` where it does not fit without any excerpt."""
        self._write({"op": "set", "key": _digest_key(period), "value": _fitted(value, period)})

    def get(self, period: Period) -> Mapping[str, Json] | None:
        """Return what is kept for the period, None where nothing is, or nothing readable."""
        stored = self._service.get(_digest_key(period))
        return stored.value if stored is not None and isinstance(stored.value, dict) else None

    def drop(self, period: Period) -> None:
        """Forget the period; a second call finds nothing and is content."""
        if self._service.get(_digest_key(period)) is not None:
            self._write({"op": "delete", "key": _digest_key(period)})

    def _write(self, operation: Mapping[str, Json]) -> None:
        """Write with a marker like the store's own, so that no write of ours can set the counter back."""
        for turn in range(OUTBOX_TRIES):
            state = self._service.get(self._state_key)
            try:
                self._service.write([operation], state.version if state is not None else None)
            except Conflict:
                spread = 0.5 + os.urandom(1)[0] / 256
                self._sleep(min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2**turn) * spread)
            else:
                return
        raise StoreUnavailable(
            "cannot keep the digest",
            thing=str(operation["key"]),
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


def _digest_key(period: Period) -> str:
    return f"digest:{period}"


def _fitted(value: Mapping[str, Json], period: Period) -> Json:
    """Return the value as it is, or with its stories' excerpts cut until it fits."""
    if _bytes(value) <= VALUE_BYTES:
        return value
    for longest in EXCERPTS:
        cut = _cut(value, longest)
        if _bytes(cut) <= VALUE_BYTES:
            return cut
    raise StoreFull(
        "cannot keep the digest",
        thing=_digest_key(period),
        cause=f"{_bytes(cut)} bytes without any excerpt, and the KV store takes {VALUE_BYTES}",
        hint="lower the number of stories, or keep the state in a file",
    )


def _cut(value: Json, longest: int) -> Json:
    """Return the value with every ``excerpt`` in it cut."""
    if isinstance(value, Mapping):
        return {
            key: inner[:longest] if key == "excerpt" and isinstance(inner, str) else _cut(inner, longest)
            for key, inner in value.items()
        }
    return [_cut(inner, longest) for inner in value] if isinstance(value, list | tuple) else value


def _bytes(value: Json) -> int:
    """Return a value's size as the service counts it."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
