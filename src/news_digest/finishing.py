"""From what a writer wrote to the digest: checked, repaired where the check failed, composed. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from news_digest.digest import compose
from news_digest.model import Active, Brief, Digest, Period
from news_digest.ports import Wrote
from news_digest.relevance import belongs
from news_digest.repair import checked
from news_digest.review import masked
from news_digest.shown import hosts_alone

__all__ = ["finish", "secret_values"]

SECRET_NAME = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?)S?(?:$|_)", re.IGNORECASE)
"""Variables that hold a secret, by their names."""

NOTICES_MOST = 10
"""How many notices about feeds stand below a digest: with thousands of feeds some are always odd."""

SHORTEST_SECRET = 8
"""Shorter values, and words of letters only, would be found in innocent sentences."""


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of an environment that are secrets by the names of their variables, in a stable order."""
    values = {value.strip() for name, value in environment.items() if SECRET_NAME.search(name)}
    return tuple(sorted(value for value in values if len(value) >= SHORTEST_SECRET and not value.isalpha()))


def finish(
    wrote: Wrote,
    brief: Brief | None,
    task: Active,
    at: datetime,
    notices: tuple[str, ...] = (),
    secrets: tuple[str, ...] = (),
) -> Digest:
    """Return the digest of what a conversation wrote; ``secrets`` are strings that may occur nowhere in it.

    ``notices`` name feeds by their hosts alone: a digest is passed on, and a feed's address may hold a key.
    Without a brief (the outbox lost it and the conversation does not tell it) nothing can be cited: the digest then
    has the words and no links.
    """
    given = brief or _nothing_known(task.period, at)
    right = checked(wrote.draft, given, secrets=secrets)
    return compose(
        given,
        right.draft,
        task.ticket,
        at,
        on_topic=belongs(given.topics),
        notices=_told(notices),
        findings=(*(masked(note, secrets) for note in wrote.notes), *map(str, right.findings)),
        conversation_url=task.conversation_url,
    )


def _told(notices: Sequence[str]) -> tuple[str, ...]:
    """Return the notices by host, each once: several feeds of one host may have failed on the same day."""
    lines = list(dict.fromkeys(map(hosts_alone, notices)))
    more = len(lines) - NOTICES_MOST
    return (*lines[:NOTICES_MOST], *([f"{more} more: `news-digest feeds check` names all."] if more > 0 else []))


def _nothing_known(period: Period, at: datetime) -> Brief:
    return Brief(period=period, since=at, until=at, topics=(), stories=())
