"""What is kept about each feed between runs: its last body with its validators, and how it has fared.

One file per feed: a line of JSON, then the body as it came. A file is complete or absent (written aside, then renamed)
but not flushed to disk one by one: losing the cache costs full fetches and no story. A file that cannot be read, or
whose body does not match its checksum, counts as none. Request headers are never written.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from news_digest.model import Json

__all__ = ["FeedCache", "FeedRecord"]

_VERSION = 1
_UNUSED_DAYS = 30
"""A file that nobody has written for so long belongs to a feed that is configured no more."""
_SUFFIX = ".feed"


@dataclass(frozen=True, slots=True)
class FeedRecord:
    """One feed's past; a new feed's is empty. The body stays on disk until it is asked for."""

    url: str
    etag: str = ""
    """Byte for byte as the server sent it, like ``last_modified``; empty where it must not be sent back."""
    last_modified: str = ""
    content_type: str = ""
    address: str = ""
    """The address that the body came from, after redirects: what its relative links are relative to."""
    moved_to: str = ""
    """Where permanent redirects led at the last read."""
    body_hash: str = ""
    """Empty: no body is kept, so no conditional request may be made."""
    read_at: datetime | None = None
    """When the feed was last read with success, "not modified" included."""
    full_at: datetime | None = None
    """When its body was last fetched as a whole."""
    fresh_until: datetime | None = None
    """Until when the publisher asks not to be asked again (``Cache-Control: max-age``)."""
    not_before: datetime | None = None
    """Until when the server told us to stay away (``Retry-After``)."""
    gone_at: datetime | None = None
    """When it last answered that it is gone for good."""
    failing_since: datetime | None = None
    failures: int = 0
    new_at: datetime | None = None
    """When it last had an entry that it had not had before."""
    usual_gap_seconds: int = 0
    """The median distance of its entries' dates; 0 where it is not known."""
    known: str = ""
    """The first fingerprints of its entries, joined by blanks."""


_NAMES = tuple(field.name for field in fields(FeedRecord))
_INSTANTS = frozenset(field.name for field in fields(FeedRecord) if "datetime" in str(field.type))


class FeedCache:
    """A folder of records; the folder is made when the first one is saved."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, url: str) -> FeedRecord:
        """Return what is kept about a feed, an empty record where nothing is or nothing usable; never raises."""
        head, body = self._read(url)
        try:
            record = _decode(head)
        except (ValueError, TypeError, RecursionError):
            return FeedRecord(url)
        if record.url != url:
            return FeedRecord(url)
        return record if record.body_hash == _hash(body) else _without_body(record)

    def body(self, record: FeedRecord) -> bytes | None:
        """Return the body that a record speaks of, None where it is not there any more."""
        _, body = self._read(record.url)
        return body if record.body_hash and _hash(body) == record.body_hash else None

    def save(self, record: FeedRecord, body: bytes | None = None) -> None:
        """Keep a record, with a new body or with the one that is kept; raises :class:`OSError`."""
        if body is None:
            body = self.body(record) or b""
        record = replace(record, body_hash=_hash(body)) if body else _without_body(record)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=self._folder, suffix=".new")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(_encode(record) + b"\n" + body)
            Path(name).replace(self._file(record.url))
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise

    def prune(self, now: datetime) -> None:
        """Remove the files that no run has written for a month; never raises."""
        oldest = (now - timedelta(days=_UNUSED_DAYS)).timestamp()
        with suppress(OSError):
            for file in list(self._folder.iterdir()):
                with suppress(OSError):
                    if file.suffix in {_SUFFIX, ".new"} and file.stat().st_mtime < oldest:
                        file.unlink()

    def _file(self, url: str) -> Path:
        return self._folder / (sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:32] + _SUFFIX)

    def _read(self, url: str) -> tuple[bytes, bytes]:
        try:
            head, _, body = self._file(url).read_bytes().partition(b"\n")
        except OSError:
            return b"", b""
        return head, body


def _hash(body: bytes) -> str:
    return sha256(body).hexdigest() if body else ""


def _without_body(record: FeedRecord) -> FeedRecord:
    return replace(record, body_hash="", etag="", last_modified="", full_at=None, fresh_until=None)


def _encode(record: FeedRecord) -> bytes:
    values = {name: getattr(record, name) for name in _NAMES}
    kept = {name: _written(value) for name, value in values.items() if value}
    return json.dumps({"version": _VERSION, **kept}).encode("ascii")


def _written(value: str | int | datetime) -> str | int | float:
    return value.timestamp() if isinstance(value, datetime) else value


def _decode(line: bytes) -> FeedRecord:
    """Return the record of a line; raises ``ValueError`` or ``TypeError``."""
    values = json.loads(line)
    if not isinstance(values, dict) or values.pop("version", None) != _VERSION:
        message = "not a record of this version"
        raise ValueError(message)
    return FeedRecord(**{name: _value(name, value) for name, value in values.items()})


def _value(name: str, value: Json) -> Json:
    if name not in _INSTANTS:
        expected = int if name in {"failures", "usual_gap_seconds"} else str
        if not isinstance(value, expected):
            raise TypeError(name)
        return value
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, OSError) as error:
        raise ValueError(name) from error
