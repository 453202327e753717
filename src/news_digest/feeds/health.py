"""What becomes of a feed over many runs: its record after each read, and the sentences that an operator should see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

from news_digest.feeds.cache import FeedRecord
from news_digest.feeds.headers import NOT_MODIFIED, fresh_until, http_date
from news_digest.model import Entry, FeedFailure
from news_digest.ports import Response

__all__ = ["after_failure", "after_read", "notices"]

_FAILED_FOR_DAYS = timedelta(days=3)
"""A weekend's outage passes by itself; after that somebody should look."""
_SILENT_AT_LEAST = timedelta(days=30)
_SILENT_GAPS = 5
"""A feed is silent when it is quiet for a month and for five times its usual gap: a quarterly feed is not."""
_KNOWN_MOST = 100
"""Entries whose identifiers are remembered; most feeds hold 10 to 50."""
_TURNED_LEAST = 3
"""A feed of one or two entries may well have nothing left of the last read."""
_PARTIAL_CONTENT = 206
_NEWER_THAN_READ = timedelta(hours=1)
"""Slack for entries that come into a feed a while after the date that they carry."""


def after_read(record: FeedRecord, response: Response, entries: Sequence[Entry], now: datetime) -> FeedRecord:
    """Return the record after a read with success; ``response`` is the server's last answer, 304 included."""
    known = _identifiers(entries)
    appeared = bool(set(known) - set(record.known.split()))
    record = replace(
        record,
        read_at=now,
        moved_to=response.moved_to,
        fresh_until=fresh_until(response.headers, now),
        not_before=None,
        gone_at=None,
        failing_since=None,
        failures=0,
        new_at=now if appeared or record.new_at is None else record.new_at,
        usual_gap_seconds=_usual_gap_seconds(entries),
        known=" ".join(known),
    )
    return record if response.status == NOT_MODIFIED else _with_validators(record, response, now)


def after_failure(record: FeedRecord, failure: FeedFailure, now: datetime, *, asked: bool, gone: bool) -> FeedRecord:
    """Return the record after a failure; a feed that was not even asked has not failed again."""
    return replace(
        record,
        not_before=failure.retry_after or record.not_before,
        gone_at=now if gone else record.gone_at,
        failing_since=record.failing_since or (now if asked else None),
        failures=record.failures + asked,
    )


def notices(record: FeedRecord, entries: Sequence[Entry] | None, moved_to: str, now: datetime) -> tuple[str, ...]:
    """Return what to tell about a feed whose record was this before the read; ``entries`` is None after a failure."""
    name = record.url
    if entries is None:
        since = record.failing_since
        if since is None or now - since < _FAILED_FOR_DAYS:
            return ()
        days = (now - since).days
        return (f"{name} has failed for {days} days, since {since:%Y-%m-%d}: repair or remove it.",)
    told = []
    if moved_to:
        told.append(f"{name} has moved for good to {moved_to}: `news-digest feeds fix` writes that down.")
    if _turned_new(record, entries):
        told.append(f"{name} has given all its entries new identifiers: stories told before may be told again.")
    silent = _silent_since(record, entries, now)
    if silent:
        told.append(f"{name} has had nothing new since {silent:%Y-%m-%d}: look whether it has moved or ended.")
    return tuple(told)


def _identifiers(entries: Sequence[Entry]) -> Sequence[str]:
    first = (entry.identity.stored[0] for entry in entries if entry.identity.stored)
    return list(dict.fromkeys(first))[:_KNOWN_MOST]


def _turned_new(record: FeedRecord, entries: Sequence[Entry]) -> bool:
    """Whether no identifier is left although most entries are old enough to have been there at the last read."""
    before, after = set(record.known.split()), _identifiers(entries)
    if record.read_at is None or min(len(before), len(after)) < _TURNED_LEAST or before & set(after):
        return False
    limit = record.read_at - _NEWER_THAN_READ
    old = [entry for entry in entries[:_KNOWN_MOST] if entry.published and entry.published < limit]
    return len(old) * 2 > min(len(entries), _KNOWN_MOST)


def _silent_since(record: FeedRecord, entries: Sequence[Entry], now: datetime) -> datetime | None:
    """Return since when a feed is silent: by the dates that it gives, else by when it last had something new."""
    if record.known and set(_identifiers(entries)) - set(record.known.split()):
        return None
    dates = [entry.published for entry in entries if entry.published and entry.published <= now]
    last = max(dates, default=record.new_at)
    gap = timedelta(seconds=_usual_gap_seconds(entries) or record.usual_gap_seconds)
    patience = max(_SILENT_AT_LEAST, _SILENT_GAPS * gap)
    return last if last and now - last > patience else None


def _usual_gap_seconds(entries: Sequence[Entry]) -> int:
    dates = sorted(entry.published for entry in entries if entry.published)
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(dates)]
    return int(median(gaps)) if gaps else 0


def _with_validators(record: FeedRecord, response: Response, now: datetime) -> FeedRecord:
    """Return the record with the validators of a full answer.

    A date from the future would say "not modified" for ever; the validators of a part speak of the whole.
    """
    headers = response.headers if response.status != _PARTIAL_CONTENT else {}
    modified = headers.get("last-modified", "")
    date = http_date(modified)
    return replace(
        record,
        etag=headers.get("etag", ""),
        last_modified=modified if date and date <= now else "",
        content_type=response.headers.get("content-type", ""),
        address=response.url,
        full_at=now,
    )
