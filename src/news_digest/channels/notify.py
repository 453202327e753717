"""Chat and push by Apprise (extra ``notify``): Slack, Discord, Telegram, ntfy, Matrix, webhooks and some hundred more.

One address, one channel, one receipt: a service that fails never makes another one repeat itself. A digest that needs
several messages is sent part by part; what was sent stays sent while the program lives, and a later run begins again.
"""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from importlib import import_module
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from news_digest.channels import Target
from news_digest.channels.chat import characters, messages, octets
from news_digest.channels.options import Options
from news_digest.channels.redact import redact
from news_digest.errors import ConfigError, DeliveryError
from news_digest.model import Digest, Receipt, Ticket
from news_digest.ports import Clock
from news_digest.shown import title_line

__all__ = ["LIMITS", "NotifyChannel", "open_notify"]

LIMITS: Final = {"ntfy": 4000, "ntfys": 4000}
"""Where a server's own default is below what Apprise says: ntfy turns more than 4,096 bytes into an attachment."""
_IN_BYTES: Final = frozenset({"ntfy", "ntfys"})
_LEAST_LIMIT: Final = 200
_MOST_LIMIT: Final = 100_000
_PLAIN_WORDS: Final = frozenset({"localhost", "true", "false", "html", "text", "markdown", "format"})
"""What an address may hold that is no key."""
_LATER: Final = "it stays in the outbox; the next run tries again"


class NotifyChannel:
    """Sends a digest to one Apprise address."""

    def __init__(self, service: Any, url: str, *, limit: int, name: str, clock: Clock) -> None:  # noqa: ANN401 - no types
        self.name = name
        self._service = service
        self._secrets = _secrets_of(url)
        self._schema = url.partition("://")[0].lower()
        self._limit = limit or min(int(service.body_maxlen), LIMITS.get(self._schema, _MOST_LIMIT))
        self._clock = clock
        self._sent: dict[Ticket, int] = {}

    def deliver(self, digest: Digest) -> Receipt:
        """Send every message of the digest in order; raises ``DeliveryError`` at the first that is not taken."""
        has_title = int(self._service.title_maxlen) > 0
        size = octets if self._schema in _IN_BYTES else characters
        texts = messages(digest, self._limit, size, title=not has_title)
        title = title_line(digest) if has_title else ""
        for number in range(self._sent.get(digest.ticket, 0), len(texts)):
            self._send(texts[number], title, f"message {number + 1} of {len(texts)}")
            self._sent[digest.ticket] = number + 1
        self._sent.pop(digest.ticket, None)
        return Receipt(self.name, at=self._clock(), detail=f"{len(texts)} to {self._schema}")

    def _send(self, text: str, title: str, which: str) -> None:
        apprise = _apprise(self.name)
        box = apprise.Apprise(asset=self._service.asset)
        box.add(self._service)
        with apprise.LogCapture(level=logging.WARNING, fmt="%(message)s") as log:
            sent = bool(box.notify(body=text, title=title, body_format=apprise.NotifyFormat.TEXT))
            said = log.getvalue()
        if not sent:
            cause, hint = _why(said)
            raise DeliveryError(
                "cannot send the message",
                thing=f"{self._schema}, {which}",
                cause=redact(cause, self._secrets),
                hint=hint,
            )


def _why(said: str) -> tuple[str, str]:
    """Return what the service answered, and what a person can do about it."""
    cause = " ".join(said.split()) or "the service did not take it"
    found = re.search(r"error=(\d{3})", cause)
    status = int(found[1]) if found else 0
    match status:
        case 401 | 403:
            return cause, "its key is refused: set the address's environment variable anew"
        case 404 | 410:
            return cause, "the address leads nowhere: make a new one at the service"
        case 400 | 413 | 422:
            return cause, "it refused this message; a smaller `limit` may help"
        case _:
            return cause, _LATER


def open_notify(target: Target) -> NotifyChannel:
    """Return the channel ``notify``.

    Options ``url_env`` (needed: the variable that holds the Apprise address, which is a secret as a whole), ``limit``
    (of one message; the service's own where it is 0) and ``timeout_seconds``.
    """
    options = Options(target)
    options.text("url_env", required=True)
    url = options.secret("url_env")
    limit = options.number("limit", 0, least=0, most=_MOST_LIMIT)
    timeout = timedelta(seconds=options.number("timeout_seconds", 15, least=1, most=300))
    options.done()
    if 0 < limit < _LEAST_LIMIT:
        raise ConfigError(
            "cannot use an option",
            thing=f"{target.name}.limit = {limit}",
            cause=f"it must be {_LEAST_LIMIT} or more",
            hint="or 0 for the limit of the service",
        )
    service = _instantiate(url, timeout, target.name)
    return NotifyChannel(service, url, limit=limit, name=target.name, clock=target.clock)


def _apprise(name: str) -> Any:  # noqa: ANN401 - Apprise has no types
    try:
        return import_module("apprise")
    except ImportError as error:
        raise ConfigError(
            "cannot use the channel",
            thing=name,
            cause="Apprise is not installed",
            hint="pip install 'news-digest[notify]'",
        ) from error


def _instantiate(url: str, timeout: timedelta, name: str) -> Any:  # noqa: ANN401 - Apprise has no types
    apprise = _apprise(name)
    asset = apprise.AppriseAsset(app_id="news-digest", async_mode=False, secure_logging=True, http_redirects=0)
    with apprise.LogCapture(level=logging.ERROR):
        service = apprise.Apprise.instantiate(url, asset=asset)
    if service is None:
        raise ConfigError(
            "cannot use an address",
            thing=f"{name}.url_env",
            cause="the variable holds no address that Apprise knows",
            hint="see `apprise --details` for the form of each service",
        )
    service.socket_read_timeout = service.socket_connect_timeout = timeout.total_seconds()
    return service


def _secrets_of(url: str) -> tuple[str, ...]:
    """Return an Apprise address and every part of it that may be a key."""
    parts = urlsplit(url)
    pieces = [
        url,
        parts.username or "",
        parts.password or "",
        *re.split(r"[/?&=:@]+", unquote(url.partition("://")[2])),
    ]
    host = (parts.hostname or "").lower()
    # Without a dot it is no host: Discord and Telegram have a key in its place.
    public = _PLAIN_WORDS | ({host} if "." in host else set())
    return tuple(dict.fromkeys(piece for piece in pieces if piece and piece.lower() not in public))
