"""One entry of a feed as its document gives it, whatever the dialect; and addresses made absolute."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urljoin, urlsplit

from news_digest.feeds.text import NOTHING, Passage

__all__ = ["Addresses", "Found", "Item"]

_ABSOLUTE: Final = re.compile(r"https?://[^\n\r\t&]*", re.IGNORECASE)
_ORIGIN: Final = re.compile(r"https?://[^/?#]+", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")
_HOST_FIRST: Final = re.compile(r"((?:[a-z0-9-]+\.)+[a-z]{2,24})(?::\d+)?(?:[/?#]|$)", re.IGNORECASE)
_COMMON_ENDS: Final = frozenset(
    {
        *("app", "blog", "ca", "cloud", "co", "com", "de", "dev", "edu", "eu", "fr", "gov", "info", "io", "it", "jp"),
        *("ly", "me", "net", "news", "nl", "org", "ru", "se", "site", "tech", "uk", "us"),
    }
)


@dataclass(slots=True)
class Item:
    """One entry: all that is needed to recognise it, and its text unread."""

    identifier: str = ""
    link: str = ""
    target: str = ""
    """Where the link leads in the end, if the feed says so."""
    published: datetime | None = None
    title: Passage = NOTHING
    teaser: Passage = NOTHING
    content: Passage = NOTHING
    enclosure: str = ""
    """Where to go if there is no link: a recording or picture that comes along, what it is about, its comments."""

    def __bool__(self) -> bool:
        """Return whether it holds anything at all."""
        return bool(
            self.identifier
            or self.link
            or self.title
            or self.teaser
            or self.content
            or self.published
            or self.enclosure
        )


@dataclass(frozen=True, slots=True)
class Found:
    """What a document holds: its title, and its items in their order."""

    title: Passage
    items: list[Item]


class Addresses:
    """Makes the addresses of one document absolute; ``home`` is the site that the feed says it belongs to."""

    def __init__(self, url: str, home: str = "") -> None:
        self.url = url
        self._origin = _ORIGIN.match(url)
        self._hosts = {_host(url), _host(home)} - {""}

    def absolute(self, link: str, base: str = "") -> str:
        """Return a link as an absolute address; what cannot be resolved stays as it is."""
        link = link.strip()
        if _ABSOLUTE.fullmatch(link):
            return link
        link = re.sub(r"[\r\n\t]+\s*|[\u200b-\u200f\ufeff]", "", link).replace("&amp;", "&")
        if not link or _SCHEME.match(link):
            return link
        match = _HOST_FIRST.match(link)
        if match is not None and self._names_a_host(match[1].lower()):
            return f"https://{link}"
        if link[0] == "/" and self._origin and base in ("", self.url) and "/." not in link and link[1:2] != "/":
            return self._origin[0] + link
        for each in (base or self.url, self.url):
            with contextlib.suppress(ValueError):  # a base that is no address does not count
                return urljoin(each, link)
        return link

    def _names_a_host(self, name: str) -> bool:
        """Return whether the first part of an address without a scheme is a host and no folder."""
        if name.removeprefix("www.") in self._hosts:
            return True
        return name.startswith("www.") or ("/" not in name and name.rpartition(".")[2] in _COMMON_ENDS)


def _host(url: str) -> str:
    try:
        return (urlsplit(url if "://" in url else f"//{url}").hostname or "").removeprefix("www.")
    except ValueError:
        return ""
