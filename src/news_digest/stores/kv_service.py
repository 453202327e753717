"""The automation service's KV store over HTTP: requests, and what each answer means for a person.

Facts (automation service 1.26, measured; ``docs/state.md``): the version is one counter per automation, raised by one
with every write, whatever its key. On SQLite ``if_version`` alone has several winners among writers a few milliseconds
apart, because the counter is read outside the transaction. Creating a key that must not exist is exclusive there too,
by the table's unique index. So every write of ours is one batch that asks for ``if_version: N`` and creates ``save:N``:
of all that start from N, one comes through, and the counter cannot fall back. The key's value tells whose write it was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import quote, urlencode

from news_digest.errors import Conflict, HttpError, StoreError, StoreFull, StoreUnavailable
from news_digest.model import Json
from news_digest.ports import Http, Request

__all__ = ["VALUE_BYTES", "KvService", "Stored"]

VALUE_BYTES: Final = 65_536
"""The service's limit for one value, inclusive: UTF-8 of its JSON with ``", "`` and ``": "`` (measured)."""
DEADLINE: Final = timedelta(seconds=20)
"""One request; the service answers within milliseconds, and its own lock timeout is far below."""
ANSWER_BYTES: Final = 4 * 1024 * 1024
MARKERS_KEPT: Final = 8
"""Markers of the last writes; a write that started from an older version is refused by the counter alone."""
FIRST_MARKER: Final = "save:first"

_OK: Final = 200
_GONE: Final = 404
_BUSY: Final = 409
_TOO_LARGE: Final = 413
_SERVER: Final = 500
_HINTS: Final = {
    400: "the service refuses the request as it is; see the cause, and whether its version is 1.26 or later",
    401: "the KV token is missing, wrong or older than 24 hours; each run gets a new one from the service",
    403: "the KV token belongs to another automation; let the service start the run",
    404: "the service does not know this automation, or the address is not that of its API (.../api/automation)",
    413: "make the brief smaller (fewer stories), or keep the state in a file",
    503: "the service has no KV store (set AUTOMATION_KV_SECRET for it) or is starting; a file would do meanwhile",
}


@dataclass(frozen=True, slots=True)
class Stored:
    """A key's value and the version that the automation's keys had then."""

    value: Json
    version: int


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: Json
    """The JSON, None where the answer was none."""
    text: str
    retry_after: str


class KvService:
    """The keys of one automation.

    ``token`` is a run's KV token; or the service's own key, and then ``automation_id`` says whose keys.
    """

    def __init__(self, http: Http, base_url: str, token: str, automation_id: str = "") -> None:
        self._http = http
        self._base = base_url.rstrip("/") + "/v1/kv"
        self._token = token
        self._automation_id = automation_id

    def get(self, key: str) -> Stored | None:
        """Return a key's value, None where it does not exist; raises ``StoreUnavailable``."""
        answer = self._send("GET", quote(key, safe=""), query={"meta": "true"})
        match answer:
            case _Answer(status=200, body={"value": value, "version": int(version)}):
                return Stored(value, version)
            case _Answer(status=404, body={"detail": "key_not_found"}):
                return None
            case _:
                raise self._trouble(answer, "cannot read the state")

    def write(self, operations: Sequence[Mapping[str, Json]], since: int | None) -> int:
        """Do all operations or none, if nothing was written since the version ``since``; return the new version.

        Without a version only the operations' own conditions (``nx``) exclude another writer. Raises ``Conflict`` or
        ``StoreFull``, and then nothing was changed; ``StoreUnavailable``, and then it may have been.
        """
        mark = os.urandom(8).hex()
        body: dict[str, Json] = {"operations": [*operations, *_marking(since, mark)]}
        if since is not None:
            body["if_version"] = since
        try:
            answer = self._send("POST", "batch", body=body)
        except StoreUnavailable as error:
            return self._resolve(since, mark, error)
        match answer:
            case _Answer(status=200, body={"version": int(version)}):
                return version
            case _Answer(status=409):
                raise _conflict(answer)
            case _Answer(status=400, body={"detail": {"error": "operation_failed", "operation_index": int()}}):
                self._step_over(since)
                raise _conflict(answer)
            case _Answer(status=status) if status == _OK or status >= _SERVER:
                return self._resolve(since, mark, self._trouble(answer, "cannot save the state"))
        raise self._trouble(answer, "cannot save the state")

    def _resolve(self, since: int | None, mark: str, trouble: StoreError) -> int:
        """Return the new version, if the mark at the old one shows that an unanswered write was done.

        On SQLite the losers of a race are answered 500; so is a winner whose answer a proxy lost.
        """
        cause = trouble.__cause__
        if isinstance(cause, HttpError) and not cause.sent:
            raise trouble
        marker = self.get(_marker(since))
        if marker is None:
            raise trouble
        if marker.value != mark:
            raise Conflict(
                "cannot save the state", thing=self._base, cause="another run saved first", hint="load again"
            )
        if since is None:
            raise trouble  # It was saved, at a version that is no longer known for sure: the caller has to load again.
        return since + 1

    def _step_over(self, since: int | None) -> None:
        """Raise a counter that stands at a version that was written from already.

        Only another program can set it back (on SQLite: a plain ``PUT`` that began before our last writes). Without a
        step every later save would be refused.
        """
        marker = self.get(_marker(since)) if since is not None else None
        if marker is not None and marker.version == since:
            self._send("POST", "batch", body={"operations": [{"op": "set", "key": "save:step", "value": since}]})

    def _send(self, method: str, path: str, *, query: Mapping[str, str] | None = None, body: Json = None) -> _Answer:
        asked = {**(query or {}), **({"automation_id": self._automation_id} if self._automation_id else {})}
        url = f"{self._base}/{path}" + (f"?{urlencode(asked)}" if asked else "")
        headers = [("Authorization", f"Bearer {self._token}"), ("Accept", "application/json")]
        data = None
        if body is not None:
            headers.append(("Content-Type", "application/json"))
            data = json.dumps(body).encode("ascii")
        request = Request(method, url, tuple(headers), data, deadline=DEADLINE, max_bytes=ANSWER_BYTES, redirects=0)
        try:
            response = self._http.send(request)
        except HttpError as error:
            raise StoreUnavailable(
                "cannot reach the KV store",
                thing=self._base,
                cause=error.cause or str(error),
                hint="see whether the automation service runs and its address is right; the next run goes on from here",
            ) from error
        text = response.body.decode("utf-8", "replace")
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            parsed = None
        return _Answer(response.status, parsed, text, response.headers.get("retry-after", ""))

    def _trouble(self, answer: _Answer, what: str) -> StoreError:
        cause = f"HTTP {answer.status} {_said(answer)}".strip()
        if answer.status == _TOO_LARGE:
            return StoreFull(what, thing=self._base, cause=cause, hint=_HINTS[_TOO_LARGE])
        if answer.status == _OK:
            cause = f"the answer is not what the service gives: {_said(answer) or 'nothing'}"
        hint = _HINTS.get(answer.status, "see the automation service's log; the next run goes on from here")
        if answer.status == _BUSY:
            hint = f"the service is busy; run again in {answer.retry_after or 'a few'} s"
        return StoreUnavailable(what, thing=self._base, cause=cause, hint=hint)


def _marker(version: int | None) -> str:
    return FIRST_MARKER if version is None else f"save:{version}"


def _marking(since: int | None, mark: str) -> Sequence[Mapping[str, Json]]:
    """Return the operations that make a write exclusive and recognisable, and forget an old marker."""
    if since is None:
        return ({"op": "set", "key": FIRST_MARKER, "value": mark},)
    return (
        {"op": "set", "key": _marker(since), "value": mark, "nx": True},
        {"op": "delete", "key": _marker(since - MARKERS_KEPT)},
    )


def _conflict(answer: _Answer) -> Conflict:
    wait = f" in {answer.retry_after} s" if answer.retry_after else ""
    cause = f"another run saved first ({_said(answer)})"
    return Conflict("cannot save the state", cause=cause, hint=f"load again{wait}")


def _said(answer: _Answer) -> str:
    """Return what the service said, in one short line."""
    match answer.body:
        case {"detail": {"message": str(message)}} | {"detail": str(message)} | {"error": str(message)}:
            said = message
        case _:
            said = answer.text
    return " ".join(said.split())[:200]
