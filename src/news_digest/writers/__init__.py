"""Who writes: the embedded writer, a model, or a conversation on the agent server.

``WRITERS`` names them; another distribution adds one through the entry point group ``news_digest.writers``: a factory
that takes a :class:`Desk` and returns a :class:`~news_digest.ports.Writer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from news_digest.model import Json
from news_digest.ports import Clock, Http, Writer
from news_digest.registry import Factory, resolve

__all__ = ["GROUP", "WRITERS", "Desk", "load", "open_writer"]

GROUP: Final = "news_digest.writers"
"""The entry point group of writers from other distributions."""

WRITERS: Final[Mapping[str, str]] = {
    "embedded": "news_digest.writers.embedded:open_embedded",
    "llm": "news_digest.writers.llm:open_llm",
    "local": "news_digest.writers.embedded:open_local",
    "openhands": "news_digest.writers.openhands:open_openhands",
}


@dataclass(frozen=True, slots=True)
class Desk:
    """What a writer may use of the world; it takes what it needs."""

    workspaces: str
    """The folder below which drafts and conversations have their places."""
    clock: Clock
    http: Callable[[], Http]
    """Makes the one client; a writer that needs none does not call it."""
    options: Mapping[str, Json] = field(default_factory=dict)
    """The configuration's table of that writer (``[llm]``, ``[openhands]``), every key with its value."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Where secrets are looked up by the names that options give."""


def load(name: str) -> Factory:
    """Return the factory of a writer, ``Desk -> Writer``; raises :class:`~news_digest.errors.ConfigError`."""
    return resolve(WRITERS, GROUP, name)


def open_writer(name: str, desk: Desk) -> Writer:
    """Return a writer; nothing is asked or written yet. Raises :class:`~news_digest.errors.ConfigError`."""
    writer: Writer = load(name)(desk)
    return writer
