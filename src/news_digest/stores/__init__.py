"""Where the state document is kept: a file, the automation service's KV store, or memory.

A store comes with its outbox, because both have to survive the same things. ``STORES`` names them; another distribution
adds one through the entry point group ``news_digest.stores``: a factory that takes a :class:`Place`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from news_digest.model import Json, State
from news_digest.ports import Http, Outbox, StateStore, Version
from news_digest.registry import Factory, resolve

__all__ = ["GROUP", "STORES", "Kept", "Place", "Restorable", "load", "open_store"]

GROUP: Final = "news_digest.stores"
"""The entry point group of stores from other distributions."""

STORES: Final[Mapping[str, str]] = {
    "file": "news_digest.stores.file:open_file",
    "kv": "news_digest.stores.kv:open_kv",
    "memory": "news_digest.stores.memory:open_memory",
}


class Restorable(StateStore, Protocol):
    """A store that a person can import a state into, also where the stored one can no longer be read."""

    def restore(self, state: State) -> Version:
        """Put a state in place of whatever stands there, and return its version; raises like ``save``.

        What a later version of this program wrote is not overwritten: ``DocumentTooNew``.
        """
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where the state of one digest is; a store takes what it needs of it."""

    path: str = ""
    """The state file."""
    base_url: str = ""
    """The automation service's API, ``.../api/automation``."""
    token: str = field(default="", repr=False)
    """The KV token of this run, or the service's own key together with an automation id."""
    automation_id: str = ""
    """Only with the service's own key: a KV token names its automation itself."""
    http: Http | None = None
    options: Mapping[str, Json] = field(default_factory=dict)
    """What the configuration says beyond that, for a store of another distribution."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A store and the outbox beside it."""

    store: Restorable
    outbox: Outbox


def load(name: str) -> Factory:
    """Return the factory of a store, ``Place -> Kept``; raises :class:`~news_digest.errors.ConfigError`."""
    return resolve(STORES, GROUP, name)


def open_store(name: str, place: Place) -> Kept:
    """Return the named store and its outbox at a place; nothing is read or written yet.

    Raises :class:`~news_digest.errors.ConfigError` for an unknown name, or a place that lacks what the store needs.
    """
    kept: Kept = load(name)(place)
    return kept
