"""Bytes to text, and almost-XML to XML: repaired in the text, before parsing, so that nothing is dropped without a word.

A recovering parser deletes what it does not understand (libxml2 makes ``R&D budget`` into ``R budget`` and cuts a text at
``&eacute;``). Here each kind of damage is undone by what its author meant. Measured causes, commonest first: something
before the declaration, forbidden characters, undefined entities, bare ``&``, junk behind the end, cut ends, prefixes that
nobody declared, encodings that lie.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

__all__ = ["decoded", "head_of", "items_of", "repaired", "wrapped"]

_BOMS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED: Final = ((b"<\0?\0", "utf-16-le"), (b"\0<\0?", "utf-16-be"), (b"<\0r\0", "utf-16-le"), (b"\0<\0r", "utf-16-be"))
_SUPERSETS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("gb2312", "gbk", "gb_2312-80", "x-gbk", "euc-cn"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j"), "cp932"),
    **dict.fromkeys(("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii", "iso8859-1"), "cp1252"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "ksc5601"), "cp949"),
    **dict.fromkeys(("big5", "big5-hkscs", "x-x-big5"), "big5hkscs"),
    **{"iso-8859-9": "cp1254", "iso-8859-11": "cp874", "tis-620": "cp874"},
}
"""What a label means in practice (WHATWG Encoding): the larger table that includes the named one."""
_SEVEN_BIT: Final = frozenset({"iso-2022-jp", "iso-2022-kr", "hz-gb-2312", "hz"})
_DECLARED: Final = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']\s*([A-Za-z0-9._:-]+)""")
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]+)", re.IGNORECASE)
_NEARLY: Final = 4
"""Readable characters beyond ASCII that there must be for each unreadable one in a text that counts as UTF-8."""

_START: Final = re.compile(r"<\?xml\s|<(?:[\w.-]+:)?(?:rss|feed|RDF|channel)[\s>]", re.IGNORECASE)
_ROOT: Final = re.compile(r"<((?:[\w.-]+:)?(?:rss|feed|RDF|channel))(?=[\s/>])", re.IGNORECASE)
_DECLARATION: Final = re.compile(r"<\?xml[^>]*\?>")
_DOCTYPE: Final = re.compile(r"<!DOCTYPE[^\[>]*(\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE)
_ENTITY: Final = re.compile(r"<!ENTITY\s+([\w.-]+)\s+(?:\"([^\"]{0,1000})\"|'([^']{0,1000})')\s*>")
_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SECTION: Final = re.compile(r"(<!\[CDATA\[.*?\]\]>|<!--.*?-->)", re.DOTALL)
_REFERENCE: Final = re.compile(r"&(?:#(\d{1,7});|#[xX]([0-9a-fA-F]{1,6});|([A-Za-z][A-Za-z0-9]{1,31});)?")
_PREDEFINED: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})
_PREFIX: Final = re.compile(r"<([A-Za-z_][\w.-]*):[A-Za-z_]|\s([A-Za-z_][\w.-]*):[A-Za-z_][\w.-]*\s*=\s*[\"']")
_DECLARES: Final = re.compile(r"\sxmlns:([\w.-]+)\s*=")
_NAMESPACES: Final[Mapping[str, str]] = {
    "atom": "http://www.w3.org/2005/Atom",
    "a10": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "feedburner": "http://rssnamespace.org/feedburner/ext/1.0",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "media": "http://search.yahoo.com/mrss/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "xhtml": "http://www.w3.org/1999/xhtml",
}
_TAG: Final = re.compile(r"<(/?)([A-Za-z_][\w.:-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*?)(/?)>")
_ITEM: Final = re.compile(r"<((?:[\w.-]+:)?(?:item|entry))(?=[\s>]).*?</\1\s*>", re.DOTALL)
_ABOUT: Final = re.compile(r"<(title|link)(?=[\s>])[^<>]*>.*?</\1\s*>", re.DOTALL)
_PROSE: Final = re.compile(
    r"(<((?:[\w.-]+:)?(?:title|description|encoded|summary|content|subtitle))(?:\s[^<>]*)?(?<!/)>)(.*?)(</\2\s*>)", re.DOTALL
)


# --- bytes to text -------------------------------------------------------------------------------------------------


def decoded(body: bytes, content_type: str = "") -> str:
    """Return a document as text: by BOM, as UTF-8 where it is, by HTTP header, by declaration, else as it reads best."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    for mark, name in _UNMARKED:
        if body.lstrip()[:4] == mark:
            return body.decode(name, "replace")
    labels = list(_labels(body, content_type))
    if not (b"\x1b" in body or b"~{" in body) or not _SEVEN_BIT.intersection(labels):
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            pass
    for label in labels:
        text = _strict(body, label)
        if text is not None:
            return text
    return _best(body, labels)


def _labels(body: bytes, content_type: str) -> Iterator[str]:
    header, declaration = _CHARSET.search(content_type), _DECLARED.search(body[:2000])
    for label in (header[1] if header else "", declaration[1].decode() if declaration else ""):
        if label:
            yield label.lower()


def _strict(body: bytes, label: str) -> str | None:
    try:
        return body.decode(_SUPERSETS.get(label, label))
    except (LookupError, UnicodeDecodeError, ValueError):
        return None


def _best(body: bytes, labels: Iterable[str]) -> str:
    """Return UTF-8 with few bad bytes, else what a label says, else Western European, which undeclared bytes mostly are."""
    text = body.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    good = sum(1 for character in text if character > "\x7f") - bad
    if bad * _NEARLY <= good:
        return text
    for label in labels:
        if label not in ("utf-8", "utf8"):
            try:
                return body.decode(_SUPERSETS.get(label, label), "replace")
            except (LookupError, ValueError):
                continue
    return body.decode("cp1252", "replace")


# --- almost XML to XML ---------------------------------------------------------------------------------------------


def repaired(text: str) -> str:
    """Return the text as XML without declaration and DOCTYPE, as far as its damage is of a known kind."""
    start = _START.search(text)
    if start is not None:
        text = text[start.start() :]
    text = _DECLARATION.sub("", text)
    own = _own_entities(text)
    text = _FORBIDDEN.sub("", _DOCTYPE.sub("", text, count=1))
    text = _closed_section(_from_root(text))
    parts = _SECTION.split(text)
    text = "".join(part if part.startswith(("<![CDATA[", "<!--")) else _references(part, own) for part in parts)
    return _declared(_ended(text))


def _from_root(text: str) -> str:
    """Return the text from its root on; an empty root that stands before another is left out."""
    root = _ROOT.search(text)
    if root is None:
        return text
    text = text[root.start() :]
    empty = re.match(r"<[^<>]*/>|<([\w.:-]+)[^<>]*>\s*</\1\s*>", text)
    following = _ROOT.search(text, empty.end()) if empty is not None else None
    return text[following.start() :] if following is not None else text


def _own_entities(text: str) -> dict[str, str]:
    """Return the entities that a DOCTYPE defines as plain text; one that refers to another is left unexpanded."""
    doctype = _DOCTYPE.search(text[:50_000])
    if doctype is None or not doctype[1]:
        return {}
    return {m[1]: m[2] or m[3] or "" for m in _ENTITY.finditer(doctype[1]) if "&" not in (m[2] or m[3] or "")}


def _references(text: str, own: Mapping[str, str]) -> str:
    if "&" not in text:
        return text

    def meant(match: re.Match[str]) -> str:
        decimal, hexadecimal, name = match.groups()
        if name in _PREDEFINED:
            return match[0]
        if name:
            return own[name] if name in own else _named(name, match[0])
        if decimal or hexadecimal:
            return _numbered(int(decimal) if decimal else int(hexadecimal, 16))
        return "&amp;"

    return _REFERENCE.sub(meant, text)


def _named(name: str, whole: str) -> str:
    from html.entities import html5  # noqa: PLC0415 - a table of 2,200 names that most documents do without

    found = html5.get(f"{name};")
    return _escaped(found) if found else f"&amp;{whole[1:]}"


def _numbered(code: int) -> str:
    """Return the character of a numeric reference, as browsers read it: 128 to 159 are Windows-1252."""
    if 128 <= code <= 159:  # noqa: PLR2004 - HTML, "numeric character reference end state"
        return bytes((code,)).decode("cp1252", "ignore")
    if code > 0x10FFFF or _FORBIDDEN.match(chr(code)):
        return ""
    return _escaped(chr(code))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _closed_section(text: str) -> str:
    """Close a CDATA section that the cut end of a document left open."""
    opened = text.rfind("<![CDATA[")
    return text + "]]>" if opened >= 0 and text.find("]]>", opened) < 0 else text


def _declared(text: str) -> str:
    """Declare on the root every prefix that is used and that nobody declared."""
    root = _ROOT.search(text)
    if root is None:
        return text
    bare = _SECTION.sub(" ", text)
    used = {a or b for a, b in _PREFIX.findall(bare)} - {"xml", "xmlns"}
    missing = sorted(used - set(_DECLARES.findall(bare[: bare.find(">", root.start()) + 1 if root else 0])))
    missing = [prefix for prefix in missing if not _declared_everywhere(bare, prefix)]
    added = "".join(f' xmlns:{prefix}="{_NAMESPACES.get(prefix.lower(), f"urn:prefix:{prefix}")}"' for prefix in missing)
    return text[: root.end()] + added + text[root.end() :]


def _declared_everywhere(text: str, prefix: str) -> bool:
    """Return whether every element that uses a prefix declares it itself, as some serialisers do."""
    uses = re.findall(rf"<{re.escape(prefix)}:[^>]*>", text)
    return bool(uses) and all(f"xmlns:{prefix}" in use for use in uses)


def _ended(text: str) -> str:
    """Cut what follows the root's end; close what a cut end left open, without the tag that was cut in half."""
    opened: list[str] = []
    end = 0
    for match in _tags(text):
        closing, name, _, empty = match.groups()
        if not closing:
            if not empty:
                opened.append(name)
        elif name in opened:
            while opened.pop() != name:
                pass
        end = match.end()
        if not opened:
            return text[:end]
    sections = [match.end() for match in _SECTION.finditer(text)]
    half = text.rfind("<", max([end, *sections[-1:]]))
    if half >= 0:
        text = text[:half]
    return text + "".join(f"</{name}>" for name in reversed(opened))


def _tags(text: str) -> Iterator[re.Match[str]]:
    """Yield the tags outside of CDATA sections and comments."""
    position = 0
    for section in (*_SECTION.finditer(text), None):
        end = section.start() if section else len(text)
        yield from _TAG.finditer(text, position, end)
        if section:
            position = section.end()


# --- item by item --------------------------------------------------------------------------------------------------


def head_of(text: str) -> Iterator[str]:
    """Yield the channel's own title and link, each as a document."""
    root = _ROOT.search(text)
    start, first = root.end() if root else 0, _ITEM.search(text)
    for match in _ABOUT.finditer(text, start, first.start() if first else len(text)):
        yield f"<root>{_PROSE.sub(wrapped, match[0])}</root>"


def items_of(text: str) -> Iterator[str]:
    """Yield the items of a document that does not parse, each with its prose made safe, so that a bad one costs only itself."""
    root = _ROOT.search(text)
    declared = " ".join(dict.fromkeys(re.findall(r"xmlns(?::[\w.-]+)?\s*=\s*(?:\"[^\"]*\"|'[^']*')", text[:5000])))
    for match in _ITEM.finditer(text, root.end() if root else 0):
        yield f"<root {declared}>{_PROSE.sub(wrapped, match[0])}</root>"


def wrapped(match: re.Match[str]) -> str:
    """Return an element whose unescaped markup has become text."""
    opening, _, inner, closing = match.groups()
    if "<" not in inner or inner.lstrip().startswith("<![CDATA[") or 'type="xhtml"' in opening:
        return match[0]
    return f"{opening}<![CDATA[{inner.replace(']]>', ']]]]><![CDATA[>')}]]>{closing}"
