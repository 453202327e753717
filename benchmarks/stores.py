"""What a durable save costs, beside a plain write and one without flushing: ``python benchmarks/stores.py [FOLDER]``.

One document as large as a busy year makes it; each way in turn, so that all see the same disk. The KV service is the
small one of the tests, so its rows show our part and one request on loopback only.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.servers_kv import TOKEN, KvServer

from news_digest.document import encode
from news_digest.http import CurlHttp
from news_digest.model import Fingerprint, State
from news_digest.ports import StateStore
from news_digest.stores.file import FileStore
from news_digest.stores.kv import KvStore
from news_digest.stores.memory import MemoryStore

ROUNDS = 100
STATE = State(
    seen=tuple(Fingerprint(f"{number:016x}") for number in range(1000)),
    seen_wide=tuple(Fingerprint(f"{number:016x}") for number in range(500)),
    origin={"padding": "x" * 20_000},
)


def plain(path: Path) -> Callable[[int], None]:
    return lambda number: void(path.write_text(json.dumps(encode(state_of(number)))))


def renamed(path: Path) -> Callable[[int], None]:
    def write(number: int) -> None:
        fresh = path.with_suffix(".tmp")
        fresh.write_text(json.dumps(encode(state_of(number))))
        fresh.replace(path)

    return write


def saved(store: StateStore) -> Callable[[int], None]:
    version = store.load().version

    def save(number: int) -> None:
        nonlocal version
        version = store.save(state_of(number), version)

    return save


def loaded(store: StateStore) -> Callable[[int], None]:
    return lambda _number: void(store.load())


def void(_value: object) -> None:
    """Throw a value away."""


def state_of(number: int) -> State:
    return replace(STATE, last_above_cap=number + 1)


def main() -> None:
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name, KvServer() as server:
        folder = Path(name)
        file, kv = FileStore(folder / "state.json"), KvStore(CurlHttp("benchmark"), server.url, TOKEN)
        ways = {
            "plain write": plain(folder / "plain.json"),
            "write and rename, no flush": renamed(folder / "renamed.json"),
            "memory: save": saved(MemoryStore()),
            "file: save": saved(file),
            "file: load": loaded(file),
            "kv: save": saved(kv),
            "kv: load": loaded(kv),
        }
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(ROUNDS):
            for way, act in ways.items():
                started = time.perf_counter()
                act(number)
                seconds[way].append(time.perf_counter() - started)
        print(f"document of {(folder / 'state.json').stat().st_size} bytes, {ROUNDS} rounds, milliseconds")
        print(f"{'way':28} {'median':>8} {'95 %':>8}")
        for way, spans in seconds.items():
            ordered = sorted(spans)
            print(f"{way:28} {1e3 * statistics.median(ordered):8.2f} {1e3 * ordered[int(0.95 * len(ordered))]:8.2f}")


if __name__ == "__main__":
    main()
