"""A feed's bytes to its entries: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, JSON Feed 1.x, with the standard library alone.

In three steps, each only where the one before failed: the parser as it is, the text repaired, item by item. Text stays
raw in ``Entry.raw`` (:class:`~news_digest.feeds.raw.Raw`) until selection has kept the entry.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit
from xml.etree.ElementTree import Element, ParseError, fromstring

from news_digest.errors import NotAFeed
from news_digest.feeds import repair
from news_digest.feeds.elements import Fields, read_item
from news_digest.feeds.names import local, place
from news_digest.feeds.raw import Raw, Siblings
from news_digest.fingerprint import Marks, identify
from news_digest.model import Entry

__all__ = ["Document", "parse_feed"]

DECODED_BYTES: Final = 50 * 1024 * 1024
"""Cap of a compressed body that came without a header; a 200 kB file can hold 200 MB."""
DEPTH: Final = 200
"""Elements nest a dozen deep; what is deeper is no feed, and would exhaust the stack."""
ENTRIES: Final = 20_000
"""The newest of more; the largest feed on record has 10,000."""

_HTML: Final = re.compile(rb"(?i)<(?:!doctype\s+html|html|head|body)[\s>]")
_PLAIN_UTF8: Final = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["'](?!utf-?8["'])""", re.IGNORECASE)
_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_RSS_ROOTS: Final = frozenset({"rss", "RDF", "channel"})


@dataclass(frozen=True, slots=True)
class Document:
    """A feed as its publisher gave it: title in plain text, entries in their order."""

    title: str
    entries: tuple[Entry, ...]
    skipped: int = 0
    """Items that could not be read even one by one."""


def parse_feed(body: bytes, url: str, headers: Mapping[str, str] | None = None, feed_url: str = "") -> Document:
    """Return the feed in a body that came from ``url``; ``feed_url`` is the address as configured (identity belongs to it).

    ``headers`` have lower-case names. An empty channel is a feed without entries. Raises ``NotAFeed`` with the reason, for a
    page, a challenge, an empty body or something else.
    """
    content_type = (headers or {}).get("content-type", "")
    body = _inflated(body, url)
    stripped = body.strip(b"\xef\xbb\xbf\x00\r\n\t ")
    if not stripped:
        raise _not_a_feed(url, "the answer is empty", "try again later, or look whether the feed has moved")
    if stripped[:1] in b"{[":
        from news_digest.feeds.json_feed import read_json_feed  # noqa: PLC0415 - few feeds are JSON

        title, home, items = read_json_feed(repair.decoded(body, content_type), url)
        return _document(title, home, items, url, feed_url or url)
    root, skipped = _tree(body, url, content_type)
    return _read(root, url, feed_url or url, skipped)


def _inflated(body: bytes, url: str) -> bytes:
    """Return a body that was compressed without saying so; two layers were seen in the wild."""
    for _ in range(2):
        if not body.startswith(b"\x1f\x8b"):
            break
        try:
            reader = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            body = reader.decompress(body, DECODED_BYTES)
        except (zlib.error, gzip.BadGzipFile, EOFError) as error:
            raise _not_a_feed(url, f"its compressed body is damaged: {error}", "try again later") from error
        if reader.unconsumed_tail:
            raise _not_a_feed(url, f"it is larger than {DECODED_BYTES} bytes", "remove the feed") from None
    return body


def _not_a_feed(url: str, cause: str, hint: str) -> NotAFeed:
    return NotAFeed("cannot read the feed", thing=url, cause=cause, hint=hint)


# --- the tree ------------------------------------------------------------------------------------------------------


def _tree(body: bytes, url: str, content_type: str) -> tuple[Element, int]:
    """Return the root, and how many items were skipped on the way to it."""
    if not _PLAIN_UTF8.match(body[:300]) and not body.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            root = fromstring(body)
        except (ParseError, ValueError, LookupError):
            root = None
        if root is not None and _is_feed(root):
            return _known_names(root), 0
    text = repair.repaired(repair.decoded(body, content_type))
    try:
        root = fromstring(text)
    except (ParseError, ValueError):
        return _salvaged(text, body, url)
    if not _is_feed(root):
        raise _other(root, body, url)
    return _known_names(root), 0


def _is_feed(root: Element) -> bool:
    return local(root.tag) in _RSS_ROOTS or local(root.tag) == "feed"


def _known_names(root: Element) -> Element:
    """Put Atom's names in place of a namespace that somebody made up for a feed."""
    space, brace, name = root.tag.rpartition("}")
    if brace and name == "feed" and place(root.tag) not in ("core", "atom"):
        for element in root.iter():
            if isinstance(element.tag, str) and element.tag.startswith(space + "}"):
                element.tag = _ATOM + element.tag[len(space) + 1 :]
    return root


def _salvaged(text: str, body: bytes, url: str) -> tuple[Element, int]:
    """Return a channel of the items that can be read one by one."""
    channel, skipped = Element("channel"), 0
    head = repair.head_of(text)
    for part in head:
        try:
            channel.extend(fromstring(part))
        except (ParseError, ValueError):
            continue
    for item in repair.items_of(text):
        try:
            channel.extend(fromstring(item))
        except (ParseError, ValueError):
            skipped += 1
    if not any(local(child.tag) in ("item", "entry") for child in channel):
        raise _other(None, body, url)
    return channel, skipped


def _other(root: Element | None, body: bytes, url: str) -> NotAFeed:
    start = body[:4000]
    name = local(root.tag).lower() if root is not None else ""
    if name == "html" or _HTML.search(start):
        lower = start.lower()
        if any(word in lower for word in (b"captcha", b"cf-chl", b"challenge", b"just a moment", b"are you a robot")):
            return _not_a_feed(url, "a page that asks whether you are a person", "the site blocks programs; ask it for access")
        return _not_a_feed(url, "it is a web page, not a feed", "`news-digest feeds add` finds the feeds of a page")
    if name:
        return _not_a_feed(url, f"it is <{name}>, not a feed", "look whether the address is the feed's")
    return _not_a_feed(url, "it is no XML and no JSON feed", "look whether the address is the feed's")


# --- the entries ---------------------------------------------------------------------------------------------------


def _read(root: Element, url: str, feed_url: str, skipped: int) -> Document:
    if _depth_exceeds(root, DEPTH):
        raise _not_a_feed(url, f"it nests deeper than {DEPTH} elements", "remove the feed")
    base = _joined(url, _base(root))
    channel = _channel(root)
    inner = base if channel is root else _joined(base, _base(channel))
    title, home = _about(channel, inner)
    atom = local(root.tag) == "feed"
    holders = (channel,) if channel is root else (channel, root)
    items = [
        (child, inner if holder is channel else base)
        for holder in holders
        for child in holder
        if local(child.tag) in ("item", "entry") and place(child.tag) in ("core", "atom")
    ]
    fields = [read_item(item, _joined(at, _base(item)), atom=atom) for item, at in items[:ENTRIES]]
    return _document(title, home, fields, url, feed_url, skipped)


def _depth_exceeds(root: Element, limit: int) -> bool:
    level: list[Element] = [root]
    for _ in range(limit):
        level = [child for element in level for child in element if len(child)]
        if not level:
            return False
    return True


def _base(element: Element) -> str:
    return (element.get("{http://www.w3.org/XML/1998/namespace}base") or "").strip()


def _joined(base: str, link: str) -> str:
    if not link:
        return base
    try:
        return urljoin(base, link)
    except ValueError:
        return link


def _channel(root: Element) -> Element:
    if local(root.tag) in ("feed", "channel"):
        return root
    return next((child for child in root if local(child.tag) == "channel"), root)


def _about(channel: Element, base: str) -> tuple[str, str]:
    """Return the feed's title, raw, and the address of its site."""
    title, home, titled = "", "", -1
    for child in channel:
        name, where = local(child.tag), place(child.tag)
        rank = {"core": 3, "atom": 2, "dc": 1}.get(where, 0)
        if name == "title" and rank > titled and ("".join(child.itertext()).strip() or titled < 0):
            title, titled = Raw.of_element(child, atom=where == "atom" or local(channel.tag) == "feed").title(), rank
        elif name == "link" and not home:
            rel = child.get("rel", "alternate")
            home = (child.text or "").strip() or (child.get("href", "") if rel == "alternate" else "")
    return title, _joined(base, home.strip())


def _document(
    title: str, home: str, items: Sequence[Fields], url: str, feed_url: str, skipped: int = 0
) -> Document:
    source = title or _host(home) or _host(url)
    kept = [item for item in items if item.identifier.strip() or item.link or item.raw.has_text()]
    marks = [Marks(item.identifier, item.link, item.raw.mark(), item.published, item.raw.target) for item in kept]
    siblings = Siblings(tuple(item.raw for item in kept))
    entries = []
    for item, identity in zip(kept, identify(marks, feed_url), strict=True):
        raw = item.raw.among(siblings)
        entries.append(Entry(feed_url, source, item.identifier, item.link, item.published, identity, raw))
    return Document(title, tuple(entries), skipped)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
