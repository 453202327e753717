"""The static site of an archive: a page a day, the archive by year, search and feeds; only what changed is made.

What each page was made from stands in ``.site.json``: a day whose record, neighbours and templates are the same is not
even read. Pages link by file name, so the folder works from a disk and under any address.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from hashlib import sha256
from typing import Final

from news_digest.channels.archive import Archive
from news_digest.channels.feed import ENTRIES, Heading, feed_files, newest
from news_digest.channels.folder import Folder
from news_digest.channels.site.pages import ASSETS, Neighbours, Pages, asset, version
from news_digest.channels.site.search import Index
from news_digest.channels.site.views import day_file, day_view, year_file

__all__ = ["build"]

_MANIFEST: Final = ".site.json"


def build(archive: Archive, folder: Folder, heading: Heading) -> list[str]:
    """Bring the site in a folder up to date and return the files that were written, in their order.

    The index comes last: whoever follows a link of it finds the page. Raises ``DeliveryError`` and ``ConfigError``.
    """
    pages = Pages(heading)
    marks = archive.marks()
    days = sorted(marks)
    wanted = _wanted(days, marks, heading)
    known = _known(folder)
    stale = [day for day in days if known.get(day.isoformat()) != wanted[day.isoformat()]]
    gone = [date.fromisoformat(day) for day in known if day not in wanted]
    written = [name for name in (f"static/{each}" for each in ASSETS) if folder.put(name, asset(name[7:]))]
    written += _days(archive, folder, pages, days, stale)
    written += Index(folder).update(archive)
    if stale or gone or not days or written:
        written += _overviews(archive, folder, pages, days)
        written += [
            name for name, data in feed_files(newest(archive, ENTRIES), heading).items() if folder.put(name, data)
        ]
        written += _index(archive, folder, pages, days)
        for day in gone:
            folder.remove(day_file(day))
        folder.put(_MANIFEST, json.dumps(wanted, separators=(",", ":")).encode())
    return written


def _wanted(days: Sequence[date], marks: Mapping[date, str], heading: Heading) -> dict[str, str]:
    """Return, by day, a hash of everything that its page depends on."""
    common = f"{version()} {heading}"
    return {
        day.isoformat(): sha256(f"{common} {marks[day]} {near}".encode()).hexdigest()[:16]
        for day, near in zip(days, _neighbours(days), strict=True)
    }


def _neighbours(days: Sequence[date]) -> list[Neighbours]:
    return (
        [Neighbours(before, after) for before, after in zip([None, *days[:-1]], [*days[1:], None], strict=True)]
        if days
        else []
    )


def _known(folder: Folder) -> dict[str, str]:
    data = folder.get(_MANIFEST)
    try:
        value = json.loads(data) if data else {}
        return {day: mark for day, mark in value.items() if date.fromisoformat(day)}
    except (ValueError, TypeError, AttributeError):
        return {}


def _days(archive: Archive, folder: Folder, pages: Pages, days: Sequence[date], stale: Iterable[date]) -> list[str]:
    near = dict(zip(days, _neighbours(days), strict=True))
    written = []
    for day in stale:
        digest = archive.load(day)
        if digest is not None and folder.put(day_file(day), pages.day(day_view(digest), near[day])):
            written.append(day_file(day))
    return written


def _overviews(archive: Archive, folder: Folder, pages: Pages, days: Sequence[date]) -> list[str]:
    del archive
    years = sorted({day.year for day in days}, reverse=True)
    made = {year_file(year): pages.year(year, years, [day for day in days if day.year == year]) for year in years}
    if years:
        made["archive.html"] = made[year_file(years[0])]
    made["search.html"] = pages.search()
    return [name for name, data in made.items() if folder.put(name, data)]


def _index(archive: Archive, folder: Folder, pages: Pages, days: Sequence[date]) -> list[str]:
    last = archive.last()
    if last is None:
        data = pages.empty()
    else:
        near = dict(zip(days, _neighbours(days), strict=True))[last.period.day]
        data = pages.day(day_view(last), near, newest=True)
    return ["index.html"] if folder.put("index.html", data) else []
