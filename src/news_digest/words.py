"""Words as grouping and topics compare them: folded, stemmed, without the commonest; pairs where no spaces part them.

English is stemmed; other languages with spaces are compared by whole words, Chinese, Japanese, Korean, Thai, Lao, Khmer
and Burmese by pairs of neighbouring characters. So no language breaks, and none but English gets more than that.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["STOP_WORDS", "fold", "stem", "terms", "words"]

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Japanese syllables
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af"  # Korean: spaced, yet its particles cling to the words
    "\U00020000-\U0003ffff"  # rare Han
)
_TOKEN = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[^\W_])+(?:[.,](?=\d)\d+|['\u2019](?=[a-z])[a-z]+)*")
_UNSPACED_RUN = re.compile(rf"[{_UNSPACED}]+")

STOP_WORDS = frozenset(
    """
    a about above after again against all also although am among an and another any are as at back be because been
    before being below between both but by can could did do does doing done down during each either else ever every
    few for from further get gets getting go goes going got had has have having he her here hers him his how however
    i if in into is it its itself just know last least less let like likely made make makes making many may maybe me
    might more most much must my near never new next no nor not now of off often on once one only onto or other our
    out over own per perhaps put rather re really s said same say saying says see seen several shall she should
    since so some still such t take taken takes than that the their them then there these they thing things this
    those though through thus to too toward towards two under until up upon us use used uses using very via was way
    we well were what when where whether which while who whom whose why will with within without would yet you your
    """.split()  # noqa: SIM905 - a word list reads better as text
)
"""English words that carry no subject; our own list."""


def fold(text: str) -> str:
    """Return text in one form of each character (NFKC), case-folded, without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(each for each in decomposed if not "\u0300" <= each <= "\u036f")
    return unicodedata.normalize("NFKC", bare).casefold()


def words(text: str) -> list[str]:
    """Return the folded words of a text in order, stop words too; unspaced script gives its character pairs."""
    found = []
    for token in _TOKEN.findall(fold(text)):
        if _UNSPACED_RUN.fullmatch(token):
            found += [token[at : at + 2] for at in range(max(len(token) - 1, 1))]
        else:
            found.append(_bare(token))
    return found


def _bare(token: str) -> str:
    return re.split("['\u2019]", token, maxsplit=1)[0] if "'" in token or "\u2019" in token else token


def terms(text: str) -> list[str]:
    """Return the stemmed words of a text that carry its subject, in order and as often as they occur."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


_DOUBLED = frozenset("bdfgmnprt")
_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """Return a folded English word without its inflection, cautiously: ``releases``, ``released``, ``releasing`` meet.

    Plurals, past tense, -ing and a few ends of nouns; far less than Porter (1980) cuts, so that names stay apart.
    Words that are short, not ASCII or hold a digit stay as they are.
    """
    if len(word) <= 3 or not word.isascii() or not word.isalpha():  # noqa: PLR2004
        return word
    return _final(_participle(_plural(word)))


def _plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _participle(word: str) -> str:
    for end in ("ing", "ed"):
        base = word[: -len(end)]
        if word.endswith(end) and len(base) >= 3 and _VOWELS & set(base):  # noqa: PLR2004
            if base[-1] == base[-2] and base[-1] in _DOUBLED:
                return base[:-1]
            return base
    return word


def _final(word: str) -> str:
    for end in ("ement", "ment", "ation", "ition", "ion", "er", "or", "ly"):
        if word.endswith(end) and len(word) - len(end) >= 4:  # noqa: PLR2004
            word = word[: -len(end)]
            break
    if word.endswith("y") and len(word) > 3 and word[-2] not in _VOWELS:  # noqa: PLR2004
        return word[:-1] + "i"
    return word[:-1] if word.endswith("e") and len(word) > 4 else word  # noqa: PLR2004
