"""Markdown that an agent wrote, read back into a draft: structure with story numbers, and not one of its links.

Stories are recognised by their numbers (``[3]``, ``[3, 7]``), by links that a story has, and by titles word for word. A
link that no story has, an image, a number of no story are left out and reported; what stands there is then judged by
:mod:`news_digest.review` like any other draft.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from urllib.parse import urlsplit

from news_digest.claims.evidence import content
from news_digest.fingerprint import canonical_link
from news_digest.model import Brief, Claim, Draft, Item, Section
from news_digest.review import OTHER
from news_digest.sentences import sentences
from news_digest.words import words

__all__ = ["ReadBack", "read_back"]

TEXT_CHARACTERS = 200_000
"""Most of an agent's text that is read; a digest has some 5,000."""

RESTS_ON = 0.5
"""A lead sentence without a number rests on the story that has so much of its words."""

NOTED = frozenset({"headlines", "other headlines", "more headlines", "in brief", "also noted", "noted"})

_MARK = 0xE000
"""Story numbers travel through the text as private characters, so that cutting it into sentences keeps them."""

_MARKS = re.compile("[\ue000-\uf8ff]")
_NUMBERS = re.compile(r"\[\^?(\d{1,4}(?:\s*[,;]\s*\^?\d{1,4})*)\](?!\()")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*<?([^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?[^()]*\)")
_RAW = re.compile(r"<?(https?://[^\s<>\"\u201d)\]]+)>?", re.IGNORECASE)
_SOURCES = re.compile(
    r"[(\[](?:[\ue000-\uf8ff,;:/|\u00b7\u2022\s]|\u2060[^\u2060]*\u2060"
    r"|\b(?:also|and|source|sources|no link|links?|read more|more|via|see)\b)*[)\]]",
    re.IGNORECASE,
)
"""Brackets with nothing but links and numbers in them; a link's own text stands between word joiners."""

_RULE = re.compile(r"\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})")
_BULLET = re.compile(r"^(\s*)(?:[-*+\u2022]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_BOLD = re.compile(r"^\s*(?:\*\*|__)(.+?)(?:\*\*|__)\s*[:.\u2013\u2014-]?\s*(.*)$", re.DOTALL)
_UPDATE = re.compile(r"^(?:update|follow-up|developing)\s*[:\u2013\u2014-]\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReadBack:
    """The draft, and what of the text was left out, one sentence each."""

    draft: Draft
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Block:
    """A paragraph or list item of the text; ``level`` is a heading's, 0 for text."""

    text: str
    level: int = 0
    listed: bool = False


def read_back(text: str, brief: Brief | None, *, writer: str = "") -> ReadBack:
    """Return the draft that a Markdown text is; without a brief it has the words and no story.

    Never raises for any text; at most the first 200,000 characters are read. Deterministic.
    """
    reader = _Reader(brief)
    blocks = list(_blocks(_MARKS.sub("", text[:TEXT_CHARACTERS].replace("\u2060", ""))))
    draft = reader.draft(blocks, writer)
    return ReadBack(draft, tuple(dict.fromkeys(reader.notes)))


def _blocks(text: str) -> Iterator[_Block]:
    """Yield headings, paragraphs and list items in order; what is nested below an item belongs to it."""
    current, gap = _Block(""), False
    for line in _lines(text):
        following = _following(line, current, gap=gap)
        gap = not line.strip()
        if following is None:
            current.text += "\n" + (bullet[2] if (bullet := _BULLET.match(line)) else line.strip())
        else:
            if current.text.strip():
                yield current
            current = following
    if current.text.strip():
        yield current


def _following(line: str, current: _Block, *, gap: bool) -> _Block | None:
    """Return the block that a line begins, None where the line goes on with the current one."""
    if heading := _HEADING.match(line):
        return _Block(heading[2], level=len(heading[1]))
    if _RULE.fullmatch(line):
        return _Block("")
    if not line.strip():
        return None if current.listed else _Block("")
    bullet = _BULLET.match(line)
    if bullet and not (current.listed and bullet[1]):
        return _Block(bullet[2], listed=True)
    ends = current.level or not current.text or (current.listed and gap and not line[0].isspace())
    return _Block(line.strip()) if ends else None


def _lines(text: str) -> list[str]:
    """Return the lines without front matter and code fences, underlined headings in the other form."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines and lines[0].strip() == "---" and "---" in [line.strip() for line in lines[1:40]]:
        lines = lines[[line.strip() for line in lines[1:]].index("---") + 2 :]
    kept: list[str] = []
    for line in lines:
        if re.match(r"^\s*(?:```|~~~)", line):
            continue
        if re.fullmatch(r"\s*(?:={3,}|-{3,})\s*", line) and kept and kept[-1].strip() and not _BULLET.match(kept[-1]):
            kept[-1] = ("# " if "=" in line else "## ") + kept[-1].strip()
            continue
        kept.append(line)
    return kept


@dataclass
class _Reader:
    brief: Brief | None
    notes: list[str] = field(default_factory=list)

    def draft(self, blocks: Sequence[_Block], writer: str) -> Draft:
        lead: list[Claim] = []
        rows: list[tuple[str, list[Item]]] = []
        pending = ""
        for block in blocks:
            if block.level == 1 or (block.level > 1 and not rows and _is_title(block.text)):
                continue
            if block.level > 2 and rows:  # noqa: PLR2004 - a heading below a section's is an item's headline
                pending = block.text
            elif block.level:
                pending = ""
                rows.append((self._plain(block.text)[0], []))
            elif not rows and not block.listed:
                lead += self._claims(block.text)
            else:
                if not rows:
                    rows.append(("", []))
                item = self._item(f"**{pending}** {block.text}" if pending else block.text, listed=block.listed)
                pending = ""
                if item:
                    rows[-1][1].append(item)
        return _assembled(lead, rows, writer)

    def _claims(self, text: str) -> list[Claim]:
        marked, all_numbers = self._marked(text)
        claims = []
        for part in sentences(_shifted(marked)):
            said, numbers = _unmarked(part)
            if said:
                claims.append(Claim(said, numbers or all_numbers or self._resting(said)))
        return claims

    def _item(self, text: str, *, listed: bool) -> Item | None:
        bold = _BOLD.match(_UPDATE.sub("", text))
        update = bool(_UPDATE.match(text)) or bool(bold and _UPDATE.match(bold[1]))
        head, rest = (bold[1], bold[2]) if bold else (text, "")
        marked_head, numbers = self._marked(_UPDATE.sub("", head))
        marked_rest, more = self._marked(rest)
        headline, said = self._unsourced(marked_head), self._unsourced(marked_rest)
        if not bold:
            headline, said = self._parted(headline)
        numbers = tuple(dict.fromkeys((*numbers, *more))) or self._by_title(headline)
        if self.brief and not numbers:
            self.notes += [f"no story was named for: {headline[:80]}"] if headline else []
            return None
        if not headline or not (listed or numbers):
            return None
        return Item(headline.rstrip(".") if bold else headline, tuple(sentences(said)), numbers, update=update)

    def _unsourced(self, marked: str) -> str:
        """Return an item's text as plain words, without brackets at its end that name its sources."""
        said = _unmarked(marked)[0]
        found = re.search(r"\s*\(([^()]*)\)[.\s]*$", said)
        names = (
            [name.strip().lower() for name in re.split(r"[,;:]|\balso\b", found[1]) if name.strip()] if found else []
        )
        return said[: found.start()] if found and names and set(names) <= self._sources else said

    def _parted(self, text: str) -> tuple[str, str]:
        """Return headline and rest of an item without a bold beginning."""
        run = " ".join(words(text))
        for title, _ in self._titles:
            if title and run.startswith(f"{title} "):
                count = len(title.split())
                seen = [match.end() for match in re.finditer(r"[^\W_]+(?:['\u2019.,][^\W_]+)*", text)]
                cut = next((end for end in seen if len(words(text[:end])) >= count), len(text))
                rest = text[cut:].lstrip(" .:\u2013\u2014-")
                return (text[:cut].strip(), rest) if words(rest) else (text, "")
        first, *others = sentences(text) or [""]
        return first, " ".join(others)

    # --- stories ---------------------------------------------------------------------------------------------------

    def _marked(self, text: str) -> tuple[str, tuple[int, ...]]:
        """Return the text with its links and numbers as marks, and the numbers in order."""
        text = _LINK.sub(self._link, text)
        text = _RAW.sub(lambda match: self._address(match[1].rstrip(".,;:!?")), text)
        text = _NUMBERS.sub(self._cited, text)
        return text, tuple(dict.fromkeys(ord(mark) - _MARK for mark in _MARKS.findall(text)))

    def _link(self, match: re.Match[str]) -> str:
        image, shown, address = match.groups()
        if image:
            self.notes.append("an image was left out")
            return " "
        return f"\u2060{shown}\u2060{self._address(address)}"

    def _address(self, address: str) -> str:
        if number := self._by_link.get(canonical_link(address)):
            return chr(_MARK + number)
        if self.brief:
            self.notes.append(f"a link that no story has was left out: {_host(address)}")
        return ""

    def _cited(self, match: re.Match[str]) -> str:
        marks = ""
        for number in map(int, re.findall(r"\d+", match[1])):
            if self.brief and not 1 <= number <= len(self.brief.stories):
                self.notes.append(f"there is no story {number}")
            elif self.brief:
                marks += chr(_MARK + number)
        return marks

    def _by_title(self, headline: str) -> tuple[int, ...]:
        run = " ".join(words(headline))
        return tuple(number for title, number in self._titles if title and title == run)[:1]

    def _resting(self, sentence: str) -> tuple[int, ...]:
        said = content(sentence)
        if not self.brief or not said:
            return ()
        shares = [(len(said & words_of) / len(said), -number) for number, words_of in self._contents]
        best, number = max(shares, default=(0.0, 0))
        return (-number,) if best >= RESTS_ON else ()

    def _plain(self, text: str) -> tuple[str, tuple[int, ...]]:
        return _unmarked(self._marked(text)[0])

    @cached_property
    def _by_link(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for number, story in enumerate(self.brief.stories if self.brief else (), start=1):
            for link in (story.link, *(link for _, link in story.also)):
                if link:
                    found.setdefault(canonical_link(link), number)
        return found

    @cached_property
    def _sources(self) -> set[str]:
        stories = self.brief.stories if self.brief else ()
        return {name.lower() for story in stories for name in (story.source, *(other for other, _ in story.also))}

    @cached_property
    def _titles(self) -> list[tuple[str, int]]:
        stories = self.brief.stories if self.brief else ()
        titles = [(" ".join(words(story.title)), number) for number, story in enumerate(stories, start=1)]
        return sorted(titles, key=lambda each: (-len(each[0]), each[1]))

    @cached_property
    def _contents(self) -> list[tuple[int, frozenset[str]]]:
        stories = self.brief.stories if self.brief else ()
        return [(number, content(f"{story.title} {story.excerpt}")) for number, story in enumerate(stories, start=1)]


def _assembled(lead: Sequence[Claim], rows: Sequence[tuple[str, list[Item]]], writer: str) -> Draft:
    sections, noted = [], []
    for title, items in rows:
        if title.strip(" :").lower() in NOTED:
            noted += items
        elif title:
            sections.append(Section(title, tuple(items)))
        else:
            noted += [item for item in items if not item.sentences]
            if told := tuple(item for item in items if item.sentences):
                sections.append(Section(OTHER, told))
    kept = tuple(section for section in sections if section.items)
    return Draft(lead=tuple(lead), sections=kept, headlines=tuple(noted), writer=writer)


def _is_title(text: str) -> bool:
    return bool(re.match(r"(?:the |your |daily )*(?:news )?digest\b", text.strip("*_ "), re.IGNORECASE))


def _shifted(text: str) -> str:
    """Return the text with marks that stand behind a sentence's end moved into it."""
    moved = re.sub(r"([.!?\u2026][\"\u201d\u2019)]*)((?:\s*[\ue000-\uf8ff])+)", r"\2\1", text)
    return re.sub(r"\s+([\ue000-\uf8ff])", r"\1", moved)


def _unmarked(text: str) -> tuple[str, tuple[int, ...]]:
    """Return a text as plain words: without marks, brackets that held only those, emphasis and escapes."""
    numbers = tuple(dict.fromkeys(ord(mark) - _MARK for mark in _MARKS.findall(text)))
    bare = _SOURCES.sub(" ", text)
    bare = _MARKS.sub("", bare).replace("\u2060", "")
    bare = re.sub(r"(?<!\\)(\*\*|__|\*|`+|~~)", "", bare)
    bare = re.sub(r"(?<![\w\\])_(\S(?:.*?\S)?)_(?!\w)", r"\1", bare)
    bare = unescape(re.sub(r"\\([\\`*_{}\[\]()<>#+\-.!|~&$:@=])", r"\1", bare))
    bare = re.sub(r"\s+([.,;:!?])", r"\1", " ".join(bare.split()))
    return re.sub(r"\s*(?:\(\s*\)|\[\s*\])", "", bare).strip(" \u2013\u2014-").strip(), numbers


def _host(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "no host")[:100]
    except ValueError:
        return "no host"
