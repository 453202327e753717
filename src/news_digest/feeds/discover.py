"""Find the feeds of a site from one of its pages: what it says itself, what it links to, then the usual places.

Pure: addresses are returned as candidates, the best first; whoever asked tries them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit

from news_digest.feeds.charset import charset_of, decoded
from news_digest.hygiene import clean

__all__ = ["Candidate", "candidates"]

_PAGE_CHARACTERS: Final = 1_000_000
_CANDIDATES_MOST: Final = 30
_TITLE_CHARACTERS: Final = 200

_TAG: Final = re.compile(r"<(link|a|base)\b((?>[^\"'<>]+|\"[^\"]*\"|'[^']*')*+)>", re.IGNORECASE)
_HIDDEN: Final = re.compile(r"<!--.*?-->|<(script|style|template)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_ATTRIBUTE: Final = re.compile(r"([A-Za-z-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))")
_TYPES: Final = frozenset(
    {
        *("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"),
        *("application/json", "application/xml", "text/xml", "application/x.atom+xml", "text/rss+xml"),
    }
)
_FEED_LIKE: Final = re.compile(
    r"(?:^|[/._-])(?:rss|atom|feeds?|rdf)(?:$|[/._?-])|\.(?:rss|atom|rdf)$|/(?:index|feed|rss)\.(?:xml|json)$",
    re.IGNORECASE,
)
_NO_FEED: Final = re.compile(r"\.(?:png|jpe?g|gif|svg|css|js|pdf)$|feedback|comments?/", re.IGNORECASE)
_PLACES: Final = (
    "feed",
    "rss",
    "atom.xml",
    "feed.xml",
    "rss.xml",
    "index.xml",
    "feed.json",
    "feeds/posts/default",
    "blog/feed",
)
"""Where WordPress, Ghost, Jekyll, Hugo, Blogger and most others put their feed, below a site."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An address that may be a feed, and how it was found: ``declared``, ``linked`` or ``guessed``."""

    url: str
    title: str = ""
    found: str = "declared"


def candidates(body: bytes, url: str, content_type: str = "") -> tuple[Candidate, ...]:
    """Return the addresses that may be feeds of a page's site, each once, the likeliest first.

    ``url`` is where the page came from. Feeds of comments come after all that the page declares.
    """
    page = _HIDDEN.sub(" ", decoded(body, charset_of(content_type))[:_PAGE_CHARACTERS])
    tags = [(match[1].lower(), _attributes(match[2])) for match in _TAG.finditer(page)]
    base = next((_joined(url, values["href"]) for name, values in tags if name == "base" and values.get("href")), url)
    declared = [each for name, values in tags if name == "link" for each in _declared(values, base)]
    declared.sort(key=lambda each: bool(re.search(r"comment", f"{each.url} {each.title}", re.IGNORECASE)))
    linked = [each for name, values in tags if name == "a" for each in _linked(values, base, url)]
    found: dict[str, Candidate] = {}
    for each in (*declared, *linked, *_usual(url)):
        found.setdefault(each.url, each)
    return tuple(found.values())[:_CANDIDATES_MOST]


def _attributes(text: str) -> dict[str, str]:
    from html import unescape  # noqa: PLC0415 - its table of names takes a while to load

    found = (
        (name.lower(), unescape(double or single or bare)) for name, double, single, bare in _ATTRIBUTE.findall(text)
    )
    return {name: " ".join(clean(value).split()) for name, value in found}


def _joined(base: str, href: str) -> str:
    href = re.sub(r"^feed:(?://)?(?=https?:)|^feed:(?=//)", "", href, flags=re.IGNORECASE)
    try:
        joined = urljoin(base, href).partition("#")[0]
    except ValueError:
        return ""
    return joined if joined.startswith(("http://", "https://")) else ""


def _declared(values: dict[str, str], base: str) -> Iterator[Candidate]:
    relations = values.get("rel", "").lower().split()
    kind = values.get("type", "").lower().partition(";")[0].strip()
    says = kind in _TYPES and (
        kind not in ("application/json", "text/xml", "application/xml") or _FEED_LIKE.search(values.get("href", ""))
    )
    if ("alternate" in relations and says) or "feed" in relations:
        address = _joined(base, values.get("href", ""))
        if address:
            yield Candidate(address, values.get("title", "")[:_TITLE_CHARACTERS])


def _linked(values: dict[str, str], base: str, url: str) -> Iterator[Candidate]:
    href = values.get("href", "")
    if not _FEED_LIKE.search(href) or _NO_FEED.search(href):
        return
    address = _joined(base, href)
    if address and _host(address).endswith(_site(url)):
        yield Candidate(address, values.get("title", "")[:_TITLE_CHARACTERS], "linked")


def _usual(url: str) -> Iterator[Candidate]:
    """Yield the usual places, below the page first, then below the site."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    root = f"{parts.scheme}://{parts.netloc}/"
    folder = root + parts.path.strip("/") + "/" if parts.path.strip("/") else root
    for start in dict.fromkeys((folder, root)):
        for place in _PLACES:
            yield Candidate(start + place, found="guessed")


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _site(url: str) -> str:
    """Return a host without ``www.``: feeds of a site often stand on another host below it."""
    return _host(url).removeprefix("www.")
