"""One item of an XML feed: which of its elements is the title, the link, the text, the date and the identifier."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urljoin
from xml.etree.ElementTree import Element

from news_digest.feeds.dates import read_date
from news_digest.feeds.names import local, place
from news_digest.feeds.raw import Part, Raw
from news_digest.fingerprint import unwrapped

__all__ = ["Fields", "read_item"]

_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"
_ABOUT: Final = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
_TITLES: Final = (("core", "title"), ("atom", "title"), ("dc", "title"), ("media", "title"), ("itunes", "title"))
_BODIES: Final = frozenset(
    {
        *(("core", "description"), ("core", "fullitem"), ("core", "summary"), ("core", "content"), ("core", "body")),
        *(("atom", "summary"), ("atom", "content"), ("content", "encoded"), ("dc", "description"), ("xhtml", "body")),
        *(("xhtml", "div"), ("core", "encoded"), ("core", "tagline"), ("core", "abstract")),
    }
)
_SPARE_BODIES: Final = frozenset({("itunes", "summary"), ("media", "description"), ("itunes", "subtitle")})
_PUBLISHED: Final = (
    *(("core", "pubDate"), ("atom", "published"), ("core", "published"), ("atom", "issued"), ("core", "issued")),
    *(("dc", "date"), ("dcterms", "issued"), ("core", "pubdate"), ("core", "date")),
)
_UPDATED: Final = (
    *(("atom", "updated"), ("core", "updated"), ("atom", "modified"), ("core", "modified"), ("dcterms", "modified")),
    *(("dcterms", "created"), ("atom", "created"), ("core", "lastBuildDate"), ("core", "created")),
)
_NO_STORY: Final = frozenset({"self", "replies", "edit", "enclosure", "via", "related", "hub", "license", "next", "previous"})


@dataclass(frozen=True, slots=True)
class Fields:
    """What an item says, its text still raw."""

    identifier: str
    link: str
    published: datetime | None
    raw: Raw


def read_item(item: Element, base: str, *, atom: bool) -> Fields:
    """Return the fields of an ``item`` or ``entry``; ``base`` is where its relative links start."""
    by_name: dict[tuple[str, str], list[Element]] = {}
    for child in item:
        by_name.setdefault((place(child.tag), local(child.tag)), []).append(child)
    identifier, permalink = _identifier(item, by_name)
    link = _one_line(_link(by_name, base, atom=atom) or (_absolute(base, permalink) if permalink else ""))
    target = _original(by_name) or unwrapped(link)
    return Fields(identifier, link, _published(by_name), _raw(by_name, target if target != link else "", atom=atom))


def _text(element: Element) -> str:
    return ("".join(element.itertext()) if len(element) else element.text or "").strip()


def _identifier(item: Element, by_name: dict[tuple[str, str], list[Element]]) -> tuple[str, str]:
    """Return the identifier, untouched but for its edges, and the same where it is said to be a link."""
    for key in (("core", "guid"), ("atom", "id"), ("core", "id"), ("dc", "identifier")):
        for element in by_name.get(key, ()):
            text = _text(element)
            if text:
                is_link = key[1] == "guid" and element.get("isPermaLink", "true").strip().lower() != "false"
                address = text.lower().startswith(("http://", "https://")) or (is_link and "/" in text and " " not in text)
                return text, text if is_link and address else ""
    about = (item.get(_ABOUT) or item.get("about") or "").strip()
    return about, about if about.lower().startswith(("http://", "https://")) else ""


# --- links ---------------------------------------------------------------------------------------------------------


def _original(by_name: dict[tuple[str, str], list[Element]]) -> str:
    """Return the address that a distributor put its own in place of."""
    for key in (("feedburner", "origLink"), ("core", "origLink"), ("core", "origlink")):
        for element in by_name.get(key, ()):
            if _text(element).lower().startswith(("http://", "https://")):
                return _one_line(_text(element))
    return ""


def _link(by_name: dict[tuple[str, str], list[Element]], base: str, *, atom: bool) -> str:
    atoms = by_name.get(("atom", "link"), [])
    plain = by_name.get(("core", "link"), [])
    if not atom:
        for element in plain:
            if _text(element) and element.get("rel", "alternate") not in _NO_STORY:
                return _absolute(_own(base, element), _text(element))
    return _alternate([*atoms, *plain], base)


def _alternate(links: list[Element], base: str) -> str:
    """Return the story's own link among several: alternate before none, a page before anything else."""
    best, rank = "", -1
    for element in links:
        href = (element.get("href") or (_text(element) if not element.get("rel") else "")).strip()
        rel = (element.get("rel") or "alternate").strip().lower().rpartition("/")[2]
        if not href or rel in _NO_STORY:
            continue
        kind = (element.get("type") or "").lower()
        score = 2 * (rel == "alternate") + (kind in ("", "text/html", "application/xhtml+xml")) + (kind == "text/html")
        if score > rank:
            best, rank = _absolute(_own(base, element), href), score
    return best


def _own(base: str, element: Element) -> str:
    own = element.get(_BASE)
    return _absolute(base, own) if own else base


def _absolute(base: str, link: str) -> str:
    try:
        return urljoin(base, link.strip())
    except ValueError:
        return link.strip()


def _one_line(link: str) -> str:
    return "".join(link.split()) if "\n" in link or "\t" in link else link.strip().replace(" ", "%20")


# --- dates and text ------------------------------------------------------------------------------------------------


def _published(by_name: dict[tuple[str, str], list[Element]]) -> datetime | None:
    for keys in (_PUBLISHED, _UPDATED):
        for key in keys:
            for element in by_name.get(key, ()):
                found = read_date(_text(element))
                if found is not None:
                    return found
    return None


def _raw(by_name: dict[tuple[str, str], list[Element]], target: str, *, atom: bool) -> Raw:
    title = next((by_name[key][0] for key in _TITLES if key in by_name and _text(by_name[key][0])), None)
    bodies = [e for key, elements in by_name.items() if key in _BODIES for e in elements]
    if not any(_text(body) for body in bodies):
        bodies = [e for key, elements in by_name.items() if key in _SPARE_BODIES for e in elements]
    head = Part.of(title, atom=atom) if title is not None else Part()
    return Raw(head, tuple(Part.of(body, atom=atom) for body in bodies), target)
