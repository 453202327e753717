"""Find the feeds of an address: the address itself, what its page links to, then the usual places."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from news_digest.errors import FeedError, HttpError, NotAFeed
from news_digest.feeds.discover import candidates
from news_digest.feeds.parse import parse_feed
from news_digest.ports import Http, Request, Response

__all__ = ["Found", "find_feeds"]

_DEADLINE: Final = timedelta(seconds=20)
_LOOKED_AT: Final = 12
"""Candidates that are fetched, at most: a site that links to more has one feed per tag."""


@dataclass(frozen=True, slots=True)
class Found:
    """A feed that can be read."""

    url: str
    title: str
    entries: int
    newest: datetime | None


def find_feeds(http: Http, address: str) -> list[Found]:
    """Return the feeds of an address; raises ``FeedError`` with the reason when there is none."""
    response = _fetch(http, address)
    try:
        return [_found(response)]
    except NotAFeed as error:
        reason = error
    listed = candidates(response.body, response.url, response.headers.get("content-type", ""))[:_LOOKED_AT]
    for how in ("declared", "linked", "guessed"):
        addresses = [candidate.url for candidate in listed if candidate.found == how]
        found = {feed.url: feed for url in addresses if (feed := _try(http, url)) is not None}
        if found:
            return list(found.values())
    raise FeedError(
        "no feed found",
        thing=address,
        cause=reason.cause,
        hint="look on the site for a link to its feed, and add that",
    )


def _fetch(http: Http, address: str) -> Response:
    response = http.send(Request("GET", address, deadline=_DEADLINE, guarded=True))
    if response.status >= 400:  # noqa: PLR2004 - an error's class
        raise FeedError("no feed found", thing=address, cause=f"the server answers HTTP {response.status}")
    return response


def _try(http: Http, address: str) -> Found | None:
    try:
        return _found(_fetch(http, address))
    except (FeedError, HttpError):
        return None


def _found(response: Response) -> Found:
    document = parse_feed(response.body, response.url, response.headers)
    newest = max((entry.published for entry in document.entries if entry.published), default=None)
    return Found(response.moved_to or response.url, document.title, len(document.entries), newest)
