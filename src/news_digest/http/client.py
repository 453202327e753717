"""``CurlHttp``: the port ``Http`` on libcurl, one request or many at once.

libcurl was the cheapest client measured (``benchmarks/feeds_fetch.py``), has a true total deadline, and lets us judge
an address when the socket opens. Redirects, cookies and content codings are ours, because each of them has a rule of
its own here. Every request goes through the same loop, so that one request can be interrupted as well as a thousand.
"""

from __future__ import annotations

import ssl
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self

import pycurl

from news_digest.errors import DeadlineExceeded, HttpError
from news_digest.http import failures
from news_digest.http.chain import Chain
from news_digest.http.coding import accepted_codings
from news_digest.http.exchange import Exchange, Settings
from news_digest.http.lanes import Lanes
from news_digest.http.proxies import Proxies
from news_digest.ports import Request, Response

__all__ = ["CurlHttp"]

_PARALLEL = 50
"""Requests in flight at once: at 300 ms of latency 500 feeds take 3 s; more gains little and is less polite."""
_WAIT_SECONDS = 0.25
"""Longest wait for sockets, so that an interrupt or a deadline is seen soon."""
_CALLER_SECONDS = 0.005
"""A caller who works longer on an answer than this (parsing a feed takes as long) does not hold the others up."""
_LEAST_SECONDS = 0.05
"""With less time left before a batch's deadline no request is begun: it could only fail."""
_KEPT_CONNECTIONS = 16
"""Idle connections that stay open: to an agent server, a store and a model, and to hosts that a batch asks again."""

# Where systems keep the certificates that they trust; libcurl's wheel knows one of them only.
_CA_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


class CurlHttp:
    """The one client; safe to use from several threads at once.

    ``allow_private_hosts`` switches the address guard off. ``ca_file`` names the trusted certificates; by default
    ``SSL_CERT_FILE`` or the system's. ``resolve`` pins names to addresses, as libcurl's ``HOST:PORT:ADDRESS``.
    """

    def __init__(
        self,
        user_agent: str,
        *,
        allow_private_hosts: bool = False,
        proxies: Proxies = Proxies(),  # noqa: B008 - frozen
        ca_file: str = "",
        resolve: Sequence[str] = (),
    ) -> None:
        self._guards = not allow_private_hosts
        self._settings = Settings(
            user_agent=user_agent,
            codings=accepted_codings(),
            proxies=proxies,
            ca_file=ca_file or _system_ca_file(),
            resolve=tuple(resolve),
        )
        # Guarded requests never share a connection with others: one that is open is not judged again.
        self._idle: dict[bool, deque[_Engine]] = {True: deque(), False: deque()}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections that are kept open; the client stays usable."""
        for engines in self._idle.values():
            while engines:
                engines.pop().close(may_hang=False)

    def send(self, request: Request) -> Response:
        """Return the answer to a request, errors of the server included; raises :class:`HttpError`."""
        [(_, outcome)] = self.send_many((request,), parallel=1)
        if isinstance(outcome, HttpError):
            raise outcome
        return outcome

    def send_many(
        self,
        requests: Sequence[Request],
        *,
        parallel: int = _PARALLEL,
        pause: timedelta = timedelta(0),
        deadline: timedelta | None = None,
        jitter: Callable[[], float] = lambda: 0.5,
        veto: Callable[[Request], HttpError | None] = lambda _request: None,
    ) -> Iterator[tuple[int, Response | HttpError]]:
        """Yield each request's position with its answer, or the error, as they come.

        At most ``parallel`` are in flight, one per host; a host rests for ``pause``, spread by ``jitter`` in [0, 1),
        between two requests. ``deadline`` is for all of them: what was not begun by then ends as ``DeadlineExceeded``.
        ``veto`` is asked right before a request would start; its error takes the request's place. A batch in which one
        request is guarded is guarded as a whole.
        """
        guarded = self._guards and any(request.guarded for request in requests)
        alone = len(requests) == 1
        engine = self._engine(guarded=guarded, alone=alone)
        lanes = Lanes([_host(request.url) for request in requests], pause.total_seconds(), jitter)
        batch = _Batch(engine, requests, lanes, parallel, veto)
        try:
            yield from batch.run(None if deadline is None else time.monotonic() + deadline.total_seconds())
        finally:
            batch.abort()
            if alone and not batch.may_hang:
                self._idle[guarded].append(engine)
            else:
                engine.close(may_hang=batch.may_hang)

    def _engine(self, *, guarded: bool, alone: bool) -> _Engine:
        """Return an engine; for a request that is alone one whose connections are open, where one is idle."""
        if alone:
            with suppress(IndexError):
                return self._idle[guarded].pop()
        return _Engine(self._settings, guarded=guarded, keeps_names=not alone)


class _Engine:
    """libcurl's connections and handles; belongs to one batch at a time."""

    def __init__(self, settings: Settings, *, guarded: bool, keeps_names: bool) -> None:
        self.settings = settings
        self.guarded = guarded
        self.keeps_names = keeps_names
        self.multi = pycurl.CurlMulti()
        self.multi.setopt(pycurl.M_MAXCONNECTS, _KEPT_CONNECTIONS)
        self.free: list[Exchange] = []

    def exchange(self) -> Exchange:
        if self.free:
            return self.free.pop()
        return Exchange(self.settings, guarded=self.guarded, keeps_names=self.keeps_names)

    def close(self, *, may_hang: bool) -> None:
        """Close everything; aside where it may take long: libcurl waits for look-ups of names that hang."""
        if may_hang and not sys.is_finalizing():  # no thread starts any more once the interpreter ends
            Thread(target=self._close, daemon=True).start()
        else:
            self._close()

    def _close(self) -> None:
        for exchange in self.free:
            exchange.close()
        self.free.clear()
        self.multi.close()


@dataclass(slots=True)
class _Flight:
    """A request on its way."""

    position: int
    request: Request
    chain: Chain
    ends_at: float
    exchange: Exchange


class _Batch:
    """One call of ``send_many``."""

    def __init__(
        self,
        engine: _Engine,
        requests: Sequence[Request],
        lanes: Lanes,
        parallel: int,
        veto: Callable[[Request], HttpError | None],
    ) -> None:
        self._engine = engine
        self._requests = requests
        self._parallel = parallel
        self._veto = veto
        self._lanes = lanes
        self._flights: dict[Any, _Flight] = {}
        self._outcomes: deque[tuple[int, Response | HttpError]] = deque()
        self._landed: set[int] = set()
        self.may_hang = False
        """Whether a request was given up: its look-up of a name may still go on in the engine."""

    def run(self, ends_at: float | None) -> Iterator[tuple[int, Response | HttpError]]:
        while self._lanes.left or self._flights or self._outcomes:
            advanced_at = self._advance(ends_at)
            if not self._outcomes:
                self._wait(ends_at)
            while self._outcomes:
                position, outcome = self._outcomes.popleft()
                yield position, outcome
                now = time.monotonic()
                if position in self._landed:
                    # Only now: what the caller learnt from the answer decides about the host's next request.
                    self._landed.remove(position)
                    self._lanes.give_back(position, now)
                if now - advanced_at > _CALLER_SECONDS:
                    advanced_at = self._advance(ends_at)

    def _advance(self, ends_at: float | None) -> float:
        """Let everything go one step on; free places are taken before the caller works on what has landed."""
        self._engine.multi.perform()
        self._collect()
        self._take_off(ends_at)
        return time.monotonic()

    def abort(self) -> None:
        """Drop what is still in flight."""
        self.may_hang = self.may_hang or bool(self._flights)
        for curl, flight in self._flights.items():
            self._engine.multi.remove_handle(curl)
            flight.exchange.close()
        self._flights.clear()

    def _take_off(self, ends_at: float | None) -> None:
        """Start what may start now."""
        now = time.monotonic()
        if ends_at is not None and now >= ends_at - _LEAST_SECONDS:
            for late in self._lanes.abandon():
                self._outcomes.append((late, failures.not_begun(self._requests[late].url)))
            return
        while len(self._flights) < self._parallel and (position := self._lanes.take(now)) is not None:
            request = self._requests[position]
            flight_ends_at = now + request.deadline.total_seconds()
            if ends_at is not None and ends_at < flight_ends_at:
                request = replace(request, deadline=timedelta(seconds=ends_at - now))
                flight_ends_at = ends_at
            error = self._start(position, request, flight_ends_at)
            if error:
                self._lanes.give_back(position, now, asked=False)
                self._outcomes.append((position, error))

    def _start(self, position: int, request: Request, ends_at: float) -> HttpError | None:
        error = self._veto(request)
        if error:
            return error
        exchange = self._engine.exchange()
        try:
            self._ask(_Flight(position, request, Chain(request), ends_at, exchange))
        except HttpError as refused:
            self._engine.free.append(exchange)
            return refused
        return None

    def _ask(self, flight: _Flight) -> None:
        """Send the next request of a flight's chain."""
        flight.exchange.prepare(flight.request, flight.chain, flight.ends_at - time.monotonic())
        self._engine.multi.add_handle(flight.exchange.curl)
        self._flights[flight.exchange.curl] = flight

    def _collect(self) -> None:
        """Take what has landed: an answer, an error, or a redirect to follow."""
        more = True
        while more:
            more, arrived, failed = self._engine.multi.info_read()
            for curl in arrived:
                self._land(curl, 0, "")
            for curl, code, text in failed:
                self._land(curl, code, text)

    def _land(self, curl: Any, code: int, text: str) -> None:  # noqa: ANN401 - a pycurl.Curl
        flight = self._flights.pop(curl)
        self._engine.multi.remove_handle(curl)
        outcome: Response | HttpError | None
        try:
            outcome = flight.exchange.finish(flight.request, flight.chain, code, text)
            if outcome is None:
                self._ask(flight)
                return
        except HttpError as error:
            outcome = error
            self.may_hang = self.may_hang or isinstance(error, DeadlineExceeded)
        self._engine.free.append(flight.exchange)
        self._landed.add(flight.position)
        self._outcomes.append((flight.position, outcome))

    def _wait(self, ends_at: float | None) -> None:
        """Wait for a socket, a deadline or the end of a host's rest."""
        spans = [_WAIT_SECONDS]
        now = time.monotonic()
        rest = self._lanes.rest(now)
        if rest is not None and len(self._flights) < self._parallel:
            spans.append(rest)
        if ends_at is not None and self._lanes.left:
            spans.append(max(0.0, ends_at - now))
        if self._flights:
            timeout_ms = self._engine.multi.timeout()
            if timeout_ms >= 0:
                spans.append(timeout_ms / 1000)
            self._engine.multi.select(min(spans))
        else:
            time.sleep(min(spans))


def _host(url: str) -> str:
    """Return the host of an address, without the cost of taking it apart; close enough to group by."""
    place = url.partition("://")[2].partition("/")[0].rpartition("@")[2].lower()
    return place.partition("]")[0] if place.startswith("[") else place.partition(":")[0]


def _system_ca_file() -> str:
    """Return the file of trusted certificates, empty where only libcurl or the system's own store can know."""
    named = ssl.get_default_verify_paths().cafile
    return next((file for file in (named, *_CA_FILES) if file and Path(file).is_file()), "")
