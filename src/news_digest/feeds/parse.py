"""Read a feed: bytes to entries, or an error that says what the bytes are instead.

Well-formed UTF-8 goes straight to expat. Anything else is decoded and mended first (:mod:`charset`, :mod:`repair`) and
then parsed just as strictly. Text is decoded later, for stories that are told (:mod:`text`).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit
from xml.etree.ElementTree import Element, ParseError, fromstring

from news_digest.errors import NotAFeed
from news_digest.feeds import xml_items
from news_digest.feeds.charset import bare_utf8, charset_of, decoded, looks_twice_encoded
from news_digest.feeds.items import Found, Item
from news_digest.feeds.text import SOURCE_CHARACTERS, Passage, Raw, plain
from news_digest.fingerprint import Marks, identify, unwrapped
from news_digest.model import Entry

__all__ = ["DECODED_BYTES", "ELEMENTS", "Document", "parse_feed", "read_items"]

DECODED_BYTES: Final = 16 * 1024 * 1024
"""What a compressed body may unfold to; the largest real feeds have some 5 MB."""
ELEMENTS: Final = 300_000
"""Tags of a document, or objects and lists; the largest real feed has 40,000, and each costs memory."""
_MARK_CHARACTERS: Final = 500
"""How much of a title or text stands for an entry that has nothing else to be known by."""

_BEFORE: Final = b"\xef\xbb\xbf \t\r\n"
_FEED_TAG: Final = re.compile(r"<(?:[A-Za-z0-9_-]+:)?(?:rss|feed|rdf|channel|item|entry)[\s>/]", re.IGNORECASE)
_BASED: Final = "xml:base"
_CDATA: Final = b"<![CDATA["
_FIND: Final = "`news-digest feeds add` with the site's address looks for its feed."
_AGAIN: Final = "Look at the address in a browser; if it is right, the site may be at fault for a while."


@dataclass(frozen=True, slots=True)
class Document:
    """A feed: its own title (plain text, may be empty) and its entries in their order."""

    title: str
    entries: tuple[Entry, ...]


def parse_feed(body: bytes, url: str, headers: Mapping[str, str] | None = None, feed_url: str = "") -> Document:
    """Return a feed's entries; an empty channel has none.

    ``url`` is the address that the body came from (relative links), ``headers`` are its HTTP headers with lower-case
    names (charset, ``content-location``), ``feed_url`` is the address as configured (identity; ``url`` without it).
    Raises :class:`~news_digest.errors.NotAFeed` with a reason and a hint for anything that is no feed.
    """
    return _document(read_items(body, url, headers), feed_url or url)


def read_items(body: bytes, url: str, headers: Mapping[str, str] | None = None) -> Found:
    """Return what a feed's document holds, before its items are told apart; as :func:`parse_feed`, which does that."""
    headers = headers or {}
    body = _unpacked(body, url)
    if not body.strip():
        raise NotAFeed("no feed", thing=url, cause="the document is empty", hint=_AGAIN)
    base = _location(url, headers.get("content-location", ""))
    return _found(body, base, charset_of(headers.get("content-type", "")), url)


def _location(url: str, location: str) -> str:
    """Return the address that relative links are relative to (RFC 9110, 8.7); a foreign scheme does not count."""
    try:
        joined = urljoin(url, location.strip()) if location else url
    except ValueError:
        return url
    return joined if joined.startswith(("http://", "https://")) else url


def _unpacked(body: bytes, url: str) -> bytes:
    """Return a body without gzip around it, which some servers send without a word, or twice."""
    for _ in range(2):
        if not body.startswith(b"\x1f\x8b"):
            break
        unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            body = unpacker.decompress(body, DECODED_BYTES)
        except zlib.error as error:
            raise NotAFeed("no feed", thing=url, cause="its compressed body is damaged", hint=_AGAIN) from error
        if unpacker.unconsumed_tail:
            limit = DECODED_BYTES // 1024 // 1024
            raise NotAFeed("no feed", thing=url, cause=f"it unfolds to more than {limit} MB", hint=_AGAIN)
    return body


# --- from bytes to items -------------------------------------------------------------------------------------------


def _found(body: bytes, base: str, charset: str, url: str) -> Found:
    if len(body) > ELEMENTS and body.count(b"<") > ELEMENTS and _tags(body) > ELEMENTS:
        raise NotAFeed("no feed", thing=url, cause=f"it has more than {ELEMENTS:,} tags", hint=_AGAIN)
    root = _parsed(body, charset)
    found = xml_items.find_items(root, base, based=_BASED.encode() in body) if root is not None else None
    if found is not None and found.items:
        return found
    text = decoded(body, charset).lstrip("\ufeff \t\r\n\x00")
    if text[:1] in ("{", "["):
        return _from_json(text, base, url)
    if not _FEED_TAG.search(text):
        raise _not_a_feed(text, url)
    if found is not None:
        return found
    found = _mended(text, base)
    if found is None or (not found.items and _is_page(text)):
        raise _not_a_feed(text, url)
    return found


def _tags(body: bytes) -> int:
    """Return how many tags there may be: all that stands outside of sections, and within those without an end."""
    first, *others = body.split(_CDATA)
    parts = (each.partition(b"]]>") for each in others)
    return first.count(b"<") + sum((after if end else inside).count(b"<") for inside, end, after in parts)


def _parsed(body: bytes, charset: str) -> Element | None:
    """Return the parsed document if its bytes are XML as they stand; entities of its own are never expanded here."""
    if body[:1] != b"<":
        body = body.lstrip(_BEFORE)  # the commonest fault of all: something before the declaration
    if body[:1] != b"<" or b"<!ENTITY" in body or not bare_utf8(body, charset) or looks_twice_encoded(body):
        return None
    try:
        return fromstring(body)  # noqa: S314 - without entities of its own, expat has nothing to expand
    except (ParseError, ValueError, LookupError):
        return None


def _mended(text: str, base: str) -> Found | None:
    from news_digest.feeds.repair import repaired, retouched  # noqa: PLC0415 - few feeds need it, and it takes a while

    for mend in (retouched, repaired):
        try:
            root = fromstring(mend(text))  # noqa: S314 - the repair drops the DOCTYPE
        except (ParseError, ValueError):
            continue
        return xml_items.find_items(root, base, based=_BASED in text)
    return None


def _from_json(text: str, base: str, url: str) -> Found:
    if text.count("{") + text.count("[") > ELEMENTS:
        raise NotAFeed("no feed", thing=url, cause=f"it has more than {ELEMENTS:,} parts", hint=_AGAIN)
    from news_digest.feeds import json_items  # noqa: PLC0415 - few feeds are JSON

    try:
        found = json_items.find_items(text, base)
    except ValueError as error:
        raise NotAFeed("no feed", thing=url, cause="its JSON is damaged or incomplete", hint=_AGAIN) from error
    if found is None:
        raise NotAFeed("no feed", thing=url, cause="it is JSON, but not a JSON Feed", hint=_FIND)
    return found


def _is_page(text: str) -> bool:
    return re.search(r"<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]", text[:4096], re.IGNORECASE) is not None


def _not_a_feed(text: str, url: str) -> NotAFeed:
    """Return the error that says what a document is."""
    start = text[:4096].lower()
    if _is_page(text):
        return NotAFeed("no feed", thing=url, cause="it is a web page, not a feed", hint=_FIND)
    kinds = {
        "<opml": ("a list of feeds (OPML)", "`news-digest feeds import` reads it."),
        "<urlset": ("a sitemap", _FIND),
        "<sitemapindex": ("a sitemap", _FIND),
        "<svg": ("an image", _FIND),
    }
    for mark, (what, hint) in kinds.items():
        if mark in start:
            return NotAFeed("no feed", thing=url, cause=f"it is {what}, not a feed", hint=hint)
    if _FEED_TAG.search(text):
        return NotAFeed("no feed", thing=url, cause="its XML is damaged beyond repair", hint=_AGAIN)
    what = "XML, but not a feed" if start.startswith("<") else "no feed that we know (RSS, Atom or JSON Feed)"
    return NotAFeed("no feed", thing=url, cause=f"it is {what}", hint=_FIND)


# --- from items to entries -----------------------------------------------------------------------------------------


def _document(found: Found, feed_url: str) -> Document:
    title = plain(found.title, SOURCE_CHARACTERS)
    source = title or _host(feed_url)
    identities = identify([_marks(item) for item in found.items], feed_url)
    siblings: list[Raw] = []
    entries = []
    for item, identity in zip(found.items, identities, strict=True):
        shown = item.target or unwrapped(item.link) or item.enclosure
        raw = Raw(item.title, item.teaser, item.content, shown, siblings)
        siblings.append(raw)
        entries.append(Entry(feed_url, source, item.identifier, item.link, item.published, identity, raw))
    return Document(title, tuple(entries))


def _marks(item: Item) -> Marks:
    title = _words(item.title)
    if not title and not item.identifier and not item.link:
        title = f"{_words(item.teaser) or _words(item.content)} {item.enclosure}".strip()
    return Marks(item.identifier, item.link, title, item.published, item.target)


def _words(passage: Passage) -> str:
    value = passage.value
    text = "".join(value.itertext()) if isinstance(value, Element) else value
    return str(text)[:_MARK_CHARACTERS].strip()


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
