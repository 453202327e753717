"""From the entries that selection kept to stories: plain text, decoded once, cleaned, bounded; and a safe link.

This is the only place where a publisher's markup is read. It costs about a millisecond a story, so it is not done for
the thousands of entries that selection leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit
from xml.etree.ElementTree import Element

from news_digest.feeds.boilerplate import repeated, stripped
from news_digest.feeds.markup import Lines, lines_of_html, lines_of_text
from news_digest.feeds.neutral import neutral
from news_digest.hygiene import clean, inspect
from news_digest.model import Entry, Story

__all__ = [
    "EXCERPT_CHARACTERS",
    "NOTHING",
    "SOURCE_CHARACTERS",
    "TITLE_CHARACTERS",
    "Passage",
    "Raw",
    "excerpts_of",
    "plain",
    "safe_link",
    "stories",
    "title_of",
    "untyped",
]

TITLE_CHARACTERS: Final = 300
"""Headlines have up to 150; what is longer is a text in the wrong place."""
EXCERPT_CHARACTERS: Final = 600
"""What a brief shows of one story at most, and enough for two sentences in any style."""
SOURCE_CHARACTERS: Final = 80
_FALLBACK_TITLE_CHARACTERS: Final = 120
_ENOUGH: Final = 1600
"""Characters of text that are read of a passage: the excerpt, and what may be stripped before it."""
_SIBLINGS_MOST: Final = 12
"""Items of a feed that are looked at to find what repeats; three tell, twelve are certain."""
_LINK_CHARACTERS: Final = 2000
"""Longer addresses are refused by browsers and servers."""
_SENTENCE_END: Final = re.compile(r"[.!?…।۔؟][\"'”’)\]]*\s|[。！？]")
_SHOWING: Final = frozenset({"style", "class", "hidden", "aria-hidden"})
"""Attributes that say whether an element is seen."""
_ONLY_HTML: Final = re.compile(
    r"</(?:p|a|b|i|em|strong|div|span|ul|ol|li|h[1-6]|blockquote|pre|code|table)>|<(?:br|img|p)\b"
    r"|&(?:#\d{2,6}|#x[0-9a-f]{2,5}|nbsp|quot|apos|[lr][sd]quo|[mn]dash|hellip);",
    re.IGNORECASE,
)
"""What only HTML has."""
_SAFE: Final = "/?#:@!$&'*+,;=%~()[]-._"


class Passage(NamedTuple):
    """A piece of text as the feed gives it; ``kind`` is ``text``, ``html``, ``xhtml`` (an element) or ``base64``."""

    kind: str = "text"
    value: Any = ""

    def __bool__(self) -> bool:
        return isinstance(self.value, Element) or bool(self.value)


NOTHING: Final = Passage()


def untyped(text: str) -> Passage:
    """Return text that does not say what it is: text, as it should, or HTML where it holds what only HTML has."""
    return Passage("html" if _ONLY_HTML.search(text) else "text", text)


@dataclass(frozen=True, slots=True)
class Raw:
    """What an entry keeps of its document until somebody wants to read it."""

    title: Passage = NOTHING
    teaser: Passage = NOTHING
    content: Passage = NOTHING
    link: str = ""
    """The address to show: where the entry's link leads in the end, if the feed says so."""
    siblings: Sequence[Raw] = field(default=(), repr=False)
    """Every entry of the document."""


@dataclass(frozen=True, slots=True)
class _Text:
    title: str
    excerpt: str
    suspicious: tuple[str, ...]


def stories(groups: Sequence[Sequence[Entry]]) -> tuple[Story, ...]:
    """Return one story per group of entries that are the same story.

    The first entry gives text and link, or the first one with an excerpt if it has none; the others stand in ``also``.
    """
    repeating: dict[int, frozenset[str]] = {}
    return tuple(_story(group, repeating) for group in groups)


def _story(group: Sequence[Entry], repeating: dict[int, frozenset[str]]) -> Story:
    shown, text = group[0], _text(group[0], repeating)
    for entry in group[1:] if not text.excerpt else ():
        other = _text(entry, repeating)
        if other.excerpt:
            shown, text = entry, other
            break
    link, suspicious = _checked_link(shown), list(text.suspicious)
    if not link and shown.link.strip():
        suspicious.append("unsafe link")
    others = ((entry.source, _checked_link(entry)) for entry in group if entry is not shown)
    also = tuple(pair for pair in dict.fromkeys(others) if pair != (shown.source, link))
    title = text.title or _shortened(text.excerpt, _FALLBACK_TITLE_CHARACTERS) or "Untitled"
    return Story(
        title,
        link,
        shown.source,
        shown.feed,
        shown.published,
        text.excerpt,
        group[0].identity,
        also,
        tuple(dict.fromkeys(suspicious)),
    )


# --- text ----------------------------------------------------------------------------------------------------------


def title_of(entry: Entry) -> str:
    """Return an entry's title as plain text; empty where it has none."""
    return plain(entry.raw.title, TITLE_CHARACTERS) if isinstance(entry.raw, Raw) else ""


def excerpts_of(entries: Iterable[Entry]) -> list[str]:
    """Return the beginnings of the entries' texts as plain text, without boilerplate; empty where there is none."""
    repeating: dict[int, frozenset[str]] = {}
    return [_text(entry, repeating).excerpt for entry in entries]


def plain(passage: Passage, most: int) -> str:
    """Return a heading as one line of plain text of at most ``most`` characters."""
    text, _ = _neutral(_lines(passage, 2 * most, heading=True).lines)
    return _shortened(text, most)


def _text(entry: Entry, repeating: dict[int, frozenset[str]]) -> _Text:
    raw = entry.raw if isinstance(entry.raw, Raw) else Raw()
    title, found = _neutral(_lines(raw.title, 2 * TITLE_CHARACTERS, heading=True).lines)
    title = _shortened(title, TITLE_CHARACTERS)
    key = id(raw.siblings)
    if key not in repeating:
        repeating[key] = _repeated(raw.siblings)
    brief, body = _lines(raw.teaser, _ENOUGH), _lines(raw.content, _ENOUGH)
    teaser, content = (stripped(each.lines, title, repeating[key]) for each in (brief, body))
    fuller = content if min(_size(content), EXCERPT_CHARACTERS) > _size(teaser) else teaser
    excerpt, found_in_text = _neutral(fuller)
    hidden = body.hidden or brief.hidden
    excerpt = _shortened(excerpt, EXCERPT_CHARACTERS)
    if excerpt.rstrip(".…") == title.rstrip(".…"):
        excerpt = ""
    names = dict.fromkeys((*found, *found_in_text, *(["hidden text"] if hidden else [])))
    return _Text(title, excerpt, tuple(names))


def _size(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _neutral(lines: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Return lines as one, cleaned and neutralised, with the names of what was found."""
    kept: list[str] = []
    names: list[str] = []
    for line in lines:
        names += inspect(line)
        text, found = neutral(clean(line))
        names += found
        kept.append(text)
    return " ".join(" ".join(kept).split()), tuple(names)


def _lines(passage: Passage, enough: int, *, heading: bool = False) -> Lines:
    kind, value = passage.kind, passage.value
    if kind == "base64":
        kind, value = "html", _unpacked(value)
    elif kind == "xhtml":
        kind, value = "html", _written(value, 8 * enough)
    if kind == "html":
        return lines_of_html(value, enough, heading=heading)
    return lines_of_text(value[: 2 * enough])


def _unpacked(value: str) -> str:
    from base64 import b64decode  # noqa: PLC0415 - only Atom 0.3 has it
    from binascii import Error  # noqa: PLC0415 - the same

    try:
        return b64decode(value[:262_144]).decode("utf-8", "replace")
    except (Error, ValueError):
        return ""


def _written(element: Element, most: int) -> str:
    """Return an element's content as HTML, as far as ``most`` characters of text; no recursion, whatever its depth."""
    from html import escape  # noqa: PLC0415 - its table of names takes a while to load

    parts: list[str] = []
    length = 0
    todo: list[str | Element] = [element]
    while todo and length < most:
        each = todo.pop()
        if isinstance(each, str):
            parts.append(each)
            continue
        length += len(each.text or "") + len(each.tail or "") + 1
        name = str(each.tag).rpartition("}")[2]
        shown = "".join(f' {key}="{escape(value)}"' for key, value in each.items() if key in _SHOWING)
        parts.append(f"<{name}{shown}>" if each is not element else "")
        parts.append(escape(each.text or "", quote=False))
        todo.append((f"</{name}>" + escape(each.tail or "", quote=False)) if each is not element else "")
        todo.extend(reversed(each))
    return "".join(parts)


def _repeated(siblings: Sequence[Raw]) -> frozenset[str]:
    def sample() -> Iterable[tuple[Sequence[str], str]]:
        for raw in siblings[:_SIBLINGS_MOST]:
            title = " ".join(_lines(raw.title, 2 * TITLE_CHARACTERS, heading=True).lines)
            yield (*_lines(raw.teaser, _ENOUGH).lines, *_lines(raw.content, _ENOUGH).lines), title

    return repeated(sample())


def _shortened(text: str, most: int) -> str:
    """Return at most ``most`` characters of a text, cut behind a sentence if that keeps half, else behind a word."""
    if len(text) <= most:
        return text
    start = text[:most]
    ends = [match.end() for match in _SENTENCE_END.finditer(start) if match.end() >= most // 2]
    if ends:
        return start[: ends[-1]].rstrip()
    start = start[: most - 1]
    word, space, _ = start.rpartition(" ")
    return (word if space and len(word) >= most // 2 else start).rstrip(" ,;:-") + "…"


# --- links ---------------------------------------------------------------------------------------------------------


def _checked_link(entry: Entry) -> str:
    raw = entry.raw
    return (safe_link(raw.link) if isinstance(raw, Raw) and raw.link else "") or safe_link(entry.link)


def safe_link(link: str) -> str:
    """Return a link that may be shown: http(s), a host, no credentials, no space or control; empty for any other.

    The host is written in its ASCII form, so that a look-alike in another script does not pass for the real one.
    """
    try:
        parts = urlsplit(clean(link.strip()).replace("\n", "").replace("\t", ""))
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    if parts.scheme.lower() not in ("http", "https") or not host or "@" in parts.netloc or len(link) > _LINK_CHARACTERS:
        return ""
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return ""
    if not re.fullmatch(r"[a-z0-9._-]+|[0-9a-f:.]+", host):
        return ""
    netloc = (f"[{host}]" if ":" in host else host) + (f":{port}" if port is not None else "")
    rest = (_quoted(part) for part in (parts.path, parts.query, parts.fragment))
    return urlunsplit((parts.scheme.lower(), netloc, *rest))


def _quoted(text: str) -> str:
    """Percent-encode what opens something in HTML or Markdown; letters of any script stay readable."""
    return "".join(
        each if each.isalnum() or each in _SAFE or (each > "\x7f" and not each.isspace()) else quote(each)
        for each in text
    )
