"""Find the feeds of a site from one of its pages: what it says itself, what it links to, then the usual places.

Pure: addresses are returned as candidates, the best first; whoever asked tries them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit

from news_digest.feeds.charset import charset_of, decoded
from news_digest.hygiene import clean

__all__ = ["Candidate", "by_service", "candidates", "is_of_comments", "onward"]

_PAGE_CHARACTERS: Final = 1_000_000
_CANDIDATES_MOST: Final = 12
"""Of each kind: a site that names more has one feed per tag."""
_ALL_MOST: Final = 100
_ONWARD_MOST: Final = 4
_TITLE_CHARACTERS: Final = 200
_LABEL_CHARACTERS: Final = 200
"""How much of a page behind a link's tag is looked at for its words."""

_TAG: Final = re.compile(r"<(link|a|base|meta|frame)\b((?>[^\"'<>]+|\"[^\"]*\"|'[^']*')*+)>", re.IGNORECASE)
_HIDDEN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|template)\b(?![^>]{0,500}/>).*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
"""What is left open hides the rest, as in a browser; looking for an end again and again would take hours."""
_ATTRIBUTE: Final = re.compile(r"([A-Za-z-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))")
_FEED_TYPE: Final = re.compile(r"rss|atom|rdf|feed.json")
_VAGUE_TYPES: Final = frozenset({"", "application/json", "application/xml", "text/xml"})
"""Types that an alternate may also have without being a feed: its address has to look like one."""
_FEED_LIKE: Final = re.compile(
    r"(?:^|[/._-])(?:rss|atom|feeds?|rdf)(?:$|[/._?-])|\.(?:rss|atom|rdf)$|/(?:index|feed|rss)\.(?:xml|json)$"
    r"|[?&](?:feed|format|type)=(?:rss|atom|feed|rdf)",
    re.IGNORECASE,
)
_FEED_LABEL: Final = re.compile(r"\b(?:rss|atom|feeds?|rdf)\b", re.IGNORECASE)
_FEED_HOST: Final = re.compile(r"(?:feeds?|rss)\d?\.", re.IGNORECASE)
"""Hosts of feeds alone: distributors of many sites' feeds and podcasts are called so."""
_NO_FEED: Final = re.compile(r"\.(?:png|jpe?g|gif|svg|css|js|pdf)$|feedback|comments?/", re.IGNORECASE)
_COMMENTS: Final = re.compile(r"(?<![a-z])comment(?:s|aires?)?(?![a-z])", re.IGNORECASE)
"""As a word: a commentary is no comment, nor is a host of that name."""
_REFRESH: Final = re.compile(r"\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)
_PLACES: Final = ("feed", "rss", "atom.xml", "feed.xml", "rss.xml", "index.xml")
"""Where WordPress, Ghost, Jekyll, Hugo and most others put their feed, below a site or a part of it."""
_PLACES_OF_SITES: Final = (
    *("feed.json", "feeds/posts/default", "blog/feed", "blog/rss.xml", "blog/atom.xml", "blog/index.xml"),
    *("?feed=rss2", "feeds/all.atom.xml", "feed.atom", "index.rss", "index.php?format=feed&type=rss"),
)
"""Below a site alone: Blogger, blogs beside a home page, WordPress without pretty addresses, Pelican, Joomla."""
_SERVICES: Final = tuple(
    (re.compile(r"https?://" + address + r"/?(?:[&?#].*)?", re.IGNORECASE), feed)
    for address, feed in (
        (r"(?:www\.|m\.)?youtube\.com/channel/(UC[\w-]+)(?:/\w+)?", "www.youtube.com/feeds/videos.xml?channel_id={}"),
        (r"(?:www\.|m\.)?youtube\.com/playlist\?list=([\w-]+)", "www.youtube.com/feeds/videos.xml?playlist_id={}"),
        (r"(?:\w+\.)?reddit\.com/((?:r|u|user)/[\w-]+)", "www.reddit.com/{}/.rss"),
        (r"github\.com/([\w.-]+/[\w.-]+)(?:/releases)?", "github.com/{}/releases.atom"),
        (r"(?:www\.)?medium\.com/(@[\w.-]+|[\w-]+)", "medium.com/feed/{}"),
        (r"bsky\.app/profile/([\w.:-]+)", "bsky.app/profile/{}/rss"),
        (r"stackoverflow\.com/questions/tagged/([^/?#]+)", "stackoverflow.com/feeds/tag/{}"),
    )
)
"""Services whose pages keep programs out or name no feed, and where they have it."""


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
    page, tags = _tags(body, content_type)
    base = _base(tags, url)
    links = (each for name, values, _ in tags if name == "link" for each in _declared(values, base))
    anchors = ((values, _label(page, end)) for name, values, end in tags if name == "a")
    linked = (each for values, label in anchors for each in _linked(values, label, base, url))
    declared = sorted(_once(links, _CANDIDATES_MOST), key=is_of_comments)
    return _once((*by_service(url), *declared, *_once(linked, _CANDIDATES_MOST), *_usual(url)), _ALL_MOST)


def by_service(url: str) -> tuple[Candidate, ...]:
    """Return the feed of a page of a well-known service, by its address alone."""
    matches = ((pattern.fullmatch(url), feed) for pattern, feed in _SERVICES)
    return tuple(Candidate("https://" + feed.format(match[1])) for match, feed in matches if match)


def onward(body: bytes, url: str, content_type: str = "") -> tuple[str, ...]:
    """Return where a page without content of its own leads: its refresh, else its frames."""
    _, tags = _tags(body, content_type)
    base = _base(tags, url)
    refreshes = [
        values for name, values, _ in tags if name == "meta" and values.get("http-equiv", "").lower() == "refresh"
    ]
    matches = (_REFRESH.match(values.get("content", "")) for values in refreshes)
    frames = (values.get("src", "") for name, values, _ in tags if name == "frame")
    leads = (*(match[1].strip() for match in matches if match), *frames)
    addresses = dict.fromkeys(_joined(base, lead) for lead in leads if lead)
    return tuple(each for each in addresses if each and each != url)[:_ONWARD_MOST]


def is_of_comments(candidate: Candidate) -> bool:
    """Return whether a feed holds comments on stories and not the stories, as far as it says so."""
    _, _, path = candidate.url.partition("://")[2].partition("/")
    return bool(_COMMENTS.search(f"{path} {candidate.title}"))


def _once(found: Iterable[Candidate], most: int) -> tuple[Candidate, ...]:
    """Return the first of them, each address once."""
    kept: dict[str, Candidate] = {}
    for each in found:
        kept.setdefault(each.url, each)
        if len(kept) == most:
            break
    return tuple(kept.values())


def _tags(body: bytes, content_type: str) -> tuple[str, list[tuple[str, dict[str, str], int]]]:
    """Return a page without what it hides, and its tags: name, attributes, and where each ends."""
    page = _HIDDEN.sub(" ", decoded(body, charset_of(content_type))[:_PAGE_CHARACTERS])
    return page, [(match[1].lower(), _attributes(match[2]), match.end()) for match in _TAG.finditer(page)]


def _base(tags: list[tuple[str, dict[str, str], int]], url: str) -> str:
    found = (_joined(url, values["href"]) for name, values, _ in tags if name == "base" and values.get("href"))
    return next(filter(None, found), url)


def _label(page: str, end: int) -> str:
    """Return what a link says, descriptions of its pictures included."""
    inner = re.split(r"</a\b", page[end : end + _LABEL_CHARACTERS], maxsplit=1, flags=re.IGNORECASE)[0]
    pictures = re.findall(r"\b(?:alt|title|aria-label)\s*=\s*[\"']([^\"']*)", inner, re.IGNORECASE)
    return " ".join([re.sub(r"<[^>]*>?", " ", inner), *pictures])


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
    vague = kind in _VAGUE_TYPES and bool(_FEED_LIKE.search(values.get("href", "")))
    if ("alternate" in relations and (vague or _FEED_TYPE.search(kind))) or {"feed", "service.feed"} & set(relations):
        address = _joined(base, values.get("href", ""))
        if address:
            yield Candidate(address, values.get("title", "")[:_TITLE_CHARACTERS])


def _linked(values: dict[str, str], label: str, base: str, url: str) -> Iterator[Candidate]:
    href, title = values.get("href", ""), values.get("title", "")
    says = f"{label} {title} {values.get('aria-label', '')}"
    if not href or not (_FEED_LIKE.search(href) or _FEED_LABEL.search(says)) or _NO_FEED.search(href):
        return
    address = _joined(base, href)
    host = _host(address)
    if address and (f".{host}".endswith(f".{_site(url)}") or _FEED_HOST.match(host)):
        yield Candidate(address, title[:_TITLE_CHARACTERS], "linked")


def _usual(url: str) -> Iterator[Candidate]:
    """Yield the usual places, below the page first, then below the site."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    root, path = f"{parts.scheme}://{parts.netloc}/", parts.path.strip("/")
    if path.rpartition("/")[2].startswith("@"):
        yield Candidate(f"{root}{path}.rss", found="guessed")  # Mastodon and its like
    for start in dict.fromkeys((f"{root}{path}/" if path else root, root)):
        yield from (Candidate(start + place, found="guessed") for place in _PLACES)
    yield from (Candidate(root + place, found="guessed") for place in _PLACES_OF_SITES)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _site(url: str) -> str:
    """Return a host without ``www.``: feeds of a site often stand on another host below it."""
    return _host(url).removeprefix("www.")
