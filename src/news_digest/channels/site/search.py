"""Full-text search over any number of days, from small files that a page can load and a server can read.

::

    search/meta.js               the years, newest first, and the words that are not indexed
    search/2026/co.js            {word: [place, ...]} for the words that begin with "co", newest place first
    search/days/2026-12-01.js    [[headline, text, source], ...], the lead and the day's items in order

A place is ``day of the year * 1000 + item``. A search reads one file per word and year, newest year first, until it has
enough, and then the days that it shows: its cost hardly depends on how many days there are. Each file is a call of one
function with JSON, because a page on a disk may load scripts and nothing else.

Words are compared without case and accents; Chinese and Japanese characters count as words; all words must occur, each
as a beginning. ``static/search.js`` does the same in the browser.
"""

from __future__ import annotations

import heapq
import json
import re
import threading
import unicodedata
from bisect import bisect_left
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby, islice
from operator import neg
from typing import Final

from news_digest.channels.archive import Archive
from news_digest.channels.folder import Folder
from news_digest.channels.site.views import DayView, day_view
from news_digest.model import Json

__all__ = ["MOST_RESULTS", "Found", "Hit", "Index", "words_of"]

MOST_RESULTS: Final = 25
"""Each is a small file to load, at worst; whoever needs an older one adds a word."""
_MOST_WORDS: Final = 8
_MOST_ITEMS: Final = 1000
_LONGEST_WORD: Final = 32
_TEXT_CHARACTERS: Final = 240
_CACHED_FILES: Final = 512
_SKIPPED: Final = frozenset(
    {
        *(
            "a",
            "an",
            "and",
            "are",
            "as",
            "at",
            "be",
            "but",
            "by",
            "for",
            "from",
            "has",
            "have",
            "in",
            "is",
            "it",
            "its",
        ),
        *("of", "on", "or", "that", "the", "their", "this", "to", "was", "were", "will", "with"),
    }
)
"""So frequent in English that they find nothing."""
_FEW_LISTS: Final = 8
"""Up to so many lists it is quicker to look into each than to make one set of them."""
_CALL: Final = "nd("
_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_MANIFEST: Final = "search/manifest.json"
_META: Final = "search/meta.js"


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are compared, in order."""
    plain = text.lower()
    if not plain.isascii():
        folded = unicodedata.normalize("NFKD", plain)
        plain = "".join(character for character in folded if not unicodedata.category(character).startswith("M"))
    return [word[:_LONGEST_WORD] for word in _WORD.findall(plain) if word not in _SKIPPED]


@dataclass(frozen=True, slots=True)
class Hit:
    """An item that was found; ``item`` is its number in the page of its day."""

    day: date
    item: int
    headline: str
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, newest first, and a sentence about it."""

    said: str
    hits: tuple[Hit, ...] = ()


class Index:
    """The index below a folder; :meth:`update` brings it up to date, :meth:`search` reads it."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._read: OrderedDict[str, Json] = OrderedDict()
        self._fresh = 0
        self._lock = threading.Lock()

    # --- writing ---------------------------------------------------------------------------------------------------

    def update(self, archive: Archive) -> list[str]:
        """Index the days that are new or changed, forget those that are gone; return the files that were written."""
        known = self._manifest()
        marks = archive.marks()
        changed = [day for day, mark in marks.items() if known.get(day.isoformat()) != mark]
        gone = [date.fromisoformat(day) for day in known if date.fromisoformat(day) not in marks]
        if not changed and not gone:
            return []
        self._read.clear()
        views = {day: day_view(digest) for day in changed if (digest := archive.load(day)) is not None}
        written = []
        for year in sorted({day.year for day in (*changed, *gone)}):
            mine = {day: views.get(day) for day in (*changed, *gone) if day.year == year}
            again = not known or any(day.isoformat() in known for day in mine)
            written += self._update_year(year, mine, again=again)
        years = sorted({day.year for day in marks}, reverse=True)
        written += self._put(_META, {"years": years, "skip": sorted(_SKIPPED)})
        manifest = {day.isoformat(): mark for day, mark in marks.items()}
        self._folder.put(_MANIFEST, json.dumps(manifest, separators=(",", ":")).encode())
        return written

    def refresh(self, archive: Archive, *, wait_seconds: float = -1) -> bool:
        """Update the index where the archive's folder has changed since the last call; one thread at a time.

        False: another thread is at it and was not done within ``wait_seconds`` (-1: as long as it takes).
        """
        version = archive.version
        if version and version == self._fresh:
            return True
        if not self._lock.acquire(timeout=wait_seconds):
            return False
        try:
            self.update(archive)
            self._fresh = version
        finally:
            self._lock.release()
        return True

    def _manifest(self) -> dict[str, str]:
        data = self._folder.get(_MANIFEST)
        try:
            value = json.loads(data) if data else {}
            return {day: mark for day, mark in value.items() if date.fromisoformat(day) and isinstance(mark, str)}
        except (ValueError, AttributeError):
            return {}

    def _update_year(self, year: int, views: Mapping[date, DayView | None], *, again: bool) -> list[str]:
        """Write the files of one year in which these days change; None: the day is gone.

        ``again``: one of them was indexed before, so any file may hold old words of it.
        """
        fresh: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        written: list[str] = []
        for day, view in views.items():
            items = _items(view) if view else []
            written += self._put(f"search/days/{day.isoformat()}.js", items)
            for number, texts in enumerate(items[:_MOST_ITEMS]):
                for word in words_of(" ".join(texts if number else texts[1:])):
                    fresh[_shard(word)][word].add(_place(day, number))
        names = self._folder.names(f"search/{year}") if again else []
        old = {name.removesuffix(".js") for name in names if name.endswith(".js")}
        stale = {day.timetuple().tm_yday for day in views}
        for shard in sorted(old | fresh.keys()):
            name = f"search/{year}/{shard}.js"
            kept = {
                word: [place for place in places if place // 1000 not in stale]
                for word, places in self._get(name, {}).items()
            }
            merged = {
                word: sorted({*kept.get(word, ()), *fresh.get(shard, {}).get(word, ())}, reverse=True)
                for word in sorted(kept.keys() | fresh.get(shard, {}).keys())
            }
            written += self._put(name, {word: places for word, places in merged.items() if places})
        self._read.clear()
        return written

    def _put(self, name: str, value: Json) -> list[str]:
        key = json.dumps(name.removeprefix("search/").removesuffix(".js"))
        # ``<`` cannot end the script even where somebody pastes the file into a page.
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        return [name] if self._folder.put(name, f"{_CALL}{key},{data});\n".encode()) else []

    # --- reading ---------------------------------------------------------------------------------------------------

    def search(self, query: str, limit: int = MOST_RESULTS) -> Found:
        """Return what has all words of the query, newest first; at most ``limit``."""
        words = list(dict.fromkeys(words_of(query)))[:_MOST_WORDS]
        if not words:
            return Found("Type a word that is not a very common one." if query.strip() else "")
        places: list[tuple[int, int]] = []
        for year in self._get(_META, {}).get("years", []):
            places += [(year, place) for place in self._places(year, words, limit + 1 - len(places))]
            if len(places) > limit:
                break
        hits = tuple(hit for year, place in places[:limit] if (hit := self._hit(year, place)) is not None)
        return Found(_said(len(places), limit), hits)

    def _places(self, year: int, words: Sequence[str], most: int) -> list[int]:
        """Return the newest places of a year that have all words, at most ``most``.

        It goes along the rarest word and looks the others up, so that the work is that of the results, not of the
        archive.
        """
        listed = sorted((self._listed(year, word) for word in words), key=lambda lists: sum(map(len, lists)))
        if not listed[0]:
            return []
        rarest, *others = listed
        tests = [_membership(lists) for lists in others]
        along = (place for place, _ in groupby(heapq.merge(*rarest, reverse=True)))
        return list(islice((place for place in along if all(test(place) for test in tests)), most))

    def _listed(self, year: int, word: str) -> list[list[int]]:
        """Return the places of every word of a year that begins so, each list newest first."""
        shard = self._get(f"search/{year}/{_shard(word)}.js", {})
        return [places for known, places in shard.items() if known.startswith(word)]

    def _hit(self, year: int, place: int) -> Hit | None:
        day = date(year, 1, 1) + timedelta(days=place // 1000 - 1)
        items = self._get(f"search/days/{day.isoformat()}.js", [])
        number = place % 1000
        return Hit(day, number, *items[number]) if number < len(items) else None

    def _get(self, name: str, default: Json) -> Json:
        """Return what a file of the index says; the ones read last are remembered."""
        if name in self._read:
            self._read.move_to_end(name)
            return self._read[name]
        value = _parse(self._folder.get(name), default)
        self._read[name] = value
        if len(self._read) > _CACHED_FILES:
            self._read.popitem(last=False)
        return value


def _membership(lists: Sequence[Sequence[int]]) -> Callable[[int], bool]:
    """Return a test whether a place is in one of some lists, each newest first."""
    if len(lists) > _FEW_LISTS:
        return {place for places in lists for place in places}.__contains__

    def test(place: int) -> bool:
        for places in lists:
            index = bisect_left(places, -place, key=neg)
            if index < len(places) and places[index] == place:
                return True
        return False

    return test


def _said(count: int, limit: int) -> str:
    if count > limit:
        return f"The newest {limit} of more; another word narrows it down."
    return "Nothing found." if not count else "1 item found." if count == 1 else f"{count} items found, newest first."


def _parse(data: bytes | None, default: Json) -> Json:
    """Return the JSON of a file of ours; the default where it is missing or something else."""
    try:
        text = (data or b"").decode()
        value = json.loads(text[text.index(",") + 1 : text.rindex(")")]) if text.startswith(_CALL) else default
    except (ValueError, RecursionError):
        return default
    return value if isinstance(value, type(default)) else default


def _items(view: DayView) -> list[list[str]]:
    """Return what is found of a day: its lead as item 0, then its items as its page numbers them."""
    told = [
        [item.headline, item.text[:_TEXT_CHARACTERS], ", ".join(each.label for each in (item.source, *item.also))]
        for section in view.sections
        for item in section.items
    ]
    return [[view.heading, view.lead[:_TEXT_CHARACTERS], ""], *told]


def _place(day: date, number: int) -> int:
    return day.timetuple().tm_yday * 1000 + number


def _shard(word: str) -> str:
    """Return the file that a word is in; it depends on what a beginning of the word has as well."""
    if word[:2].isascii():
        return f"{word[:2]:_<2}"
    return f"u{ord(word[0]) % 64:02}"
