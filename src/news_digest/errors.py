"""The errors that news-digest raises on purpose, one small tree.

::

    NewsDigestError            exit 1   anything below; catching this never hides a bug
    ├── ConfigError            exit 2   a key, value or file that cannot be used
    ├── FeedError              exit 3   a feed that cannot be fetched or read (inside a run: a value)
    │   ├── NotAFeed                    the document is something else, or nothing
    │   └── AllFeedsFailed              not one feed could be read
    ├── HttpError              exit 3   a request without a usable answer
    │   ├── AddressRefused              the address guard said no
    │   ├── DeadlineExceeded            the total deadline passed
    │   ├── TooLarge                    the decoded body is above its cap
    │   └── TooManyRedirects            the chain is above its cap, or a loop
    ├── StoreError             exit 4   the state cannot be read or written
    │   ├── Conflict                    another run saved first: load again
    │   ├── StoreUnavailable            no answer, busy or refused; nothing was changed
    │   ├── StoreFull                   disk full, quota, value too large
    │   ├── DocumentDamaged             not a state document, and no good copy either
    │   ├── DocumentTooNew              written by a later version; never overwritten
    │   └── DocumentTooLarge            above the ceiling after everything was cut that may be
    ├── LedgerError            exit 4   a move that the lifecycle does not allow
    │   ├── IllegalMove                 an arrow that the specification does not draw
    │   ├── Superseded                  the record carries another ticket by now
    │   ├── DayTaken                    the day is claimed or handled
    │   └── StoriesTaken                another task has told or holds one of the stories
    ├── WriterError            exit 5   the writer gave no digest
    │   ├── Refused                     certainly not started: the claim can be dropped
    │   ├── Unclear                     no answer: it may exist, a later run looks
    │   └── WriterUnavailable           cannot be asked now; nothing changes
    └── DeliveryError          exit 6   a channel did not take the digest; it stays in the outbox

Each error prints ``what failed: which thing: cause`` and carries ``hint``, what to do next.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "AddressRefused",
    "AllFeedsFailed",
    "ConfigError",
    "Conflict",
    "DayTaken",
    "DeadlineExceeded",
    "DeliveryError",
    "DocumentDamaged",
    "DocumentTooLarge",
    "DocumentTooNew",
    "FeedError",
    "HttpError",
    "IllegalMove",
    "LedgerError",
    "NewsDigestError",
    "NotAFeed",
    "Refused",
    "StoreError",
    "StoreFull",
    "StoreUnavailable",
    "StoriesTaken",
    "Superseded",
    "TooLarge",
    "TooManyRedirects",
    "Unclear",
    "WriterError",
    "WriterUnavailable",
]


class NewsDigestError(Exception):
    """Base of all errors that news-digest raises on purpose."""

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, thing: str = "", cause: str = "", hint: str = "") -> None:
        self.what = what
        self.thing = thing
        self.cause = cause
        self.hint = hint
        super().__init__(": ".join(part for part in (what, thing, cause) if part))


class ConfigError(NewsDigestError):
    """A configuration key, value or file that cannot be used."""

    exit_code = 2


class FeedError(NewsDigestError):
    """A feed that cannot be fetched or read."""

    exit_code = 3


class NotAFeed(FeedError):
    """The document is something else than a feed, or empty."""


class AllFeedsFailed(FeedError):
    """Not one of the configured feeds could be read."""


class HttpError(NewsDigestError):
    """A request that got no usable answer.

    ``transient``: the same request may well succeed soon. ``sent``: the server may have received it; False only where
    it certainly has not (no connection came about, or the request was refused here).
    """

    exit_code = 3

    def __init__(
        self,
        what: str,
        *,
        thing: str = "",
        cause: str = "",
        hint: str = "",
        transient: bool = False,
        sent: bool = True,
    ) -> None:
        super().__init__(what, thing=thing, cause=cause, hint=hint)
        self.transient = transient
        self.sent = sent


class AddressRefused(HttpError):
    """The target is a private, loopback, link-local or metadata address, or no http(s) at all."""


class DeadlineExceeded(HttpError):
    """The total deadline of the request passed."""


class TooLarge(HttpError):
    """The decoded body is larger than its cap."""


class TooManyRedirects(HttpError):
    """The redirect chain is longer than its cap, or a loop."""


class StoreError(NewsDigestError):
    """The state document cannot be read or written."""

    exit_code = 4


class Conflict(StoreError):
    """Another run saved first; load again and apply the move to what it left."""


class StoreUnavailable(StoreError):
    """The store gave no usable answer; nothing was changed."""


class StoreFull(StoreError):
    """The disk is full, or the value is above the store's limit; nothing was changed."""


class DocumentDamaged(StoreError):
    """What is stored is no state document, and there is no good copy of it either."""


class DocumentTooNew(StoreError):
    """The document has a later version than this program knows; it is never overwritten."""


class DocumentTooLarge(StoreError):
    """The document is above its ceiling after everything was cut that may be cut."""


class LedgerError(NewsDigestError):
    """A move that the lifecycle does not allow."""

    exit_code = 4


class IllegalMove(LedgerError):
    """An arrow that the specification does not draw."""


class Superseded(LedgerError):
    """The record carries another ticket than the one the move acts for."""


class DayTaken(LedgerError):
    """The day is claimed or handled already."""


class StoriesTaken(LedgerError):
    """Another task has told, or holds, one of the stories by now."""


class WriterError(NewsDigestError):
    """The writer gave no digest."""

    exit_code = 5


class Refused(WriterError):
    """The writer certainly did not start, so the claim can be dropped."""


class Unclear(WriterError):
    """No answer came back; the conversation may exist, and a later run looks for it."""


class WriterUnavailable(WriterError):
    """The writer cannot be asked at the moment; nothing changes."""


class DeliveryError(NewsDigestError):
    """A channel did not take the digest; it stays in the outbox."""

    exit_code = 6
