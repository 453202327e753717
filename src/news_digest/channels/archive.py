"""The archive: a folder with a Markdown file a day, and the digest as JSON beside it, so that pages can be made again.

``2026-12-01.md`` begins with YAML front matter, for people, notes programs and site generators; ``2026-12-01.json`` is
the whole digest (:mod:`news_digest.wire`). The JSON is written first: a day with a Markdown file has both.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left, bisect_right
from datetime import date
from pathlib import Path
from typing import Final

from news_digest.channels import Target
from news_digest.channels.folder import Folder
from news_digest.channels.options import Options
from news_digest.model import Digest, Receipt
from news_digest.ports import Clock
from news_digest.render import markdown
from news_digest.stores.durable import Disk
from news_digest.wire import from_json, to_json

__all__ = ["Archive", "ArchiveChannel", "open_archive"]

_DAY_FILE: Final = re.compile(r"(\d{4}-\d{2}-\d{2})\.json")


class Archive:
    """Reads and writes the folder; raises :class:`~news_digest.errors.DeliveryError` where the disk says no."""

    def __init__(self, folder: str | os.PathLike[str], *, disk: Disk | None = None) -> None:
        self._files = Folder(folder, disk=disk)
        self._listed: tuple[int, tuple[date, ...]] = (-1, ())

    @property
    def path(self) -> Path:
        """Return the folder's path."""
        return self._files.path

    @property
    def version(self) -> int:
        """Return a number that changes when a day is added or replaced; 0 where nothing may be remembered by it."""
        return self._files.version()

    def put(self, digest: Digest) -> bool:
        """Keep a digest in place of what its day has; True when anything was written."""
        day = str(digest.period)
        record = json.dumps(to_json(digest), ensure_ascii=False, separators=(",", ":")) + "\n"
        wrote = self._files.put(f"{day}.json", record.encode())
        return self._files.put(f"{day}.md", markdown(digest, matter=True).encode()) or wrote

    def days(self) -> tuple[date, ...]:
        """Return the days that the archive has, oldest first; listed again only when the folder has changed."""
        version = self.version
        if not version or version != self._listed[0]:
            self._listed = (version, tuple(sorted(filter(None, map(_day, self._files.names())))))
        return self._listed[1]

    def marks(self) -> dict[date, str]:
        """Return, by day, a mark that changes when the day's record is replaced; no record is read."""
        return {day: self.mark(day) for day in self.days()}

    def mark(self, day: date) -> str:
        """Return the mark of one day; nothing where it has no record."""
        return self._files.mark(f"{day.isoformat()}.json")

    def near(self, day: date) -> tuple[date | None, date | None]:
        """Return the days before and after a day that have a digest."""
        days = self.days()
        before, after = bisect_left(days, day), bisect_right(days, day)
        return (days[before - 1] if before else None, days[after] if after < len(days) else None)

    def load(self, day: date) -> Digest | None:
        """Return the digest of a day; None where there is none, or its file is not a digest."""
        data = self.record(day)
        if data is None:
            return None
        try:
            digest = from_json(Digest, json.loads(data))
        except (ValueError, RecursionError):
            return None
        return digest if digest.period.day == day and _whole(digest) else None

    def record(self, day: date) -> bytes | None:
        """Return the JSON file of a day as it stands."""
        return self._files.get(f"{day.isoformat()}.json")

    def last(self) -> Digest | None:
        """Return the newest digest that can be read."""
        return next(filter(None, map(self.load, reversed(self.days()))), None)

    def text(self, day: date) -> str | None:
        """Return the Markdown file of a day as it stands, front matter included."""
        data = self._files.get(f"{day.isoformat()}.md")
        return None if data is None else data.decode("utf-8", "replace")


def _day(name: str) -> date | None:
    found = _DAY_FILE.fullmatch(name)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def _whole(digest: Digest) -> bool:
    """Say whether every number of the draft has its story, so that it can be rendered."""
    draft, count = digest.draft, len(digest.stories)
    items = [*draft.headlines, *(item for section in draft.sections for item in section.items)]
    return all(item.stories and all(1 <= number <= count for number in item.stories) for item in items)


class ArchiveChannel:
    """Delivers into an :class:`Archive`; a second delivery of a digest changes nothing."""

    def __init__(self, archive: Archive, *, name: str, clock: Clock) -> None:
        self.name = name
        self.archive = archive
        self._clock = clock

    def deliver(self, digest: Digest) -> Receipt:
        """Keep the digest."""
        wrote = self.archive.put(digest)
        where = self.archive.path / f"{digest.period}.md"
        return Receipt(self.name, at=self._clock(), detail=f"{where}" if wrote else f"{where} (unchanged)")


def open_archive(target: Target) -> ArchiveChannel:
    """Return the channel ``archive``; option ``folder``."""
    options = Options(target)
    folder = options.text("folder", target.archive, required=True)
    options.done()
    return ArchiveChannel(Archive(folder), name=target.name, clock=target.clock)
