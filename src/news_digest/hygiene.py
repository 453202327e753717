"""The hygiene of one string: what no text of a stranger may carry to a terminal, a log, a page, a mail or a prompt.

Control characters, terminal sequences, invisible and direction-changing characters and lone surrogates mean nothing to a
reader; each has been used to hide or to forge something (``docs/security.md``).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["clean", "inspect"]

_SEQUENCE: Final = re.compile(
    "(?:\x1b\\]|\x9d)[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\\\|\x9c|$)"  # OSC: titles, links, the clipboard
    "|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]{0,4096}(?:\x1b\\\\|\x9c|$)"  # DCS, SOS, PM, APC
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor, erasing
    "|\x1b[ -/]*[0-~]?"
)
_BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_JOINERS: Final = frozenset("\u200c\u200d")
_INVISIBLE: Final = frozenset("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060\u2061\u2062\u2063\u2064\u3164\ufeff\uffa0")


def clean(text: str) -> str:
    """Return the text without anything that a reader could not see; line breaks and tabs stay. Idempotent."""
    if text.isascii() and text.isprintable():
        return text
    text = _SEQUENCE.sub("", text)
    kept = "".join(character for character in text if _is_visible(character))
    return _without_stray_joiners(kept) if _JOINERS.intersection(kept) else kept


def _is_visible(character: str) -> bool:
    if character in "\n\t" or character in _JOINERS:
        return True
    if character in _INVISIBLE or character in _BIDI or "\ufe00" <= character <= "\ufe0e":
        return False
    if "\U000e0000" <= character <= "\U000e0fff":
        return False
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn")


def _without_stray_joiners(text: str) -> str:
    """Keep a joiner only between two characters that it can join: emoji, or letters of a script that needs it."""
    kept: list[str] = []
    for index, character in enumerate(text):
        if character in _JOINERS:
            before, after = text[index - 1 : index], text[index + 1 : index + 2]
            if not before or not after or before.isascii() or after.isascii() or before in _JOINERS:
                continue
        kept.append(character)
    return "".join(kept)


def inspect(text: str) -> tuple[str, ...]:
    """Return what a text carries that has no honest use, one sentence each; nothing for an ordinary text."""
    found = []
    if "\x1b" in text or any("\x80" <= character <= "\x9f" for character in text):
        found.append("a terminal sequence was removed")
    if _BIDI.intersection(text) - {"\u200e", "\u200f"}:
        found.append("characters that change the direction of text were removed")
    if any("\U000e0000" <= character <= "\U000e0fff" for character in text) or text.count("\u200b") + text.count("\u2060") > 8:  # noqa: PLR2004
        found.append("invisible text was removed")
    return tuple(found)
