"""The application: the pages of the site for the newest, any and every day, search, the state, and runs by hand.

Blocking work runs in Starlette's threads. The page links by file name as the static site does, so ``/2026-12-01.html``
is the same page in both.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from functools import lru_cache
from typing import Final

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from news_digest.channels.archive import Archive
from news_digest.channels.feed import ATOM, ENTRIES, JSON_FEED, Heading, feed_files, newest
from news_digest.channels.site.pages import Neighbours, Pages, asset
from news_digest.channels.site.search import Found, Index
from news_digest.channels.site.views import day_view
from news_digest.errors import NewsDigestError
from news_digest.model import FeedSource, Limits, State
from news_digest.ports import Clock
from news_digest.web.gate import COOKIE, LARGEST_FORM_BYTES, Gate, Guarded
from news_digest.web.jobs import Jobs
from news_digest.web.state import ACTIVITY_DAYS, Activity, FeedPast, activity_of, state_view

__all__ = ["Desk", "create_app"]

_POLL_SECONDS: Final = 0.2
_HEARTBEAT_POLLS: Final = 50
_INDEX_SECONDS: Final = 2.0
_INDEXING: Final = "The index of all digests is being made; search again in a moment."
_WRONG_TOKEN_SECONDS: Final = 0.5
_HTML: Final = "text/html; charset=utf-8"
_KINDS: Final = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_ASSETS: Final = ("style.css", "live.js")


@dataclass(frozen=True)
class Desk:
    """What the page shows and offers; each is one digest's."""

    archive: Archive
    index: Index
    clock: Clock
    state: Callable[[], State]
    """Load the state; what it raises is shown on the page."""
    sources: Sequence[FeedSource] = ()
    past: Callable[[str], FeedPast] = lambda _url: FeedPast()
    jobs: Jobs = field(default_factory=lambda: Jobs({}))
    """``run`` and ``retry``, where the page may start them."""
    limits: Limits = field(default_factory=Limits)
    heading: Heading = field(default_factory=Heading)


def create_app(desk: Desk, gate: Gate) -> Guarded:
    """Return the application behind its gate (ASGI)."""
    page = _Page(desk, gate)
    routes = [
        Route("/", page.newest),
        Route("/index.html", page.newest),
        Route("/archive.html", page.archive),
        Route("/archive-{year:int}.html", page.archive),
        Route("/search.html", page.search),
        Route("/state.html", page.state),
        Route(f"/{ATOM}", page.feed),
        Route(f"/{JSON_FEED}", page.feed),
        Route("/static/{name}", page.static),
        Route("/events", page.events),
        Route("/login", page.login, methods=["GET", "POST"]),
        Route("/do/{action}", page.act, methods=["POST"]),
        Route("/{day}.html", page.day),
    ]
    app = Starlette(routes=routes, exception_handlers={404: page.missing, NewsDigestError: page.broken})
    return Guarded(app, gate)


class _Page:
    """The endpoints."""

    def __init__(self, desk: Desk, gate: Gate) -> None:
        self._desk = desk
        self._gate = gate
        self._pages = Pages(desk.heading, served=True)
        self._activity = lru_cache(maxsize=4 * ACTIVITY_DAYS)(self._activity_of)
        self._feeds = lru_cache(maxsize=1)(self._feeds_of)

    # --- reading ---------------------------------------------------------------------------------------------------

    def newest(self, request: Request) -> Response:
        """Show the newest digest."""
        del request
        last = self._desk.archive.last()
        if last is None:
            return self._html(self._pages.empty())
        return self._html(self._pages.day(day_view(last), self._near(last.period.day), newest=True))

    def day(self, request: Request) -> Response:
        """Show the digest of a day."""
        day = _date(request.path_params["day"])
        digest = self._desk.archive.load(day) if day else None
        if day is None or digest is None:
            return self._missing()
        return self._html(self._pages.day(day_view(digest), self._near(day)))

    def archive(self, request: Request) -> Response:
        """Show a year of the archive, the newest where none is named."""
        days = self._desk.archive.days()
        years = sorted({day.year for day in days}, reverse=True)
        year = request.path_params.get("year", years[0] if years else self._desk.clock().year)
        if years and year not in years:
            return self._missing()
        return self._html(self._pages.year(year, years, [day for day in days if day.year == year]))

    def search(self, request: Request) -> Response:
        """Search all digests."""
        query = request.query_params.get("q", "")[:200]
        found = Found("")
        if query.strip():
            ready = self._desk.index.refresh(self._desk.archive, wait_seconds=_INDEX_SECONDS)
            found = self._desk.index.search(query) if ready else Found(_INDEXING)
        return self._html(self._pages.search(query=query, results=found))

    def feed(self, request: Request) -> Response:
        """Give the newest digests as Atom or JSON Feed."""
        name = request.url.path[1:]
        kind = "application/atom+xml" if name == ATOM else "application/feed+json"
        version = self._desk.archive.version
        files = self._feeds(version) if version else self._feeds_of(version)
        return Response(files[name], media_type=f"{kind}; charset=utf-8")

    def static(self, request: Request) -> Response:
        """Give a file that the pages need."""
        name = request.path_params["name"]
        if name not in _ASSETS:
            return self._missing()
        kind = _KINDS[name.rpartition(".")[2]]
        return Response(asset(name), media_type=kind, headers={"cache-control": "private, max-age=300"})

    def _near(self, day: date) -> Neighbours:
        return Neighbours(*self._desk.archive.near(day))

    def _feeds_of(self, version: int) -> dict[str, bytes]:
        del version  # the cache's key: it changes with the archive
        return feed_files(newest(self._desk.archive, ENTRIES), self._desk.heading)

    # --- the state -------------------------------------------------------------------------------------------------

    def state(self, request: Request) -> Response:
        """Show how the digest stands."""
        del request
        desk, now = self._desk, self._desk.clock()
        days = desk.archive.days()
        first = now.date() - timedelta(days=ACTIVITY_DAYS - 1)
        recent = days[bisect_left(days, first) :]
        activity = {day: found for day in recent if (found := self._activity(day, desk.archive.mark(day))) is not None}
        view = state_view(desk.state(), now, desk.limits, days, desk.sources, activity, desk.past)
        name, running, lines = desk.jobs.seen()
        return self._html(
            self._pages.render(
                "state.html",
                here="state",
                title="State",
                view=view,
                actions=sorted(desk.jobs.actions, reverse=True),
                key=self._gate.seal("form"),
                job={"name": name, "running": running, "lines": lines},
            )
        )

    def _activity_of(self, day: date, mark: str) -> Activity | None:
        del mark  # the cache's key: it changes with the day's record
        digest = self._desk.archive.load(day)
        return None if digest is None else activity_of(digest)

    # --- doing -----------------------------------------------------------------------------------------------------

    async def act(self, request: Request) -> Response:
        """Start a run, or open the day again."""
        action = request.path_params["action"]
        if action not in self._desk.jobs.actions:
            return self._missing()
        if await self._form(request) is None:
            return Response("This form is not from a page of this server; load the page again.", 403)
        self._desk.jobs.start(action)
        return RedirectResponse("/state.html#now", 303)

    async def events(self, request: Request) -> Response:
        """Stream the lines of the action that runs, each as it comes (server-sent events)."""
        headers = {"x-accel-buffering": "no"}
        return StreamingResponse(self._lines(request), media_type="text/event-stream", headers=headers)

    async def _lines(self, request: Request) -> AsyncIterator[str]:
        sent: list[str] = []
        quiet = 0
        while True:
            _, running, lines = self._desk.jobs.seen()
            texts = [json.dumps(asdict(line)) for line in lines]
            for number, text in enumerate(texts):
                if number >= len(sent) or sent[number] != text:
                    yield f"id: {number}\ndata: {text}\n\n"
                    quiet = 0
            sent = texts
            if not running:
                yield "event: end\ndata: {}\n\n"
                return
            quiet += 1
            if quiet % _HEARTBEAT_POLLS == 0:
                yield ": still at work\n\n"
            if await request.is_disconnected():
                return
            await anyio.sleep(_POLL_SECONDS)

    async def login(self, request: Request) -> Response:
        """Take the token and give the cookie for it."""
        if request.method == "GET" or not self._gate.token:
            return self._html(
                self._pages.render("login.html", here="", title="Token", key=self._gate.seal("form"), said="")
            )
        form = await self._form(request)
        if form is None or not self._gate.is_token(form.get("token", "")):
            await anyio.sleep(_WRONG_TOKEN_SECONDS)
            said = "That is not the token."
            page = self._pages.render("login.html", here="", title="Token", key=self._gate.seal("form"), said=said)
            return self._html(page, 403)
        response = RedirectResponse("/", 303)
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, self._gate.seal("cookie"), httponly=True, samesite="strict", secure=secure)
        return response

    async def _form(self, request: Request) -> dict[str, str] | None:
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST_FORM_BYTES:
                return None
        return self._gate.accepts_form(request.headers, body)

    # --- answers ---------------------------------------------------------------------------------------------------

    def missing(self, request: Request, error: Exception) -> Response:
        """Say that there is no such page."""
        del request, error
        return self._missing()

    def broken(self, request: Request, error: Exception) -> Response:
        """Show what we raise on purpose, with what to do."""
        del request
        hint = error.hint if isinstance(error, NewsDigestError) else ""
        page = self._pages.render("message.html", here="", title="That did not work", text=str(error), hint=hint)
        return self._html(page, 500)

    def _missing(self) -> Response:
        text = "There is no such page. The archive lists the days that have one."
        return self._html(self._pages.render("message.html", here="", title="Not found", text=text, hint=""), 404)

    def _html(self, page: bytes, status: int = 200) -> Response:
        return Response(page, status, media_type=_HTML)


def _date(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.isoformat() == text else None
