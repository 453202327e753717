"""Which of its own words tell an event: a headline, and sentences in order of worth; verbatim, but for a cut title."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from news_digest.claims.markup import plain
from news_digest.digest import UNTITLED
from news_digest.model import Story
from news_digest.sentences import ends_whole, sentences, word_total
from news_digest.words import fold, terms

__all__ = ["best_titled", "headline", "quotable", "stands_alone", "trimmed"]

SHORTEST, LONGEST = 5, 38
"""Words of a sentence worth quoting; a longer one leaves no room for its headline."""

EASY, LONG_WINDED = 18, 0.015
"""Words that are read in one go, and what each further one takes from a sentence's worth."""

NEW_WORDS = 3
"""A sentence must have so many words of subject that its headline has not, or it only says that again."""

OUTLET = re.compile(r"\s+[|\u2013\u2014-]\s+[^|\u2013\u2014]{2,30}$")
"""The outlet's name at the end of a title."""

BREAK = re.compile(
    r"[,;:\u2013\u2014(]\s|\s[-\u2013\u2014]\s|\s(?=(?:as|after|amid|while|but|which|because|despite)\s)"
)
"""Where a headline may be cut and still say something."""

LEANS = re.compile(
    r"^(?:it|its|they|their|this|that|these|those|he|she|his|her|there|here|but|and|so|however|also|still|meanwhile|"
    r"instead|both|another|others|such|in addition|for example|as a result|"
    r"the (?:company|firm|move|announcement|news|report|tool|feature|update|startup|model|project|team|post|article|"
    r"change|decision|deal|attack|flaw|study|researchers|authors?|group|agency))\b",
    re.IGNORECASE,
)
"""A sentence that begins so needs the one before it."""

CALL = re.compile(r"\b(?:read more|click here|subscribe|sign up|continue reading|newsletter)\b", re.IGNORECASE)
"""What calls for something is never quoted."""

ADDRESS = re.compile(
    r"\b(?:here's|this (?:article|post|guide|tutorial|video|episode|thread)|you|your|we|our|i|i'm|let's)\b",
    re.IGNORECASE,
)
"""What speaks to the reader or about the article tells little news."""

DECIDED = re.compile(
    r"\b(?:announc|releas|launch|rais|acquir|said|says|report|confirm|reveal|found|discover|approv|sign|agree|ban|"
    r"su(?:ed|es)|fin(?:ed|es)|patch|fix|introduc|open-sourc|publish|unveil|warn|plan|cut|lay|join|leav|ship|hit|reach|will)\w*",
    re.IGNORECASE,
)
"""That something happened, in the words of news."""

NAMES_ENOUGH = 4
"""A sentence of the lead has at least one in so many of its headline's words."""

BEGINNING = 6
"""Words of subject among which, or in the first half of the sentence, one of the headline must be."""

REPEATS = 0.75
"""A sentence so much of which the headline has already says it again."""


def best_titled(stories: Sequence[Story]) -> int:
    """Return the position of the story whose title has most in common with the others'; the first of equals."""
    counts = Counter(term for story in stories for term in set(terms(story.title)))
    return max(
        range(len(stories)),
        key=lambda at: (bool(stories[at].title.strip()), not stories[at].suspicious, _shared(stories[at], counts), -at),
    )


def headline(stories: Sequence[Story]) -> tuple[str, str]:
    """Return an event's headline, without addresses and markup, and the source that has it."""
    best = stories[best_titled(stories)]
    title = plain(best.title) or UNTITLED
    return title.removesuffix(_outlet(title, best.source)) or title, best.source


def _outlet(title: str, source: str) -> str:
    """Return the end of a title that only names its own source; empty where it has none."""
    match = OUTLET.search(title)
    return match.group() if match and fold(match.group().lstrip(" |\u2013\u2014-")) == fold(source.strip()) else ""


def _shared(story: Story, counts: Counter[str]) -> float:
    found = set(terms(story.title))
    return sum(counts[term] - 1 for term in found) / (len(found) or 1)


def trimmed(title: str, most: int) -> str:
    """Return a headline of at most so many words: without its outlet's name, else cut, at a break if there is one."""
    if word_total(title) <= most:
        return title
    bare = OUTLET.sub("", title)
    if word_total(bare) <= most:
        return bare
    kept = bare.split()[:most]
    while len(kept) > 1 and word_total(" ".join(kept)) > most:
        kept.pop()
    text = " ".join(kept)
    if word_total(text) > most:  # one long run of an unspaced script
        text = text[: 2 * most]
    breaks = [match.start() for match in BREAK.finditer(text) if word_total(text[: match.start()]) >= (most + 1) // 2]
    text = text[: breaks[-1]] if breaks else text
    return text.rstrip(" ,;:([\u2013\u2014-.\u2026") + "\u2026"


def quotable(stories: Sequence[Story], title: str, worn: Collection[str] = ()) -> tuple[str, ...]:
    """Return the sentences of the stories' excerpts that may stand in a digest, the best first, each once.

    ``worn`` are sentences that tell nothing here, because too many stories have them. None is taken from a story whose
    text tried to hide or order something.
    """
    heading = set(terms(title))
    common = Counter(term for story in stories for term in set(terms(f"{story.title} {story.excerpt}")))
    scored: dict[str, float] = {}
    for story in stories:
        if not story.suspicious:
            for place, text in enumerate(_whole(story.excerpt)):
                if text not in scored and text not in worn and _fit(text, heading):
                    scored[text] = _worth(text, place, heading, common)
    return tuple(sorted((text for text in scored if scored[text] > 0), key=lambda text: -scored[text]))


def stands_alone(text: str, title: str) -> bool:
    """Return whether a sentence can be read without its headline: it soon names what the headline is about."""
    heading, found = set(terms(title)), terms(text)
    beginning = found[: max(BEGINNING, len(found) // 2)]
    named = len(heading & set(found)) * NAMES_ENOUGH >= len(heading)
    return named and not heading.isdisjoint(beginning) and not LEANS.match(text)


def _whole(excerpt: str) -> list[str]:
    """Return the whole sentences of a text, which may have been cut anywhere; one without any mark is one sentence."""
    found = sentences(excerpt)
    if len(found) == 1 and not excerpt.rstrip().endswith(("\u2026", "...")):
        return found
    return [text for text in found if ends_whole(text)]


def _fit(text: str, heading: set[str]) -> bool:
    if not SHORTEST <= word_total(text) <= LONGEST or plain(text) != text or CALL.search(text):
        return False
    return len(set(terms(text)) - heading) >= NEW_WORDS


def _worth(text: str, place: int, heading: set[str], common: Counter[str]) -> float:
    """Return how well a sentence tells the event: early, on its subject, that something happened, by itself."""
    found = set(terms(text))
    worth = 1.0 / (1 + place)
    worth += 0.5 * len(found & heading) / (len(heading) or 1)
    worth += sum(1 for term in found if common[term] > 1) / (len(found) or 1)
    worth -= max(0, word_total(text) - EASY) * LONG_WINDED
    worth += 0.2 if re.search(r"\d", text) else 0.0
    worth += 0.2 if DECIDED.search(text) else 0.0
    worth -= 0.7 if LEANS.match(text) else 0.0
    worth -= 0.8 if ADDRESS.search(text) else 0.0
    worth -= 0.5 if text.endswith("?") else 0.0
    return worth - (0.6 if len(found & heading) >= REPEATS * len(found) else 0.0)
