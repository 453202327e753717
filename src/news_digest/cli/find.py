"""Find the feeds of an address: the address itself, what its page names and links to, then the usual places."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from news_digest.errors import FeedError, HttpError, NotAFeed
from news_digest.feeds import reasons
from news_digest.feeds.discover import Candidate, by_service, candidates, is_of_comments, onward
from news_digest.feeds.manners import discreet
from news_digest.feeds.parse import parse_feed
from news_digest.fingerprint import wide_link
from news_digest.http.chain import read_target, same_origin
from news_digest.hygiene import clean
from news_digest.model import FeedSource
from news_digest.ports import Http, Request, Response, Step, Tell

__all__ = ["Found", "find_feeds", "is_same_site"]

_DEADLINE: Final = timedelta(seconds=20)
_PAGES_DEEP: Final = 2
"""How often a refresh or a frame is followed."""
_SUCCESS: Final = 2
"""The hundred of statuses that bring what was asked for."""
_PASSING: Final = frozenset({429, *range(500, 600)})
_LATER: Final = "nothing was added; try again in a while"


@dataclass(frozen=True, slots=True)
class Found:
    """A feed that can be read; ``links`` of its entries tell whether another one holds the same."""

    url: str
    title: str
    entries: int
    newest: datetime | None
    links: frozenset[str] = frozenset()


def find_feeds(http: Http, address: str, now: datetime, tell: Tell) -> list[Found]:
    """Return the feeds of an address, each story's feed once; raises ``FeedError`` with the reason when there is none.

    Credentials in the address are sent to its host alone, and stand in nothing that is returned or raised.
    Feeds of comments, and the same stories in another format, are left out where there is something better.
    """
    site = discreet(FeedSource(address))
    address = site.url
    search = _Search(http, now, tell, site)
    try:
        page = search.fetch(address)
    except (FeedError, HttpError):
        found = search.readable(by_service(address))
        if not found:
            raise
        return found
    found = search.feeds_from(address, page, _PAGES_DEEP) or search.at_usual_places(page)
    if not found:
        raise search.nothing(address, page)
    return _without_comments(_without_copies(found))


def is_same_site(here: str, there: str) -> bool:
    """Return whether what is secret to one address may be sent to the other."""
    return same_origin(read_target(here), read_target(there))


@dataclass(slots=True)
class _Search:
    """One search: asks one address after the other, and remembers why what a page names cannot be read."""

    http: Http
    now: datetime
    tell: Tell
    site: FeedSource
    dead: dict[str, str] = field(default_factory=dict)
    asked: int = 0

    def fetch(self, address: str) -> Response:
        self.asked += 1
        self.tell(Step("feeds", f"looking at {address}", self.asked))
        headers = self.site.headers if is_same_site(self.site.url, address) else ()
        response = self.http.send(Request("GET", address, headers, deadline=_DEADLINE, guarded=True))
        if response.status // 100 == _SUCCESS:
            return response
        failure = reasons.refused_by_server(address, response, self.now)
        hint = _LATER if response.status in _PASSING else failure.hint
        raise FeedError("no feed found", thing=address, cause=failure.reason, hint=hint)

    def feeds_from(self, asked: str, page: Response, deep: int) -> list[Found]:
        """Return the feed that a document is, or those that a page names, links to or leads to; empty without any."""
        with suppress(NotAFeed):
            return [_found(asked, page)]
        content_type = page.headers.get("content-type", "")
        listed = candidates(page.body, page.url, content_type)
        for how in ("declared", "linked"):
            found = self.readable(each for each in listed if each.found == how)
            if found:
                return found
        for address in onward(page.body, page.url, content_type) if deep else ():
            with suppress(FeedError, HttpError):
                found = self.feeds_from(address, self.fetch(address), deep - 1)
                if found:
                    return found
        return []

    def readable(self, listed: Iterable[Candidate]) -> list[Found]:
        found: dict[str, Found] = {}
        for candidate in listed:
            try:
                feed = _found(candidate.url, self.fetch(candidate.url))
            except (FeedError, HttpError) as error:
                if candidate.found == "declared":
                    self.dead[candidate.url] = error.cause or error.what
            else:
                found.setdefault(feed.url, feed)
        return list(found.values())

    def at_usual_places(self, page: Response) -> list[Found]:
        """Return the first feed at one of the usual places; a host that does not answer is not asked for the others."""
        for candidate in candidates(page.body, page.url, page.headers.get("content-type", "")):
            if candidate.found == "guessed":
                try:
                    return [_found(candidate.url, self.fetch(candidate.url))]
                except FeedError:
                    continue
                except HttpError:
                    break
        return []

    def nothing(self, address: str, page: Response) -> FeedError:
        """Return why there is no feed; with the page's own feed that cannot be read, where it names one."""
        for url, cause in self.dead.items():
            hint = "if a browser shows a feed there, try again later; else look on the site for another one"
            return FeedError("no feed found", thing=address, cause=f"the page names {url}, but {cause}", hint=hint)
        try:
            _found(address, page)
        except NotAFeed as error:
            failure = reasons.not_a_feed(address, error, page)
        if reasons.is_bot_check(page):
            return FeedError("no feed found", thing=address, cause=failure.reason, hint=failure.hint)
        return FeedError(
            "no feed found",
            thing=address,
            cause=f"{failure.reason}; none is named there, and none is at the usual places",
            hint="look on the site for a link to its feed, and add that; some sites have none",
        )


def _found(asked: str, response: Response) -> Found:
    """Return the feed of an answer, under the address that lasts."""
    document = parse_feed(response.body, response.url, response.headers)
    newest = max((entry.published for entry in document.entries if entry.published), default=None)
    links = frozenset(entry.link for entry in document.entries if entry.link)
    title = " ".join(clean(document.title).split())
    return Found(response.moved_to or _lasting(asked, response.url), title, len(document.entries), newest, links)


def _lasting(asked: str, answered: str) -> str:
    """Return the address to keep after a redirect for now: a place elsewhere, or with a query, may be gone tomorrow."""
    is_there = wide_link(answered) == wide_link(asked) or (is_same_site(asked, answered) and "?" not in answered)
    return answered if is_there else asked.partition("#")[0]


def _without_copies(found: list[Found]) -> list[Found]:
    """Return the feeds without those that hold the same stories as one before them: RSS and Atom of one site."""
    kept: list[Found] = []
    for feed in found:
        if not feed.links or all(feed.links != other.links for other in kept):
            kept.append(feed)
    return kept


def _without_comments(found: list[Found]) -> list[Found]:
    stories = [feed for feed in found if not is_of_comments(Candidate(feed.url, feed.title))]
    return stories or found
