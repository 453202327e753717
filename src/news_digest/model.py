"""The nouns of news-digest, as frozen records.

A *feed* holds *entries*. An entry that selection keeps becomes a *story*: plain text, a safe link. The stories of a day
are numbered in a *brief*; a writer answers with a *draft*; code makes the *digest* of both. A *task* is the record of
one
*period* (a UTC day). What was told is remembered as *fingerprints*.

All times are aware UTC datetimes, all spans timedeltas; a bare number has its unit in its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any, NewType, TypeAlias

__all__ = [
    "Active",
    "Brief",
    "Claim",
    "Conversation",
    "Counts",
    "Digest",
    "Draft",
    "Entry",
    "FeedFailure",
    "FeedResult",
    "FeedSource",
    "Fingerprint",
    "Foreign",
    "Funnel",
    "Identity",
    "Item",
    "Json",
    "LastDigest",
    "Limits",
    "Outcome",
    "Period",
    "Receipt",
    "Section",
    "Selection",
    "Settled",
    "Starting",
    "State",
    "Story",
    "Style",
    "Task",
    "Ticket",
]

Json: TypeAlias = Any
"""What ``json.loads`` returns; a name for the reader, not for the type checker."""

Fingerprint = NewType("Fingerprint", str)
"""16 lower-case hexadecimal digits (specification, "Fingerprints")."""

Ticket = NewType("Ticket", str)
"""The id of a conversation, chosen with the claim (UUIDv5 of automation id, day and attempt)."""


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A day of the ledger, in UTC; computed once a run and passed along."""

    day: date

    @classmethod
    def of(cls, instant: datetime) -> Period:
        """Return the period that an aware instant belongs to."""
        return cls(instant.astimezone(UTC).date())

    @property
    def key(self) -> str:
        """Return the key of the period's task, ``news:YYYY-MM-DD``."""
        return f"news:{self.day.isoformat()}"

    def __str__(self) -> str:
        return self.day.isoformat()


@dataclass(frozen=True, slots=True)
class Limits:
    """Every limit of the ledger and of a run; the defaults are those of the specification."""

    lookback: timedelta = timedelta(hours=48)
    catch_up: timedelta = timedelta(days=7)
    """How far the window reaches back, at most, to the last completed digest."""
    late_publication: timedelta = timedelta(hours=24)
    """How far before the last digest the window begins when it reaches back to it: a daily run with 48 hours of
    lookback forgives a publisher (or a clock that was set back) as much."""
    shortlist_stories: int = 50
    seen_fingerprints: int = 1000
    seen_wide_fingerprints: int = 500
    tasks: int = 14
    attempts: int = 64
    behind: int = 64
    """How many feeds the document knows to be behind; the ones that are longest behind go first."""
    digest_text_characters: int = 4000
    feed_errors: int = 10
    feed_error_characters: int = 200
    reason_bytes: int = 200
    stalled_claim: timedelta = timedelta(minutes=15)
    active_age: timedelta = timedelta(hours=2)
    never_started: timedelta = timedelta(seconds=60)
    delivery_lease: timedelta = timedelta(minutes=15)
    """How long a run that took a delivery is waited for before another may send again."""
    document_bytes: int = 65_536
    claim_reserve_bytes: int = 4096
    """Room that a claim leaves below the ceiling, so that settling its task always fits."""
    least_fingerprints: int = 250
    """How many fingerprints the ceiling never cuts: a shorter memory would tell stories twice."""
    run_budget: timedelta = timedelta(seconds=600)
    """How long a run waits for its writer, at most."""
    feeds_deadline: timedelta = timedelta(seconds=120)
    """How long reading all feeds of a run may take, at most."""
    poll_interval: timedelta = timedelta(seconds=2)


# --- feeds ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FeedSource:
    """A feed as the operator configured it."""

    url: str
    name: str = ""
    tags: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    """Extra request headers; secrets are filled in from the environment before they come here."""


@dataclass(frozen=True, slots=True)
class Identity:
    """By what an entry is remembered, and by what it is recognised (``docs/state.md``, "Identity").

    ``stored`` goes to ``seen``: the two fingerprints of the specification, bit for bit, without what several entries of
    the document share. ``wide`` goes to ``seen_wide``. ``lookup`` is compared with both lists; a weak identifier is in
    ``stored`` and not in ``lookup``.
    """

    stored: tuple[Fingerprint, ...]
    wide: tuple[Fingerprint, ...] = ()
    lookup: tuple[Fingerprint, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a feed, before its text is decoded; ``raw`` belongs to the feed reader that made it."""

    feed: str
    """The address of the feed as configured."""
    source: str
    """The feed's own title, plain text; its host where it has none."""
    identifier: str
    """The feed's identifier, untouched; empty where it has none."""
    link: str
    """Absolute, as the feed gives it; empty where there is none."""
    published: datetime | None
    identity: Identity
    raw: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FeedFailure:
    """Why a feed could not be read, in one sentence, and what to do."""

    feed: str
    reason: str
    hint: str = ""
    retry_after: datetime | None = None

    def __str__(self) -> str:
        return f"{self.feed}: {self.reason}"


@dataclass(frozen=True, slots=True)
class FeedResult:
    """What reading one feed gave: entries, or a failure; never both, so that a failed read is no quiet day."""

    source: FeedSource
    title: str = ""
    entries: tuple[Entry, ...] = ()
    failure: FeedFailure | None = None
    notices: tuple[str, ...] = ()
    """Sentences for the operator: moved for good, gone silent, all identifiers new."""
    moved_to: str = ""
    """The new address where every redirect on the way was permanent."""
    cached: bool = False
    """The server said "not modified" and the body came from the cache."""


@dataclass(frozen=True, slots=True)
class Story:
    """An entry that selection kept: plain text without markup or control characters, and a safe link.

    ``link`` is http(s) without credentials, or empty. ``also`` names further feeds that carry the same story, as
    (source, link). ``suspicious`` names what was found in its text and neutralised.
    """

    title: str
    link: str
    source: str
    feed: str
    published: datetime | None
    excerpt: str
    identity: Identity
    also: tuple[tuple[str, str], ...] = ()
    suspicious: tuple[str, ...] = ()


# --- selection -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Funnel:
    """What each selection stage left (specification, ``last_funnel``), and what the shortlist's cap left out."""

    fetched: int = 0
    unseen: int = 0
    fresh: int = 0
    picked: int = 0

    @property
    def above_cap(self) -> int:
        """Return how many fresh stories compete again next time."""
        return self.fresh - self.picked


@dataclass(frozen=True, slots=True)
class Selection:
    """What selection decided: groups of entries that are one story, and where the others went.

    Each group's first entry is the one to show; all its fingerprints are remembered together.
    """

    picked: tuple[tuple[Entry, ...], ...]
    above_cap: tuple[tuple[Entry, ...], ...]
    seen: tuple[Entry, ...]
    in_flight: tuple[Entry, ...]
    stale: tuple[Entry, ...]
    funnel: Funnel
    since: datetime
    """Where the window began."""
    failed: tuple[Fingerprint, ...] = ()
    """The feeds that could not be read, as fingerprints of their addresses."""
    caught_up: Mapping[str, datetime] = field(default_factory=dict)
    """The entries of ``State.behind`` that this selection covers; telling its stories settles them."""


# --- writing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Style:
    """How the operator wants the digest written."""

    language: str = "en"
    max_words: int = 600
    tone: str = ""
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class Brief:
    """What a writer is asked: the numbered stories of a period (story 1 is ``stories[0]``) and the ground rules."""

    period: Period
    since: datetime
    until: datetime
    topics: tuple[str, ...]
    stories: tuple[Story, ...]
    failures: tuple[FeedFailure, ...] = ()
    funnel: Funnel = Funnel()
    previous: str = ""
    """The text of the last digest, for what is an update and what a repeat."""
    style: Style = Style()


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the lead and the numbers of the stories that it rests on."""

    text: str
    stories: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """What is said of one event: a headline, sentences, and the numbers of the stories that they rest on."""

    headline: str
    sentences: tuple[str, ...]
    stories: tuple[int, ...]
    update: bool = False
    """It goes on with something that the last digest told."""


@dataclass(frozen=True, slots=True)
class Section:
    """Items under one heading: a topic, or a source."""

    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """What a writer returns: structure without a single link; ``headlines`` are stories that are only noted."""

    lead: tuple[Claim, ...] = ()
    sections: tuple[Section, ...] = ()
    headlines: tuple[Item, ...] = ()
    writer: str = ""
    """Who wrote it, as the digest says: ``embedded``, ``llm (model)``, ``embedded (llm failed: reason)``."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """Requests and tokens that it cost, where it cost any."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The digest's numbers: entries read, stories new, on topic, told, noted and above the cap."""

    read: int = 0
    new: int = 0
    on_topic: int = 0
    told: int = 0
    noted: int = 0
    above_cap: int = 0


@dataclass(frozen=True, slots=True)
class Digest:
    """A finished digest: a checked draft and everything that is needed to render it without asking anybody."""

    period: Period
    ticket: Ticket
    written_at: datetime
    since: datetime
    until: datetime
    draft: Draft
    stories: tuple[Story, ...]
    counts: Counts
    failures: tuple[FeedFailure, ...] = ()
    notices: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    """What the checker found and what was done about it, one sentence each."""
    conversation_url: str = ""


# --- the ledger ----------------------------------------------------------------------------------------------------


class Outcome(StrEnum):
    """How a task ended; only ``completed`` widens ``seen``."""

    COMPLETED = "completed"
    EMPTY = "empty"
    FAILED = "failed"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Receipt:
    """That a channel took a digest, or (``at`` is None) that it is still owed.

    ``taken_at`` and ``run`` are a lease: that run is sending it, so that no other run sends a second copy meanwhile.
    """

    channel: str
    at: datetime | None = None
    detail: str = ""
    taken_at: datetime | None = None
    run: str = ""


@dataclass(frozen=True, slots=True)
class Starting:
    """The day is claimed and the conversation does not exist yet; ``ticket`` is the id it will have.

    A record that the reference wrote has no ticket: nothing can be looked up by it.
    """

    period: Period
    ticket: Ticket | None
    stories: tuple[Fingerprint, ...]
    wide: tuple[Fingerprint, ...]
    story_count: int
    last_activity: datetime
    workspace: str = ""
    attempt: int = 1
    writer: str = ""
    brief_hash: str = ""
    run: str = ""
    """Which run claimed the day: two runs that try the same attempt have the same ticket."""
    since: datetime | None = None
    caught_up: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Active:
    """The conversation runs."""

    period: Period
    ticket: Ticket
    stories: tuple[Fingerprint, ...]
    wide: tuple[Fingerprint, ...]
    story_count: int
    last_activity: datetime
    conversation_url: str = ""
    workspace: str = ""
    attempt: int = 1
    writer: str = ""
    brief_hash: str = ""
    since: datetime | None = None
    """Where the window of its stories began; None in a record of the reference."""
    caught_up: Mapping[str, datetime] = field(default_factory=dict)
    """What of ``State.behind`` is settled when its stories are told."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The task has ended; it keeps no fingerprints and, once released, no workspace."""

    period: Period
    ticket: Ticket | None
    outcome: Outcome
    story_count: int
    last_activity: datetime
    completed_at: datetime | None = None
    expired_after: timedelta | None = None
    conversation_url: str = ""
    workspace: str = ""
    attempt: int = 1
    writer: str = ""
    reason: str = ""
    receipts: tuple[Receipt, ...] = ()

    @property
    def owed(self) -> tuple[str, ...]:
        """Return the channels that have not taken the digest yet."""
        return tuple(receipt.channel for receipt in self.receipts if receipt.at is None)


@dataclass(frozen=True, slots=True)
class Foreign:
    """A task record that this version cannot read: kept as it is, never evicted, and its day counts as handled."""

    key: str


Task: TypeAlias = Starting | Active | Settled | Foreign


@dataclass(frozen=True, slots=True)
class LastDigest:
    """The most recent digest, in one slot (specification, ``last_digest``)."""

    period: str
    text: str
    written_at: datetime
    conversation_url: str = ""
    until: datetime | None = None
    """When its stories were selected, which may be long before it was written; None where the reference wrote it."""


@dataclass(frozen=True, slots=True)
class State:
    """The state document as records; ``origin`` is the JSON it was read from, for what this version does not know."""

    tasks: Mapping[str, Task] = field(default_factory=dict)
    seen: tuple[Fingerprint, ...] = ()
    seen_wide: tuple[Fingerprint, ...] = ()
    attempts: Mapping[str, int] = field(default_factory=dict)
    """How many tickets each period has used, so that none is used twice."""
    behind: Mapping[str, datetime] = field(default_factory=dict)
    """Back to when the window must reach: for a feed that failed, by the fingerprint of its address, and under ``*``
    for all feeds, after a task that ended without telling its stories."""
    last_checked: datetime | None = None
    last_funnel: Funnel | None = None
    last_feed_errors: tuple[str, ...] = ()
    last_feed_notices: tuple[str, ...] = ()
    """What the last check found odd about feeds: failing for days, silent, moved, all identifiers new."""
    last_above_cap: int = 0
    """How many new stories the last check left out because of the cap; they compete again."""
    last_digest: LastDigest | None = None
    updated_at: datetime | None = None
    origin: Mapping[str, Json] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as its writer knows it."""

    ticket: Ticket
    writer: str
    url: str = ""
    workspace: str = ""
    brief_hash: str = ""
