"""Raw text to the plain text of a story, once: markup out, entities decoded exactly once, boilerplate and tricks removed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html.parser import HTMLParser
from typing import Final
from urllib.parse import urlsplit

from news_digest.feeds.raw import Part, Raw, Siblings
from news_digest.hygiene import clean, inspect
from news_digest.model import Entry, Story

__all__ = ["EXCERPT_CHARACTERS", "TITLE_CHARACTERS", "full_text", "plain", "safe_link", "stories"]

EXCERPT_CHARACTERS: Final = 600
"""Four to five sentences: what a digest is written from."""
TITLE_CHARACTERS: Final = 300
_RAW_CHARACTERS: Final = 200_000
"""Most of a body that is read for an excerpt; items of 150 kB are normal."""
_READ_FOR_EXCERPT: Final = 20_000
_REPEATS: Final = 3
_SHARE: Final = 0.5
_SIBLINGS_READ: Final = 30

_SPACES: Final = re.compile(r"\s+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…。！？])\s+|(?<=[。！？])")
_TAIL: Final = re.compile(
    r"\s*(?:"
    r"The post .{1,300}? (?:appeared first on|first appeared on) .{1,100}?\.?"
    r"|This (?:article|post|story) (?:originally |was )?(?:first )?(?:appeared|published) (?:first )?(?:on|at|in) .{1,100}?\.?"
    r"|(?:Continue reading|Read more|Read the full (?:story|article)|Read full article|Keep reading)(?: .{0,120})?"
    r"|(?:Comments?|Weiterlesen|Lire la suite|Leer más)(?:\s*\(\d+\))?"
    r"|\[(?:…|\.\.\.|&#8230;)\]"
    r"|submitted by\s+/u/\S+.*|\[link\]\s*\[comments\]"
    r")\s*(?:→|»|›|>+|\.\.\.|…)?\s*$",
    re.IGNORECASE | re.DOTALL,
)
_BLOCKS: Final = frozenset(
    {
        *("address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure", "footer", "h1"),
        *("h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "td", "th"),
        *("tr", "ul", "img", "option", "sup", "sub"),
    }
)
_SILENT: Final = frozenset({"script", "style", "template", "noscript", "head", "iframe", "object", "svg", "math", "select"})
_VOID: Final = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
_WINDOWS: Final = {code: bytes((code,)).decode("cp1252") for code in (0x80, 0x85, *range(0x91, 0x98), 0x99)}
"""Quotes, dashes, dots and the euro that were written as Windows-1252 and labelled as something else."""
_MARKUP: Final = re.compile(r"<(?:/?[A-Za-z]|!--|!\[CDATA|\?)")
_HIDING: Final = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|opacity:0(?:\.0+)?(?:;|$)|font-size:0(?:px|pt|em|rem|%)?(?:;|$)"
    r"|(?:text-indent|left|top|margin-left):-\d{3,}|(?:max-)?height:0(?:px)?(?:;|$)|clip:rect\(0"
)


# --- one text ------------------------------------------------------------------------------------------------------


def plain(part: Part) -> str:
    """Return a part as plain text on one line; its markup is read once, its entities are decoded once."""
    text = part.text[:_RAW_CHARACTERS]
    if not part.plain:
        if _MARKUP.search(text):
            text = _without_markup(text)
        elif "&" in text:
            import html  # noqa: PLC0415

            text = html.unescape(text)
    return _SPACES.sub(" ", clean(_SPACES.sub(" ", text.translate(_WINDOWS)))).strip()


def _without_markup(text: str) -> str:
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return "".join(reader.parts)


class _Reader(HTMLParser):
    """Collects what a reader of the page would see."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self.parts.append(" ")
        if tag in _VOID:
            return
        if self._hidden or tag in _SILENT or _is_hidden(attrs):
            self._hidden.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the base's
        if tag in _BLOCKS:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.parts.append(" ")
        if tag in self._hidden:
            while self._hidden.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)

    def unknown_decl(self, data: str) -> None:
        if data.startswith("CDATA[") and not self._hidden:
            self.parts.append(data[6:])


def _is_hidden(attributes: Iterable[tuple[str, str | None]]) -> bool:
    for name, value in attributes:
        if name == "hidden" or (name == "aria-hidden" and value == "true"):
            return True
        if name == "style" and value and _HIDING.search(re.sub(r"\s+", "", value.lower())):
            return True
    return False


# --- one story -----------------------------------------------------------------------------------------------------


def stories(groups: Sequence[Sequence[Entry]]) -> tuple[Story, ...]:
    """Return one story per group of entries that are the same one; the first entry that has text gives it."""
    return tuple(_story(group) for group in groups)


def _story(group: Sequence[Entry]) -> Story:
    first = group[0]
    title = next((text for entry in group if (text := _title(entry.raw))), "")
    excerpt = max((_excerpt(entry.raw) for entry in group), key=lambda text: len(text) > 0, default="")
    if not title:
        title, excerpt = _cut(excerpt, 120), excerpt
    link = next((safe for entry in group if (safe := _link(entry))), "")
    found = inspect(" ".join((first.raw.head.text, *(body.text[:_READ_FOR_EXCERPT] for body in first.raw.bodies))))
    suspicious = (*found, *(["an unsafe link was left out"] if first.link and not _link(first) else ()))
    also = dict.fromkeys((_source(entry), _link(entry)) for entry in group[1:])
    also.pop((_source(first), link), None)
    return Story(
        title=title or "Untitled",
        link=link,
        source=_source(first),
        feed=first.feed,
        published=first.published,
        excerpt=excerpt if excerpt != title else "",
        identity=first.identity,
        also=tuple(also),
        suspicious=suspicious,
    )


def _link(entry: Entry) -> str:
    return safe_link(entry.raw.target) or safe_link(entry.link)


def _source(entry: Entry) -> str:
    return _cut(clean(entry.source), 80)


def _title(raw: Raw) -> str:
    return _cut(plain(raw.head), TITLE_CHARACTERS)


def full_text(raw: Raw) -> str:
    """Return the fuller of an entry's texts, whole."""
    return max((plain(body) for body in raw.bodies), key=len, default="")


def _excerpt(raw: Raw) -> str:
    """Return the fuller of an entry's texts, without what repeats in its feed, cut at the end of a sentence or word."""
    texts = [plain(Part(body.text[:_READ_FOR_EXCERPT], plain=body.plain)) for body in raw.bodies]
    full = max(texts, key=len, default="")
    repeated = _repeated(raw.siblings) if raw.siblings is not None else frozenset()
    kept = [sentence for sentence in _SENTENCE_END.split(full) if sentence and sentence not in repeated]
    text = " ".join(kept)
    while (match := _TAIL.search(text)) is not None and match.end() > match.start():
        text = text[: match.start()].rstrip()
    return _cut(text, EXCERPT_CHARACTERS, sentence=True)


@lru_cache(maxsize=64)
def _repeated(siblings: Siblings) -> frozenset[str]:
    """Return the sentences that stand in most entries of a feed: nobody's story."""
    if len(siblings.texts) < _REPEATS:
        return frozenset()
    counts: Counter[str] = Counter()
    read = siblings.texts[:_SIBLINGS_READ]
    for raw in read:
        texts = {sentence for body in raw.bodies for sentence in _SENTENCE_END.split(plain(Part(body.text[:_READ_FOR_EXCERPT], plain=body.plain)))}
        counts.update(texts)
    least = max(_REPEATS, _SHARE * len(read))
    return frozenset(sentence for sentence, count in counts.items() if sentence and count >= least)


def _cut(text: str, length: int, *, sentence: bool = False) -> str:
    """Return a text of at most ``length`` characters, cut at the end of a sentence or a word."""
    if len(text) <= length:
        return text
    head = text[:length]
    if sentence:
        ends = [match.start() for match in re.finditer(r"[.!?…。！？](?=\s|$|[^\s\w])", head)]
        if ends and ends[-1] > length // 2:
            return head[: ends[-1] + 1]
    shorter = head[: length - 1].rpartition(" ")[0] or head[: length - 1]
    return shorter.rstrip(" ,;:-–—") + "…"


def safe_link(link: str) -> str:
    """Return a link that may be shown: http(s), with a host, without credentials, of printable characters; else nothing."""
    try:
        parts = urlsplit(link)
        host = parts.hostname or ""
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or "." not in host and host != "localhost" and ":" not in host:
        return ""
    if "@" in parts.netloc or any(not character.isprintable() or character.isspace() for character in link):
        return ""
    return link
