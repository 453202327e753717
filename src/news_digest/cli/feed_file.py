"""Edit the feeds of a configuration file and leave everything else in it as its owner wrote it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from news_digest.cli import feed_form as form
from news_digest.config import configure, variable
from news_digest.errors import ConfigError
from news_digest.feeds.manners import split_credentials
from news_digest.fingerprint import wide_link
from news_digest.model import Json
from news_digest.stores.durable import Disk, failure, locked, replace

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
        self._new: list[Json] = []
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
        document = form.edited(path, read.decode("utf-8-sig"))
        if document.get("feeds") is None or isinstance(document["feeds"], str):
            entries = [_entry(source.url, source.name, source.tags) for source in settings.config.feeds]
            document["feeds"] = form.new_list(path, entries)
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
        self._new.append(_entry(url, name, tags))
        return True

    def remove(self, wanted: str) -> str:
        """Remove a feed by its address, its name or a part of either, and return the address that is shown.

        Raises ``ConfigError`` when no feed is meant, or more than one.
        """
        position = self._position(split_credentials(wanted)[0])
        url = _url(self._feeds[position])
        form.remove(self._feeds, position)
        return split_credentials(url)[0]

    def move(self, moved: Mapping[str, str]) -> None:
        """Put new addresses in place of old ones; when the new one is listed already, the old one goes.

        None has credentials. Those of the file stay with the host that they were given for; elsewhere the feed was
        read without them. A feed that is not listed any more is left alone.
        """
        split = [split_credentials(_url(feed)) for feed in self._feeds]
        positions = {url: position for position, (url, _) in enumerate(split)}
        left = []
        for old, new in moved.items():
            position = positions.get(old)
            if position is None:
                continue
            if new in positions:
                left.append(position)
            else:
                self._move(position, old, new, split[position][1])
                positions[new] = position
        for position in sorted(left, reverse=True):
            form.remove(self._feeds, position)

    def _move(self, position: int, old: str, new: str, credentials: str) -> None:
        from news_digest.http.chain import read_target, same_origin  # noqa: PLC0415 - most changes move nothing

        feed = self._feeds[position]
        stays = same_origin(read_target(old), read_target(new))
        address = new.replace("://", f"://{credentials}@", 1) if stays and credentials else new
        if not isinstance(feed, dict):
            self._feeds[position] = address
            return
        feed["url"] = address
        if not stays:
            _strip(feed)

    def save(self) -> None:
        """Write the file: aside, then in its place; what would not load again is not written.

        Nor is anything when the file has changed since it was read: two commands at once lose nothing of each other.
        """
        if self._new:
            form.extend(self._feeds, self._new)
        if not self._feeds:
            raise ConfigError(
                "cannot save the feeds",
                thing=str(self.path),
                cause="a digest needs at least one",
                hint="add another feed first",
            )
        text = form.written(self.path, self._document)
        configure(form.loaded(self.path, text), {}, file=str(self.path), reference=form.is_json(self.path))
        try:
            self._lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self._lock):
                self._put(text)
        except OSError as error:
            raise failure(error, "cannot save the feeds", self.path) from error

    def _put(self, text: str) -> None:
        if _bytes(self.path) != self._read:
            raise ConfigError(
                "cannot save the feeds",
                thing=str(self.path),
                cause="something else has changed the file meanwhile",
                hint="nothing was written; give the command again",
            )
        _replace(self.path, text.encode())

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


def _replace(path: Path, data: bytes) -> None:
    """Write a file as a whole: behind a link, with the owner and the rights that it had; raises ``OSError``."""
    file = path.resolve()
    before = file.stat() if file.exists() else None
    if before and not before.st_mode & stat.S_IWUSR:
        raise PermissionError(errno.EACCES, "it is read-only", str(file))
    replace(file, data, Disk())
    if before:
        if hasattr(os, "chown"):
            with suppress(PermissionError):
                os.chown(file, before.st_uid, before.st_gid)
        file.chmod(stat.S_IMODE(before.st_mode))


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _entry(url: str, name: str, tags: Sequence[str]) -> Json:
    entry: dict[str, Json] = {"url": url}
    if name:
        entry["name"] = name
    if tags:
        entry["tags"] = list(tags)
    return entry if len(entry) > 1 else url


def _strip(feed: dict[str, Json]) -> None:
    """Take away the headers that do not follow a redirect to another origin either."""
    from news_digest.http.chain import HARMLESS  # noqa: PLC0415 - as above

    feed.pop("headers_env", None)
    headers = feed.get("headers", {})
    for name in [each for each in headers if each.lower() not in HARMLESS]:
        del headers[name]
    if not headers:
        feed.pop("headers", None)


def _url(feed: Json) -> str:
    return str(feed.get("url")) if isinstance(feed, dict) else str(feed).strip()


def _name(feed: Json) -> str:
    return str(feed.get("name", "")) if isinstance(feed, dict) else ""
