"""Why a feed could not be read: one sentence for people, and what they can do about it."""

from __future__ import annotations

from datetime import UTC, datetime

from news_digest.errors import FeedError, HttpError, TooLarge
from news_digest.feeds.headers import retry_after
from news_digest.model import FeedFailure
from news_digest.ports import Response

__all__ = [
    "HostRests",
    "empty_answer",
    "gone",
    "is_bot_check",
    "no_answer",
    "not_a_feed",
    "refused_by_server",
    "unexpected",
    "unsolicited",
    "waiting",
    "was_asked",
]

_SAMPLE = 4096
"""How much of a page is looked at to recognise a bot check."""
_BOT_CHECKS = (
    b"just a moment",
    b"challenge-platform",
    b"cf-chl",
    b"checking your browser",
    b"attention required",
    b"ddos protection",
    b"captcha",
    b"are you a robot",
    b"enable javascript and cookies",
    b"_incapsula_",
    b"/.well-known/acme-bot",
    b"anubis",
)
_AGAIN = "Usually passes; the next run asks again."
_BLOCKED = (
    "The site keeps programs out: ask it to let feed readers in, or give this feed other headers in the configuration."
)
_RAISE = "A feed of that size is rarely one; if this one is, raise feed_megabytes in the configuration."
_FIND = "`news-digest feeds add` with the site's address looks for its present feed."

# (reason, hint) for statuses that say something of their own; the others go by their hundred.
_STATUSES = {
    401: ("the server asks for a login", "Give this feed its credentials: headers from an environment variable."),
    402: ("the server asks for payment", "The publisher charges for this feed; remove it or give it its credentials."),
    403: ("the server refuses access", _BLOCKED),
    404: ("there is nothing at this address", _FIND),
    406: ("the server has no form of the feed that we accept", _BLOCKED),
    407: ("the proxy asks for a login", "Put the credentials into http_proxy and https_proxy."),
    410: ("the publisher has closed this feed for good", "Remove it with `news-digest feeds remove`."),
    429: ("the server says that we ask too often", "Ask less often, or for fewer feeds of this site."),
    451: ("the feed is blocked for legal reasons", "It cannot be read from where this program runs."),
    500: ("the server failed", _AGAIN),
    502: ("the server behind the site's front failed", _AGAIN),
    503: ("the server is overloaded or under maintenance", _AGAIN),
    504: ("the server behind the site's front did not answer in time", _AGAIN),
}
_MORE_TIME = "The next run asks it first. feeds_seconds in the configuration is the time for all feeds."
_HUNDREDS = {
    3: ("the server redirects without saying where to", "Open the address in a browser and give where it leads."),
    4: ("the server refuses the request", _BLOCKED),
    5: ("the server failed", _AGAIN),
}


class HostRests(HttpError):
    """A request that was not sent because its host has asked us to stay away until then."""

    def __init__(self, url: str, until: datetime) -> None:
        super().__init__("Not asked", thing=url, cause="its host asked us to wait", sent=False)
        self.until = until


def refused_by_server(feed: str, response: Response, now: datetime) -> FeedFailure:
    """Return the failure for an answer that is an error of the server."""
    status = response.status
    wait = retry_after(response.headers, now)
    reason, hint = _STATUSES.get(status, _by_hundred(status))
    if status in {403, 429, 503} and is_bot_check(response):
        reason, hint = "the site answers with a page that checks for robots", _BLOCKED
    return FeedFailure(feed, f"{reason} (HTTP {status}){_next_try(wait, now)}", hint, wait)


def no_answer(feed: str, error: HttpError, now: datetime) -> FeedFailure:
    """Return the failure for a request without a usable answer."""
    if isinstance(error, HostRests):
        return waiting(feed, error.until, now)
    if not was_asked(error):
        return FeedFailure(feed, "not asked: the time for all feeds was up before its turn came", _MORE_TIME)
    return FeedFailure(feed, error.cause or str(error), _RAISE if isinstance(error, TooLarge) else error.hint)


def was_asked(error: HttpError) -> bool:
    """Return whether the feed's server was asked at all; where it was not, the feed has not failed."""
    return error.what != "Not asked"


def not_a_feed(feed: str, error: FeedError, response: Response) -> FeedFailure:
    """Return the failure for a document that is no feed."""
    if is_bot_check(response):
        return FeedFailure(feed, "the site answers with a page that checks for robots in place of the feed", _BLOCKED)
    moved = f" at {response.url}, where it sends us" if response.hops else ""
    return FeedFailure(feed, f"{error.cause or error.what}{moved}", error.hint or _FIND)


def empty_answer(feed: str, response: Response) -> FeedFailure:
    """Return the failure for an answer without a body."""
    return FeedFailure(feed, f"the server answered with nothing (HTTP {response.status})", _AGAIN)


def unsolicited(feed: str) -> FeedFailure:
    """Return the failure for "not modified" where nothing was there to compare with."""
    reason = "the server says that nothing has changed (HTTP 304), but was not asked for changes"
    return FeedFailure(feed, reason, "The server or a cache before it is at fault; the next run asks again.")


def waiting(feed: str, until: datetime, now: datetime) -> FeedFailure:
    """Return the failure for a feed that is left alone because its server asked for that."""
    reason = f"its server asked us to stay away for a while{_next_try(until, now)}"
    return FeedFailure(feed, reason, "Nothing to do; a later run asks again.", until)


def gone(feed: str, since: datetime) -> FeedFailure:
    """Return the failure for a feed that is not asked any more because it was closed."""
    reason = f"the publisher closed this feed for good on {since:%Y-%m-%d} (HTTP 410); it is hardly asked any more"
    return FeedFailure(feed, reason, _STATUSES[410][1])


def unexpected(feed: str, error: Exception) -> FeedFailure:
    """Return the failure for a fault of our own in one feed, so that the others are read all the same."""
    return FeedFailure(
        feed,
        f"reading it failed inside news-digest ({type(error).__name__})",
        "Please report this with the feed's address.",
    )


def is_bot_check(response: Response) -> bool:
    """Return whether an answer is one of the pages that want to see a browser."""
    if "challenge" in response.headers.get("cf-mitigated", ""):
        return True
    start = response.body[:_SAMPLE].lower()
    return b"<html" in start and any(words in start for words in _BOT_CHECKS)


def _by_hundred(status: int) -> tuple[str, str]:
    return _HUNDREDS.get(status // 100, ("the server's answer makes no sense", _AGAIN))


def _next_try(until: datetime | None, now: datetime) -> str:
    if until is None or until <= now:
        return ""
    day = "" if until.astimezone(UTC).date() == now.astimezone(UTC).date() else f"{until:%Y-%m-%d} "
    return f"; next try after {day}{until.astimezone(UTC):%H:%M} UTC"
