"""Take the force out of text that looks like a command to a program that reads it: Markdown, fences, tokens, marks."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["neutral"]

_DESTINATION: Final = r"<?[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?"

_FORMS: Final[tuple[tuple[str, re.Pattern[str], str], ...]] = (
    ("chat tokens", re.compile(r"<\|[^<>|\n]{1,60}\|>|\[/?INST\]|<</?SYS>>"), " "),
    ("image markup", re.compile(rf"!\[([^\[\]\n]{{0,300}})\]\(\s*{_DESTINATION}\s*\)"), r"\1"),
    ("link markup", re.compile(rf"\[([^\[\]\n]{{0,300}})\]\(\s*{_DESTINATION}\s*\)"), r"\1"),
    (
        "link markup",
        re.compile(r"\[[^\[\]\n]{1,80}\]:\s*<?[a-z]{2,10}:\S+(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?", re.IGNORECASE),
        " ",
    ),
    ("formula markup", re.compile(r"\\href\s*\{[^{}\n]*\}\s*\{([^{}\n]*)\}|\\unicode\s*\{[^{}\n]*\}"), r"\1"),
    ("forged marks", re.compile(r"<{3,}|>{3,}|`{3,}|~{3,}"), " "),
    ("forged marks", re.compile(r"([=_*-])\1{2,}"), r"\1"),
)
_BLOCK: Final = re.compile(r"^(?:#{1,6}\s+|>\s*|[-+*]\s+(?=\D)(?:\[[ xX]?\]\s+)?|\|\s*)+")
_ADDRESS: Final = re.compile(
    r"\b(?:https?|ftp)://(?:[^\s/@<>()\"']*@)?(?:www\.)?([^\s/?#<>()\"'\]]+)[^\s<>()\"'\]]*", re.IGNORECASE
)


def neutral(line: str) -> tuple[str, tuple[str, ...]]:
    """Return a line without Markdown links and images, block marks, fences and tokens, and the names of what was there.

    An address within the text is cut to its host: no text carries a link, only a story's own field does.
    """
    found = []
    for name, pattern, instead in _FORMS:
        line, times = pattern.subn(instead, line)
        if times and name not in found:
            found.append(name)
    if "://" in line:
        line = _ADDRESS.sub(_host, line)
    return _BLOCK.sub("", " ".join(line.split())).strip(), tuple(found)


def _host(match: re.Match[str]) -> str:
    ending = re.search(r"[.,;:!?]+$", match[0])
    return match[1].rstrip(".,;:!?") + (ending[0] if ending else "")
