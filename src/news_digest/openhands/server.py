"""The OpenHands agent server over HTTP: what is asked of it, and what each answer means for a person.

Facts (agent server 1.58, measured): creating with a chosen id is idempotent; an initial message starts the agent at
once; the run limit (429) and a refused body (422) come before anything is created; a failure of the model shows only in
the events; the final response of a conversation without one is empty.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NoReturn
from urllib.parse import quote, urlencode

from news_digest.errors import ConfigError, HttpError, WriterUnavailable
from news_digest.model import Json
from news_digest.ports import Http, Request

__all__ = ["FILE_BYTES", "AgentServer", "Answer", "explain", "hint_for", "one_line"]

DEADLINE: Final = timedelta(seconds=20)
"""One request; the server answers in milliseconds, also while agents run."""
CREATE_DEADLINE: Final = timedelta(seconds=60)
"""The first conversation of a server loads its tools: one second on an idle machine, more on a busy one."""
ANSWER_BYTES: Final = 8 * 1024 * 1024
FILE_BYTES: Final = 1024 * 1024
"""A digest has some 10,000 bytes; what is much larger is none."""
CAUSE_CHARACTERS: Final = 300

_OK: Final = 200
_CREATED: Final = 201
_UNAUTHORISED: Final = (401, 403)
_GONE: Final = 404
_BUSY: Final = 429
_SERVER: Final = 500


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its JSON; ``body`` is None where it was none."""

    status: int
    body: Json
    text: str

    @property
    def is_success(self) -> bool:
        """Return whether the server did what it was asked."""
        return self.status in (_OK, _CREATED)


class AgentServer:
    """One server; every method is one request.

    Every method but :meth:`create` raises ``WriterUnavailable`` where there is no usable answer.
    """

    def __init__(self, http: Http, url: str, key: str) -> None:
        if not (key.isascii() and key.isprintable()):
            raise ConfigError(
                "cannot use the key of the agent server",
                thing="SESSION_API_KEY",
                cause="it has characters that no HTTP header may have",
                hint="set it to the server's OH_SESSION_API_KEYS_0, without a line break",
            )
        self.url = url.rstrip("/")
        self._http = http
        self._key = key

    def settings(self) -> Mapping[str, Json]:
        """Return the server's settings with its secrets in plain text, as creating a conversation needs them."""
        body = self._asked("/api/settings", {"X-Expose-Secrets": "plaintext"}).body
        return body if isinstance(body, Mapping) else {}

    def secret_names(self) -> frozenset[str]:
        """Return the names of the secrets that the server keeps."""
        body = self._asked("/api/settings/secrets").body
        listed = body.get("secrets") if isinstance(body, Mapping) else body
        names = [each.get("name") if isinstance(each, Mapping) else each for each in listed or ()]
        return frozenset(name for name in names if isinstance(name, str))

    def secret_source(self, name: str) -> Mapping[str, Json]:
        """Return where a conversation looks a named secret up; its value does not pass through here."""
        url = f"{self.url}/api/settings/secrets/{quote(name, safe='')}"
        return {"kind": "LookupSecret", "url": url, "headers": {"X-Session-API-Key": self._key} if self._key else {}}

    def secret(self, name: str) -> str:
        """Return the value of a named secret; empty where the server has none of that name."""
        answer = self._asked(f"/api/settings/secrets/{quote(name, safe='')}", missing=True)
        return answer.text if answer.is_success else ""

    def create(self, payload: Mapping[str, Json]) -> Answer:
        """Create a conversation, or find the one that has its id; raises :class:`~news_digest.errors.HttpError`."""
        return self._send("POST", "/api/conversations", body=payload, deadline=CREATE_DEADLINE)

    def conversation(self, ticket: str) -> Mapping[str, Json] | None:
        """Return a conversation, None where the server has none of that id."""
        body = self._asked(_path(ticket), missing=True).body
        return body if isinstance(body, Mapping) and "execution_status" in body else None

    def final_response(self, ticket: str) -> str:
        """Return the agent's last message; empty where there is none."""
        body = self._asked(f"{_path(ticket)}/agent_final_response", missing=True).body
        said = body.get("response") if isinstance(body, Mapping) else ""
        return said if isinstance(said, str) else ""

    def failure(self, ticket: str) -> str:
        """Return why a conversation failed, from its events; empty where they do not say."""
        query = urlencode({"kind": "ConversationErrorEvent", "sort_order": "TIMESTAMP_DESC", "limit": 1})
        body = self._asked(f"{_path(ticket)}/events/search?{query}", missing=True).body
        items = body.get("items") if isinstance(body, Mapping) else None
        event = items[0] if isinstance(items, list) and items and isinstance(items[0], Mapping) else {}
        return ": ".join(str(event[part]) for part in ("code", "detail") if event.get(part))

    def interrupt(self, ticket: str) -> None:
        """Stop a conversation at once; one that is gone or has ended is left as it is."""
        self._asked(f"{_path(ticket)}/interrupt", method="POST", missing=True)

    def file(self, path: str) -> str:
        """Return a text file of the server's disk; empty where there is none."""
        answer = self._asked(f"/api/file/download?{urlencode({'path': path})}", missing=True, most=FILE_BYTES)
        return answer.text if answer.is_success else ""

    # --- requests --------------------------------------------------------------------------------------------------

    def _asked(
        self,
        path: str,
        headers: Mapping[str, str] | None = None,
        *,
        method: str = "GET",
        missing: bool = False,
        most: int = ANSWER_BYTES,
    ) -> Answer:
        """Return a usable answer; ``missing``: not found is one."""
        try:
            answer = self._send(method, path, headers=headers, most=most)
        except HttpError as error:
            self.unreachable(error)
        if answer.is_success or (missing and answer.status == _GONE):
            return answer
        raise WriterUnavailable(
            "the agent server does not answer as expected",
            thing=self.url,
            cause=explain(answer),
            hint=hint_for(answer.status),
        )

    def unreachable(self, error: HttpError) -> NoReturn:
        """Raise that the server cannot be asked now."""
        raise WriterUnavailable(
            "cannot reach the agent server",
            thing=self.url,
            cause=error.cause or str(error),
            hint="see whether it runs and AGENT_SERVER_URL is right; a later run goes on from here",
        ) from error

    def _send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: Json = None,
        deadline: timedelta = DEADLINE,
        most: int = ANSWER_BYTES,
    ) -> Answer:
        sent = [("Accept", "application/json, */*;q=0.5"), *(headers or {}).items()]
        if self._key:
            sent.append(("X-Session-API-Key", self._key))
        data = None
        if body is not None:
            sent.append(("Content-Type", "application/json"))
            data = json.dumps(body).encode("ascii")
        url = self.url + path
        response = self._http.send(
            Request(method, url, tuple(sent), data, deadline=deadline, max_bytes=most, redirects=0)
        )
        text = response.body.decode("utf-8", "replace")
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            parsed = None
        return Answer(response.status, parsed, text)


def explain(answer: Answer) -> str:
    """Return what an answer says, in one line: its status and the server's own words, never what was sent."""
    body = answer.body
    said: Json = body.get("detail") or body.get("exception") if isinstance(body, Mapping) else answer.text
    if isinstance(said, list):
        parts = [each for each in said if isinstance(each, Mapping)]
        said = "; ".join(f"{'.'.join(map(str, each.get('loc', ())))} {each.get('msg', '')}".strip() for each in parts)
    extra = body.get("exception") if isinstance(body, Mapping) else None
    words = f"{said} ({extra})" if extra and extra != said else said
    return one_line(f"HTTP {answer.status} {words or ''}")


def hint_for(status: int) -> str:
    """Return what to do about a status."""
    if status in _UNAUTHORISED:
        return "set SESSION_API_KEY to the server's OH_SESSION_API_KEYS_0"
    if status == _BUSY:
        return "as many conversations run as the server allows; the next run tries again"
    if status >= _SERVER:
        return "see the agent server's log; a later run tries again"
    return "see whether the address is that of an OpenHands agent server, version 1.58 or later"


def one_line(text: str) -> str:
    """Return a stranger's text as one line of bounded length, control characters as escapes."""
    spaced = " ".join(text.split())
    shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in spaced)
    return shown if len(shown) <= CAUSE_CHARACTERS else shown[: CAUSE_CHARACTERS - 1] + "\u2026"


def _path(ticket: str) -> str:
    return f"/api/conversations/{quote(ticket, safe='')}"
