"""Which vocabulary an element belongs to: many modules have an element ``title``, and only one of them is the item's."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

__all__ = ["local", "place"]

_CORE: Final = frozenset(
    {
        "",
        "http://purl.org/rss/1.0/",
        "http://my.netscape.com/rdf/simple/0.9/",
        "http://channel.netscape.com/rdf/simple/0.9/",
        "http://backend.userland.com/rss",
        "http://backend.userland.com/rss2",
        "http://blogs.law.harvard.edu/tech/rss",
        "http://cyber.law.harvard.edu/rss",
        "http://purl.org/net/rss1.1#",
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "urn:prefix:rss",
    }
)
_PLACES: Final = {
    "http://www.w3.org/2005/atom": "atom",
    "http://purl.org/atom/ns#": "atom",
    "http://example.com/newformat#": "atom",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/dc/elements/1.0/": "dc",
    "http://purl.org/dc/terms/": "dcterms",
    "http://purl.org/rss/1.0/modules/dcterms/": "dcterms",
    "http://purl.org/rss/1.0/modules/content/": "content",
    "http://www.w3.org/1999/xhtml": "xhtml",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "http://search.yahoo.com/mrss": "media",
    "http://search.yahoo.com/mrss/": "media",
    "http://rssnamespace.org/feedburner/ext/1.0": "feedburner",
}


@lru_cache(maxsize=2000)
def local(tag: object) -> str:
    """Return an element's name without its namespace; nothing for a comment or a processing instruction."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


@lru_cache(maxsize=2000)
def place(tag: object) -> str:
    """Return the vocabulary of an element: ``core`` (all of RSS), ``atom``, ``dc`` and so on, or its namespace."""
    if not isinstance(tag, str):
        return ""
    space = tag[1:].partition("}")[0] if tag.startswith("{") else ""
    if space.lower() in _CORE or space in _CORE:
        return "core"
    return _PLACES.get(space.lower(), space)
