"""A digest as messages for chat: plain text, addresses written out, split at the ends of items. Pure.

Chat services make links, mentions and formatting of bare text, each by its own rules. What a feed wrote is therefore
changed where it could become one of them, visibly: an at sign turns wide, an address gets a gap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from news_digest.model import Digest, Item
from news_digest.render import EMPTY_DAY, foot_lines, parts_of
from news_digest.shown import figures_line, lead_text, shown, title_line, visible

__all__ = ["characters", "messages", "octets", "safe_link", "safe_text"]

_BULLET: Final = "• "
_COUNTER_ROOM: Final = len("(9999/9999)\n")
_REPLACED: Final = str.maketrans({"@": "\uff20", "<": "\u2039", ">": "\u203a", "`": "'", "*": "\u2217"})
_GAPS: Final = (
    (re.compile(r":(?=//)"), ": "),
    (re.compile(r"\b(www)\.", re.IGNORECASE), r"\1 ."),
    (re.compile(r"\b(mailto|tel|tg|slack|discord):(?=\S)", re.IGNORECASE), r"\1: "),
    (re.compile(r"\]\("), "] ("),
    (re.compile(r"\|{2,}"), "|"),
    (re.compile(r"~{2,}"), "~"),
    (re.compile(r"_{2,}"), "_"),
    (re.compile(r"^([#/-])"), r"· \1"),
)


def characters(text: str) -> int:
    """Return the length as most services count it: in UTF-16 units."""
    return len(text.encode("utf-16-le")) // 2


def octets(text: str) -> int:
    """Return the length in bytes of UTF-8."""
    return len(text.encode())


def safe_text(text: str) -> str:
    """Return text that no chat service makes a link, a mention, a command or formatting of."""
    safe = visible(text).translate(_REPLACED)
    for pattern, replacement in _GAPS:
        safe = pattern.sub(replacement, safe)
    return safe


def safe_link(link: str) -> str:
    """Return a link that mentions nobody and does not end early."""
    return link.replace("@", "%40").replace("*", "%2A").replace("~~", "%7E%7E").replace("||", "%7C%7C")


def messages(digest: Digest, limit: int, size: Callable[[str], int] = characters, *, title: bool = True) -> list[str]:
    """Return the digest as messages of at most ``limit``, numbered where there are several.

    They are cut between items, an item that is too long between its lines, and only a line that is too long within.
    ``title``: whether the first begins with the title, because the service shows none of its own.
    """
    room = limit - _COUNTER_ROOM
    packed: list[str] = []
    for block in _fitting(_blocks(digest, title=title), room, size):
        if packed and size(f"{packed[-1]}\n\n{block}") <= room:
            packed[-1] += f"\n\n{block}"
        else:
            packed.append(block)
    count = len(packed)
    return [f"({number}/{count})\n{text}" if count > 1 else text for number, text in enumerate(packed, start=1)]


def _blocks(digest: Digest, *, title: bool) -> Iterator[str]:
    """Yield what belongs together: the head, each item (a section's heading with its first), the foot."""
    lead = safe_text(lead_text(digest)) or ("" if digest.stories else EMPTY_DAY)
    yield "\n".join(filter(None, (title_line(digest) if title else "", lead, safe_text(figures_line(digest)))))
    for heading, items in parts_of(digest):
        head = safe_text(heading).upper() + "\n"
        for item in items:
            yield head + _item(digest, item)
            head = ""
    foot = "\n".join(safe_text(line) for line in foot_lines(digest))
    if foot:
        yield foot


def _item(digest: Digest, item: Item) -> str:
    seen = shown(digest, item)
    text = " ".join(safe_text(part) for part in (seen.headline, seen.text, seen.caution) if part)
    places = [
        f"{safe_text(each.label)}: {safe_link(each.link)}" if each.link else safe_text(each.label)
        for each in seen.sources
    ]
    return "\n".join([_BULLET + text, *(f"  {place}" for place in places)])


def _fitting(blocks: Iterable[str], room: int, size: Callable[[str], int]) -> Iterator[str]:
    """Yield blocks that fit: one that does not is cut at its lines, a line that does not at its words."""
    for block in blocks:
        if size(block) <= room:
            yield block
            continue
        held = ""
        for line in (piece for whole in block.split("\n") for piece in _pieces(whole, room, size)):
            joined = f"{held}\n{line}" if held else line
            if size(joined) <= room:
                held = joined
            else:
                yield held
                held = line
        yield held


def _pieces(line: str, room: int, size: Callable[[str], int]) -> Iterator[str]:
    while size(line) > room:
        end = len(line)
        while size(line[:end]) > room:
            end = end * room // size(line[:end]) if size(line[:end]) > room * 2 else end - 1
        space = line.rfind(" ", 0, end)
        cut = space if space > end // 2 else end
        yield line[:cut]
        line = line[cut:].lstrip()
    yield line
