"""In which order events are told: independent sources, topic, recency, no host over all others; nothing is dropped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlsplit

from news_digest.model import Story

__all__ = ["host", "ranked", "voices"]

SOURCES_COUNTED = 4
"""The fifth independent source of an event says no more about its weight than the fourth."""

SOURCE_WEIGHT = 1.0
TOPIC_WEIGHT = 1.5
RECENCY_WEIGHT = 0.5
"""A story of the window's end is worth that much more than one of its beginning."""

ESSAY_WEIGHT = 0.4
"""What an essay, a guide, a bare name or an advertisement for a post takes from an event: news comes first."""

NEWS_WEIGHT = 0.2
"""What a headline that says that something happened adds to it."""

NEWS = re.compile(
    r"\b(?:launches|releases|released|raises|acquires|buys|sells|announces|unveils|introduces|patches|fixes|hits|reaches|"
    r"passes|bans|blocks|sues|fines|warns|confirms|reveals|finds|discovers|approves|signs|agrees|joins|leaves|leaving|"
    r"quits|resigns|cuts|lays off|plans|wins|loses|kills|dies|returns|exposes|leaks|hacked|hackers|breach|attack|"
    r"exploited|outage|zero-day|ordered|orders|arrested|charged|sentenced|open-sources|acquisition|ipo)\b|\$\d",
    re.IGNORECASE,
)
"""English words of headlines that report."""

ESSAY = re.compile(
    r"^(?:how|why|what|when|where|who|i|my|we|our|you|your|on|(?:\w+ )?thoughts on|reflections|notes|"
    r"the (?:case|art|future|state|rise|end|problem|truth)|an? (?:guide|introduction)|introduction to|getting started|"
    r"(?:\d+|five|seven|ten) (?:\w+ ){0,2}(?:tips|ways|things|reasons|lessons|rules|tools)|building|understanding|"
    r"against|in (?:defense|praise) of|is|are|do|does|should|can)\b"
    r"|\?$"
    r"|\b(?:guide|tutorial|tips|lessons|explained|cheat sheet|hiring|interview|deep dive|opinion|podcast)\b",
    re.IGNORECASE,
)
"""Titles of texts that are rather read than reported, in English."""

TITLE_WORDS = 3
"""Fewer words are a name, not a report."""

SAME_HOST = 0.25
"""What each event of a host that was ranked before takes from the next one of the same host."""

HOST_PENALTY_CAP = 1.0


def host(link: str) -> str:
    """Return the host of a link without ``www.``; empty where there is none."""
    try:
        name = urlsplit(link).hostname or ""
    except ValueError:
        return ""
    return name.removeprefix("www.")


def voices(stories: Sequence[Story]) -> tuple[str, ...]:
    """Return the independent sources of an event: hosts, or feed titles where a story has no link, each once."""
    names = []
    for story in stories:
        names.append(host(story.link) or story.source)
        names += [host(link) or source for source, link in story.also]
    return tuple(dict.fromkeys(name for name in names if name))


def ranked(
    events: Sequence[Sequence[Story]], topic: Sequence[float], since: datetime, until: datetime
) -> tuple[int, ...]:
    """Return the positions of all events, the weightiest first; ``topic`` is how well each fits, from 0 to 1.

    The window gives recency its scale. Ties keep the order given.
    """
    merit = [
        SOURCE_WEIGHT * (min(len(voices(event)), SOURCES_COUNTED) - 1)
        + TOPIC_WEIGHT * topic[position]
        + RECENCY_WEIGHT * _recency(event, since, until)
        + NEWS_WEIGHT * any(NEWS.search(story.title) for story in event)
        - ESSAY_WEIGHT * all(_is_essay(story.title) for story in event)
        for position, event in enumerate(events)
    ]
    return _varied(merit, [voices(event)[:1] for event in events])


def _is_essay(title: str) -> bool:
    """Return whether a title is of a text to be read, or a bare name; titles of unspaced scripts never are."""
    return ESSAY.search(title.strip()) is not None or (title.isascii() and len(title.split()) < TITLE_WORDS)


def _recency(event: Sequence[Story], since: datetime, until: datetime) -> float:
    """Return where in the window the newest story is, from 0 to 1; the middle for an undated one."""
    span = (until - since).total_seconds()
    times = [story.published for story in event if story.published is not None]
    if span <= 0 or not times:
        return 0.5
    return min(1.0, max(0.0, (max(times) - since).total_seconds() / span))


def _varied(merit: Sequence[float], hosts: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    """Return positions by merit, each host's next event a little lower than its merit; near linear in their number."""
    order = sorted(range(len(merit)), key=lambda position: (-merit[position], position))
    told: Counter[str] = Counter()
    lowered = []
    for position in order:
        penalty = min(HOST_PENALTY_CAP, sum(SAME_HOST * told[name] for name in hosts[position]))
        told.update(hosts[position])
        lowered.append((penalty - merit[position], position))
    return tuple(position for _, position in sorted(lowered))
