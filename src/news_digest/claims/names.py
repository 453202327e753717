"""Names of a text, and whether the stories have them, in this or another form.

Nothing here knows who exists. A name is a word that its capital letters, its digits or its place give away; it is borne
out by the same word, by its abbreviation (``FTC`` and *Federal Trade Commission*, ``Fed`` and *Federal*), by the
adjective of a country, or by one of a few pairs that every reader knows. German capitalises all nouns, so there only
what mixes letters and digits, or is all capitals, counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from news_digest.words import STOP_WORDS, fold, stem

__all__ = ["Known", "Name", "known", "name_claims", "proper_words"]

_LETTER = "(?:(?![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])[^\\W_])"
"""Scripts without spaces have no capitals either: only what stands among them in other letters may be a name."""

_TOKEN = re.compile(rf"{_LETTER}+(?:[.'\u2019&-]{_LETTER}+)*")
_POSSESSIVE = re.compile(r"['\u2019](?:s|S)?$")
_OPENERS = frozenset('.!?:;\u2026\u201c\u201d"\u2018(\u2014\u2013[|\u2022')
_VERB = re.compile(
    r"^(?:said|says|has|had|is|was|will|would|could|may|might|can|to|plans?|gets?|wins?|buys?|cuts?|[a-z]{2,}ed|[a-z]{3,}[^s]s|"
    r"rose|fell|won|lost|sold|bought|took|made|gave|went|began|became|grew|paid|built|led|met|told|wrote|ran|set)$"
)

NEUTRAL = frozenset(
    """
    i mr mrs ms dr sir inc ltd corp co plc llc gmbh ag the a an no ok okay am pm est gmt utc et bst vs etc nr st
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december jan feb mar apr jun jul aug sep sept oct nov dec
    """.split()  # noqa: SIM905
)
"""Titles, forms of companies, and what :mod:`news_digest.claims.dates` judges."""

PLAIN = frozenset(
    """
    police people research researchers inflation software hardware staff data demand growth unemployment work training
    officials regulators lawmakers developers scientists investors voters workers users customers critics experts
    analysts engineers doctors teachers students parents children women men patients prosecutors authorities everyone
    nobody nothing everything anyone someone half none others several many most few both management trade travel
    traffic production output spending revenue profit income investment construction access support code music rain
    snow weather water power electricity energy fuel oil gas gold air food wheat rice health education justice peace
    war fire smoke damage evidence progress interest competition pressure opposition parliament congress government
    court council city county state union company team board panel report study survey update version release former
    separately meanwhile however instead later earlier also still overall today yesterday tomorrow tonight so yet but
    only even just once here there this that these those such what which who why how when where while although because
    if unless until after before during since despite amid following according under over between beyond along
    production readers drivers farmers residents passengers tickets prices rates sales shares stocks bonds talks
    """.split()  # noqa: SIM905
)
"""Words that open a sentence with a capital and name nobody."""

SAME = (
    "us usa america american americans states",
    "uk britain british briton britons kingdom",
    "eu europe european europeans",
    "ceo chief",
    "cfo chief",
    "cto chief",
    "ai artificial llm llms",
    "mb megabyte megabytes",
    "gb gigabyte gigabytes",
    "tb terabyte terabytes",
    "kb kilobyte kilobytes",
    "q1 q2 q3 q4 quarter",
    "h1 h2 half",
    "tv television",
    "pm prime",
    "un nations",
    "france french",
    "germany german germans",
    "netherlands dutch",
    "spain spanish",
    "greece greek greeks",
    "switzerland swiss",
    "denmark danish danes",
    "sweden swedish swedes",
    "norway norwegian norwegians",
    "finland finnish finns",
    "poland polish poles",
    "turkey turkish turks turkiye",
    "ireland irish",
    "scotland scottish scots",
    "wales welsh",
    "england english",
    "czechia czech czechs",
    "portugal portuguese",
    "philippines filipino filipinos",
    "thailand thai",
    "president presidential presidency",
    "javascript js",
    "typescript ts",
    "kubernetes k8s",
    "postgres postgresql",
    "covid coronavirus covid-19",
)
_SAME: dict[str, frozenset[str]] = {}
for _line in SAME:
    for _word in _line.split():
        _SAME[_word] = _SAME.get(_word, frozenset()) | frozenset(_line.split())

ADJECTIVE_ENDS = frozenset(
    ["", *["a", "an", "ans", "e", "ese", "i", "ia", "ian", "ians", "is", "ish", "n", "o", "s", "um", "y"]]
)
SHARED_STEM = 4
SHORTEST_PREFIX = 3
TITLE_CASE = 0.8
"""From this share of capitalised words on, a text is in title case and a capital says little."""


@dataclass(frozen=True, slots=True)
class Name:
    """A word taken for a name; ``run`` is the row of capitalised words that it stands in."""

    word: str
    run: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """The words of stories in the forms that names are compared in."""

    words: frozenset[str]
    stems: frozenset[str]
    long_names: tuple[str, ...]
    """Folded words that stand with a capital, for abbreviations by their beginning."""
    initials: str
    """First letters of all words but the smallest, for abbreviations by initials."""
    name_initials: frozenset[str]
    """Initials of each row of capitalised words, whole and in part."""

    def has(self, name: Name) -> bool:
        """Return whether the stories have the name, or a form of it."""
        word = _folded(name.word)
        if word in self.words or stem(word) in self.stems or word in NEUTRAL:
            return True
        if _SAME.get(word, frozenset()) & self.words:
            return True
        return self._as_initials(name, word) or self._as_form(word)

    def _as_initials(self, name: Name, word: str) -> bool:
        if name.word.replace(".", "").isupper() and len(word) > 1:
            if word in self.name_initials or (len(word) > 2 and word in self.initials):  # noqa: PLR2004
                return True
            if word[:-1] in self.name_initials and word.endswith("s"):
                return True
        row = "".join(_folded(part)[:1] for part in name.run)
        return len(row) > 1 and row in self.words

    def _as_form(self, word: str) -> bool:
        return any(
            _related(word, other) or (len(word) >= SHORTEST_PREFIX and other.startswith(word))
            for other in self.long_names
            if other[:SHORTEST_PREFIX] == word[:SHORTEST_PREFIX]
        )


def _related(one: str, other: str) -> bool:
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return shared >= SHARED_STEM and one[shared:] in ADJECTIVE_ENDS and other[shared:] in ADJECTIVE_ENDS


@lru_cache(maxsize=16_384)
def _folded(word: str) -> str:
    bare = fold(_POSSESSIVE.sub("", word))
    return bare.replace(".", "") if "." in bare else bare


def _parts(token: str) -> list[str]:
    """Return a token whole, and its parts where a hyphen or dot joins words."""
    bare = _POSSESSIVE.sub("", token)
    pieces = [piece for piece in re.split(r"[-&'\u2019]", bare) if piece]
    return [bare, *pieces] if len(pieces) > 1 else [bare]


def known(texts: Iterable[str]) -> Known:
    """Return the words of texts in the forms that names are compared in."""
    found: set[str] = set()
    names: dict[str, None] = {}
    letters: list[str] = []
    rows: set[str] = set()
    for text in texts:
        row: list[str] = []
        for token in _TOKEN.findall(text):
            pieces = _parts(token)
            found.update(_folded(piece) for piece in pieces)
            found.update(part for piece in pieces for part in _folded(piece).split("."))
            for piece in pieces:
                if piece[0].isupper():
                    names[_folded(piece)] = None
            small = fold(token) in STOP_WORDS
            if not small:
                letters += [_folded(piece)[0] for piece in (pieces[1:] or pieces) if _folded(piece)]
            if token[0].isupper():
                row += [_folded(piece)[:1] for piece in (pieces[1:] or pieces)]
            elif not small:
                rows |= _pieces("".join(row))
                row = []
        rows |= _pieces("".join(row))
        letters.append(" ")
    return Known(
        words=frozenset(found),
        stems=frozenset(map(stem, found)),
        long_names=tuple(names),
        initials="".join(letters),
        name_initials=frozenset(rows),
    )


def _pieces(row: str, longest: int = 7) -> set[str]:
    return {row[at : at + size] for at in range(len(row)) for size in range(2, longest + 1) if at + size <= len(row)}


def proper_words(texts: Iterable[str]) -> frozenset[str]:
    """Return the words that texts write with a capital inside their sentences and never without: names, most likely."""
    capital: set[str] = set()
    small: set[str] = set()
    for text in texts:
        if _in_title_case(text):
            continue
        for match in _TOKEN.finditer(text):
            for piece in _parts(match.group()):
                if not piece[0].isupper():
                    small.add(_folded(piece))
                elif not _opens(text, match.start()):
                    capital.add(_folded(piece))
    return frozenset(capital - small - STOP_WORDS)


def name_claims(text: str, proper: Collection[str] = (), *, capitals_tell: bool = True) -> list[Name]:
    """Return the names of a text, in order; where a capital says little, only what ``proper`` or its looks give away.

    ``capitals_tell`` is False for a language whose nouns all have capitals.
    """
    tokens = list(_TOKEN.finditer(text))
    titled = not capitals_tell or _in_title_case(text)
    found = []
    for place, match in enumerate(tokens):
        run = _run(tokens, place, text)
        follows = tokens[place + 1].group() if place + 1 < len(tokens) else ""
        whole, *parts = _parts(match.group())
        for piece in parts if "-" in whole else [whole]:
            weak = titled or (_opens(text, match.start()) and match.group().startswith(piece))
            if _is_name(piece, match.group(), follows, proper, weak=weak):
                found.append(Name(piece, run))
    return found


def _is_name(piece: str, token: str, follows: str, proper: Collection[str], *, weak: bool) -> bool:
    word = _folded(piece)
    if len(word) < 2 or word in NEUTRAL or not any(each.isalpha() for each in piece):  # noqa: PLR2004
        return False
    inner = any(each.isupper() for each in piece[1:]) or any(each.isdigit() for each in piece)
    if inner and not re.fullmatch(r"\d[\d.,]*(?:st|nd|rd|th|s|k|m|b|bn|mn|tn|x|am|pm|h|GB|MB|TB|KB|B|M|K|T)?", piece):
        return True
    if not piece[0].isupper() or word in STOP_WORDS:
        return False
    if not weak or word in proper:
        return True
    return word not in PLAIN and not word.endswith(("ing", "ly")) and _acts(word, token, follows)


def _acts(word: str, token: str, follows: str) -> bool:
    """Return whether a word that opens a sentence stands there as somebody: it owns something, or a verb follows."""
    return _POSSESSIVE.search(token) is not None or (bool(_VERB.match(follows)) and not word.endswith("s"))


def _opens(text: str, start: int) -> bool:
    before = text[:start].rstrip(" *_")
    return not before or before[-1] in _OPENERS


def _in_title_case(text: str) -> bool:
    longer = [token for token in _TOKEN.findall(text) if len(token) > 3 and token[0].isalpha()]  # noqa: PLR2004
    return len(longer) > 2 and sum(token[0].isupper() for token in longer) >= TITLE_CASE * len(longer)  # noqa: PLR2004


def _run(tokens: list[re.Match[str]], place: int, text: str) -> tuple[str, ...]:
    """Return the row of capitalised words around a place; small words inside it are passed over."""
    if not tokens[place].group()[0].isupper():
        return ()

    def joined(one: int, other: int) -> bool:
        return not text[tokens[one].end() : tokens[other].start()].strip()

    first = last = place
    while first > 0 and joined(first - 1, first) and _row(tokens[first - 1].group()):
        first -= 1
    while last + 1 < len(tokens) and joined(last, last + 1) and _row(tokens[last + 1].group()):
        last += 1
    row = [token.group() for token in tokens[first : last + 1]]
    return tuple(token for token in row if token[0].isupper() and fold(token) not in STOP_WORDS)


def _row(token: str) -> bool:
    return token[0].isupper() or token in ("of", "the", "for", "and", "on", "de", "la")
