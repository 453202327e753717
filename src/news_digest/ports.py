"""What the run needs from the world: a handful of narrow protocols, and :class:`Edges`, the bundle of them.

Ports are synchronous; reading many feeds is concurrent inside :class:`Feeds`. Every method names the errors that it may
raise; anything else is a bug. An implementation decides nothing: it does what it is asked and says what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias, runtime_checkable

from news_digest.errors import HttpError
from news_digest.model import (
    Brief,
    Conversation,
    Digest,
    Draft,
    Entry,
    FeedResult,
    FeedSource,
    Json,
    Period,
    Receipt,
    State,
    Story,
    Ticket,
)

__all__ = [
    "Channel",
    "Clock",
    "Edges",
    "Event",
    "Feeds",
    "Http",
    "HttpMany",
    "Journal",
    "Loaded",
    "Outbox",
    "Progress",
    "Request",
    "Response",
    "Running",
    "Sleep",
    "StateStore",
    "Step",
    "Stopped",
    "Tell",
    "Version",
    "Writer",
    "Wrote",
]

Clock: TypeAlias = Callable[[], datetime]
"""Return the present instant, aware, in UTC."""

Sleep: TypeAlias = Callable[[timedelta], None]
"""Wait; a fake one moves its clock."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a run, for whoever watches it: ``done`` of ``total`` where that is known."""

    stage: str
    """``settle``, ``feeds``, ``select``, ``claim``, ``write``, ``check`` or ``deliver``."""
    text: str
    done: int = 0
    total: int = 0


Tell: TypeAlias = Callable[[Step], None]
"""Show a step; it must return at once and never raise."""


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request; ``deadline`` is the total time it may take, redirects and body included.

    ``guarded`` is for addresses that strangers name: no private, loopback, link-local or metadata target on any hop.
    ``max_bytes`` caps the decoded body. ``redirects`` is how many are followed.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    deadline: timedelta = timedelta(seconds=30)
    max_bytes: int = 10 * 1024 * 1024
    redirects: int = 5
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """An answer, whatever its status; ``headers`` have lower-case names, ``body`` is decoded."""

    status: int
    url: str
    """The address that answered, after redirects."""
    headers: Mapping[str, str]
    body: bytes
    moved_to: str = ""
    """Where the chain of permanent redirects (301, 308) from the first address led; empty without one."""
    hops: tuple[str, ...] = ()


class Http(Protocol):
    """One client for everything that we request ourselves."""

    def send(self, request: Request) -> Response:
        """Return the answer to a request, errors of the server included.

        Raises :class:`~news_digest.errors.HttpError` (or a child of it) where there is none.
        """
        ...


@runtime_checkable
class HttpMany(Http, Protocol):
    """A client that can also send many requests at once; whoever reads many addresses uses it where it is one."""

    def send_many(
        self,
        requests: Sequence[Request],
        *,
        parallel: int = 50,
        pause: timedelta = timedelta(0),
        deadline: timedelta | None = None,
        jitter: Callable[[], float] = lambda: 0.5,
        veto: Callable[[Request], HttpError | None] = lambda _request: None,
    ) -> Iterator[tuple[int, Response | HttpError]]:
        """Yield each request's position with its answer, or the error, as they come.

        At most ``parallel`` are in flight, one per host; a host rests for about ``pause`` between two requests.
        ``deadline`` is for all of them. ``veto`` is asked right before a request would start; its error takes the
        request's place.
        """
        ...


class Feeds(Protocol):
    """Reads feeds; a failed feed is a value in the answer, never an exception."""

    def read(self, sources: Sequence[FeedSource], deadline: timedelta) -> Sequence[FeedResult]:
        """Return one result per source, in their order, within the deadline."""
        ...

    def stories(self, groups: Sequence[Sequence[Entry]]) -> tuple[Story, ...]:
        """Return one story per group of entries that are the same story: decoded, cleaned, boilerplate stripped.

        The first entry of a group gives the text, unless it has none; the others stand in ``also``.
        """
        ...


Version: TypeAlias = str
"""An opaque token of one saved document; the empty one means "there is none yet"."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A document as a store found it; ``warnings`` are for the report (a damaged file was put aside, for one)."""

    state: State
    version: Version
    warnings: tuple[str, ...] = ()


class StateStore(Protocol):
    """Keeps one state document under a true compare-and-set; that is all the exclusion there is."""

    def load(self) -> Loaded:
        """Return the document, an empty one where there is none.

        Raises :class:`~news_digest.errors.StoreUnavailable`, ``DocumentDamaged`` or ``DocumentTooNew``.
        """
        ...

    def save(self, state: State, expected: Version) -> Version:
        """Save, if the stored document still has the version ``expected``; return the new version.

        Raises :class:`~news_digest.errors.Conflict`, and then nothing was changed; ``StoreUnavailable``: it may have
        been, so load again; ``StoreFull`` or ``DocumentTooLarge``: nothing was changed.
        """
        ...


class Outbox(Protocol):
    """Keeps, per period, the brief and the finished digest until everything owed was delivered.

    Values are JSON objects. Every method is idempotent and raises only :class:`~news_digest.errors.StoreError`.
    """

    def put(self, period: Period, value: Mapping[str, Json]) -> None:
        """Keep the value, durably, in place of what was kept for the period."""
        ...

    def get(self, period: Period) -> Mapping[str, Json] | None:
        """Return what is kept for the period, None where nothing is (or nothing readable)."""
        ...

    def drop(self, period: Period) -> None:
        """Forget the period."""
        ...


@dataclass(frozen=True, slots=True)
class Running:
    """The writer is at work."""

    started: bool = True
    """False: the conversation exists but has not begun (``idle``)."""


@dataclass(frozen=True, slots=True)
class Wrote:
    """The writer has stopped and this is its draft; an empty draft means that it wrote nothing."""

    draft: Draft
    brief: Brief | None = None
    """The brief as the conversation was given it, for a run that no longer has it."""
    notes: tuple[str, ...] = ()
    """What reading it back left out: a link that no story has, for one."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The writer has stopped without a digest: in error, stuck, or gone."""

    reason: str


Progress: TypeAlias = Running | Wrote | Stopped


class Writer(Protocol):
    """Writes digests; the agent server, a model and the embedded writer look the same from here.

    A direct writer works in ``begin`` (ten minutes at most), keeps its draft in the workspace and answers ``Wrote`` at
    the first poll.
    """

    def workspace(self, period: Period, ticket: Ticket) -> str:
        """Return the folder that a conversation will use; empty where it needs none. Pure: creates nothing."""
        ...

    def begin(self, brief: Brief, ticket: Ticket) -> Conversation:
        """Start the conversation; a second call with the same ticket and brief finds the first one's.

        Raises ``Refused`` (certainly not started, or the ticket belongs to another brief) or ``Unclear``.
        """
        ...

    def find(self, ticket: Ticket, period: Period, brief_hash: str) -> Conversation | None:
        """Return the conversation of a ticket that was given this brief, None where there is none.

        Raises ``WriterUnavailable``.
        """
        ...

    def poll(self, conversation: Conversation, brief: Brief | None) -> Progress:
        """Return how far it is; ``brief`` is what it was given, where that is still known.

        Raises ``WriterUnavailable``.
        """
        ...

    def release(self, conversation: Conversation, period: Period) -> bool:
        """Remove the workspace and stop what still runs; True when nothing of it is left.

        False: it was left alone (not a path of ours, or in use). Raises ``WriterUnavailable``. Idempotent.
        """
        ...


class Channel(Protocol):
    """Takes a finished digest to where people read; idempotent for a period wherever the far end allows it."""

    name: str

    def deliver(self, digest: Digest) -> Receipt:
        """Deliver and return the receipt; raises ``DeliveryError``."""
        ...


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to one story in one run, for ``why``."""

    at: datetime
    period: Period
    what: str
    """``told``, ``noted``, ``seen``, ``in flight``, ``stale``, ``above the cap``, ``offered`` or ``returned``."""
    title: str
    link: str
    feed: str
    fingerprints: tuple[str, ...] = ()


class Journal(Protocol):
    """Keeps what happened to each story; losing it loses no story. Never raises."""

    def note(self, events: Sequence[Event]) -> None:
        """Append events."""
        ...

    def read(self) -> Sequence[Event]:
        """Return all kept events, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class Edges:
    """The world, as one run sees it."""

    clock: Clock
    sleep: Sleep
    feeds: Feeds
    store: StateStore
    outbox: Outbox
    writer: Callable[[str], Writer]
    """Return a writer by name: a record's own ``writer`` decides who polls it. Raises ``ConfigError``."""
    channels: Mapping[str, Channel]
    journal: Journal
    tell: Tell = field(default=lambda _step: None)
    jitter: Callable[[], float] = field(default=lambda: 0.5)
    """Return a number in [0, 1); spreads retries after a conflict."""
