"""The automation service over HTTP, as one who deploys to it uses it (automation service 1.26)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from news_digest.errors import ConfigError, HttpError, NewsDigestError
from news_digest.model import Json
from news_digest.openhands.server import Answer, explain
from news_digest.ports import Http, Request

__all__ = ["AutomationService", "ServiceError"]

API: Final = "/api/automation"
DEADLINE: Final = timedelta(seconds=30)
ANSWER_BYTES: Final = 8 * 1024 * 1024
PAGE: Final = 100

_GONE: Final = 404
_HINTS: Final = {
    401: "give the service's key: --key-env names the environment variable that holds it",
    403: "the key belongs to another user; deploy as the one who made the automation",
    404: "see whether --host is the address of an OpenHands automation service, 1.26 or later",
    413: "configure fewer feeds: the service takes bundles up to 1 MiB",
    422: "see the cause; a schedule has five fields, and a time zone is an IANA name",
}


class ServiceError(NewsDigestError):
    """The automation service did not do what it was asked."""

    exit_code = 4


class AutomationService:
    """One service; ``host`` is its address, with or without its API's path. Every method raises ``ServiceError``."""

    def __init__(self, http: Http, host: str, key: str) -> None:
        if urlsplit(host).scheme not in {"http", "https"} or not urlsplit(host).hostname:
            raise ConfigError("cannot use the service's address", thing=host, cause="it must be an http(s) address")
        if not (key.isascii() and key.isprintable()):
            raise ConfigError("cannot use the service's key", cause="it has characters that no HTTP header may have")
        bare = host.rstrip("/")
        self.url = bare if bare.endswith(API) else bare + API
        self._http = http
        self._key = key

    def named(self, name: str) -> list[Mapping[str, Json]]:
        """Return the automations of that name."""
        found: list[Mapping[str, Json]] = []
        while True:
            page = self._done("GET", f"/v1?{urlencode({'limit': PAGE, 'offset': len(found)})}")
            listed = page.get("automations") or []
            found += listed
            if not listed or len(found) >= int(page.get("total") or 0):
                return [each for each in found if each.get("name") == name]

    def tarball(self, automation_id: str) -> bytes:
        """Return the bundle of an automation; nothing where the service has it no more."""
        status, body, _ = self._send("GET", f"/v1/{quote(automation_id)}/tarball")
        return body if status == 200 else b""  # noqa: PLR2004

    def upload(self, name: str, content: bytes) -> str:
        """Upload a bundle and return its address."""
        answer = self._done("POST", f"/v1/uploads?{urlencode({'name': name})}", content, "application/gzip")
        if answer.get("status") != "COMPLETED":
            raise ServiceError("the upload failed", thing=self.url, cause=str(answer.get("error_message") or ""))
        return str(answer["tarball_path"])

    def create(self, automation: Mapping[str, Json]) -> Mapping[str, Json]:
        """Create an automation."""
        return self._done("POST", "/v1", _json(automation))

    def update(self, automation_id: str, changes: Mapping[str, Json]) -> Mapping[str, Json]:
        """Change an automation."""
        return self._done("PATCH", f"/v1/{quote(automation_id)}", _json(changes))

    def dispatch(self, automation_id: str) -> str:
        """Start a run and return its id."""
        return str(self._done("POST", f"/v1/{quote(automation_id)}/dispatch")["id"])

    def run(self, automation_id: str, run_id: str) -> Mapping[str, Json]:
        """Return one run of an automation; nothing where it is not among the last hundred."""
        runs = self._done("GET", f"/v1/{quote(automation_id)}/runs?limit={PAGE}").get("runs") or []
        return next((run for run in runs if run.get("id") == run_id), {})

    def state(self, automation_id: str) -> Mapping[str, Json]:
        """Return an automation's state document; nothing where it has none, or the service no KV store."""
        query = urlencode({"automation_id": automation_id})
        status, body, _ = self._send("GET", f"/v1/kv/state?{query}")
        value = _parsed(body)
        found = value.get("value", value) if status == 200 and isinstance(value, Mapping) else {}  # noqa: PLR2004
        return found if isinstance(found, Mapping) else {}

    def _done(
        self, method: str, path: str, body: bytes | None = None, kind: str = "application/json"
    ) -> dict[str, Json]:
        status, content, text = self._send(method, path, body, kind)
        parsed = _parsed(content)
        if status >= 300 or not isinstance(parsed, dict):  # noqa: PLR2004 - any success
            raise ServiceError(
                "the automation service refused",
                thing=f"{method} {self.url}{path.partition('?')[0]}",
                cause=explain(Answer(status, parsed, text)),
                hint=_HINTS.get(status, "see the automation service's log"),
            )
        return parsed

    def _send(
        self, method: str, path: str, body: bytes | None = None, kind: str = "application/json"
    ) -> tuple[int, bytes, str]:
        headers = [("Accept", "application/json"), ("Authorization", f"Bearer {self._key}")]
        if body is not None:
            headers.append(("Content-Type", kind))
        request = Request(
            method, self.url + path, tuple(headers), body, deadline=DEADLINE, max_bytes=ANSWER_BYTES, redirects=0
        )
        try:
            response = self._http.send(request)
        except HttpError as error:
            raise ServiceError(
                "cannot reach the automation service",
                thing=self.url,
                cause=error.cause or str(error),
                hint="see whether it runs and --host is its address",
            ) from error
        return response.status, response.body, response.body.decode("utf-8", "replace")


def _json(value: Mapping[str, Json]) -> bytes:
    return json.dumps(value).encode("ascii")


def _parsed(body: bytes) -> Json:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
