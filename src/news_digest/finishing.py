"""From what a writer wrote to the digest: checked, repaired where the check failed, composed. Pure."""

from __future__ import annotations

from datetime import datetime

from news_digest.digest import compose
from news_digest.model import Active, Brief, Digest, Period
from news_digest.ports import Wrote
from news_digest.relevance import belongs
from news_digest.repair import checked

__all__ = ["finish"]


def finish(wrote: Wrote, brief: Brief | None, task: Active, at: datetime, notices: tuple[str, ...] = ()) -> Digest:
    """Return the digest of what a conversation wrote.

    Without a brief (the outbox lost it and the conversation does not tell it) nothing can be cited: the digest then
    has the words and no links.
    """
    given = brief or _nothing_known(task.period, at)
    right = checked(wrote.draft, given)
    return compose(
        given,
        right.draft,
        task.ticket,
        at,
        on_topic=belongs(given.topics),
        notices=notices,
        findings=(*wrote.notes, *map(str, right.findings)),
        conversation_url=task.conversation_url,
    )


def _nothing_known(period: Period, at: datetime) -> Brief:
    return Brief(period=period, since=at, until=at, topics=(), stories=())
