"""From a fragment of HTML to lines of plain text, each entity decoded exactly once.

What a browser does not show is left out: comments, scripts, templates, hidden elements. Only tags that HTML knows are
tags; in ``Vec<T>`` the angle brackets are text. Linear in the length of the fragment; it stops at enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["MARKUP_CHARACTERS", "Lines", "lines_of_html", "lines_of_text"]

MARKUP_CHARACTERS: Final = 262_144
"""How much of one fragment is looked at: enough to get past inline images and navigation to the first paragraphs."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TOKEN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9:._-]*+)(?=[\s/>\"'])"
    r"(?P<attributes>(?>[^\"'<>]+|\"[^\"]*\"|'[^']*')*+)>"
    r"|<[!?](?=[A-Za-z\[])[^<>]*>",
    re.DOTALL,
)
_END: Final = re.compile(r"</([A-Za-z][A-Za-z0-9:._-]*)")
_BLOCKS: Final = _words(
    """
    address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre
    section summary table tbody tfoot thead tr ul
    """
)
_CELLS: Final = frozenset({"td", "th", "mi", "mn", "mo", "ms", "mtext"})
"""Cells of a table and the signs of a formula: apart, but on one line."""
_RAISED: Final = frozenset({"sup", "sub"})
"""A raised digit must not become one of the number before it: ten to the sixth is not 106."""
_INLINE: Final = _words(
    """
    a abbr acronym b bdi bdo big blink cite code col colgroup data datalist del dfn em embed font i img input
    ins kbd label link map area mark marquee meta meter nobr output param picture progress q rb rp rt rtc ruby s
    samp slot small source span strike strong sub sup time track tt u var wbr base basefont button math
    """
)
_UNSEEN: Final = _words(
    """
    script style template noscript head title svg iframe object applet audio video canvas select textarea
    noframes noembed frameset annotation annotation-xml
    """
)
"""What stands in these is no text of the article, or is shown only where something else fails."""
_RAW: Final = _words("script style iframe noembed noframes noscript textarea title")
"""Nothing in these is a tag but their own end (HTML, "raw text elements")."""
_EMBEDDED: Final = _words("iframe svg object applet audio video canvas select")
"""Left open, as XML writes them, these must not swallow the rest of the article."""
_VOID: Final = _words(
    """
    area base br col embed hr img input link meta param source track wbr
    """
)
_KNOWN: Final = _BLOCKS | _CELLS | _INLINE | _UNSEEN
_ALONE: Final = _VOID | _words("p b i em strong u font span small big")
"""In a title: what is no subject, and may well be left open."""
_ESCAPED_TWICE: Final = re.compile(
    r"\s*&lt;(?:a|article|blockquote|div|em|figure|h[1-6]|img|li|ol|p|section|span|strong|table|ul)\b.*&lt;/[a-z]",
    re.DOTALL,
)
"""A whole article of escaped tags without one of its own: a program escaped it once too often."""
_HIDDEN_STYLE: Final = re.compile(
    r"display:none|visibility:(?:hidden|collapse)"
    r"|(?:font-size|opacity|max-height|line-height):(?:0++(?:\.0*+)?|\.0++)(?![.\d])"
    r"|mso-hide:all|text-indent:-\d{3,}|(?:left|right|top|margin-left):-\d{3,}|clip:rect\(0|scale\(0|color:transparent"
)
_HIDDEN_CLASS: Final = re.compile(r"\b(?:screen-reader-text|sr-only|visually-?hidden)\b")
_STYLE_SPACE: Final = re.compile(r"/\*.*?(?:\*/|\Z)|\s+", re.DOTALL)
"""What says nothing in a style; a comment that is never closed reaches to its end, and needs no second look."""
_COLOUR: Final = re.compile(r"(?:^|;)color:([^;!]+)")
_GROUND: Final = re.compile(r"(?:^|;)background(?:-color)?:([^;!]+)")
_ATTRIBUTE: Final = re.compile(r"([A-Za-z-]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")


_MEANT: Final = {code: bytes([code]).decode("cp1252") for code in (*range(0x82, 0x8D), 0x80, *range(0x91, 0x98))}
"""Signs of windows-1252 that software writes as Latin-1, where they are controls; none opens a terminal sequence."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a fragment (white space folded, none empty), and whether it held text that browsers hide."""

    lines: tuple[str, ...] = ()
    hidden: bool = False


def lines_of_text(text: str) -> Lines:
    """Return the lines of what is plain text already: nothing in it is markup, nothing is decoded."""
    text = text.translate(_MEANT)
    return Lines(tuple(folded for line in text.splitlines() if (folded := " ".join(line.split()))))


def lines_of_html(markup: str, enough: int, *, heading: bool = False) -> Lines:
    """Return the lines of a fragment of HTML until there are ``enough`` characters of text.

    In a ``heading`` a tag without its pair is text: "On the <dl>" speaks of the element.
    """
    if "<" not in markup:
        text = _decoded(markup[: 8 * enough])
        if heading or not _ESCAPED_TWICE.match(markup):
            return lines_of_text(text)
        markup = text
    if len(markup) > MARKUP_CHARACTERS:
        markup = markup[:MARKUP_CHARACTERS].rpartition("<")[0]
    if "<![CDATA[" in markup:  # wrapped twice: XML has taken its own away already
        markup = markup.replace("<![CDATA[", "").replace("]]>", "")
    reader = _Reader(markup, heading=heading)
    for token in _TOKEN.finditer(markup):
        reader.read(token)
        if reader.characters > enough:
            break
    else:
        reader.add(markup[reader.position :])
    reader.end_line()
    return Lines(tuple(reader.lines), reader.hidden)


def _decoded(text: str) -> str:
    if not text.isascii():
        text = text.translate(_MEANT)
    if "&" not in text:
        return text
    from html import unescape  # noqa: PLC0415 - its table of names takes a while to load

    return unescape(text)


class _Reader:
    """Goes through the tokens of a fragment."""

    def __init__(self, markup: str, *, heading: bool) -> None:
        self._markup = markup
        self._known = _ALONE if heading else _KNOWN
        """Tags that need no pair."""
        self.position = 0
        self.lines: list[str] = []
        self.characters = 0
        self.hidden = False
        self._line: list[str] = []
        self._skipping = ""
        self._depth = 0
        self._last_ends: dict[str, int] | None = None
        self._open: set[str] = set()
        """Names of tags that need a pair, as met."""

    def read(self, token: re.Match[str]) -> None:
        """Take the text before a token, and the token."""
        text = self._markup[self.position : token.start()]
        name = (token["name"] or "").lower()
        if name and not self._skipping and not self._is_tag(token, name):
            return
        self.position = token.end()
        self.add(text)
        if self._skipping:
            self._skip(token, name)
        elif name:
            self._tag(token, name)

    def add(self, text: str) -> None:
        """Take text as it stands between tags."""
        if text and not self._skipping:
            self._line.append(_decoded(text))
            self.characters += len(text)

    def end_line(self) -> None:
        """Close the line."""
        folded = " ".join("".join(self._line).split())
        self._line.clear()
        if folded:
            self.lines.append(folded)

    def _tag(self, token: re.Match[str], name: str) -> None:
        if name in _BLOCKS:
            self.end_line()
        elif (name in _CELLS and not token["close"]) or (name in _RAISED and self._parts_numbers(token, name)):
            self._line.append(" ")
        attributes = token["attributes"]
        if token["close"] or name in _VOID or (attributes.endswith("/") and name not in _UNSEEN):
            return
        if name in _EMBEDDED and not self._ends_behind(token.end(), name):
            return
        styled = bool(attributes) and _is_hidden(attributes)
        if styled or name in _UNSEEN:
            self._skipping, self._depth = name, 1
            self.hidden |= styled or name == "template"

    def _parts_numbers(self, token: re.Match[str], name: str) -> bool:
        """Return whether a digit follows that is no part of what stands before it, as the one of a formula is."""
        before, after = self._markup[token.start() - 1 : token.start()], self._markup[token.end() : token.end() + 1]
        return after.isdecimal() and not (name == "sub" and before.isalpha())

    def _skip(self, token: re.Match[str], name: str) -> None:
        if name == self._skipping and (token["close"] or name not in _RAW):
            self._depth += -1 if token["close"] else 1
            if self._depth == 0:
                self._skipping = ""

    def _is_tag(self, token: re.Match[str], name: str) -> bool:
        """Return whether this is a tag and not text like ``Vec<T>``: known, with attributes, or in a pair."""
        if name in self._known:
            return True
        if token["close"]:
            return name in self._open
        attributes = token["attributes"]
        usual = bool(attributes) if name in _KNOWN else attributes[:1].isspace() and "=" in attributes
        if usual or attributes == "/" or self._ends_behind(token.end(), name):
            self._open.add(name)
            return True
        return False

    def _ends_behind(self, position: int, name: str) -> bool:
        """Return whether an end tag of this name stands behind a position; the fragment is searched only once."""
        if self._last_ends is None:
            self._last_ends = {match[1].lower(): match.start() for match in _END.finditer(self._markup)}
        return self._last_ends.get(name, -1) >= position


def _is_hidden(attributes: str) -> bool:
    for match in _ATTRIBUTE.finditer(attributes):
        name, value = match[1].lower(), match[2] or match[3] or match[4] or ""
        if name == "hidden" or (name == "aria-hidden" and value.lower() == "true"):
            return True
        if name == "class" and _HIDDEN_CLASS.search(value.lower()):
            return True
        if name == "style" and _hides(_STYLE_SPACE.sub("", _decoded(value).lower())):
            return True
    return False


def _hides(style: str) -> bool:
    if _HIDDEN_STYLE.search(style):
        return True
    colour, ground = _COLOUR.search(style), _GROUND.search(style)
    return bool(colour and ground and colour[1] == ground[1])
