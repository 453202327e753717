"""Who may ask the server for what: hosts, a token beyond this machine, forms of our own pages only, strict headers.

* ``Host`` must be a name of ours, so that a page elsewhere cannot reach us under a name of its own (DNS rebinding).
* Beyond loopback every page wants the token, kept as a cookie that only we can make; it is compared in constant time.
* A form is taken only with the key of a page of ours, and from a page of ours where the browser says so.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs, urlsplit

from news_digest.channels.site.pages import POLICY

__all__ = ["COOKIE", "LARGEST_FORM_BYTES", "Gate", "Guarded", "is_loopback"]

COOKIE: Final = "news_digest"
LARGEST_FORM_BYTES: Final = 4096
_OPEN_PATHS: Final = frozenset({"/login", "/static/style.css"})
_HEADERS: Final = (
    (b"content-security-policy", f"{POLICY}; frame-ancestors 'none'".encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # Nobody else learns where a reader comes from; with "no-referrer" our own forms would not carry their origin.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


def is_loopback(host: str) -> bool:
    """Say whether a name or address is this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


@dataclass(frozen=True, slots=True)
class Gate:
    """What the server lets through; ``key`` is random and lives as long as the process."""

    key: bytes = field(repr=False)
    token: str = field(default="", repr=False)
    """Empty: this machine only, and everybody on it may read."""
    hosts: tuple[str, ...] = ()
    """Names beside those of loopback under which the server may be asked."""

    def seal(self, what: str) -> str:
        """Return what only this process can make of a word: the cookie's value, a form's key."""
        return hmac.new(self.key, what.encode(), sha256).hexdigest()

    def knows_host(self, header: str) -> bool:
        """Say whether a ``Host`` header names us."""
        try:
            host = urlsplit(f"//{header}").hostname or ""
        except ValueError:
            return False
        return is_loopback(host) or host in self.hosts

    def admits(self, headers: Mapping[str, str]) -> bool:
        """Say whether a request carries the token, or the cookie that was given for it."""
        if not self.token:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.is_token(given.strip()):
            return True
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return morsel is not None and hmac.compare_digest(morsel.value.encode(), self.seal("cookie").encode())

    def is_token(self, given: str) -> bool:
        """Compare a token, taking as long for a wrong one as for the right one."""
        return hmac.compare_digest(given.encode(), self.token.encode())

    def accepts_form(self, headers: Mapping[str, str], body: bytes) -> dict[str, str] | None:
        """Return a form's fields, None where it does not come from a page of ours."""
        origin = headers.get("origin", "")
        if origin and urlsplit(origin).netloc != headers.get("host", ""):
            return None
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return None
        try:
            form = {name: values[0] for name, values in parse_qs(body.decode(), max_num_fields=16).items()}
        except (ValueError, UnicodeDecodeError):
            return None
        return form if hmac.compare_digest(form.get("key", "").encode(), self.seal("form").encode()) else None


class Guarded:
    """An application behind a gate; everything that it answers has the strict headers."""

    def __init__(self, app: App, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}

        async def send_strictly(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", []))
                names = {name.lower() for name, _ in given}
                cache = [] if b"cache-control" in names else [(b"cache-control", b"private, no-store")]
                message = {**message, "headers": [*given, *_HEADERS, *cache]}
            await send(message)

        if not self._gate.knows_host(headers.get("host", "")):
            await _answer(send_strictly, 421, "This server does not go by that name.")
        elif scope["path"] not in _OPEN_PATHS and not self._gate.admits(headers):
            await _ask_for_token(scope, send_strictly)
        else:
            await self._app(scope, receive, send_strictly)


async def _ask_for_token(scope: Scope, send: Send) -> None:
    if scope["method"] == "GET" and not scope["path"].startswith(("/events", "/static", "/feed", "/atom")):
        await _answer(send, 303, "", (b"location", b"/login"))
    else:
        await _answer(send, 401, "This server wants its token.", (b"www-authenticate", b"Bearer"))


async def _answer(send: Send, status: int, text: str, *headers: tuple[bytes, bytes]) -> None:
    kind = (b"content-type", b"text/plain; charset=utf-8")
    await send({"type": "http.response.start", "status": status, "headers": [kind, *headers]})
    await send({"type": "http.response.body", "body": text.encode()})
