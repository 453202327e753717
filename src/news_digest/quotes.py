"""Which of its own words tell an event: a headline, and sentences in order of worth."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from news_digest.model import Story
from news_digest.sentences import ends_whole, sentences, word_total
from news_digest.words import terms

__all__ = ["headline", "quotable", "trimmed"]

UNTITLED = "Untitled"

SHORTEST, LONGEST = 5, 38
"""Words of a sentence worth quoting; a longer one leaves no room for its headline."""

TAIL = re.compile(r"\s+[|\u2013\u2014-]\s+[^|\u2013\u2014]{2,30}$")
"""The outlet's name at the end of a title."""

LEANS = re.compile(
    r"^(?:it|its|they|their|this|that|these|those|he|she|his|her|but|and|so|however|also|still|meanwhile|instead|both|"
    r"the (?:company|firm|move|announcement|news|report|tool|feature|update|startup|model|project))\b",
    re.IGNORECASE,
)
"""A sentence that begins so needs the one before it."""

ADDRESS = re.compile(
    r"\b(?:read more|click here|subscribe|sign up|newsletter|here's|in this (?:article|post|video|episode|guide)|"
    r"this (?:article|post|guide|tutorial|video|episode)|you|your|we|our|i|i'm|let's)\b|https?://|www\.",
    re.IGNORECASE,
)
"""What speaks to the reader or about the article tells no news."""

REPEATS = 0.75
"""A sentence that has so much of the headline's words, and little else, says it again."""


def headline(stories: Sequence[Story]) -> tuple[str, str]:
    """Return an event's headline and the source that has it: the title that has most in common with the others'."""
    counts = Counter(term for story in stories for term in set(terms(story.title)))
    best = max(
        range(len(stories)),
        key=lambda at: (bool(stories[at].title.strip()), not stories[at].suspicious, _shared(stories[at], counts), -at),
    )
    title = " ".join(stories[best].title.split()) or UNTITLED
    return title, stories[best].source


def _shared(story: Story, counts: Counter[str]) -> float:
    found = set(terms(story.title))
    return sum(counts[term] - 1 for term in found) / (len(found) or 1)


def trimmed(title: str, most: int) -> str:
    """Return a headline of at most so many words: without its outlet's name, else cut with an ellipsis."""
    if word_total(title) <= most:
        return title
    bare = TAIL.sub("", title)
    if word_total(bare) <= most:
        return bare
    kept = bare.split()[:most]
    while len(kept) > 1 and word_total(" ".join(kept)) > most:
        kept.pop()
    text = " ".join(kept).rstrip(",;:\u2013\u2014-. \u2026")
    if word_total(text) > most:
        text = text[: 2 * most]
    return f"{text}\u2026"


def quotable(stories: Sequence[Story], title: str) -> tuple[str, ...]:
    """Return the sentences of the stories' excerpts that may stand in a digest, the best first, each once."""
    heading = set(terms(title))
    common = Counter(term for story in stories for term in set(terms(f"{story.title} {story.excerpt}")))
    scored: dict[str, tuple[float, int]] = {}
    for order, story in enumerate(stories):
        if story.suspicious:
            continue
        for place, text in enumerate(sentences(story.excerpt)):
            if text not in scored and _fit(text, heading):
                scored[text] = (-_worth(text, place, heading, common), order)
    return tuple(sorted(scored, key=lambda text: scored[text]))


def _fit(text: str, heading: set[str]) -> bool:
    if not SHORTEST <= word_total(text) <= LONGEST or not ends_whole(text):
        return False
    found = set(terms(text))
    return len(found - heading) >= 3 or not heading  # noqa: PLR2004


def _worth(text: str, place: int, heading: set[str], common: Counter[str]) -> float:
    """Return how well a sentence tells the event: early, on its subject, with figures, standing by itself."""
    found = set(terms(text))
    about = len(found & heading) / (len(heading) or 1)
    shared = sum(1 for term in found if common[term] > 1) / (len(found) or 1)
    worth = 1.0 / (1 + place) + 0.5 * about + shared
    worth += 0.2 if re.search(r"\d", text) else 0.0
    worth -= 0.7 if LEANS.match(text) else 0.0
    worth -= 0.8 if ADDRESS.search(text) else 0.0
    worth -= 0.5 if text.endswith("?") else 0.0
    said_again = len(found & heading) / (len(found) or 1)
    return worth - (0.6 if said_again >= REPEATS else 0.0)
