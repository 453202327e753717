"""A writer that appends to a store, again after each conflict: what many at once must keep, each append once."""

from __future__ import annotations

import random
import time
from dataclasses import replace

from news_digest.errors import Conflict, StoreUnavailable
from news_digest.http import CurlHttp
from news_digest.model import Fingerprint
from news_digest.ports import StateStore
from news_digest.stores import Kept, Place, open_store


def append(store: StateStore, print_: Fingerprint, *, tries: int = 400) -> None:
    """Add a fingerprint, again after each conflict; after a save without an answer look whether it is there."""
    unclear = False
    for _ in range(tries):
        loaded = store.load()
        if unclear and print_ in loaded.state.seen:
            return
        try:
            store.save(replace(loaded.state, seen=(*loaded.state.seen, print_)), loaded.version)
        except Conflict:
            time.sleep(random.random() * 0.02)
        except StoreUnavailable:
            unclear = True
            time.sleep(random.random() * 0.05)
        else:
            return
    message = f"{print_} could not be saved"
    raise AssertionError(message)


def append_all(store: StateStore, prefix: int, count: int) -> None:
    """Append ``count`` fingerprints that only this writer has."""
    for number in range(count):
        append(store, Fingerprint(f"{prefix:08x}{number:08x}"))


def opened(name: str, place: dict[str, str]) -> Kept:
    """Return the store at a place, with a client of its own."""
    return open_store(name, Place(**place, http=CurlHttp("test") if name == "kv" else None))
