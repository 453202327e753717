"""Keep a text readable and harmless wherever it is shown: in a terminal, a log, a mail or a prompt.

What a stranger can hide in characters is taken out: terminal sequences, controls, invisible and direction-changing
characters, tag characters (Unicode's second, unseen ASCII), stacks of marks. Whatever people read stays as it is, also
the joiners of Persian, Hindi and of emoji families. Pure, idempotent, linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["clean", "inspect"]

_MARKS_MOST: Final = 4
"""Marks on one letter: Vietnamese has two, Hebrew with cantillation four."""
_STRING_MOST: Final = 4096
"""How long a string within a terminal sequence may be; a longer one only loses its introducer."""

_INTRODUCERS: Final = "\x90\x98\x9d-\x9f"
"""C1 controls that open a string; none stands within one, so that many of them are still read in linear time."""

# Joiners are orthography between letters of these scripts (Arabic to Khmer), and inside emoji.
_JOINED: Final = "\u0600-\u109f\u1780-\u17ff\ufb50-\ufdff\ufe70-\ufefc"
_EMOJI: Final = "\u2190-\u2bff\u3030\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff"
_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)

_FOUND: Final[dict[str, re.Pattern[str]]] = {
    "terminal sequences": re.compile(
        rf"(?:\x1b[\]PX^_]|[{_INTRODUCERS}])"
        rf"[^\x07\n\x1b{_INTRODUCERS}\x9c]{{0,{_STRING_MOST}}}(?:\x07|\x1b\\|\x9c)"  # OSC, DCS
        r"|(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]"  # CSI
        r"|\x1b[ -/]{0,16}[0-Z\\-~]"
    ),
    "control characters": re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]"),
    "lone surrogates": re.compile(r"[\ud800-\udfff]"),
    "tag characters": re.compile(r"[\U000e0000-\U000e0fff]"),
    "direction marks": re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]"),
    "invisible characters": re.compile(
        "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u3164]"
        "|[\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb]"
        "|[\U0001d173-\U0001d17a\U0001bca0-\U0001bca3]"
        rf"|[\u200c\u200d](?![{_JOINED}{_EMOJI}])|(?<![{_JOINED}{_EMOJI}])[\u200c\u200d]"
    ),
    "no characters": re.compile(
        "[\ufdd0-\ufdef\ufffe\uffff\ue000-\uf8ff"
        + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000))
        + "\U000f0000-\U000ffffd\U00100000-\U0010fffd]"
    ),
    "stacked marks": re.compile(rf"(?<=[{_MARKS}]{{{_MARKS_MOST}}})[{_MARKS}]+"),
}
"""What is taken out, by name, in this order."""
_BREAKS: Final = re.compile(r"\r\n?|[\x85\u2028\u2029]")
_SPACES: Final = re.compile(r"[\x0b\x0c]")
_PLAIN: Final = re.compile(r"[\t\n -~]*")


def clean(text: str) -> str:
    """Return a text (NFC) without what people do not see but machines obey; line ends become newlines, tabs stay."""
    if _PLAIN.fullmatch(text):
        return text
    while (shorter := _clean_once(text)) != text:
        text = shorter
    return text


def _clean_once(text: str) -> str:
    for pattern in _FOUND.values():
        text = pattern.sub("", text)
    return unicodedata.normalize("NFC", _SPACES.sub(" ", _BREAKS.sub("\n", text)))


def inspect(text: str) -> tuple[str, ...]:
    """Return the names of what :func:`clean` takes out of a text; empty for an honest one."""
    return () if _PLAIN.fullmatch(text) else tuple(name for name, pattern in _FOUND.items() if pattern.search(text))
