"""Places for stores, writers that append to them, and processes that die: what the tests of stores share."""

from __future__ import annotations

import json
import os
import random
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path

from tests.servers_kv import TOKEN, KvServer

from news_digest.errors import Conflict, StoreUnavailable
from news_digest.http import CurlHttp
from news_digest.model import Fingerprint, Json, Period, Starting, State, Ticket
from news_digest.ports import StateStore
from news_digest.stores import Kept, Place, open_store
from news_digest.stores.memory import MemoryStore

NOON = datetime(2026, 8, 20, 12, tzinfo=UTC)
TODAY = Period(date(2026, 8, 20))
FOREIGN = {
    "version": 1,
    "tasks": {},
    "seen": [],
    "theirs": {"deep": [1, 2.5, None, "é😀"]},
    "updated_at": 1717200000.25,
}


def prints(*numbers: int) -> tuple[Fingerprint, ...]:
    return tuple(Fingerprint(f"{number:016x}") for number in numbers)


def claimed(state: State) -> State:
    task = Starting(TODAY, Ticket("t-1"), prints(1), (), 1, NOON, writer="embedded", brief_hash="h", run="r")
    return replace(state, tasks={TODAY.key: task}, attempts={str(TODAY): 1}, updated_at=NOON)


@dataclass
class World:
    """Where one store's state is: ``place`` for this process and others, ``put`` to plant a document as it is."""

    name: str
    place: dict[str, str]
    put: Callable[[Json], None]
    kept: Kept | None = None
    """The one store and outbox where a second one would not see the same state."""

    def open(self) -> Kept:
        return self.kept or opened(self.name, self.place)


@contextmanager
def file_world(folder: Path) -> Iterator[World]:
    path = folder / "state" / "news.json"

    def put(document: Json) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(document))

    yield World("file", {"path": str(path)}, put)


@contextmanager
def memory_world(_folder: Path) -> Iterator[World]:
    world = World("memory", {}, lambda _document: None, open_store("memory", Place()))

    def put(document: Json) -> None:
        world.kept = replace(world.open(), store=MemoryStore(document))

    world.put = put
    yield world


@contextmanager
def kv_world(_folder: Path) -> Iterator[World]:
    with KvServer(delay_seconds=0.005) as server:
        yield World("kv", {"base_url": server.url, "token": TOKEN}, lambda document: server.put("state", document))


WORLDS: Mapping[str, Callable[[Path], AbstractContextManager[World]]] = {
    "file": file_world,
    "memory": memory_world,
    "kv": kv_world,
}


def start_child(act: Callable[[], object]) -> int:
    """Run in a forked process; return its id."""
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException:  # noqa: BLE001 - a child must not go on with the parent's tests
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def end_of(child: int) -> int:
    """Return how a child ended: 0, 1 with an error, -9 killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_child(act: Callable[[], object]) -> int:
    return end_of(start_child(act))


def at_once(act: Callable[[int], None], writers: int = 8) -> None:
    threads = [threading.Thread(target=act, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def value(text: str, stories: int = 1) -> dict[str, Json]:
    story = {"title": "T", "excerpt": text}
    return {"ticket": "t-1", "brief": {"stories": [dict(story) for _ in range(stories)]}, "digest": None}


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
    http = CurlHttp("test") if name == "kv" else None
    path, url, token = (place.get(key, "") for key in ("path", "base_url", "token"))
    return open_store(name, Place(path=path, base_url=url, token=token, http=http))
