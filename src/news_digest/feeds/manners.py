"""How feeds are asked, and when a second attempt in the same run is worth its time."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import unquote_to_bytes

from news_digest.errors import HttpError
from news_digest.feeds.headers import retry_after
from news_digest.feeds.reasons import HostRests
from news_digest.model import FeedSource
from news_digest.ports import Response

__all__ = ["TOO_MANY_REQUESTS", "Manners", "discreet", "split_credentials"]

TOO_MANY_REQUESTS = 429
_PASSING = frozenset({408, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530})
"""Statuses that a second attempt often does not see again; 520 to 530 are those of a site's front (CDN)."""
_USERINFO = re.compile(r"(?<=://)([^/?#]*)@")


def split_credentials(url: str) -> tuple[str, str]:
    """Return an address without its credentials, and them: ``user:password`` as it stands there, or empty."""
    found = _USERINFO.search(url)
    return (url.replace(found[0], "", 1), found[1]) if found else (url, "")


def discreet(source: FeedSource) -> FeedSource:
    """Return the feed with the user and password of its address as a header (RFC 7617).

    An address is shown, kept in the cache and told to writers and channels; request headers are not.
    """
    url, credentials = split_credentials(source.url)
    if not credentials:
        return replace(source, url=url)
    headers = source.headers
    if not any(name.lower() == "authorization" for name, _ in headers):
        token = b64encode(unquote_to_bytes(credentials)).decode("ascii")
        headers = (*headers, ("Authorization", f"Basic {token}"))
    return replace(source, url=url, headers=headers)


@dataclass(frozen=True, slots=True)
class Manners:
    """How feeds are asked; the defaults are polite to sites and patient with slow ones."""

    parallel: int = 50
    pause: timedelta = timedelta(seconds=0.5)
    """Between two requests to one host, spread by half of it either way."""
    feed_deadline: timedelta = timedelta(seconds=20)
    """For one request with its redirects and body."""
    max_bytes: int = 10 * 1024 * 1024
    """Of a decoded feed; few are larger than 5 MB, podcasts with their whole archive."""
    redirects: int = 5
    attempts: int = 3
    backoff: timedelta = timedelta(seconds=1)
    """Before the second attempt; doubled before the third, spread by half of it either way."""
    host_rest: timedelta = timedelta(seconds=5)
    """How long a host is left alone that says "too often" and not for how long."""
    wait_most: timedelta = timedelta(seconds=10)
    """A ``Retry-After`` up to this is waited for within the run; a longer one is honoured by later runs."""
    always_ask: bool = False
    """Also ask feeds that are fresh by their own word, or gone: for a check that somebody has asked for."""

    def wait(
        self, outcome: Response | HttpError, attempts: int, now: datetime, ends_at: datetime, jitter: float
    ) -> timedelta | None:
        """Return how long to wait before asking again after so many attempts; None where that is not worth it.

        ``jitter`` in [0, 1) spreads the attempts, so that feeds that failed together do not come back together.
        """
        backoff = self.backoff * 2 ** (attempts - 1) * (0.5 + jitter)
        match outcome:
            case HostRests():
                wait = outcome.until - now
            case HttpError(transient=True):
                wait = backoff
            case Response(status=status) if status in _PASSING or status == TOO_MANY_REQUESTS:
                until = retry_after(outcome.headers, now)
                rest = self.host_rest if status == TOO_MANY_REQUESTS else backoff
                wait = until - now if until else rest
            case _:
                return None
        wait = max(wait, backoff)
        return wait if attempts < self.attempts and wait <= self.wait_most and now + wait < ends_at else None
