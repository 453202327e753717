"""Which stories report the same event: one function for all writers, pure and deterministic.

Stories with one link or one identifier are the same. Else their likeness is compared, by words and characters, and by
meaning where an embedding is given. Two groups are joined where they are alike on the whole and no two members are
unlike, so that a story about everything bridges nothing.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from operator import mul
from typing import TypeAlias

from news_digest.likeness import Pair, alike_by_words, cosine, run_counts, same_title, term_counts, weigh
from news_digest.model import Story

__all__ = ["Similarity", "Vector", "dot", "same_events", "story_text"]

Vector: TypeAlias = Sequence[float]

Similarity: TypeAlias = Callable[[Sequence[str]], Sequence[Vector]]
"""Return a vector of length 1 per text; the product of two is how alike the texts are in meaning."""

ALIKE = 0.28
"""Least mean of words and characters for one event; chosen on the calibration part of ``benchmarks/labels``."""

ALIKE_WITH_MEANING = 0.40
"""Least mean of words, characters and meaning, where there is an embedding; chosen in the same way."""

SLACK = 0.015
"""How much less two members of one group may be alike than the groups that they came with."""

WORDS_LEAST = 0.12
"""A pair with less in common by words is not looked at further."""

SAME = 2.0
"""The likeness of two stories that are the same for sure: above every measured one."""


def story_text(story: Story) -> str:
    """Return title and excerpt as one text."""
    return f"{story.title}. {story.excerpt}" if story.excerpt else story.title


def dot(first: Vector, second: Vector) -> float:
    """Return the product of two vectors of equal length."""
    return float(sum(map(mul, first, second)))


def same_events(stories: Sequence[Story], similarity: Similarity | None = None) -> tuple[tuple[int, ...], ...]:
    """Return the positions (from 0) of the stories of each event; every position stands in exactly one group.

    Groups are in the order of their first story, positions ascend. Near linear in the stories, whose words are rare
    enough to be compared; see :data:`news_digest.likeness.RARE`.
    """
    links = _alike(stories, similarity)
    for pair in _identical(stories):
        links[pair] = SAME
    return _joined(len(stories), links, ALIKE if similarity is None else ALIKE_WITH_MEANING)


def _identical(stories: Sequence[Story]) -> list[Pair]:
    """Return pairs with the same link or the same fingerprint."""
    holders: dict[str, list[int]] = defaultdict(list)
    for position, story in enumerate(stories):
        for key in sorted({story.link, *story.identity.lookup, *(link for _, link in story.also)} - {""}):
            holders[key].append(position)
    return sorted({(each[0], other) for each in holders.values() for other in each[1:] if other != each[0]})


def _alike(stories: Sequence[Story], similarity: Similarity | None) -> dict[Pair, float]:
    """Return the pairs that may report one event, with their likeness."""
    by_words = weigh([term_counts(story) for story in stories])
    shared = alike_by_words(by_words, WORDS_LEAST)
    by_runs = weigh([run_counts(story) for story in stories]) if shared else []
    measured = {pair: [value, cosine(by_runs, pair)] for pair, value in shared.items()}
    if similarity is not None:
        _add_meaning(stories, measured, similarity)
    least = (ALIKE if similarity is None else ALIKE_WITH_MEANING) - SLACK
    links = {pair: SAME for pair in measured if same_title(stories[pair[0]], stories[pair[1]])}
    for pair, values in measured.items():
        if (likeness := sum(values) / len(values)) >= least:
            links.setdefault(pair, likeness)
    return links


def _add_meaning(stories: Sequence[Story], measured: Mapping[Pair, list[float]], similarity: Similarity) -> None:
    members = sorted({position for pair in measured for position in pair})
    vectors = dict(zip(members, similarity([story_text(stories[position]) for position in members]), strict=True))
    for pair, values in measured.items():
        values.append(dot(vectors[pair[0]], vectors[pair[1]]))


# --- linkage -------------------------------------------------------------------------------------------------------


def _joined(count: int, links: Mapping[Pair, float], least: float) -> tuple[tuple[int, ...], ...]:
    """Join, again and again, the two groups whose members are most alike on average, while that is at least ``least``.

    Only groups all of whose pairs are linked can be joined; stories that are the same for sure always are. Ties go to
    the earlier stories, so the answer depends on no other order than theirs.
    """
    groups = _Groups(count)
    for pair in sorted(pair for pair, likeness in links.items() if likeness == SAME):
        groups.unite(*pair)
    near = groups.likeness(links)
    queue = [(-value, *pair) for pair, value in near.items() if value >= least]
    heapq.heapify(queue)
    neighbours = _neighbours(near)
    while queue:
        negative, first, second = heapq.heappop(queue)
        if neighbours.get(first, {}).get(second) != -negative:
            continue
        merged = _merge(neighbours, groups, first, second)
        alike = [(-value, min(first, other), max(first, other)) for other, value in merged if value >= least]
        for entry in alike:
            heapq.heappush(queue, entry)
    return groups.all()


class _Groups:
    """Disjoint groups of positions, each known by its earliest member."""

    def __init__(self, count: int) -> None:
        self.members = {position: [position] for position in range(count)}
        self._of = list(range(count))

    def unite(self, first: int, second: int) -> None:
        """Make one group of the groups of two positions."""
        kept, gone = sorted((self._of[first], self._of[second]))
        if kept != gone:
            moved = self.members.pop(gone)
            self.members[kept] += moved
            for position in moved:
                self._of[position] = kept

    def likeness(self, links: Mapping[Pair, float]) -> dict[Pair, float]:
        """Return the greatest likeness of any two members, for groups that have a link."""
        near: dict[Pair, float] = {}
        for (first, second), value in links.items():
            ends = sorted((self._of[first], self._of[second]))
            if ends[0] != ends[1]:
                pair = (ends[0], ends[1])
                near[pair] = max(value, near.get(pair, value))
        return near

    def all(self) -> tuple[tuple[int, ...], ...]:
        """Return the groups in order."""
        return tuple(sorted(tuple(sorted(group)) for group in self.members.values()))


def _neighbours(near: Mapping[Pair, float]) -> dict[int, dict[int, float]]:
    found: dict[int, dict[int, float]] = defaultdict(dict)
    for (first, second), value in near.items():
        found[first][second] = found[second][first] = value
    return found


def _merge(
    neighbours: dict[int, dict[int, float]], groups: _Groups, first: int, second: int
) -> list[tuple[int, float]]:
    """Join the second group to the first; return what the union is near to, with the mean over its pairs."""
    sizes = len(groups.members[first]), len(groups.members[second])
    groups.unite(first, second)
    mine, theirs = neighbours.pop(first), neighbours.pop(second)
    joint = {
        other: (value * sizes[0] + theirs[other] * sizes[1]) / sum(sizes)
        for other, value in sorted(mine.items())
        if other in theirs
    }
    for other in (mine.keys() | theirs.keys()) - {first, second}:
        neighbours[other].pop(first, None)
        neighbours[other].pop(second, None)
        if other in joint:
            neighbours[other][first] = joint[other]
    neighbours[first] = joint
    return list(joint.items())
