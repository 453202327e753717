"""Lists of feeds as OPML 2.0: read what any reader exports, write what any reader imports.

Folders are tags, from the outside in. A plain list of addresses, one a line, is read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element, ParseError, fromstring

from news_digest.config import is_address
from news_digest.errors import ConfigError
from news_digest.feeds.charset import decoded
from news_digest.feeds.repair import repaired
from news_digest.fingerprint import wide_link
from news_digest.hygiene import clean
from news_digest.model import FeedSource

__all__ = ["FEEDS_MOST", "Subscriptions", "read_opml", "write_opml"]

FEEDS_MOST: Final = 20_000
"""Feeds of one list; the largest public ones have some thousands."""
_LIST_BYTES: Final = 16 * 1024 * 1024
_FOLDERS_MOST: Final = 16
_NAME_CHARACTERS: Final = 200
_HINT: Final = "export the feeds from the other reader as OPML again, or give a list with one address a line"
_SCRAPED: Final = re.compile(r"\+", re.ASCII)
"""In the type of an outline that is no feed but a page to take apart: ``HTML+XPath`` and its like (FreshRSS)."""
_LINE: Final = re.compile(r"""(\S+)((?:\s+(?:"[^"]*"|[^\s"]+))*)""")
_NO_FEED: Final = re.compile(r'"?(?:query|filter|exec):')
"""Lines of such a list that name a program or a search in place of a feed (Newsboat)."""
_WORD: Final = re.compile(r'"([^"]*)"|(\S+)')


class Subscriptions(NamedTuple):
    """The feeds of a list, each address once; ``left_out`` are the entries that name no address we can ask."""

    feeds: tuple[FeedSource, ...]
    left_out: tuple[str, ...] = ()


def read_opml(body: bytes, name: str = "the list") -> Subscriptions:
    """Return the feeds of a list, with the folders that hold them as tags.

    Raises :class:`~news_digest.errors.ConfigError` for what is no list. Entities of its own are never expanded.
    """
    if len(body) > _LIST_BYTES:
        raise ConfigError("cannot import", thing=name, cause="it is larger than 16 MB", hint=_HINT)
    root = _parsed(body)
    top = None if root is None else _opml_of(root)
    entries = _plain(body) if top is None else _outlined(top)
    if entries is None:
        raise ConfigError("cannot import", thing=name, cause="it is no OPML, and no list of addresses", hint=_HINT)
    if len(entries) > FEEDS_MOST:
        raise ConfigError(
            "cannot import", thing=name, cause=f"it has more than {FEEDS_MOST} feeds", hint="import it in parts"
        )
    feeds = _once(source for source in entries if is_address(source.url))
    return Subscriptions(feeds, tuple(source.url for source in entries if not is_address(source.url)))


def _opml_of(root: Element) -> Element | None:
    return root if _is(root, "opml") else next((each for each in root if _is(each, "opml")), None)


def _outlined(top: Element) -> list[FeedSource]:
    """Return the feeds of outlines, in their order; their addresses as they are given."""
    found: list[FeedSource] = []
    todo: list[tuple[Element, tuple[str, ...]]] = [(each, ()) for each in reversed(top)]
    while todo:
        element, folders = todo.pop()
        source = _source(element, folders) if _is(element, "outline") else None
        if source is not None:
            found.append(source)
        inner = (*folders, _label(element)) if source is None and _is(element, "outline") else folders
        inner = tuple(dict.fromkeys(each for each in inner if each))[:_FOLDERS_MOST]
        todo.extend((child, inner) for child in reversed(element))
    return found


def _plain(body: bytes) -> list[FeedSource] | None:
    """Return the feeds of a list with an address a line, None where a line has none.

    What follows a ``#`` is a comment; words behind an address are tags, one with ``~`` in front is its name (Newsboat).
    """
    lines = (line.strip() for line in decoded(body[:_LIST_BYTES]).splitlines())
    found = []
    for line in lines:
        if not line or line.startswith("#"):
            continue
        if _NO_FEED.match(line):
            found.append(FeedSource(line))
            continue
        match = _LINE.fullmatch(line)
        if not match or ":" not in match[1] or not is_address(_address(match[1])):
            return None  # a sentence is no list, and "read.me" in it no address
        before = takewhile(lambda word: not word[1].startswith("#"), _WORD.findall(match[2]))
        words = [quoted or bare for quoted, bare in before]
        names = [word[1:] for word in words if word.startswith("~")]
        tags = tuple(dict.fromkeys(word for word in words if word and not word.startswith(("~", "!"))))
        found.append(FeedSource(_address(match[1]), " ".join(clean("".join(names[:1])).split()), tags))
    return found or None


def write_opml(sources: Iterable[FeedSource], title: str = "Feeds") -> str:
    """Return feeds as OPML, in folders by their tags; in each folder the feeds stand before its folders."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<opml version="2.0">']
    lines += [f"<head><title>{_escaped(title)}</title></head>", "<body>"]
    lines += _outlines([(source, source.tags) for source in sources], 1)
    return "\n".join([*lines, "</body>", "</opml>", ""])


def _once(entries: Iterable[FeedSource]) -> tuple[FeedSource, ...]:
    """Return each feed once, however its address is written (scheme, ``www.``, closing slash), with all its tags.

    Readers export a feed that stands in two folders twice.
    """
    found: dict[str, FeedSource] = {}
    for entry in entries:
        first = found.setdefault(wide_link(entry.url), entry)
        tags = tuple(dict.fromkeys((*first.tags, *entry.tags)))
        found[wide_link(entry.url)] = replace(first, name=first.name or entry.name, tags=tags)
    return tuple(found.values())


def _parsed(body: bytes) -> Element | None:
    if b"<!ENTITY" not in body:
        try:
            return fromstring(body)  # noqa: S314 - without entities of its own, expat has nothing to expand
        except (ParseError, ValueError, LookupError):
            pass
    try:
        return fromstring(repaired(decoded(body)))  # noqa: S314 - the repair drops the DOCTYPE
    except (ParseError, ValueError):
        return None


def _is(element: Element, name: str) -> bool:
    return str(element.tag).rpartition("}")[2].lower() == name


def _attributes(element: Element) -> Mapping[str, str]:
    return {name.lower(): " ".join(clean(value).split()) for name, value in element.items()}


def _label(element: Element) -> str:
    values = _attributes(element)
    return (values.get("text") or values.get("title") or "")[:_NAME_CHARACTERS]


def _source(element: Element, folders: tuple[str, ...]) -> FeedSource | None:
    """Return the feed of an outline, None for a folder."""
    values = _attributes(element)
    kind = values.get("type", "").lower()
    url = values.get("xmlurl") or (values.get("url", "") if kind in ("rss", "atom") else "")
    if not url:
        return None
    if _SCRAPED.search(kind):
        return FeedSource(f"{url} ({values['type']})")  # named as left out: this is no address
    paths = (part for path in values.get("category", "").split(",") for part in path.split("/"))
    categories = (part.strip() for part in paths)
    tags = tuple(dict.fromkeys(each for each in (*folders, *categories) if each))
    label = _label(element)
    name = (
        "" if _address(label) == _address(url) else label
    )  # written for want of a name: the feed's own title is better
    return FeedSource(_address(url), name, tags)


def _address(url: str) -> str:
    """Return an address as we ask it: ``feed:`` taken off, blanks escaped, https where it names no scheme."""
    url = re.sub(r"^feed:(?://)?(?=https?:)|^feed:(?://)?", "", url, flags=re.IGNORECASE).replace(" ", "%20")
    bare = re.match(r"[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:[/?]|$)", url)
    return f"https://{url}" if bare else url


def _outlines(sources: Sequence[tuple[FeedSource, tuple[str, ...]]], depth: int) -> list[str]:
    """Return the lines of feeds below one folder; each comes with the folders that are still to be opened for it."""
    indent, lines = "  " * depth, []
    folders = dict.fromkeys(tags[0] for _, tags in sources if tags)
    for source, tags in sources:
        if not tags:
            name = _escaped(source.name or source.url)
            lines.append(f'{indent}<outline type="rss" text="{name}" title="{name}" xmlUrl="{_escaped(source.url)}"/>')
    for folder in folders:
        inner = [(source, tags[1:]) for source, tags in sources if tags and tags[0] == folder]
        lines.append(f'{indent}<outline text="{_escaped(folder)}" title="{_escaped(folder)}">')
        lines += [*_outlines(inner, depth + 1), f"{indent}</outline>"]
    return lines


def _escaped(text: str) -> str:
    text = " ".join(clean(text).split())
    for sign, reference in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(sign, reference)
    return text
