"""Where a finished digest goes: a folder, a log, a page, a feed, mail, chat. Code delivers; no writer ever does.

``CHANNELS`` names the kinds; another distribution adds one through the entry point group ``news_digest.channels``: a
factory that takes a :class:`Target` and returns a :class:`~news_digest.ports.Channel`. Secrets come from the
environment only: an option names the variable that holds one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TextIO

from news_digest.model import Json
from news_digest.ports import Channel, Clock
from news_digest.registry import Factory, resolve

__all__ = ["CHANNELS", "GROUP", "Target", "load", "open_channel"]

GROUP: Final = "news_digest.channels"
"""The entry point group of channels from other distributions."""

CHANNELS: Final[Mapping[str, str]] = {
    "archive": "news_digest.channels.archive:open_archive",
    "email": "news_digest.channels.email:open_email",
    "feed": "news_digest.channels.feed:open_feed",
    "log": "news_digest.channels.log:open_log",
    "notify": "news_digest.channels.notify:open_notify",
    "page": "news_digest.channels.page:open_page",
}


@dataclass(frozen=True, slots=True)
class Target:
    """One configured channel: its name, its options, and what it may use of the world."""

    name: str
    """As receipts and ``--to`` name it; two channels of one kind have two names."""
    clock: Clock
    options: Mapping[str, Json] = field(default_factory=dict)
    """What the configuration says of it; an option that the channel does not know is an error."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Where secrets are looked up by the names that options give."""
    archive: str = ""
    """The folder of the archive, for ``archive`` and for channels that are made from it."""
    stream: TextIO | None = None
    """Where ``log`` writes."""


def load(kind: str) -> Factory:
    """Return the factory of a kind, ``Target -> Channel``; raises :class:`~news_digest.errors.ConfigError`."""
    return resolve(CHANNELS, GROUP, kind)


def open_channel(kind: str, target: Target) -> Channel:
    """Return a channel of that kind; nothing is written or connected yet.

    Raises :class:`~news_digest.errors.ConfigError` for an unknown kind, option or value, and a secret that is not set.
    """
    channel: Channel = load(kind)(target)
    return channel
