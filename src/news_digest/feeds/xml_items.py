"""Items of RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, from a parsed document.

An element is known by its namespace and its name, so that ``media:title`` or an image's title never takes the place of
the item's own. Text is not touched here, except for dates and addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final
from xml.etree.ElementTree import Element

from news_digest.feeds.dates import read_date
from news_digest.feeds.items import Addresses, Found, Item
from news_digest.feeds.text import NOTHING, Passage, untyped

__all__ = ["find_items"]

_NAMESPACES: Final = {
    **dict.fromkeys(
        ("www.w3.org/2005/atom", "purl.org/atom/ns", "purl.org/rss/1.0", "my.netscape.com/rdf/simple/0.9"), ""
    ),
    **dict.fromkeys(("channel.netscape.com/rdf/simple/0.9", "backend.userland.com/rss2", "purl.org/net/rss1.1"), ""),
    **dict.fromkeys(("backend.userland.com/rss", "blogs.law.harvard.edu/tech/rss", "cyber.law.harvard.edu/rss"), ""),
    **dict.fromkeys(
        ("backend.userland.com/rss091", "backend.userland.com/rss092", "www.rssboard.org/rss-specification"), ""
    ),
    "purl.org/rss/1.0/modules/content": "content:",
    **dict.fromkeys(("purl.org/dc/elements/1.1", "purl.org/dc/elements/1.0", "purl.org/dc"), "dc:"),
    "purl.org/dc/terms": "dcterms:",
    "search.yahoo.com/mrss": "media:",
    "www.itunes.com/dtds/podcast-1.0.dtd": "itunes:",
    **dict.fromkeys(("rssnamespace.org/feedburner/ext/1.0", "www.pheedo.com/namespace/pheedo"), "feedburner:"),
    "www.w3.org/1999/xhtml": "xhtml:",
    "www.w3.org/1999/02/22-rdf-syntax-ns": "rdf:",
    **dict.fromkeys((f"prismstandard.org/namespaces/basic/{each}" for each in ("2.0", "2.1", "3.0")), "prism:"),
    **dict.fromkeys(("prismstandard.org/namespaces/1.2/basic", "purl.org/rss/1.0/modules/prism"), "prism:"),
    "www.google.com/schemas/play-podcasts/1.0": "googleplay:",
    **dict.fromkeys(("news.yandex.ru", "turbo.yandex.ru"), "yandex:"),
}
"""Namespaces without scheme and closing sign, and what their elements are called here; the core has no prefix."""

_FIELDS: Final = {
    **{"rss": "feed", "feed": "feed", "rdf:rdf": "feed", "rdf": "feed", "channel": "channel"},
    **{"item": "item", "entry": "entry", "title": "title", "link": "link", "guid": "id", "id": "id"},
    **dict.fromkeys(("dc:title", "itunes:title", "media:title"), "other title"),
    **dict.fromkeys(("description", "summary", "abstract"), "teaser"),
    **dict.fromkeys(("dc:description", "dcterms:abstract", "media:description", "itunes:summary"), "other teaser"),
    **dict.fromkeys(("itunes:subtitle", "googleplay:description"), "other teaser"),
    **dict.fromkeys(
        ("content:encoded", "content", "encoded", "fullitem", "body", "xhtml:body", "xhtml:div"), "content"
    ),
    **dict.fromkeys(("yandex:full-text", "yandex:content"), "content"),
    **dict.fromkeys(("pubdate", "published"), "published"),
    **dict.fromkeys(("issued", "dc:date", "dcterms:issued", "date", "prism:publicationdate"), "issued"),
    **dict.fromkeys(("publicationdate", "publisheddate"), "issued"),
    **dict.fromkeys(("created", "dcterms:created", "dcterms:date"), "created"),
    **dict.fromkeys(("updated", "modified", "dcterms:modified", "dcterms:updated", "lastbuilddate"), "updated"),
    **{"feedburner:origlink": "target", "enclosure": "enclosure", "media:content": "media", "media:group": "group"},
    "comments": "comments",
}
"""What an element is, by prefix and name in lower case."""
_ITEMS: Final = frozenset({"item", "entry"})
_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"
_ABOUT: Final = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
_RELATIONS: Final = re.compile(r"(?:[^\s/]*/)*(\S+)")
_ELSEWHERE: Final = ("enclosure", "canonical", "related", "via")
_OTHERS: Final = {"title": ("other title", "title"), "teaser": ("other teaser", "description")}
"""Where text is looked for next: in another vocabulary's elements, in a group of media."""
_MEDIA: Final = ("image/", "audio/", "video/")
_KINDS: Final = {
    **dict.fromkeys(("text", "text/plain", "plain"), "text"),
    **dict.fromkeys(("html", "text/html"), "html"),
    **dict.fromkeys(("xhtml", "application/xhtml+xml", "application/xml", "text/xml"), "xhtml"),
}


class _Fields(dict[str, str]):
    """What each tag of one document is; empty for those that no digest needs."""

    def __init__(self, core: set[str]) -> None:
        super().__init__()
        self._core = {"", *core}

    def __missing__(self, tag: str) -> str:
        space, name = _name(tag)
        prefix = "" if space in self._core else _NAMESPACES.get(space)
        field = "" if prefix is None else _FIELDS.get(prefix + name, "")
        self[tag] = field
        return field


def _name(tag: object) -> tuple[str, str]:
    """Return a tag's namespace, without scheme and closing sign, and its name, both in lower case."""
    space, _, name = str(tag).rpartition("}")
    return space.lstrip("{").lower().removeprefix("https://").removeprefix("http://").rstrip("/#"), name.lower()


def find_items(root: Element, url: str, *, based: bool) -> Found | None:
    """Return what the feed in a document holds, the first one that has items; None where there is no feed.

    ``url`` is the address that relative links are relative to. ``based``: the document may have ``xml:base`` somewhere;
    without it nobody looks.
    """
    first = None
    for element, above in _feeds(root):
        found = _read_feed(element, _base(above, url), based=based)
        if found.items:
            return found
        first = first or found
    return first


def _feeds(root: Element) -> Iterator[tuple[Element, list[Element]]]:
    """Yield the elements that are feeds, with those above them; a feed within a feed is not one of its own."""
    todo: list[tuple[Element, list[Element]]] = [(root, [])]
    while todo:
        element, above = todo.pop()
        space, name = _name(element.tag)
        prefix = _NAMESPACES.get(space, "")
        if _FIELDS.get(prefix + name) in ("feed", "channel"):
            yield element, above
        else:
            todo.extend((child, [*above, element]) for child in reversed(element) if len(above) < _DEEPEST_FEED)


_DEEPEST_FEED: Final = 6
"""A feed stands at the root, or within ``html`` and ``body``, or a wrapper or two."""


def _base(elements: Iterable[Element], url: str) -> str:
    """Return the base address that ``xml:base`` attributes from the outside in make."""
    base = url
    for element in elements:
        inner = element.get(_BASE)
        if inner and not inner.startswith("#"):
            base = Addresses(url).absolute(inner, base)
    return base


# --- the feed ------------------------------------------------------------------------------------------------------


def _read_feed(feed: Element, url: str, *, based: bool) -> Found:
    fields = _Fields({_name(feed.tag)[0], *(_name(each.tag)[0] for each in feed if _name(each.tag)[1] == "channel")})
    entries: list[tuple[Element, str]] = []
    titles: dict[str, list[Element]] = {}
    home = ""
    for child, field, base in _children(feed, fields, _base([feed], url)):
        if field in _ITEMS:
            entries.append((child, base))
        elif field in ("title", "other title"):
            titles.setdefault(field, []).append(child)
        elif field == "link" and not home:
            home = _home(child)
    if not entries:
        entries = [(element, _base([feed], url)) for element in _strays(feed, fields)]
    reader = _Reader(fields, Addresses(url, home), based=based)
    items = [item for element, above in entries if (item := reader.read(element, above))]
    atom = fields[feed.tag] == "feed" and _name(feed.tag)[1] == "feed"
    return Found(_best(titles, "title", atom=atom), items)


def _children(feed: Element, fields: _Fields, base: str) -> Iterator[tuple[Element, str, str]]:
    """Yield what stands in a feed and in its channels, with what it is and its base address."""
    for child in feed:
        field = fields[child.tag]
        if field != "channel":
            yield child, field, base
            continue
        below = _base([child], base)
        for each in child:
            yield each, fields[each.tag], below


def _home(link: Element) -> str:
    return (link.get("href") if link.get("rel", "alternate") == "alternate" else "") or (link.text or "").strip()


def _strays(feed: Element, fields: _Fields) -> list[Element]:
    """Return the items wherever they stand below a feed, but for those within items."""
    found: list[Element] = []
    todo = list(reversed(feed))
    while todo:
        element = todo.pop()
        if fields[element.tag] in _ITEMS:
            found.append(element)
        else:
            todo.extend(reversed(element))
    return found


# --- one item ------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads the items of one feed."""

    def __init__(self, fields: _Fields, addresses: Addresses, *, based: bool) -> None:
        self._fields = fields
        self._addresses = addresses
        self._based = based

    def read(self, element: Element, base: str) -> Item | None:
        """Return an item, None for one that holds nothing at all."""
        if self._based:
            base = _base([element], base)
        parts: dict[str, list[Element]] = {}
        fields = self._fields
        for child in element:
            field = fields[child.tag]
            if field:
                parts.setdefault(field, []).append(child)
        atom = fields[element.tag] == "entry"
        guid = _first(parts.get("id", ()))
        identifier = _text(guid) if guid is not None else element.get(_ABOUT, "")
        link = self._link(parts, element, base, atom=atom)
        item = Item(
            identifier,
            link,
            next((text for each in parts.get("target", ()) if (text := _text(each).strip())), ""),
            _published(parts),
            _best(parts, "title", atom=atom),
            _best(parts, "teaser", atom=atom),
            _best(parts, "content", atom=atom),
            "" if link else self._enclosure(parts, base),
        )
        return item or None

    def _link(self, parts: dict[str, list[Element]], item: Element, base: str, *, atom: bool) -> str:
        links = parts.get("link", ())
        for address, element in self._candidates(links, parts, item, atom=atom):
            if address:
                own = _base([element], base) if self._based else base
                return self._addresses.absolute(address, own)
        return ""

    def _candidates(
        self, links: Iterable[Element], parts: dict[str, list[Element]], item: Element, *, atom: bool
    ) -> Iterator[tuple[str, Element]]:
        """Yield addresses with the elements that they stand in, the best first."""
        plain = [(text, link) for link in links if not link.get("href") and (text := (link.text or "").strip())]
        if not atom:
            yield from plain
        best = _alternate(links)
        if best is not None:
            yield (best.get("href") or "").strip(), best
        if atom:
            yield from ((text, link) for text, link in plain if _relation(link) == "alternate")
            yield from ((each.get("src", ""), each) for each in parts.get("content", ()))
        for guid in parts.get("id", ()):
            if _is_permalink(guid, atom=atom):
                yield _text(guid).strip(), guid
        yield item.get(_ABOUT, ""), item
        yield from ((text, link) for text, link in plain if atom and len(plain) == 1)
        # Programs that take RSS for HTML close a link before its address.
        yield from ((text, link) for link in links if not link.text and _is_web(text := (link.tail or "").strip()))

    def _enclosure(self, parts: dict[str, list[Element]], base: str) -> str:
        links = [link for each in _ELSEWHERE for link in parts.get("link", ()) if _relation(link) == each]
        elements = (*parts.get("enclosure", ()), *parts.get("media", ()), *links)
        addresses = [each.get("url") or each.get("href") or "" for each in elements]
        addresses += [text for each in parts.get("comments", ()) if _is_web(text := _text(each).strip())]
        return next((self._addresses.absolute(each, base) for each in addresses if each), "")


def _is_permalink(guid: Element, *, atom: bool) -> bool:
    text = _text(guid).strip()
    if atom:
        return _is_web(text)
    says = next((value.strip().lower() for name, value in guid.items() if name.lower() == "ispermalink"), "")
    return says != "false" and (_is_web(text) or (says == "true" and ":" not in text.partition("/")[0]))


def _is_web(address: str) -> bool:
    return address[:8].lower().startswith(("http://", "https://"))


def _relation(link: Element) -> str:
    """Return what a link is: without a word an alternate, and of several words an alternate if one says so."""
    relation = link.get("rel")
    if relation is None or relation == "alternate":
        return "alternate"
    words = _RELATIONS.findall(relation.lower()) or ["alternate"]
    return "alternate" if "alternate" in words else str(words[0])


def _alternate(links: Iterable[Element]) -> Element | None:
    """Return the link that leads to the story: an alternate, a page before other types; none of self, edit, replies."""
    best = None
    for link in links:
        if link.get("href") and _relation(link) == "alternate":
            kind = link.get("type") or "text/html"
            if "html" in kind:
                return link
            best = best if best is not None else link
    return best


def _published(parts: dict[str, list[Element]]) -> datetime | None:
    """Return the first date in the order of what they mean; of several that mean the same, the last that is one."""
    for field in ("published", "issued", "created", "updated"):
        for element in reversed(parts.get(field, ())):
            found = read_date(_text(element))
            if found is not None:
                return found
    return None


# --- text ----------------------------------------------------------------------------------------------------------


def _text(element: Element) -> str:
    return "".join(element.itertext()) if len(element) else element.text or ""


def _first(elements: Sequence[Element]) -> Element | None:
    """Return the first element that holds something, else the first."""
    if len(elements) > 1:
        for element in elements:
            if len(element) or (element.text and not element.text.isspace()):
                return element
    return elements[0] if elements else None


def _best(parts: dict[str, list[Element]], field: str, *, atom: bool) -> Passage:
    """Return the text of a field; without one, the fullest that another vocabulary has, or the item's media."""
    elements = parts.get(field)
    element = _first(elements) if elements else None
    passage = _passage(element, atom=atom) if element is not None else NOTHING
    if passage is not NOTHING or field not in _OTHERS:
        return passage
    other, name = _OTHERS[field]
    if other in parts:
        return _passage(max(parts[other], key=lambda each: len(each.text or "")), atom=False)
    found = (child for group in parts.get("group", ()) for child in group if _name(child.tag)[1] == name)
    return next((_passage(each, atom=False) for each in found), NOTHING)


def _passage(element: Element, *, atom: bool) -> Passage:
    """Return the text of an element with what it is; in RSS it is HTML, in Atom its type says."""
    if len(element):
        return Passage("xhtml", element)
    text = element.text or ""
    if not text or text.isspace() or element.get("type", "").startswith(_MEDIA):
        return NOTHING
    if not atom:
        return Passage("html", text)
    kind, mode = (element.get("type") or "").strip().lower().partition(";")[0], element.get("mode")
    if mode == "base64" or (
        mode is None and kind and "/" in kind and not kind.startswith("text/") and "xml" not in kind
    ):
        return Passage("base64", text)
    if mode == "escaped" and "html" in kind:
        return Passage("html", text)
    named = _KINDS.get(kind)
    return untyped(text) if named is None else Passage("html" if named == "xhtml" else named, text)
