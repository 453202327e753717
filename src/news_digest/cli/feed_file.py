"""Edit the feeds of a configuration file and leave everything else in it as its owner wrote it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from news_digest.config import configure, variable
from news_digest.errors import ConfigError, StoreFull
from news_digest.feeds.manners import split_credentials
from news_digest.fingerprint import wide_link
from news_digest.model import Json
from news_digest.stores.durable import locked

if TYPE_CHECKING:
    from news_digest.cli.settings import Settings

__all__ = ["FeedFile"]

_NEW_FILE = "news-digest.toml"
_NAMED_MOST = 5
"""How many feeds a message names: it stays a message."""


class FeedFile:
    """The ``feeds`` of one file, TOML (comments and form stay) or the reference's JSON.

    Nothing is written before ``save``. A file without feeds starts with those in force, so that adding one does not
    silently drop the defaults.
    """

    def __init__(self, path: Path, document: Any, read: bytes, lock: Path) -> None:  # noqa: ANN401 - of the editor
        self.path = path
        self._read = read
        self._lock = lock
        self._document = document
        self._feeds = document["feeds"]
        self._listed = {wide_link(url): url for url in map(_url, self._feeds)}
        self._grew = False
        self._defaults = 0

    @classmethod
    def of(cls, settings: Settings, given: str | None = None) -> FeedFile:
        """Return the file that the settings came from; a new one in the working folder where there was none.

        Raises ``ConfigError`` where the environment sets the feeds: a change of the file would change nothing.
        """
        path = settings.file or Path(given or _NEW_FILE)
        if settings.config.origins["feeds"].is_environment:
            raise ConfigError(
                "cannot change the feeds",
                thing=str(path),
                cause=f"the environment variable {variable('feeds')} is set and wins over the file",
                hint=f"unset {variable('feeds')}, or change the feeds there",
            )
        read = _bytes(path)
        document = _parsed(path, read.decode("utf-8-sig"))
        if document.get("feeds") is None or isinstance(document["feeds"], str):
            entries = [_entry(source.url, source.name, source.tags) for source in settings.config.feeds]
            document["feeds"] = entries if path.suffix == ".json" else _toml_list(entries)
        lock = settings.places.cache / "configuration.lock"  # in our own folder: the file's may be anybody's
        file = cls(path, document, read, lock)
        file._defaults = len(file._feeds) if settings.config.origins["feeds"].place == "default" else 0
        return file

    def __str__(self) -> str:
        """Return the file as messages name it, with the feeds that nobody wrote into it before."""
        return (
            f"{self.path}, which starts with the {self._defaults} default feeds" if self._defaults else str(self.path)
        )

    def listed_as(self, url: str) -> str:
        """Return the address under which a feed is listed; scheme, ``www.`` and closing slash may differ."""
        return split_credentials(self._listed.get(wide_link(url), ""))[0]

    def add(self, url: str, name: str = "", tags: Sequence[str] = ()) -> bool:
        """Add a feed; False when it is listed already."""
        if self.listed_as(url):
            return False
        self._listed[wide_link(url)] = url
        self._grew = True
        self._feeds.append(self._formed(_entry(url, name, tags)))
        return True

    def remove(self, wanted: str) -> str:
        """Remove a feed by its address, its name or a part of either, and return the address that is shown.

        Raises ``ConfigError`` when no feed is meant, or more than one.
        """
        position = self._position(wanted)
        url = _url(self._feeds[position])
        del self._feeds[position]
        self._listed.pop(wide_link(url), None)
        return split_credentials(url)[0]

    def move(self, old: str, new: str) -> None:
        """Put a new address in place of an old one; when the new one is there already, the old one goes.

        Neither has credentials. Those of the file stay with the host that they were given for; elsewhere the feed was
        read without them.
        """
        split = [split_credentials(_url(feed)) for feed in self._feeds]
        urls = [url for url, _ in split]
        position = urls.index(old)
        feed, credentials = self._feeds[position], split[position][1]
        stays = urlsplit(old).netloc.lower() == urlsplit(new).netloc.lower()
        address = new.replace("://", f"://{credentials}@", 1) if stays and credentials else new
        if new in urls:
            del self._feeds[position]
        elif isinstance(feed, dict):
            feed["url"] = address
            if not stays:
                feed.pop("headers_env", None)
        else:
            self._feeds[position] = address

    def save(self) -> None:
        """Write the file: aside, then in its place; what would not load again is not written.

        Nor is anything when the file has changed since it was read: two commands at once lose nothing of each other.
        """
        if not self._feeds:
            raise ConfigError(
                "cannot save the feeds",
                thing=str(self.path),
                cause="a digest needs at least one",
                hint="add another feed first",
            )
        if self._grew and self.path.suffix != ".json":
            _spread(self._feeds)
        text = _written(self.path, self._document)
        configure(_parsed(self.path, text), {}, file=str(self.path), reference=self.path.suffix == ".json")
        try:
            self._lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self._lock):
                self._put(text)
        except OSError as error:
            raise StoreFull(
                "cannot save the feeds",
                thing=str(self.path),
                cause=str(error.strerror),
                hint="nothing was changed; make room for the file, or let its folder be written",
            ) from error

    def _put(self, text: str) -> None:
        if _bytes(self.path) != self._read:
            raise ConfigError(
                "cannot save the feeds",
                thing=str(self.path),
                cause="something else has changed the file meanwhile",
                hint="nothing was written; give the command again",
            )
        _replace(self.path, text)

    def _formed(self, entry: Json) -> Json:
        """Return an entry in the form of the list: an item of an array, or a table of its own."""
        if self.path.suffix == ".json":
            return entry
        import tomlkit  # noqa: PLC0415 - only who edits needs the editor

        if not isinstance(self._feeds, tomlkit.items.AoT):
            return _inline(entry)
        table = tomlkit.table()
        table.update(entry if isinstance(entry, dict) else {"url": entry})
        table.add(tomlkit.nl())
        return table

    def _position(self, wanted: str) -> int:
        feeds = [(split_credentials(_url(feed))[0], _name(feed)) for feed in self._feeds]
        sought, words = wide_link(wanted), wanted.strip().casefold()
        matches = (
            [position for position, (url, _) in enumerate(feeds) if url == wanted],
            [position for position, (url, _) in enumerate(feeds) if sought and wide_link(url) == sought],
            [position for position, (_, name) in enumerate(feeds) if name.casefold() == words],
            [position for position, (url, name) in enumerate(feeds) if words in f"{url}\n{name}".casefold()],
        )
        found = next(filter(None, matches), []) if words else []
        if len(found) == 1:
            return found[0]
        if found:
            named = ", ".join(feeds[position][0] for position in found[:_NAMED_MOST])
            more = ", ..." if len(found) > _NAMED_MOST else ""
            raise ConfigError(
                "more than one feed is meant", thing=wanted, cause=f"{named}{more}", hint="give its full address"
            )
        raise ConfigError("no such feed", thing=wanted, hint=_suggestion(wanted, feeds))


def _suggestion(wanted: str, feeds: Sequence[tuple[str, str]]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for a mistake

    by_word = {word.casefold(): url for url, name in feeds for word in (url, name) if word}
    near = get_close_matches(wanted.casefold(), by_word, 1)
    listed = "`news-digest feeds list` lists them"
    return f"did you mean {by_word[near[0]]}? {listed}" if near else listed


def _replace(path: Path, text: str) -> None:
    """Write a file as a whole: behind a link, with the rights that it had; raises :class:`OSError`."""
    file = path.resolve()
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_name(file.name + ".new")
    try:
        with aside.open("w", encoding="utf-8", newline="") as new:
            new.write(text)
            new.flush()
            os.fsync(new.fileno())
        if file.exists():
            aside.chmod(file.stat().st_mode & 0o777)
        aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _parsed(path: Path, text: str) -> Any:  # noqa: ANN401 - a document of either editor
    if path.suffix == ".json":
        return json.loads(text or "{}")
    import tomlkit  # noqa: PLC0415

    return tomlkit.parse(text)


def _written(path: Path, document: Any) -> str:  # noqa: ANN401 - see _parsed
    if path.suffix == ".json":
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    import tomlkit  # noqa: PLC0415

    text = tomlkit.dumps(document)
    return text.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in text else text


def _toml_list(feeds: Sequence[Json]) -> Any:  # noqa: ANN401 - an item of the editor
    import tomlkit  # noqa: PLC0415

    listed = tomlkit.array().multiline(multiline=True)
    listed.extend(map(_inline, feeds))
    return listed


def _spread(feeds: Any) -> None:  # noqa: ANN401 - an item of the editor
    """Give each feed a line of its own where they stand on one: a list that grows is read by people."""
    import tomlkit  # noqa: PLC0415

    if isinstance(feeds, tomlkit.items.Array) and "\n" not in feeds.as_string():
        feeds.multiline(multiline=True)


def _inline(entry: Json) -> Any:  # noqa: ANN401 - an item of the editor
    import tomlkit  # noqa: PLC0415

    if not isinstance(entry, dict):
        return entry
    table = tomlkit.inline_table()
    table.update(entry)
    return table


def _entry(url: str, name: str, tags: Sequence[str]) -> Json:
    entry: dict[str, Json] = {"url": url}
    if name:
        entry["name"] = name
    if tags:
        entry["tags"] = list(tags)
    return entry if len(entry) > 1 else url


def _url(feed: Json) -> str:
    return str(feed.get("url")) if isinstance(feed, dict) else str(feed)


def _name(feed: Json) -> str:
    return str(feed.get("name", "")) if isinstance(feed, dict) else ""
