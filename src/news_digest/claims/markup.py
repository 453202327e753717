"""What must not stand in the plain words of a digest: addresses, markup, marks of other machines."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["addresses", "bare_hosts", "inherent_markup", "markup", "plain"]

_FILES = "js|jsx|ts|tsx|py|rs|go|md|txt|json|yaml|yml|toml|sh|css|html|htm|php|rb|java|cpp|hpp|cs|kt|sql|xml|csv|pdf"
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://[^\s<>\"\u201c\u201d]+"
    r"|\bwww\.[^\s<>\"\u201c\u201d]+"
    r"|\b(?:javascript|data|vbscript|file|mailto|blob|ftp):[^\s\"\u201d]+"
    rf"|\b(?:[a-z0-9-]+\.)+(?!(?:{_FILES})\b)[a-z]{{2,24}}(?::\d+)?/[^\s<>\"\u201d]*"
    r"|(?<![\w.])[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,24}\b",
    re.IGNORECASE,
)
_HOST = re.compile(
    r"\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|ai|dev|app|info|biz|co|xyz|top|online|site|club|me|tv|example|test|"
    r"ru|cn|uk|de|fr|eu|us|in|jp|br|au|ca|nl|se|no|it|es|ch|at|be|pl|cz)\b(?!\.\w)",
    re.IGNORECASE,
)
_INHERENT = re.compile(
    r"!\[|\]\s?\(|\]\s?\[|^\s*\[[^\]]+\]:\s|```|~~~|<\|[^|>]{0,40}\|>|={4,}|<<<|>>>|-{5,}|#{4,}|\[/?INST\]"
    r"|<[a-z][^<>]*\s(?:src|href|style|on[a-z]+)\s*=",
    re.IGNORECASE,
)
"""Never part of a sentence, not even where a story has it: images, links, fences, template tokens, tags that load."""

_FORMAL = re.compile(
    r"</?[a-z][a-z0-9]*(?:\s[^<>]*)?/?>|<!--|&(?:[a-z]{2,8}|#x?[0-9a-f]{1,6});|^\s{0,3}(?:#{1,6}|>|\|)\s", re.IGNORECASE
)
"""Markup that may be the subject of a sentence ("why the <dialog> element matters"), if the story has it so."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def addresses(text: str) -> list[str]:
    """Return the addresses of a text: with a scheme, with a path, or of a mailbox."""
    return [match.group().rstrip(".,;:!?)") for match in _ADDRESS.finditer(text)]


def bare_hosts(text: str) -> list[str]:
    """Return what looks like the name of a host, without a path: a company may be called so."""
    return [match.group() for match in _HOST.finditer(_ADDRESS.sub(" ", text))]


def inherent_markup(text: str) -> list[str]:
    """Return markup and hidden characters that no sentence may have."""
    hidden = sorted({f"U+{ord(each):04X}" for each in text if _is_hidden(each)})
    return [match.group().strip() for match in _INHERENT.finditer(text)] + hidden


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN and character not in "\u200c\u200d"


def markup(text: str) -> list[str]:
    """Return markup that a sentence may only have where its story has it."""
    return [match.group().strip() for match in _FORMAL.finditer(text)]


_TURNS = 3
_EMPTY = re.compile(r"\(\s*\)|\[\s*\]")


def plain(text: str) -> str:
    """Return the text without addresses, markup that is never part of a sentence, and hidden characters; idempotent."""
    bare = " ".join(text.split())
    for _ in range(_TURNS):  # taking one thing away may join two halves of another
        shorter = _taken_away(bare)
        if shorter == bare:
            return bare
        bare = shorter
    return _taken_away(re.sub(r"[][(){}<>!`|]", " ", bare))


def _taken_away(text: str) -> str:
    bare = "".join(
        " " if each.isspace() else each for each in text if each.isspace() or unicodedata.category(each) not in _HIDDEN
    )
    bare = re.sub(r"<[a-z][^<>]*\s(?:src|href|style|on[a-z]+)\s*=[^>]*>?", " ", bare, flags=re.IGNORECASE)
    bare = re.sub(r"!?\[([^\]]*)\]\s?(?:\([^)]*\)?|\[[^\]]*\]?)", r"\1", bare)
    bare = _EMPTY.sub(" ", _INHERENT.sub(" ", _ADDRESS.sub(" ", bare)))
    return " ".join(bare.split())
