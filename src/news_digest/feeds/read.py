"""Read many feeds at once: the port ``Feeds``.

Every feed is asked concurrently, politely within its host and within one deadline; what fails for a moment is asked
again in the same run. An answer "not modified" is served from the cache, and every failure is a value with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar
from urllib.parse import urlsplit

from news_digest.errors import FeedError, HttpError
from news_digest.feeds import reasons
from news_digest.feeds.cache import FeedCache, FeedRecord
from news_digest.feeds.headers import NOT_MODIFIED, WAIT_MOST, retry_after
from news_digest.feeds.health import after_failure, after_read, notices
from news_digest.feeds.manners import TOO_MANY_REQUESTS, Manners, discreet
from news_digest.feeds.parse import Document, parse_feed
from news_digest.feeds.text import stories
from news_digest.model import Entry, FeedFailure, FeedResult, FeedSource, Story
from news_digest.ports import Clock, Http, HttpMany, Request, Response, Sleep, Step, Tell

__all__ = ["FeedReader", "Parse"]

Parse = Callable[[bytes, str, Mapping[str, str], str], Document]
"""Read a document: body, address that it came from, headers, address as configured; raises ``NotAFeed``."""

_ACCEPT = (
    "application/rss+xml, application/atom+xml, application/rdf+xml;q=0.9, application/feed+json;q=0.9, "
    "application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.5"
)
_FULL_FETCH_EVERY = timedelta(hours=23)
"""Validators can lie for ever; an hour less than a day, so that a daily run always fetches in full."""
_ASK_THE_GONE_EVERY = timedelta(days=7)
"""A feed that answered 410 is asked once a week all the same: some servers say so by mistake."""
_GONE = 410
_SUCCESS = 2
"""The hundred of statuses that bring what was asked for."""
_T = TypeVar("_T")
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class FeedReader:
    """Reads feeds through an HTTP client and a cache; see :class:`~news_digest.ports.Feeds`.

    A client that can send many requests at once is used so, any other one by one. ``jitter`` gives [0, 1).
    """

    http: Http
    cache: FeedCache
    clock: Clock
    sleep: Sleep
    jitter: Callable[[], float] = field(default=lambda: 0.5)
    tell: Tell = field(default=lambda _step: None)
    manners: Manners = field(default_factory=Manners)
    parse: Parse = parse_feed

    def read(self, sources: Sequence[FeedSource], deadline: timedelta) -> Sequence[FeedResult]:
        """Return one result per source, in their order, within the deadline; a failure is a value.

        A result's source has no credentials in its address: they are among its headers.
        """
        run = _Run(self, [discreet(source) for source in sources], self.clock() + deadline)
        run.read()
        self.cache.prune(self.clock())
        return run.results()

    def stories(self, groups: Sequence[Sequence[Entry]]) -> tuple[Story, ...]:
        """Return one story per group of entries that are the same story, in plain text."""
        return stories(groups)


@dataclass(slots=True)
class _Visit:
    """One feed in one run."""

    position: int
    source: FeedSource
    record: FeedRecord
    conditional: bool = False
    attempts: int = 0
    outcome: Response | HttpError | None = None
    """What came of the last try."""

    @property
    def url(self) -> str:
        return self.source.url


class _Run:
    """One call of ``read``."""

    def __init__(self, reader: FeedReader, sources: Sequence[FeedSource], ends_at: datetime) -> None:
        self._reader = reader
        self._manners = reader.manners
        self._sources = sources
        self._ends_at = ends_at
        self._results: dict[int, FeedResult] = {}
        self._resting: dict[str, datetime] = {}
        """Hosts that said "too often", and until when they are left alone."""
        self._cache_fault = ""

    def results(self) -> list[FeedResult]:
        """Return the results in the order of the sources; the first one says if the cache could not be written."""
        results = [self._results[position] for position in range(len(self._sources))]
        if results and self._cache_fault:
            results[0] = replace(results[0], notices=(*results[0].notices, self._cache_fault))
        return results

    def read(self) -> None:
        """Ask every feed, and again those whose failure may pass."""
        known = [
            _Visit(position, source, self._reader.cache.load(source.url))
            for position, source in enumerate(self._sources)
        ]
        visits = [visit for visit in known if self._guarded(visit, self._begin)]
        # Who was not read for longest comes first: a site that answers only so many requests starves none of its feeds.
        visits.sort(key=lambda visit: visit.record.read_at or _LONG_AGO)
        while visits:
            waits = [
                (visit, self._guarded(visit, partial(self._land, outcome))) for visit, outcome in self._ask(visits)
            ]
            again = [(visit, wait) for visit, wait in waits if wait is not None]
            visits = [visit for visit, _ in again]
            longest = max((wait for _, wait in again), default=timedelta(0))
            if longest:
                self._reader.sleep(longest)

    def _guarded(self, visit: _Visit, step: Callable[[_Visit], _T]) -> _T | None:
        """Take a step of a visit; a fault of ours there is that feed's failure, and the others are read."""
        try:
            return step(visit)
        except Exception as error:  # noqa: BLE001 - the boundary around one feed
            self._settle_failure(visit, reasons.unexpected(visit.url, error), self._reader.clock())
            return None

    # --- asking ---

    def _begin(self, visit: _Visit) -> bool:
        """Decide whether a feed is asked and how; settle it where it is not."""
        now, always, record = self._reader.clock(), self._manners.always_ask, visit.record
        failure = self._reason_not_to_ask(record, now)
        if failure is not None:
            self._settle_failure(visit, failure, now)
            return False
        if not always and _is_fresh(record, now) and self._read_cached(visit, None, now):
            return False
        recent = record.full_at is not None and timedelta(0) <= now - record.full_at < _FULL_FETCH_EVERY
        visit.conditional = recent and bool(record.etag or record.last_modified)
        return True

    def _reason_not_to_ask(self, record: FeedRecord, now: datetime) -> FeedFailure | None:
        gone_at, not_before = record.gone_at, record.not_before
        if gone_at and timedelta(0) <= now - gone_at < _ASK_THE_GONE_EVERY and not self._manners.always_ask:
            return reasons.gone(record.url, record.failing_since or gone_at)
        if not_before and now < not_before <= now + WAIT_MOST:
            return reasons.waiting(record.url, not_before, now)
        return None

    def _ask(self, visits: Sequence[_Visit]) -> Iterator[tuple[_Visit, Response | HttpError]]:
        requests = [self._request(visit) for visit in visits]
        for position, outcome in self._send(requests, max(timedelta(0), self._ends_at - self._reader.clock())):
            visits[position].attempts += not isinstance(outcome, reasons.HostRests)  # that one was not asked
            yield visits[position], outcome

    def _send(self, requests: Sequence[Request], deadline: timedelta) -> Iterator[tuple[int, Response | HttpError]]:
        http, manners = self._reader.http, self._manners
        if isinstance(http, HttpMany):
            yield from http.send_many(
                requests,
                parallel=manners.parallel,
                pause=manners.pause,
                deadline=deadline,
                jitter=self._reader.jitter,
                veto=self._veto,
            )
            return
        for position, request in enumerate(requests):
            try:
                error = self._veto(request)
                yield position, error or http.send(request)
            except HttpError as failed:
                yield position, failed

    def _request(self, visit: _Visit) -> Request:
        validators = (
            ("If-None-Match", visit.record.etag),
            ("If-Modified-Since", visit.record.last_modified),
        )
        sent = tuple(pair for pair in validators if visit.conditional and pair[1])
        return Request(
            "GET",
            visit.url,
            (("Accept", _ACCEPT), *sent, *visit.source.headers),
            deadline=self._manners.feed_deadline,
            max_bytes=self._manners.max_bytes,
            redirects=self._manners.redirects,
            guarded=True,
        )

    def _veto(self, request: Request) -> HttpError | None:
        until = self._resting.get(_host(request.url))
        return reasons.HostRests(request.url, until) if until and self._reader.clock() < until else None

    # --- landing ---

    def _land(self, outcome: Response | HttpError, visit: _Visit) -> timedelta | None:
        """Settle a visit, or return how long to wait before it is made again."""
        reader, now = self._reader, self._reader.clock()
        if isinstance(outcome, Response) and outcome.status == TOO_MANY_REQUESTS:
            until = retry_after(outcome.headers, now) or now + self._manners.host_rest
            self._resting[_host(visit.url)] = until
        wait = self._manners.wait(outcome, visit.attempts, now, self._ends_at, reader.jitter())
        if not isinstance(outcome, HttpError) or reasons.was_asked(outcome):
            visit.outcome = outcome
        if wait is not None:
            return wait
        outcome = visit.outcome or outcome  # a try that had no turn hides nothing of the one before
        if isinstance(outcome, HttpError):
            failure = reasons.no_answer(visit.url, outcome, now)
            self._fail(visit, failure, now, asked=reasons.was_asked(outcome))
        elif outcome.status == NOT_MODIFIED and visit.conditional:
            if not self._read_cached(visit, outcome, now):
                visit.conditional = False  # what was kept is of no use any more: fetch it in full
                return timedelta(0)
        elif outcome.status == NOT_MODIFIED:
            self._fail(visit, reasons.unsolicited(visit.url), now)
        elif outcome.status // 100 != _SUCCESS:
            failure = reasons.refused_by_server(visit.url, outcome, now)
            self._fail(visit, failure, now, gone=outcome.status == _GONE)
        elif not outcome.body.strip():
            self._fail(visit, reasons.empty_answer(visit.url, outcome), now)
        else:
            self._land_document(visit, outcome, now)
        return None

    def _land_document(self, visit: _Visit, outcome: Response, now: datetime) -> None:
        try:
            document = self._reader.parse(outcome.body, outcome.url, outcome.headers, visit.url)
        except FeedError as error:
            self._fail(visit, reasons.not_a_feed(visit.url, error, outcome), now)
            return
        self._save(after_read(visit.record, outcome, document.entries, now), outcome.body)
        self._settle(visit, document, now, moved_to=outcome.moved_to)

    def _read_cached(self, visit: _Visit, outcome: Response | None, now: datetime) -> bool:
        """Answer with the body that is kept; False where it cannot be read. ``outcome`` is a 304, None without one."""
        record = visit.record
        body = self._reader.cache.body(record)
        if body is None:
            return False
        headers = {"content-type": record.content_type}
        try:
            document = self._reader.parse(body, record.address or visit.url, headers, visit.url)
        except FeedError:
            return False
        if outcome is not None:
            self._save(after_read(record, outcome, document.entries, now))
        moved_to = record.moved_to if outcome is None else outcome.moved_to
        self._settle(visit, document, now, moved_to=moved_to, cached=True)
        return True

    # --- settling ---

    def _settle(
        self, visit: _Visit, document: Document, now: datetime, *, moved_to: str = "", cached: bool = False
    ) -> None:
        result = FeedResult(
            visit.source,
            title=document.title,
            entries=tuple(document.entries),
            notices=notices(visit.record, document.entries, moved_to, now),
            moved_to=moved_to,
            cached=cached,
        )
        self._finish(result, visit.position)

    def _fail(
        self, visit: _Visit, failure: FeedFailure, now: datetime, *, asked: bool = True, gone: bool = False
    ) -> None:
        """Settle a visit as failed, and remember that."""
        visit.record = after_failure(visit.record, failure, now, asked=asked, gone=gone)
        self._save(visit.record)
        self._settle_failure(visit, failure, now)

    def _settle_failure(self, visit: _Visit, failure: FeedFailure, now: datetime) -> None:
        told = notices(visit.record, None, "", now)
        self._finish(FeedResult(visit.source, failure=failure, notices=told), visit.position)

    def _finish(self, result: FeedResult, position: int) -> None:
        self._results[position] = result
        self._reader.tell(Step("feeds", result.source.url, len(self._results), len(self._sources)))

    def _save(self, record: FeedRecord, body: bytes | None = None) -> None:
        try:
            self._reader.cache.save(record, body)
        except OSError as error:
            self._cache_fault = f"The feeds' cache cannot be written ({error.strerror}): every fetch is a full one."


def _is_fresh(record: FeedRecord, now: datetime) -> bool:
    """Whether the publisher asked not to be asked again yet; not for longer than a clock set back would claim."""
    return bool(record.fresh_until and record.full_at and record.full_at <= now < record.fresh_until)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
