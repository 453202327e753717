"""Which stories report the same event: one function for all writers, pure and deterministic.

Stories with one link or one identifier are the same. Else their words are compared: stemmed TF-IDF over the title
(twice) and the excerpt, and, where an embedding is given, its vectors as well. Groups are joined by complete linkage:
every two members are alike, so that a story about everything bridges nothing.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import mul
from typing import TypeAlias

from news_digest.model import Story
from news_digest.words import terms

__all__ = ["Similarity", "same_events", "story_text"]

Vector: TypeAlias = Sequence[float]

Similarity: TypeAlias = Callable[[Sequence[str]], Sequence[Vector]]
"""Return a vector of length 1 per text; the product of two is how alike the texts are in meaning."""

TITLE_WEIGHT = 2
"""A word of the title counts as often; measured on two-day windows of general and technology news."""

LEXICAL = 0.20
"""Least cosine of two stories of one event by words alone."""

LEXICAL_WITH_MEANING = 0.10
MEANING = 0.65
"""Least cosines, by words and by meaning, that both must reach where there is an embedding."""

RARE = 60
"""A word in more stories than this proposes no pairs, so that the work grows in proportion to the stories."""

BACKGROUND = 200
"""Stories that the batch is thought to be part of: in a small one, a word that all share would else weigh nothing."""

Weights: TypeAlias = Mapping[str, float]


def story_text(story: Story) -> str:
    """Return title and excerpt as one text."""
    return f"{story.title}. {story.excerpt}" if story.excerpt else story.title


def same_events(stories: Sequence[Story], similarity: Similarity | None = None) -> tuple[tuple[int, ...], ...]:
    """Return the positions (from 0) of the stories of each event; every position stands in exactly one group.

    Groups are in the order of their first story, positions ascend.
    """
    links = _alike(stories, similarity)
    for first, second in _identical(stories):
        links[first, second] = 2.0
    return _complete_linkage(len(stories), links)


def _identical(stories: Sequence[Story]) -> list[tuple[int, int]]:
    """Return pairs with the same link or the same fingerprint."""
    holders: dict[str, list[int]] = defaultdict(list)
    for position, story in enumerate(stories):
        keys = {story.link, *story.identity.lookup, *(link for _, link in story.also)} - {""}
        for key in sorted(keys):
            holders[key].append(position)
    return sorted({(each[0], other) for each in holders.values() for other in each[1:] if other != each[0]})


# --- likeness ------------------------------------------------------------------------------------------------------


def _alike(stories: Sequence[Story], similarity: Similarity | None) -> dict[tuple[int, int], float]:
    """Return the pairs that may report one event, first before second, with their likeness."""
    weights = weigh([_counted(story) for story in stories])
    least = LEXICAL if similarity is None else LEXICAL_WITH_MEANING
    pairs = {pair: cosine for pair in _candidates(weights) if (cosine := _cosine(weights, pair)) >= least}
    if similarity is None or not pairs:
        return pairs
    members = sorted({position for pair in pairs for position in pair})
    vectors = dict(zip(members, similarity([story_text(stories[position]) for position in members]), strict=True))
    meanings = {pair: dot(vectors[pair[0]], vectors[pair[1]]) for pair in pairs}
    return {pair: (pairs[pair] + meaning) / 2 for pair, meaning in meanings.items() if meaning >= MEANING}


def _counted(story: Story) -> Counter[str]:
    counts = Counter(terms(story.excerpt))
    for term in terms(story.title):
        counts[term] += TITLE_WEIGHT
    return counts


def weigh(counted: Sequence[Mapping[str, int]]) -> list[dict[str, float]]:
    """Return TF-IDF weights of length 1 per text: logarithmic counts, and a word is worth more the fewer texts have it."""
    holders = Counter(term for counts in counted for term in counts)
    worth = {term: math.log((len(counted) + BACKGROUND) / (1 + count)) for term, count in holders.items()}
    weighed = []
    for counts in counted:
        raw = {term: (1 + math.log(count)) * worth[term] for term, count in sorted(counts.items())}
        length = math.sqrt(math.fsum(value * value for value in raw.values()))
        weighed.append({term: value / length for term, value in raw.items()} if length else {})
    return weighed


def _candidates(weights: Sequence[Weights]) -> list[tuple[int, int]]:
    """Return the pairs that share a word which few stories have."""
    holders: dict[str, list[int]] = defaultdict(list)
    for position, each in enumerate(weights):
        for term in each:
            holders[term].append(position)
    pairs: set[tuple[int, int]] = set()
    for positions in holders.values():
        if len(positions) <= RARE:
            pairs.update((first, second) for at, first in enumerate(positions) for second in positions[at + 1 :])
    return sorted(pairs)


def _cosine(weights: Sequence[Weights], pair: tuple[int, int]) -> float:
    fewer, more = sorted((weights[pair[0]], weights[pair[1]]), key=len)
    return math.fsum(value * more[term] for term, value in fewer.items() if term in more)


def dot(first: Vector, second: Vector) -> float:
    """Return the product of two vectors of equal length."""
    return float(sum(map(mul, first, second)))


# --- linkage -------------------------------------------------------------------------------------------------------


def _complete_linkage(count: int, links: Mapping[tuple[int, int], float]) -> tuple[tuple[int, ...], ...]:
    """Join the two groups whose least likeness is greatest, as long as every pair across them is linked.

    Ties go to the earlier stories, so the answer does not depend on any order but the stories' own.
    """
    near: dict[int, dict[int, float]] = {position: {} for position in range(count)}
    for (first, second), likeness in links.items():
        near[first][second] = near[second][first] = likeness
    members = {position: [position] for position in range(count)}
    queue = [(-likeness, first, second) for (first, second), likeness in links.items()]
    heapq.heapify(queue)
    while queue:
        negative, first, second = heapq.heappop(queue)
        if near.get(first, {}).get(second) != -negative:
            continue
        members[first] += members.pop(second)
        near[first] = _join(near, first, second)
        for other, likeness in near[first].items():
            heapq.heappush(queue, (-likeness, min(first, other), max(first, other)))
    return tuple(sorted(tuple(sorted(group)) for group in members.values()))


def _join(near: dict[int, dict[int, float]], first: int, second: int) -> dict[int, float]:
    """Return what the union of two groups is linked with, and forget the second."""
    mine, theirs = near.pop(first), near.pop(second)
    joint = {other: min(likeness, theirs[other]) for other, likeness in mine.items() if other in theirs}
    for other in _others(mine, theirs, first, second):
        near[other].pop(first, None)
        near[other].pop(second, None)
        if other in joint:
            near[other][first] = joint[other]
    return joint


def _others(mine: Iterable[int], theirs: Iterable[int], first: int, second: int) -> list[int]:
    return sorted((set(mine) | set(theirs)) - {first, second})


# --- what the last digest told ----------------------------------------------------------------------------------------

KNOWN = 0.5
"""Share of a title's words, weighed, that a line of the last digest must have to tell the same event."""


def remembered(stories: Sequence[Story], previous: str) -> tuple[str, ...]:
    """Return per story what it is to the last digest: ``""`` (new), ``update`` or ``repeat``."""
    if not previous.strip():
        return ("",) * len(stories)
    lines = [set(terms(line)) for line in previous.splitlines()]
    return tuple(_echo(story, [line for line in lines if line]) for story in stories)


def _echo(story: Story, lines: Sequence[set[str]]) -> str:
    title = set(terms(story.title))
    if len(title) < 3:  # noqa: PLR2004 - a title of two words is like too much
        return ""
    best = max((len(title & line) / len(title) for line in lines), default=0.0)
    if best < KNOWN + 0.1:
        return ""
    return "repeat" if best > 0.9 else "update"  # noqa: PLR2004
