"""Edit the feeds of a configuration file and leave everything else in it as its owner wrote it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from news_digest.errors import ConfigError, StoreFull
from news_digest.model import Json

if TYPE_CHECKING:
    from news_digest.cli.settings import Settings

__all__ = ["FeedFile"]

_NEW_FILE = "news-digest.toml"


class FeedFile:
    """The ``feeds`` of one file, TOML (comments stay) or the reference's JSON; nothing is written before ``save``.

    A file without feeds starts with those in force, so that adding one does not silently drop the defaults.
    """

    def __init__(self, path: Path, document: Any, feeds: list[Json]) -> None:  # noqa: ANN401 - what the editor gives
        self.path = path
        self._document = document
        self._feeds = feeds

    @classmethod
    def of(cls, settings: Settings, given: str | None = None) -> FeedFile:
        """Return the file that the settings came from; a new one in the working folder where there was none."""
        path = settings.file or Path(given or _NEW_FILE)
        document = _read(path)
        feeds = document.get("feeds")
        if feeds is None or isinstance(feeds, str):
            listed = [_entry(source.url, source.name, source.tags) for source in settings.config.feeds]
        else:
            listed = list(feeds)
        return cls(path, document, listed)

    def add(self, url: str, name: str = "", tags: Sequence[str] = ()) -> bool:
        """Add a feed; False when its address is there already."""
        if any(_url(feed) == url for feed in self._feeds):
            return False
        self._feeds.append(_entry(url, name, tags))
        return True

    def remove(self, url: str) -> None:
        """Remove a feed; raises ``ConfigError`` for one that is not there."""
        kept = [feed for feed in self._feeds if _url(feed) != url]
        if len(kept) == len(self._feeds):
            raise ConfigError("no such feed", thing=url, hint="`news-digest feeds list` lists them")
        self._feeds = kept

    def move(self, old: str, new: str) -> None:
        """Put a new address in place of an old one; when the new one is there already, the old one goes."""
        if any(_url(feed) == new for feed in self._feeds):
            self._feeds = [feed for feed in self._feeds if _url(feed) != old]
            return
        self._feeds = [_moved(feed, new) if _url(feed) == old else feed for feed in self._feeds]

    def save(self) -> None:
        """Write the file: aside, then in its place."""
        if not self._feeds:
            raise ConfigError("cannot save the feeds", thing=str(self.path), cause="a digest needs at least one")
        self._document["feeds"] = self._feeds if self.path.suffix == ".json" else _toml_list(self._feeds)
        aside = self.path.with_name(self.path.name + ".new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            aside.write_text(_written(self.path, self._document), encoding="utf-8")
            aside.replace(self.path)
        except OSError as error:
            aside.unlink(missing_ok=True)
            raise StoreFull("cannot save the feeds", thing=str(self.path), cause=str(error.strerror)) from error


def _read(path: Path) -> Any:  # noqa: ANN401 - a document of either editor
    text = path.read_text(encoding="utf-8-sig") if path.is_file() else ""
    if path.suffix == ".json":
        return json.loads(text or "{}")
    import tomlkit  # noqa: PLC0415 - only who edits needs the editor

    return tomlkit.parse(text)


def _written(path: Path, document: Any) -> str:  # noqa: ANN401 - see _read
    if path.suffix == ".json":
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    import tomlkit  # noqa: PLC0415

    return tomlkit.dumps(document)


def _toml_list(feeds: Sequence[Json]) -> Any:  # noqa: ANN401 - an item of the editor
    import tomlkit  # noqa: PLC0415

    listed = tomlkit.array().multiline(multiline=True)
    for feed in feeds:
        if isinstance(feed, str):
            listed.append(feed)
        else:
            table = tomlkit.inline_table()
            table.update(feed)
            listed.append(table)
    return listed


def _entry(url: str, name: str, tags: Sequence[str]) -> Json:
    entry: dict[str, Json] = {"url": url}
    if name:
        entry["name"] = name
    if tags:
        entry["tags"] = list(tags)
    return entry if len(entry) > 1 else url


def _url(feed: Json) -> str:
    return str(feed.get("url")) if isinstance(feed, dict) else str(feed)


def _moved(feed: Json, new: str) -> Json:
    return {**feed, "url": new} if isinstance(feed, dict) else new
