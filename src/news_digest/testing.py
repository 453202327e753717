"""Stand-ins for the world, public, for those who write plugins: a clock, feeds, a writer, a channel, an HTTP port.

They are fakes, not mocks: each keeps the promises of its port, and fails only where it is told to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from news_digest.brief import brief_hash
from news_digest.errors import DeliveryError, Refused
from news_digest.fingerprint import stored_fingerprints
from news_digest.model import (
    Brief,
    Conversation,
    Digest,
    Draft,
    Entry,
    FeedFailure,
    FeedResult,
    FeedSource,
    Identity,
    Item,
    Json,
    Period,
    Receipt,
    Section,
    Story,
    Ticket,
)
from news_digest.ports import Event, Progress, Request, Response, Running, Stopped, Wrote

__all__ = [
    "FakeChannel",
    "FakeClock",
    "FakeFeeds",
    "FakeHttp",
    "FakeJournal",
    "FakeOutbox",
    "Publication",
    "ScriptedWriter",
    "plain_draft",
]


@dataclass
class FakeClock:
    """A clock that only moves when told to; ``sleep`` moves it."""

    now: datetime = datetime(2026, 8, 20, 8, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the present instant."""
        return self.now

    def sleep(self, span: timedelta) -> None:
        """Let the span pass."""
        self.now += span


@dataclass
class FakeHttp:
    """Answers requests with a function, and remembers them."""

    answer: Callable[[Request], Response]
    requests: list[Request] = field(default_factory=list)

    def send(self, request: Request) -> Response:
        """Return what the function answers; what it raises is raised."""
        self.requests.append(request)
        return self.answer(request)


@dataclass(frozen=True)
class Publication:
    """A story as a feed publishes it."""

    title: str
    link: str
    published: datetime | None = None
    identifier: str = ""
    excerpt: str = ""


@dataclass
class FakeFeeds:
    """Feeds held in memory; one named in ``down`` fails with that reason, one in ``odd`` comes with that notice."""

    published: dict[str, list[Publication]] = field(default_factory=dict)
    down: dict[str, str] = field(default_factory=dict)
    odd: dict[str, str] = field(default_factory=dict)
    reads: int = 0

    def publish(self, feed: str, *stories: Publication) -> None:
        """Put stories at the top of a feed."""
        self.published.setdefault(feed, [])[:0] = stories

    def read(self, sources: Sequence[FeedSource], deadline: timedelta) -> Sequence[FeedResult]:  # noqa: ARG002
        """Return one result per source."""
        self.reads += 1
        return [self._result(source) for source in sources]

    def _result(self, source: FeedSource) -> FeedResult:
        reason = self.down.get(source.url)
        notices = (self.odd[source.url],) if source.url in self.odd else ()
        if reason is not None:
            return FeedResult(source, failure=FeedFailure(source.url, reason), notices=notices)
        entries = tuple(_entry(source.url, story) for story in self.published.get(source.url, ()))
        return FeedResult(source, title=source.url, entries=entries, notices=notices)

    def stories(self, groups: Sequence[Sequence[Entry]]) -> tuple[Story, ...]:
        """Return one story per group."""
        return tuple(_story(group) for group in groups)


def _entry(feed: str, story: Publication) -> Entry:
    stored = stored_fingerprints(story.identifier, story.link, story.title)
    return Entry(feed, feed, story.identifier, story.link, story.published, Identity(stored, (), stored), story)


def _story(group: Sequence[Entry]) -> Story:
    first: Publication = group[0].raw
    entry = group[0]
    also = tuple((other.source, other.link) for other in group[1:])
    return Story(
        first.title, first.link, entry.source, entry.feed, entry.published, first.excerpt, entry.identity, also
    )


@dataclass
class ScriptedWriter:
    """A writer of conversations that live in memory; what it does next is set by its attributes.

    ``mode``: ``write`` (at the first poll), ``hang``, ``idle``, ``empty``, ``fail``, ``gone``. ``refuse`` and
    ``unavailable`` are raised where they are set.
    """

    mode: str = "write"
    refuse: Exception | None = None
    unavailable: Exception | None = None
    begun: dict[Ticket, Brief] = field(default_factory=dict)
    released: list[Ticket] = field(default_factory=list)
    root: str = ""

    def workspace(self, period: Period, ticket: Ticket) -> str:  # noqa: ARG002 - the port's
        """Return the folder below ``root``; nothing without one."""
        return f"{self.root}/news-digest/{period}" if self.root else ""

    def begin(self, brief: Brief, ticket: Ticket) -> Conversation:
        """Start a conversation, or find it."""
        if self.refuse is not None:
            raise self.refuse
        known = self.begun.setdefault(ticket, brief)
        if brief_hash(known) != brief_hash(brief):
            raise Refused("cannot begin", thing=ticket, cause="the conversation was given another brief")
        return self._conversation(ticket, brief)

    def find(self, ticket: Ticket, period: Period, brief_hash: str) -> Conversation | None:  # noqa: ARG002
        """Return the conversation of a ticket that was given this brief."""
        if self.unavailable is not None:
            raise self.unavailable
        brief = self.begun.get(ticket)
        conversation = None if brief is None else self._conversation(ticket, brief)
        return conversation if conversation is not None and conversation.brief_hash == brief_hash else None

    def poll(self, conversation: Conversation, brief: Brief | None) -> Progress:  # noqa: ARG002
        """Return what the mode says."""
        if self.unavailable is not None:
            raise self.unavailable
        given = self.begun.get(conversation.ticket)
        if given is None or self.mode == "gone":
            return Stopped("the conversation is gone")
        match self.mode:
            case "hang":
                return Running()
            case "idle":
                return Running(started=False)
            case "fail":
                return Stopped("the model refused")
            case "empty":
                return Wrote(Draft(), given)
            case _:
                return Wrote(plain_draft(given), given)

    def release(self, conversation: Conversation, period: Period) -> bool:  # noqa: ARG002
        """Remember that the conversation was released."""
        if self.unavailable is not None:
            raise self.unavailable
        self.released.append(conversation.ticket)
        return True

    def _conversation(self, ticket: Ticket, brief: Brief) -> Conversation:
        return Conversation(
            ticket, "scripted", f"memory:{ticket}", self.workspace(brief.period, ticket), brief_hash(brief)
        )


def plain_draft(brief: Brief) -> Draft:
    """Return a draft that tells every story of a brief by its title."""
    items = tuple(Item(story.title, (), (number,)) for number, story in enumerate(brief.stories, start=1))
    return Draft(sections=(Section("News", items),), writer="scripted")


@dataclass
class FakeChannel:
    """A channel that keeps what it was given; ``broken`` makes it fail with that cause."""

    name: str = "memory"
    broken: str = ""
    digests: list[Digest] = field(default_factory=list)

    def deliver(self, digest: Digest) -> Receipt:
        """Keep the digest."""
        if self.broken:
            raise DeliveryError("cannot deliver", thing=self.name, cause=self.broken)
        self.digests.append(digest)
        return Receipt(self.name, at=digest.written_at, detail="kept")


@dataclass
class FakeOutbox:
    """An outbox in memory."""

    kept: dict[Period, Mapping[str, Json]] = field(default_factory=dict)

    def put(self, period: Period, value: Mapping[str, Json]) -> None:
        """Keep the value."""
        self.kept[period] = value

    def get(self, period: Period) -> Mapping[str, Json] | None:
        """Return what is kept."""
        return self.kept.get(period)

    def drop(self, period: Period) -> None:
        """Forget the period."""
        self.kept.pop(period, None)


@dataclass
class FakeJournal:
    """A journal in memory."""

    events: list[Event] = field(default_factory=list)

    def note(self, events: Iterable[Event]) -> None:
        """Append events."""
        self.events.extend(replace(event) for event in events)

    def read(self) -> Sequence[Event]:
        """Return all events."""
        return tuple(self.events)
