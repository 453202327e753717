"""Real processes on one store: several at once, and killed at any instant. The short run here, the long: ``make prove``.

The long run: ``python -m pytest tests/prove -m prove``.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from tests.prove.rounds import Launcher, Site, at_once, fed, killed
from tests.servers_kv import TOKEN, KvServer

from news_digest.http import CurlHttp
from news_digest.model import Settled
from news_digest.stores import Place, open_store

WHOLE = 0.1
"""The share of runs that are killed on their way from nothing, imports included."""
LONG_OVERLAPS, LONG_KILLS = 200, 300
SHORT_OVERLAPS, SHORT_KILLS = {"file": 1, "kv": 1}, {"file": 2, "kv": 1}


@contextmanager
def file_site(folder: Path, launcher: Launcher) -> Iterator[Site]:
    with fed() as feeds:
        place = Place(path=str(folder / "state" / "news.json"))
        yield Site(folder, feeds, open_store("file", place), "file", launcher)


@contextmanager
def kv_site(folder: Path, launcher: Launcher) -> Iterator[Site]:
    with fed() as feeds, KvServer(delay_seconds=0.005) as server, CurlHttp("test") as http:
        place = Place(base_url=server.url, token=TOKEN, http=http)
        environment = {"AUTOMATION_API_URL": server.url, "AUTOMATION_KV_TOKEN": TOKEN}
        yield Site(folder, feeds, open_store("kv", place), "kv", launcher, environment)


SITES: dict[str, Callable[[Path, Launcher], AbstractContextManager[Site]]] = {"file": file_site, "kv": kv_site}


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    with Launcher() as started:
        yield started


@pytest.fixture(params=list(SITES))
def site(request: pytest.FixtureRequest, tmp_path: Path, launcher: Launcher) -> Iterator[Site]:
    with SITES[request.param](tmp_path, launcher) as made:
        yield made


def overlap(site: Site, rounds: int, seed: int) -> str:
    chance = random.Random(seed)
    told, outcomes, processes = 0, Counter[str](), 0
    for number in range(rounds):
        site.next_day()
        runs = chance.randint(4, 8)
        reports = at_once(site, runs, whole=number % 20 == 19)
        digests = [digest for report in reports for digest in report.get("digests", [])]
        assert len(digests) == 1, reports
        outcomes.update(report["outcome"] for report in reports)
        processes += runs
        told = site.check(told)
    return f"{site.store}: {rounds} rounds, {processes} processes, {rounds} digests, outcomes {dict(outcomes)}"


def kill(site: Site, rounds: int, seed: int) -> str:
    chance = random.Random(seed)
    spans, told = {}, 0
    for whole in (False, True):
        spans[whole] = span_of(site, whole=whole)
        told = site.check(told)
    hit, after, states = 0, 0, Counter[str]()
    for _ in range(rounds):
        site.next_day()
        whole = chance.random() < WHOLE
        hit += killed(site, chance.uniform(0, spans[whole]), whole=whole)
        states.update([left_by(site)])
        for _ in range(3):
            site.age()
            after += 1
            if site.run()["outcome"] == "done":
                break
        told = site.check(told)
    left = f"left behind {dict(states)}"
    return f"{site.store}: {rounds} rounds, {hit} runs killed at work, {after} runs after them, {left}"


def span_of(site: Site, *, whole: bool) -> float:
    """Return how many seconds a run of a new day takes, undisturbed: from its start, or from when it asks for the feed."""
    site.next_day()
    started = time.monotonic()
    run = site.start(whole=whole)
    if not whole:
        site.feeds.asked.wait(timeout=10)
        started = time.monotonic()
    run.report()
    return time.monotonic() - started


def left_by(site: Site) -> str:
    """Return how far a killed run came, by today's record."""
    task = site.load().tasks.get(site.today.key)
    if isinstance(task, Settled):
        return "delivered" if not task.owed else "not delivered"
    return type(task).__name__.lower() if task is not None else "no claim"


@pytest.mark.slow
def test_runs_that_start_at_the_same_instant_make_one_digest(site: Site) -> None:
    overlap(site, SHORT_OVERLAPS[site.store], seed=1)


@pytest.mark.slow
def test_after_a_run_was_killed_the_next_ones_end_with_one_digest(site: Site) -> None:
    kill(site, SHORT_KILLS[site.store], seed=2)


@pytest.mark.prove
def test_overlapping_runs_make_one_digest_in_every_round(site: Site, capfd: pytest.CaptureFixture[str]) -> None:
    counts = overlap(site, LONG_OVERLAPS, seed=3)
    with capfd.disabled():
        print(f"\n{counts}")  # noqa: T201 - what the long run is for


@pytest.mark.prove
def test_whenever_a_run_is_killed_the_next_ones_end_with_one_digest(
    site: Site, capfd: pytest.CaptureFixture[str]
) -> None:
    counts = kill(site, LONG_KILLS, seed=4)
    with capfd.disabled():
        print(f"\n{counts}")  # noqa: T201 - what the long run is for
