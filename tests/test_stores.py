"""The contract of a store and its outbox, over every registered one."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

import pytest
from tests.service_kv import KvServiceProcess
from tests.storing import (
    FOREIGN,
    TODAY,
    WORLDS,
    World,
    append_all,
    at_once,
    claimed,
    end_of,
    prints,
    start_child,
    value,
)

from news_digest.errors import (
    ConfigError,
    Conflict,
    DocumentDamaged,
    DocumentTooLarge,
    DocumentTooNew,
    StoreUnavailable,
)
from news_digest.model import Json, Limits, Period, State
from news_digest.stores import STORES, Place, load, open_store
from news_digest.stores.memory import MemoryStore


@pytest.fixture(scope="session")
def real_service() -> Iterator[KvServiceProcess]:
    script = Path(__file__).parent / "openhands" / "environment.py"
    find = [sys.executable, str(script), "--find"]
    found = subprocess.run(find, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip(found.stderr.strip() or "no environment of the OpenHands services")
    with KvServiceProcess(found.stdout.strip()) as service:
        yield service


@pytest.fixture
def real_kv_world(real_service: KvServiceProcess) -> World:
    token = real_service.automation()
    place = {"base_url": real_service.url, "token": token}
    return World("kv", place, lambda document: real_service.put(token, "state", document))


@pytest.fixture(params=[*WORLDS, pytest.param("kv, real service", marks=pytest.mark.openhands)])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    if request.param == "kv, real service":
        yield request.getfixturevalue("real_kv_world")
        return
    with WORLDS[request.param](tmp_path) as made:
        yield made


# --- the registry --------------------------------------------------------------------------------------------------


def test_every_registered_store_is_under_the_contract() -> None:
    assert set(STORES) == set(WORLDS)


def test_an_unknown_store_is_named_with_its_nearest_neighbour() -> None:
    with pytest.raises(ConfigError, match="there is no 'fiel'") as caught:
        load("fiel")
    assert caught.value.hint == "did you mean 'file'?"


@pytest.mark.parametrize("name", ["file", "kv"])
def test_a_place_that_lacks_something_is_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        open_store(name, Place())


# --- the contract of a store ---------------------------------------------------------------------------------------


def test_nothing_stored_is_an_empty_state_without_a_version(world: World) -> None:
    loaded = world.open().store.load()
    assert (loaded.state, loaded.version, loaded.warnings) == (State(), "", ())


def test_what_was_saved_is_loaded_by_another_run(world: World) -> None:
    state = claimed(State(seen=prints(1, 2, 3)))
    version = world.open().store.save(state, "")
    loaded = world.open().store.load()
    assert (loaded.state, loaded.version) == (state, version)


def test_versions_follow_each_other(world: World) -> None:
    store = world.open().store
    first = store.save(State(seen=prints(1)), "")
    second = store.save(State(seen=prints(2)), first)
    third = store.save(State(seen=prints(3)), second)
    assert len({"", first, second, third}) == 4
    assert store.load().state.seen == prints(3)


def test_a_stale_version_is_a_conflict_and_changes_nothing(world: World) -> None:
    store = world.open().store
    first = store.save(State(seen=prints(1)), "")
    second = store.save(State(seen=prints(2)), first)
    with pytest.raises(Conflict):
        store.save(State(seen=prints(3)), first)
    loaded = store.load()
    assert (loaded.state.seen, loaded.version) == (prints(2), second)


def test_the_first_save_is_exclusive(world: World) -> None:
    one, other = world.open().store, world.open().store
    one.save(State(seen=prints(1)), "")
    with pytest.raises(Conflict):
        other.save(State(seen=prints(2)), "")
    assert other.load().state.seen == prints(1)


def test_a_save_after_a_conflict_builds_on_the_winner(world: World) -> None:
    one, other = world.open().store, world.open().store
    version = one.save(State(seen=prints(1)), "")
    before = other.load()
    one.save(State(seen=prints(1, 2)), version)
    with pytest.raises(Conflict):
        other.save(replace(before.state, seen=prints(1, 3)), before.version)
    again = other.load()
    other.save(replace(again.state, seen=(*again.state.seen, *prints(3))), again.version)
    assert one.load().state.seen == prints(1, 2, 3)


def test_unknown_keys_survive(world: World) -> None:
    world.put(FOREIGN)
    store = world.open().store
    loaded = store.load()
    store.save(replace(loaded.state, seen=prints(7)), loaded.version)
    origin = world.open().store.load().state.origin
    assert (origin["theirs"], origin["updated_at"]) == (FOREIGN["theirs"], FOREIGN["updated_at"])


@pytest.mark.parametrize("name", ["run1", "run2", "run3", "nextday_overlap"])
def test_a_document_of_the_reference_comes_back_as_it_was(world: World, name: str, shared: Path) -> None:
    document = json.loads((shared / "openhands" / "state" / f"{name}.json").read_text())
    world.put(document)
    store = world.open().store
    loaded = store.load()
    store.save(replace(loaded.state, last_above_cap=1), loaded.version)
    assert world.open().store.load().state.origin == {**document, "last_above_cap": 1}


def test_a_store_in_memory_shows_its_document_as_others_would_store_it() -> None:
    store = MemoryStore()
    assert store.document is None
    store.save(State(seen=prints(1)), "")
    assert store.document == {"version": 1, "tasks": {}, "seen": list(prints(1))}


def test_a_later_version_of_the_document_is_refused(world: World) -> None:
    world.put({"version": 2, "tasks": []})
    with pytest.raises(DocumentTooNew):
        world.open().store.load()


@pytest.mark.parametrize("document", [[], "text", 7, {"tasks": 1}, {"seen": "x"}, {"version": "1"}])
def test_a_garbled_document_is_never_read_as_nothing_seen(world: World, document: Json) -> None:
    world.put(document)
    with pytest.raises(DocumentDamaged):
        world.open().store.load()


def test_a_document_above_the_ceiling_is_refused_and_the_old_one_stands(world: World) -> None:
    store = world.open().store
    version = store.save(State(seen=prints(1)), "")
    with pytest.raises(DocumentTooLarge):
        store.save(State(origin={"theirs": "x" * Limits().document_bytes}), version)
    assert store.load().version == version


def test_a_document_at_the_ceiling_is_kept(world: World) -> None:
    room = Limits().document_bytes - len(json.dumps({"state": {"version": 1, "tasks": {}, "seen": [], "theirs": ""}}))
    theirs = "é" * (room // 6)
    store = world.open().store
    store.save(State(origin={"theirs": theirs}), "")
    assert store.load().state.origin["theirs"] == theirs


@pytest.mark.parametrize("document", [None, FOREIGN, {"seen": "garbled"}, []])
def test_a_person_can_put_a_state_in_place_of_whatever_stands_there(world: World, document: Json) -> None:
    if document is not None:
        world.put(document)
    store = world.open().store
    version = store.restore(State(seen=prints(5)))
    assert (store.load().state.seen, store.load().version, store.load().warnings) == (prints(5), version, ())


def test_a_person_cannot_put_a_state_in_place_of_a_later_version(world: World) -> None:
    world.put({"version": 2})
    with pytest.raises(DocumentTooNew):
        world.open().store.restore(State())


def append_all_at(world: World, writer: int) -> None:
    append_all(world.open().store, writer, 2)


def appended(world: World) -> list[str]:
    return sorted(world.open().store.load().state.seen)


def expected(writers: int, count: int) -> list[str]:
    return sorted(f"{writer:08x}{number:08x}" for writer in range(writers) for number in range(count))


def test_eight_threads_append_and_every_append_is_kept_once(world: World) -> None:
    errors: list[Exception] = []

    def work(writer: int) -> None:
        try:
            append_all(world.open().store, writer, 3)
        except Exception as error:  # noqa: BLE001 - a thread's error belongs to the test
            errors.append(error)

    threads = [threading.Thread(target=work, args=(writer,)) for writer in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert appended(world) == expected(8, 3)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_eight_processes_append_and_every_append_is_kept_once(world: World) -> None:
    if world.name == "memory":
        pytest.skip("memory is not shared between processes")
    children = [start_child(partial(append_all_at, world, writer)) for writer in range(8)]
    assert [end_of(child) for child in children] == [0] * 8
    assert appended(world) == expected(8, 2)


# --- the contract of an outbox -------------------------------------------------------------------------------------


def test_an_outbox_keeps_the_last_value_of_each_period_until_it_is_dropped(world: World) -> None:
    outbox, other = world.open().outbox, Period(date(2026, 8, 21))
    assert outbox.get(TODAY) is None
    outbox.put(TODAY, value("first"))
    outbox.put(TODAY, value("second é😀"))
    outbox.put(other, value("another day"))
    assert world.open().outbox.get(TODAY) == value("second é😀")
    outbox.drop(TODAY)
    outbox.drop(TODAY)
    assert outbox.get(TODAY) is None
    assert outbox.get(other) == value("another day")


@pytest.mark.parametrize("text", ["é" * 4000, '"\\' * 2000, "\ud800"])
def test_an_outbox_keeps_a_large_or_odd_value_whole(world: World, text: str) -> None:
    world.open().store.save(State(seen=prints(1)), "")
    world.open().outbox.put(TODAY, value(text, stories=50))
    assert world.open().outbox.get(TODAY) == value(text, stories=50)
    world.open().outbox.drop(TODAY)
    assert world.open().outbox.get(TODAY) is None
    assert world.open().store.load().state.seen == prints(1)


def test_an_outbox_leaves_the_state_alone(world: World) -> None:
    kept = world.open()
    kept.store.save(State(seen=prints(1)), "")
    kept.outbox.put(TODAY, value("brief"))
    loaded = kept.store.load()
    kept.store.save(replace(loaded.state, seen=prints(1, 2)), loaded.version)
    assert kept.outbox.get(TODAY) == value("brief")
    assert kept.store.load().state.seen == prints(1, 2)


@pytest.mark.openhands
def test_of_eight_saves_at_once_on_the_real_service_one_comes_through(real_kv_world: World) -> None:
    wins: list[tuple[int, int]] = []
    store = real_kv_world.open().store
    for round_number in range(10):
        version = store.load().version

        def save(number: int, round_number: int = round_number, version: str = version) -> None:
            mine = State(seen=prints(100 * round_number + number))
            try:
                real_kv_world.open().store.save(mine, version)
            except (Conflict, StoreUnavailable):
                return
            wins.append((round_number, 100 * round_number + number))

        at_once(save)
        assert [number for number, _ in wins] == list(range(round_number + 1))
        assert store.load().state.seen == prints(wins[-1][1])
