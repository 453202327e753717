"""Text as a feed wrote it, not yet decoded: most entries are old, and reading their text would be most of the work."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field, replace
from typing import Final
from xml.etree.ElementTree import Element

from news_digest.feeds.names import local

__all__ = ["Part", "Raw", "Siblings"]

_BLOCKS: Final = frozenset({"sup", "sub", "p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "td", "hr", "pre"})
_SPACES: Final = re.compile(r"\s+")
_SILENT: Final = frozenset({"script", "style", "template", "noscript"})


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of text: markup to be read, or (``plain``) text that is what it says."""

    text: str = ""
    plain: bool = False

    @classmethod
    def of(cls, element: Element, *, atom: bool) -> Part:
        """Return an element's text; Atom says how it is to be read, RSS does not and means HTML."""
        mode, kind = element.get("mode", ""), element.get("type", "").strip().lower()
        if len(element):
            return cls(_inner(element), plain=True)
        text = element.text or ""
        if mode == "base64" or (atom and "/" in kind and not kind.startswith("text/") and not kind.endswith("xml")):
            return _from_base64(text, kind)
        is_plain = atom and mode != "escaped" and kind in ("", "text", "text/plain", "plain")
        return cls(text, plain=is_plain)


def _from_base64(text: str, kind: str) -> Part:
    try:
        return Part(base64.b64decode("".join(text.split()), validate=True).decode("utf-8"), plain=kind == "text/plain")
    except (binascii.Error, ValueError):
        return Part(text)


def _inner(element: Element) -> str:
    """Return the text inside an element's markup, a space where a block begins or ends."""
    parts: list[str] = [element.text or ""]
    for child in element:
        name = local(child.tag).lower()
        inner = "" if name in _SILENT or _is_hidden(child) or not isinstance(child.tag, str) else _inner(child)
        parts.append(f" {inner} " if name in _BLOCKS else inner)
        parts.append(child.tail or "")
    return "".join(parts)


def _is_hidden(element: Element) -> bool:
    style = (element.get("style") or "").replace(" ", "").lower()
    return element.get("hidden") is not None or "display:none" in style or "visibility:hidden" in style


@dataclass(frozen=True, slots=True)
class Siblings:
    """The raw texts of one document: what repeats in them is not part of any story."""

    texts: tuple[Raw, ...] = ()


@dataclass(frozen=True, slots=True)
class Raw:
    """Title and bodies of an entry, raw, among those of its document."""

    head: Part = Part()
    bodies: tuple[Part, ...] = ()
    target: str = ""
    """Where the entry's link leads in the end, when the feed says so or the link itself does."""
    siblings: Siblings | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of_element(cls, element: Element, *, atom: bool) -> Raw:
        """Return an element's text as a title."""
        return cls(Part.of(element, atom=atom))

    def among(self, siblings: Siblings) -> Raw:
        """Return the same text, with the document that it stands in."""
        return replace(self, siblings=siblings)

    def has_text(self) -> bool:
        """Return whether there is anything to read."""
        return bool(self.head.text.strip()) or any(body.text.strip() for body in self.bodies)

    def mark(self) -> str:
        """Return what stands for the title in an identity: raw, white space folded; the text's start without a title."""
        text = self.head.text or next((body.text for body in self.bodies if body.text.strip()), "")
        return _SPACES.sub(" ", text).strip()[:300]

    def title(self) -> str:
        """Return the title in plain text."""
        from news_digest.feeds.text import plain  # noqa: PLC0415 - the HTML reader, for what is kept

        return plain(self.head)
