"""What an answer's headers say about time: dates, when to come back, how long it stays fresh."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

__all__ = ["NOT_MODIFIED", "WAIT_MOST", "fresh_until", "http_date", "retry_after"]

NOT_MODIFIED = 304
WAIT_MOST = timedelta(days=1)
"""Servers ask for anything up to years; a feed is looked at once a day all the same."""
_FRESH_MOST = timedelta(hours=12)
"""Bound on ``max-age``: whatever a publisher asks for, a daily digest looks once a day."""
_SECONDS_DIGITS = 9
"""Digits of a number of seconds that are read: thirty years, and no overflow."""


def http_date(value: str) -> datetime | None:
    """Return the instant of a date in a header, None where it is none."""
    try:
        date = parsedate_to_datetime(value)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def retry_after(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Return until when the server wants to be left alone, a day at most; None where it does not say.

    A date is taken relative to the answer's own ``Date``, so that a wrong clock on either side does not matter (RFC
    9110, 10.2.3).
    """
    value = headers.get("retry-after", "").strip()
    wait = _seconds(value)
    if wait is None:
        until = http_date(value)
        if until is None:
            return None
        wait = until - (http_date(headers.get("date", "")) or now)
    return now + max(timedelta(0), min(wait, WAIT_MOST))


def fresh_until(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Return until when the publisher wants no further request, half a day at most (``max-age``, RFC 9111, 5.2.2)."""
    directives = [part.strip().lower() for part in headers.get("cache-control", "").split(",")]
    if {"no-cache", "no-store"} & set(directives):
        return None
    for directive in directives:
        name, _, value = directive.partition("=")
        age = _seconds(value.strip('"')) if name == "max-age" else None
        if age is not None:
            return now + min(age, _FRESH_MOST)
    return None


def _seconds(value: str) -> timedelta | None:
    return timedelta(seconds=int(value[:_SECONDS_DIGITS])) if value.isascii() and value.isdigit() else None
