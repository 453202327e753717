"""From text that is almost XML to XML: everything that was there is kept, and nothing is dropped without need.

Parsers that "recover" delete: an undefined entity cuts the text, a bare ``&`` disappears. Here the text is mended first
and then parsed strictly: :func:`retouched` puts characters and references right, which is all that most damaged feeds
need and costs little; :func:`repaired` writes the whole document anew. Either result has one root of its own, so that
junk around the feed, or two feeds in one file, are well-formed too. Linear in the length of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

__all__ = ["ROOT", "repaired", "retouched"]

ROOT: Final = "_"
"""The name of the root element around everything."""
_DEPTH_MOST: Final = 400
"""Elements within elements; markup nests some thirty deep, deeper only by intent."""
_ENTITY_MOST: Final = 100
_EXPANDED_MOST: Final = 100_000
"""Characters that a document's own entities may add: they are for names and signs, and the rest is an attack."""

_NAMESPACES: Final = {
    "atom": "http://www.w3.org/2005/Atom",
    "a10": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "feedburner": "http://rssnamespace.org/feedburner/ext/1.0",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "media": "http://search.yahoo.com/mrss/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rss": "http://purl.org/rss/1.0/",
    "xhtml": "http://www.w3.org/1999/xhtml",
}
"""What prefixes mean where a document uses them without saying."""

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_.-]*(?::[A-Za-z_][A-Za-z0-9_.-]*)?"
_CONTROLS: Final = bytes({*range(0x20)} - {0x9, 0xA, 0xD})
_TERMINAL: Final = re.compile(
    "\x1b\\][^\x07\x1b<]{0,2048}(?:\x07|\x1b\\\\)|\x1b[PX^_][^\x1b<]{0,2048}\x1b\\\\|\x1b\\[[0-?]{0,64}[ -/]{0,16}[@-~]"
)
"""A terminal sequence goes as a whole, or its visible half would stay as text."""
_CONTROL_REFERENCE: Final = re.compile(r"&#(?:0{0,6}(?:27|7)|[xX]0{0,6}(?:1[bB]|7));")
_AMPERSAND: Final = re.compile(
    r"&(?!(?:amp|lt|gt|quot|apos);)(?:#(?:[xX]([0-9A-Fa-f]{1,8})|([0-9]{1,10}));?|([A-Za-z][A-Za-z0-9_.-]{0,31});)?"
)
_PROLOGUE: Final = re.compile(r"[^<]*+(?:(?:<\?.*?\?>|<!--.*?-->)[^<]*+)*+", re.DOTALL)
"""What stands before the DOCTYPE, or before the root."""
_CDATA: Final = "<![CDATA["
_DOCTYPE: Final = re.compile(r"<!DOCTYPE\b[^<>\[]*(?:\[(.*?)\]\s*)?>", re.IGNORECASE | re.DOTALL)
_ENTITY: Final = re.compile(r"<!ENTITY\s+([A-Za-z][A-Za-z0-9_.-]{0,31})\s+(?:\"([^\"<]*)\"|'([^'<]*)')\s*>")
_OPEN: Final = re.compile(
    rf"<({_NAME})((?>\s+{_NAME}\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'))*+)\s*(/?)>"
    rf"|<({_NAME})((?:[\s/\"'](?>[^<>\"']+|\"[^\"]*\"|'[^']*')*+)?)>"
    rf"|<({_NAME})([\s/][^<>]*)>"
)
_CLOSE: Final = re.compile(rf"</\s*({_NAME})[^<>]*>")
_ATTRIBUTE: Final = re.compile(rf"({_NAME})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))")
_ITEMS: Final = frozenset({"item", "entry"})
_RESERVED: Final = ("http://www.w3.org/XML/", "http://www.w3.org/2000/xmlns/")
"""Namespaces that may not be declared."""
_ASCII_LAST: Final = 0x7F
_C1: Final = range(0x80, 0xA0)
_CHARACTERS: Final = ((0x9, 0xA, 0xD), range(0x20, 0xD800), range(0xE000, 0xFFFE), range(0x10000, 0x110000))
"""What XML allows as characters (XML 1.0, 2.2)."""


def retouched(text: str) -> str:
    """Return a document below :data:`ROOT` with its characters and references put right, and all else as it stands.

    Known prefixes are declared; declaration and DOCTYPE are left out. What it returns need not be well-formed.
    """
    text = _with_characters(text)
    references = _References()
    start = _prologue_end(text)
    doctype = _DOCTYPE.match(text, start)
    if doctype is not None:
        references.declare(doctype)
        start = doctype.end()
    first, *others = text[start:].split(_CDATA)
    pieces = [references.put_right(first)]
    for each in others:
        inside, end, after = each.partition("]]>")
        pieces.append(inside + end + references.put_right(after))
    return f"<{ROOT}{_declared(_NAMESPACES)}>{_CDATA.join(pieces)}</{ROOT}>"


def repaired(text: str) -> str:
    """Return a document as well-formed XML below :data:`ROOT`, without declaration, DOCTYPE, comments, instructions."""
    return _Writer(_with_characters(text)).written()


def _prologue_end(text: str) -> int:
    match = _PROLOGUE.match(text)
    return match.end() if match else 0


def _with_characters(text: str) -> str:
    """Return a text without the characters that XML forbids, and without terminal sequences."""
    if "&#" in text:
        text = _CONTROL_REFERENCE.sub(_control_character, text)
    if "\x1b" in text:
        text = _TERMINAL.sub("", text)
    kept = text.encode("utf-8", "ignore").translate(None, _CONTROLS).decode()  # ten times as fast as a pattern
    return kept.replace("\ufffe", "").replace("\uffff", "")


def _control_character(match: re.Match[str]) -> str:
    return "\x1b" if "7" not in match[0] or "27" in match[0] else "\x07"


def _declared(prefixes: Iterable[str]) -> str:
    """Return declarations of prefixes: what is known by them, or a namespace that says nothing."""
    return "".join(
        f' xmlns:{each}="{_NAMESPACES.get(each.lower(), "urn:undeclared:" + each)}"' for each in sorted(prefixes)
    )


def _character(code: int) -> str:
    """Return a character for a text: as it is, which is read fastest, or as a reference where it might be markup."""
    return chr(code) if code > _ASCII_LAST else f"&#{code};"


class _References:
    """Puts references right: what a document declares, what HTML knows; all others, and bare signs, are text."""

    def __init__(self) -> None:
        self._own: dict[str, str] = {}
        self._expanded = 0

    def declare(self, doctype: re.Match[str]) -> None:
        """Take the short entities that a DOCTYPE declares."""
        for name, double, single in _ENTITY.findall(doctype[1] or ""):
            value = double or single
            if len(value) <= _ENTITY_MOST and "&" not in value.replace("&#", ""):
                self._own.setdefault(name, self.put_right(value))

    def put_right(self, text: str) -> str:
        """Return a text whose every ``&`` begins a reference that XML knows."""
        return _AMPERSAND.sub(self._reference, text) if "&" in text else text

    def _reference(self, match: re.Match[str]) -> str:
        hexadecimal, decimal, name = match.groups()
        if name:
            return self._named(name)
        if not hexadecimal and not decimal:
            return "&amp;"
        code = int(hexadecimal, 16) if hexadecimal else int(decimal)
        if code in _C1:  # what is meant is windows-1252 (HTML, "numeric character reference end state")
            code = ord(bytes([code]).decode("cp1252", "replace"))
        return _character(code) if any(code in span for span in _CHARACTERS) else ""

    def _named(self, name: str) -> str:
        own = self._own.get(name)
        if own is not None:
            self._expanded += len(own)
            return own if self._expanded <= _EXPANDED_MOST else ""
        from html.entities import html5  # noqa: PLC0415 - a large table, for documents that need repair only

        meant = html5.get(name + ";") or html5.get(name.lower() + ";")
        return "".join(_character(ord(each)) for each in meant) if meant else f"&amp;{name};"


class _Writer:
    """Reads almost-XML from left to right and writes XML."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._out: list[str] = []
        self._open: list[str] = []
        self._counts: Counter[str] = Counter()
        """How often each name is open, so that a stray end tag costs no search."""
        self._prefixes: set[str] = set()
        self._references = _References()
        self._ends: dict[str, int] = {}
        self._may_have_doctype = True
        """False once one was not closed: looking for the end of each would take quadratic time."""

    def written(self) -> str:
        """Return the document."""
        text, position = self._text, 0
        while True:
            start = text.find("<", position)
            if start < 0:
                break
            self._write_text(text[position:start])
            position = self._read_markup(start)
        self._write_text(text[position:])
        self._close_down_to(0)
        return f"<{ROOT}{_declared(self._prefixes - {'xml', 'xmlns'})}>{''.join(self._out)}</{ROOT}>"

    def _read_markup(self, start: int) -> int:
        """Read what begins with ``<`` at a position; return where to go on."""
        text = self._text
        following = text[start + 1 : start + 2]
        if following == "/":
            return self._read_end(start)
        if following == "!":
            return self._read_declaration(start)
        if following == "?":
            end = self._find("?>", start)
            return end + 2 if end >= 0 else self._write_sign(start)
        match = _OPEN.match(text, start)
        if match is None:
            return self._write_sign(start)
        self._write_start(match)
        return match.end()

    def _find(self, mark: str, start: int) -> int:
        """Return the next position of a mark, -1 without one; remembered, so that many openings search only once."""
        known = self._ends.get(mark, start - 1)
        if 0 <= known < start or mark not in self._ends:
            known = self._ends[mark] = self._text.find(mark, start)
        return known

    def _write_sign(self, start: int) -> int:
        self._out.append("&lt;")
        return start + 1

    # --- text ---

    def _write_text(self, text: str) -> None:
        text = self._references.put_right(text)
        self._out.append(text.replace("]]>", "]]&gt;") if "]]>" in text else text)

    # --- declarations ---

    def _read_declaration(self, start: int) -> int:
        text = self._text
        if text.startswith(_CDATA, start):
            return self._read_cdata(start + len(_CDATA))
        if text.startswith("<!--", start):
            end = self._find("-->", start + 2)
            return end + 3 if end >= 0 else start + 4
        match = None
        if text[start + 2 : start + 3] in ("D", "d") and not self._open and self._may_have_doctype:
            match = _DOCTYPE.match(text, start)
            self._may_have_doctype = match is not None
        if match is None:
            return self._write_sign(start)
        self._references.declare(match)
        return match.end()

    def _read_cdata(self, start: int) -> int:
        """Write a CDATA section; one that is never closed, or only by the next one's end, ends with its element."""
        end, following = self._find("]]>", start), self._find(_CDATA, start)
        if end >= 0 and (following < 0 or end < following or not self._open):
            self._write_cdata(start, end)
            return end + 3
        far = following if end >= 0 else len(self._text)  # no further: many openings would take quadratic time
        match = re.compile(rf"</{re.escape(self._open[-1])}\s*>").search(self._text, start, far) if self._open else None
        if end >= 0 and match is None:  # the section holds a whole section: a nested one
            self._write_cdata(start, end)
            return end + 3
        closing = match.start() if match else far
        self._write_cdata(start, closing)
        return closing

    def _write_cdata(self, start: int, end: int) -> None:
        self._out.append(f"<![CDATA[{self._text[start:end].replace(']]>', ']]&gt;')}]]>")

    # --- elements ---

    def _write_start(self, match: re.Match[str]) -> None:
        strict, attributes, slash, loose, loose_attributes, odd, odd_attributes = match.groups()
        name = (strict or loose or odd).removeprefix("xmlns:")
        if strict:
            attributes = self._with_prefixes(attributes, whole=_has_one_plain(attributes))
        else:
            rest = loose_attributes or odd_attributes or ""
            slash = "/" if rest.rstrip().endswith("/") and not re.search(r"=\s*[^\s\"'<>]*/$", rest) else ""
            attributes = self._with_prefixes(rest, whole=False)
        local = name.rpartition(":")[2].lower()
        if local in _ITEMS and self._counts[local] and not slash:
            self._close_down_to(
                next(i for i, each in enumerate(self._open) if each.rpartition(":")[2].lower() == local)
            )
        if not slash and len(self._open) >= _DEPTH_MOST:
            return
        if ":" in name:
            self._prefixes.add(name.partition(":")[0])
        self._out.append(f"<{name}{attributes}{slash}>")
        if not slash:
            self._open.append(name)
            self._count(name, 1)

    def _count(self, name: str, by: int) -> None:
        lower = name.lower()
        self._counts[lower] += by
        local = lower.rpartition(":")[2]
        if local != lower:
            self._counts[local] += by

    def _with_prefixes(self, attributes: str, *, whole: bool) -> str:
        """Return attributes fit for XML: as they are, or each written anew, the first of each name."""
        if not attributes:
            return ""
        if whole:
            return self._references.put_right(attributes)
        kept: dict[str, str] = {}
        for name, double, single, bare in _ATTRIBUTE.findall(attributes):
            value = double or single or bare
            prefix, colon, local = name.rpartition(":")
            if prefix == "xmlns" and (not value or local in ("xml", "xmlns")):
                continue
            if value.startswith(_RESERVED) and (prefix == "xmlns" or name == "xmlns"):
                continue
            if colon:
                self._prefixes.add(prefix)
            key = f"xmlns:{local}" if prefix == "xmlns" else local
            if key not in kept:
                value = self._references.put_right(value).replace("<", "&lt;").replace('"', "&quot;")
                kept[key] = f' {name}="{value}"'
        return "".join(kept.values())

    def _read_end(self, start: int) -> int:
        match = _CLOSE.match(self._text, start)
        if match is None:
            return self._write_sign(start)
        name = match[1].lower()
        if self._counts[name]:
            position = len(self._open) - 1
            while position >= 0 and self._open[position].lower() != name:
                position -= 1
            if position >= 0:
                self._close_down_to(position)
        return match.end()

    def _close_down_to(self, depth: int) -> None:
        while len(self._open) > depth:
            name = self._open.pop()
            self._count(name, -1)
            self._out.append(f"</{name}>")


def _has_one_plain(attributes: str) -> bool:
    """Return whether there is at most one attribute, and without a prefix: nothing that could be there twice."""
    name, _, value = attributes.partition("=")
    return "=" not in value and ":" not in name and name.strip() != "xmlns"
