"""The contract of a store and its outbox, over every registered one; then what only the file and the KV store have."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import stat
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from itertools import combinations
from pathlib import Path

import pytest
from service_kv import KvServiceProcess
from servers_kv import TOKEN, KvServer
from appending import append_all, opened

from news_digest.errors import (
    ConfigError,
    Conflict,
    DocumentDamaged,
    DocumentTooLarge,
    DocumentTooNew,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from news_digest.http import CurlHttp
from news_digest.model import Fingerprint, Json, Limits, Period, Starting, State, Ticket
from news_digest.stores import STORES, Kept, Place, load, open_store
from news_digest.stores.durable import Disk, locked
from news_digest.stores.file import FileStore
from news_digest.stores.kv import KvOutbox, KvStore
from news_digest.stores.kv_service import MARKERS_KEPT, VALUE_BYTES
from news_digest.stores.memory import MemoryStore
from news_digest.stores.outbox import FileOutbox

NOON = datetime(2026, 8, 20, 12, tzinfo=UTC)
TODAY = Period(date(2026, 8, 20))
FOREIGN = {"version": 1, "tasks": {}, "seen": [], "theirs": {"deep": [1, 2.5, None, "é😀"]}, "updated_at": 1717200000.25}


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


@pytest.fixture(scope="session")
def real_service() -> Iterator[KvServiceProcess]:
    python = os.environ.get("OH_PYTHON", "")
    if not python:
        pytest.skip("OH_PYTHON names no environment with openhands-automation")
    with KvServiceProcess(python) as service:
        yield service


@pytest.fixture
def real_kv_world(real_service: KvServiceProcess) -> World:
    token = real_service.automation()
    place = {"base_url": real_service.url, "token": token}
    return World("kv", place, lambda document: real_service.put(token, "state", document))


WORLDS: Mapping[str, Callable[[Path], object]] = {"file": file_world, "memory": memory_world, "kv": kv_world}


@pytest.fixture(params=[*WORLDS, pytest.param("kv, real service", marks=pytest.mark.openhands)])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    if request.param == "kv, real service":
        yield request.getfixturevalue("real_kv_world")
        return
    with WORLDS[request.param](tmp_path) as made:
        yield made


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
    children = [start_child(lambda writer=writer: append_all(world.open().store, writer, 2)) for writer in range(8)]
    assert [end_of(child) for child in children] == [0] * 8
    assert appended(world) == expected(8, 2)


# --- the contract of an outbox -------------------------------------------------------------------------------------


def value(text: str, stories: int = 1) -> dict[str, Json]:
    story = {"title": "T", "excerpt": text}
    return {"ticket": "t-1", "brief": {"stories": [dict(story) for _ in range(stories)]}, "digest": None}


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


def test_an_outbox_leaves_the_state_alone(world: World) -> None:
    kept = world.open()
    kept.store.save(State(seen=prints(1)), "")
    kept.outbox.put(TODAY, value("brief"))
    loaded = kept.store.load()
    kept.store.save(replace(loaded.state, seen=prints(1, 2)), loaded.version)
    assert kept.outbox.get(TODAY) == value("brief")
    assert kept.store.load().state.seen == prints(1, 2)


# --- the file: durable, and always one good copy -------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "er" / "news.json"


def test_the_state_and_its_new_folders_are_for_their_owner_only(path: Path) -> None:
    FileStore(path).save(State(), "")
    modes = {part.name: stat.S_IMODE(part.stat().st_mode) for part in (path, path.parent, path.parent.parent)}
    assert modes == {"news.json": 0o600, "er": 0o700, "deep": 0o700}


def test_a_file_that_others_could_read_is_closed_by_the_next_save(path: Path) -> None:
    store = FileStore(path)
    version = store.save(State(), "")
    path.chmod(0o644)
    store.save(State(seen=prints(1)), version)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_save_leaves_the_document_its_predecessor_and_the_lock(path: Path) -> None:
    store = FileStore(path)
    version = store.save(State(seen=prints(1)), "")
    store.save(State(seen=prints(2)), version)
    assert sorted(os.listdir(path.parent)) == ["news.json", "news.json.lock", "news.json.previous"]
    assert json.loads(path.with_name("news.json.previous").read_text())["seen"] == list(prints(1))


DAMAGES = {
    "NULs, as a power cut leaves them": b"\0" * 300,
    "empty": b"",
    "blank": b" \n",
    "cut": b'{"version": 1, "seen": ["00000',
    "something behind the end": b'{"version": 1}{"version": 1}',
    "no object": b"[1, 2]",
    "no UTF-8": b'{"seen": ["\xff\xfe"]}',
    "a page of HTML": b"<!doctype html><title>404</title>",
    "garbled seen": b'{"version": 1, "seen": {"a": 1}, "tasks": {}}',
    "garbled tasks": b'{"version": 1, "seen": [], "tasks": []}',
    "garbled version": b'{"version": null}',
    "deeper than Python goes": b"[" * 200_000,
    "a number without end": b'{"version": ' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_without_a_copy_is_an_error_and_stays_as_it_is(path: Path, damage: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(damage)
    with pytest.raises(DocumentDamaged) as caught:
        FileStore(path).load()
    assert str(path) in str(caught.value)
    assert "state import" in caught.value.hint
    with pytest.raises(DocumentDamaged):
        FileStore(path).save(State(), "")
    assert path.read_bytes() == damage


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_is_replaced_by_its_copy_with_a_warning_and_put_aside(path: Path, damage: bytes) -> None:
    store = FileStore(path)
    store.save(State(seen=prints(1, 2)), store.save(State(seen=prints(1)), ""))
    path.write_bytes(damage)
    loaded = store.load()
    assert loaded.state.seen == prints(1)
    [warning] = loaded.warnings
    assert "is damaged" in warning
    assert "the copy before the last save is used" in warning
    store.save(replace(loaded.state, seen=prints(1, 3)), loaded.version)
    [aside] = path.parent.glob("news.json.damaged-*")
    assert aside.read_bytes() == damage
    assert (store.load().state.seen, store.load().warnings) == (prints(1, 3), ())
    assert json.loads(path.with_name("news.json.previous").read_text())["seen"] == list(prints(1))


def test_loading_a_damaged_file_changes_nothing(path: Path) -> None:
    store = FileStore(path)
    store.save(State(seen=prints(1, 2)), store.save(State(seen=prints(1)), ""))
    path.write_bytes(b"")
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    assert store.load() == store.load()
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_a_restored_state_puts_the_damaged_one_aside(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\0\0")
    FileStore(path).restore(State(seen=prints(1)))
    assert [file.read_bytes() for file in path.parent.glob("news.json.damaged-*")] == [b"\0\0"]
    assert not path.with_name("news.json.previous").exists()


def test_when_both_copies_are_damaged_it_is_an_error(path: Path) -> None:
    store = FileStore(path)
    store.save(State(seen=prints(2)), store.save(State(seen=prints(1)), ""))
    path.write_bytes(b"{")
    path.with_name("news.json.previous").write_bytes(b"\0")
    with pytest.raises(DocumentDamaged, match=r"news\.json: no JSON"):
        store.load()


def test_a_file_that_is_gone_comes_back_from_its_copy_with_a_warning(path: Path) -> None:
    store = FileStore(path)
    store.save(State(seen=prints(1, 2)), store.save(State(seen=prints(1)), ""))
    path.unlink()
    loaded = store.load()
    assert loaded.state.seen == prints(1)
    assert "to start anew, remove news.json.previous too" in loaded.warnings[0]
    store.save(loaded.state, loaded.version)
    assert store.load().warnings == ()


def test_a_later_version_is_not_overwritten_and_no_older_copy_stands_in_for_it(path: Path) -> None:
    store = FileStore(path)
    version = store.save(State(seen=prints(2)), store.save(State(seen=prints(1)), ""))
    path.write_text('{"version": 9}')
    for attempt in (store.load, lambda: store.save(State(), version), lambda: store.save(State(), "")):
        with pytest.raises(DocumentTooNew):
            attempt()
    assert path.read_text() == '{"version": 9}'


def test_a_link_to_the_state_stays_a_link_and_shares_the_lock(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(path)
    version = FileStore(link).save(State(seen=prints(1)), "")
    assert link.is_symlink()
    FileStore(path).save(State(seen=prints(2)), version)
    assert FileStore(link).load().state.seen == prints(2)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["deep", "link.json"]


def test_a_link_planted_where_a_file_of_ours_should_be_is_not_followed(path: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path.parent.mkdir(parents=True)
    path.with_name("news.json.new").symlink_to(victim)
    FileStore(path).save(State(), "")
    path.with_name("news.json.lock").unlink()
    path.with_name("news.json.lock").symlink_to(victim)
    with pytest.raises(StoreUnavailable):
        FileStore(path).save(State(), "")
    assert victim.read_text() == "mine"


def folder_instead(path: Path) -> None:
    path.mkdir(parents=True)


def file_as_folder(path: Path) -> None:
    path.parent.parent.mkdir()
    path.parent.write_text("")


def pipe_instead(path: Path) -> None:
    path.parent.mkdir(parents=True)
    os.mkfifo(path)


def loop_of_links(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to(path)


def far_too_large(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.truncate(17 * 1024 * 1024)


@pytest.mark.parametrize("spoil", [folder_instead, file_as_folder, pipe_instead, loop_of_links, far_too_large])
def test_what_cannot_be_a_state_file_is_said_with_a_hint(path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(path)
    for attempt in (FileStore(path).load, lambda: FileStore(path).save(State(), "")):
        with pytest.raises(StoreUnavailable) as caught:
            attempt()
        assert str(path) in str(caught.value)
        assert caught.value.hint


def test_a_lock_that_is_held_is_waited_for_so_long_and_no_longer(path: Path) -> None:
    store = FileStore(path, lock_wait_seconds=0.05)
    version = store.save(State(seen=prints(1)), "")
    with locked(f"{path}.lock"), pytest.raises(StoreUnavailable, match=r"held it for 0\.05 s"):
        store.save(State(), version)
    store.save(State(seen=prints(2)), version)
    assert store.load().state.seen == prints(2)


# --- the file: dying at every step ---------------------------------------------------------------------------------


@dataclass
class Fragile(Disk):
    """A disk on which ``fate`` happens at the step of that number, before the step or behind it."""

    at: int
    fate: Callable[[], None]
    late: bool = False
    steps: list[str] = field(default_factory=list)

    def _step(self, name: str, act: Callable[[], object]) -> object:
        self.steps.append(name)
        if len(self.steps) == self.at and not self.late:
            self.fate()
        done = act()
        if len(self.steps) == self.at and self.late:
            self.fate()
        return done

    def create(self, path: str) -> int:
        return self._step("create", lambda: Disk.create(self, path))

    def write(self, descriptor: int, data: bytes) -> None:
        half = len(data) // 2
        self._step("write", lambda: Disk.write(self, descriptor, data[:half]))
        self._step("write", lambda: Disk.write(self, descriptor, data[half:]))

    def flush(self, descriptor: int) -> None:
        self._step("flush", lambda: Disk.flush(self, descriptor))

    def link(self, source: str, target: str) -> None:
        self._step("link", lambda: Disk.link(self, source, target))

    def rename(self, source: str, target: str) -> None:
        self._step("rename", lambda: Disk.rename(self, source, target))

    def flush_folder(self, folder: str) -> None:
        self._step("flush_folder", lambda: Disk.flush_folder(self, folder))


STEPS = ["link", "rename", "create", "write", "write", "flush", "rename", "flush_folder"]


def die() -> None:
    os.kill(os.getpid(), 9)


def test_a_save_takes_these_steps(path: Path) -> None:
    version = FileStore(path).save(State(seen=prints(1)), "")
    disk = Fragile(0, die)
    FileStore(path, disk=disk).save(State(seen=prints(2)), version)
    assert disk.steps == STEPS


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("step", range(1, len(STEPS) + 1))
def test_a_process_killed_at_any_step_leaves_the_old_or_the_new_document(path: Path, step: int, *, late: bool) -> None:
    store = FileStore(path)
    old = store.save(State(seen=prints(1)), store.save(State(), ""))
    dying = FileStore(path, disk=Fragile(step, die, late))
    assert in_child(lambda: dying.save(State(seen=prints(2)), old)) == -9
    loaded = store.load()
    renamed = step > 7 or (step == 7 and late)
    assert (loaded.state.seen, loaded.warnings) == (prints(2) if renamed else prints(1), ())
    store.save(State(seen=prints(3)), loaded.version)
    assert store.load().state.seen == prints(3)
    assert not path.with_name("news.json.new").exists()


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("step", range(1, len(STEPS) + 1))
@pytest.mark.parametrize(("number", "kind"), [(errno.ENOSPC, StoreFull), (errno.EDQUOT, StoreFull), (errno.EIO, StoreUnavailable)])
def test_an_error_of_the_disk_at_any_step_is_said_and_the_next_save_works(
    path: Path, step: int, number: int, kind: type[StoreError], *, late: bool
) -> None:
    def fail() -> None:
        raise OSError(number, os.strerror(number))

    store = FileStore(path)
    old = store.save(State(seen=prints(1)), store.save(State(), ""))
    with pytest.raises(kind) as caught:
        FileStore(path, disk=Fragile(step, fail, late)).save(State(seen=prints(2)), old)
    assert caught.value.hint
    loaded = store.load()
    assert loaded.state.seen in (prints(1), prints(2))
    assert loaded.warnings == ()
    store.save(State(seen=prints(3)), loaded.version)
    assert store.load().state.seen == prints(3)


def test_a_file_system_without_second_names_gets_a_copy(path: Path) -> None:
    class Plain(Disk):
        def link(self, source: str, target: str) -> None:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), source, None, target)

    store = FileStore(path, disk=Plain())
    store.save(State(seen=prints(2)), store.save(State(seen=prints(1)), ""))
    assert json.loads(path.with_name("news.json.previous").read_text())["seen"] == list(prints(1))


@dataclass
class PowerCut(Disk):
    """A disk that knows what a power cut at any instant would leave: only what was flushed is certain.

    Each name that moved since the folder was last flushed may have moved or not; data that was not flushed is NULs.
    """

    folder: Path
    flushes: bool = True
    outcomes: list[dict[str, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._data: dict[str, bytes] = {}
        self._start()

    def _start(self) -> None:
        self._certain = {file.name: file.read_bytes() for file in self.folder.iterdir() if file.suffix != ".lock"}
        self._moved: list[tuple[str, bytes]] = []

    def create(self, path: str) -> int:
        self._fresh = Path(path).name
        return super().create(path)

    def write(self, descriptor: int, data: bytes) -> None:
        super().write(descriptor, data)
        self._data[self._fresh] = b"\0" * len(data)

    def flush(self, descriptor: int) -> None:
        if self.flushes:
            super().flush(descriptor)
            self._data[self._fresh] = (self.folder / self._fresh).read_bytes()

    def link(self, source: str, target: str) -> None:
        super().link(source, target)
        self._data[Path(target).name] = Path(source).read_bytes()

    def rename(self, source: str, target: str) -> None:
        super().rename(source, target)
        self._moved.append((Path(target).name, self._data[Path(source).name]))
        for count in range(len(self._moved) + 1):
            self.outcomes += [self._certain | dict(chosen) for chosen in combinations(self._moved, count)]

    def flush_folder(self, folder: str) -> None:
        super().flush_folder(folder)
        self._start()


def after_power_cuts(path: Path, tmp_path: Path, *, flushes: bool) -> set[str]:
    """Return what a store finds after a power cut at any instant of one save."""
    store = FileStore(path)
    old = store.save(State(seen=prints(1)), store.save(State(seen=prints(0)), ""))
    disk = PowerCut(path.parent, flushes)
    FileStore(path, disk=disk).save(State(seen=prints(2)), old)
    found = set()
    for number, files in enumerate(disk.outcomes):
        folder = tmp_path / f"cut-{number}"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        loaded = FileStore(folder / path.name).load()
        found.add(" ".join((*loaded.state.seen, *("with a warning" for _ in loaded.warnings))))
    return found


def test_a_power_cut_at_any_instant_leaves_the_old_or_the_new_document(path: Path, tmp_path: Path) -> None:
    assert after_power_cuts(path, tmp_path, flushes=True) == {*prints(1), *prints(2)}


def test_without_the_flush_a_power_cut_would_leave_nuls(path: Path, tmp_path: Path) -> None:
    assert any("with a warning" in found for found in after_power_cuts(path, tmp_path, flushes=False))


# --- the file: real disks that are full, read-only or somebody else's ----------------------------------------------


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KB of its own."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    if os.geteuid() != 0 or sys.platform != "linux" or shutil.which("mount") is None:
        pytest.skip("only root can mount a file system")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, check=False)
    if made.returncode:
        pytest.skip(f"cannot mount a file system here: {made.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def big(number: int) -> State:
    return State(seen=prints(*range(number, number + 1000)))


def test_a_full_disk_loses_nothing(tiny: Path) -> None:
    path = tiny / "news.json"
    store = FileStore(path)
    version = store.save(big(1), "")
    (tiny / "ballast").write_bytes(b"x" * 40_000)
    for _ in range(2):
        with pytest.raises(StoreFull, match="No space left on device"):
            store.save(big(2), version)
        assert store.load().state == big(1)
    (tiny / "ballast").unlink()
    store.save(big(2), version)
    assert store.load().state == big(2)


def test_a_full_disk_fails_the_outbox_and_keeps_what_was_there(tiny: Path) -> None:
    outbox = FileOutbox(tiny / "outbox")
    outbox.put(TODAY, value("small"))
    with pytest.raises(StoreFull):
        outbox.put(TODAY, value("x" * 100_000))
    assert outbox.get(TODAY) == value("small")


def test_a_read_only_file_system_is_said_and_can_still_be_read(tiny: Path) -> None:
    store = FileStore(tiny / "news.json")
    version = store.save(State(seen=prints(1)), "")
    subprocess.run(["mount", "-o", "remount,ro", tiny], check=True)
    with pytest.raises(StoreUnavailable, match="Read-only file system") as caught:
        store.save(State(), version)
    assert "mount it writable" in caught.value.hint
    assert store.load().state.seen == prints(1)


def test_a_limit_on_the_size_of_files_loses_nothing(path: Path) -> None:
    store = FileStore(path)
    version = store.save(State(seen=prints(1)), "")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(StoreFull, match="File too large"):
            store.save(big(1), version)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert store.load().state.seen == prints(1)
    assert not path.with_name("news.json.new").exists()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_folder_of_somebody_else_is_said_with_a_hint(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    open_to_all = Path(f"/tmp/news-digest-{os.getpid()}")
    open_to_all.mkdir(mode=0o755)
    try:
        store = FileStore(open_to_all / "news.json")
        version = store.save(State(seen=prints(1)), "")
        said = tmp_path / "said"
        tmp_path.chmod(0o777)
        descriptor = os.open(said, os.O_WRONLY | os.O_CREAT)

        def as_nobody() -> None:
            os.setgid(65534)
            os.setuid(65534)
            for attempt in (store.load, lambda: store.save(State(), version)):
                try:
                    attempt()
                except StoreUnavailable as error:
                    os.write(descriptor, f"{error.cause}: {error.hint}\n".encode())

        assert in_child(as_nobody) == 0
        lines = said.read_text().splitlines()
        assert len(lines) == 2
        assert all(line.startswith("Permission denied: this user may not") for line in lines)
        assert store.load().state.seen == prints(1)
    finally:
        shutil.rmtree(open_to_all)


def test_a_cut_or_garbled_outbox_entry_counts_as_none(tmp_path: Path) -> None:
    outbox = FileOutbox(tmp_path)
    for content in (b"", b"{", b"\0\0", b"[]", b"\xff"):
        (tmp_path / f"{TODAY}.json").write_bytes(content)
        assert outbox.get(TODAY) is None


# --- the KV store: what each answer means --------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[KvServer]:
    with KvServer() as made:
        yield made


def kv(server: KvServer, token: str = TOKEN) -> KvStore:
    return KvStore(CurlHttp("test"), server.url, token)


def scripted(*answers: tuple[object, object] | None) -> Callable[[str, str], tuple[object, object] | None]:
    """Give these answers in turn to batches; None lets one through."""
    left = list(answers)
    return lambda method, _path: left.pop(0) if left and method == "POST" else None


LATE_409 = {"detail": "kv_store_busy: another operation is in progress, please retry"}
TROUBLES = [
    (401, {"detail": "Invalid or expired KV token"}, StoreUnavailable, "older than 24 hours"),
    (403, {"detail": "Forbidden"}, StoreUnavailable, "another automation"),
    (404, {"detail": "Not Found"}, StoreUnavailable, "does not know this automation"),
    (400, {"detail": "invalid_value: Value exceeds maximum nesting depth"}, StoreUnavailable, "refuses the request"),
    (413, {"detail": {"error": "value_too_large", "message": "Value is 70000 bytes"}}, StoreFull, "keep the state in a file"),
    (409, LATE_409, Conflict, "load again in 1 s"),
    (500, "Internal Server Error", StoreUnavailable, "automation service's log"),
    (502, "<html>Bad Gateway</html>", StoreUnavailable, "automation service's log"),
    (503, {"detail": "KV store not configured (missing AUTOMATION_KV_SECRET)"}, StoreUnavailable, "AUTOMATION_KV_SECRET"),
    (200, "<html>hello</html>", StoreUnavailable, ""),
    (200, {"version": "many"}, StoreUnavailable, ""),
    (301, "", StoreUnavailable, ""),
    ("drop", "", StoreUnavailable, "automation service runs"),
]


@pytest.mark.parametrize(("status", "body", "kind", "hint"), TROUBLES)
def test_a_refused_save_says_what_a_person_can_do_and_changes_nothing(
    server: KvServer, status: object, body: object, kind: type[StoreError], hint: str
) -> None:
    store = kv(server)
    version = store.save(State(seen=prints(1)), "")
    server.before = scripted((status, body))
    with pytest.raises(kind) as caught:
        store.save(State(seen=prints(2)), version)
    assert hint in caught.value.hint
    assert store.load().state.seen == prints(1)
    assert store.load().version == version


@pytest.mark.parametrize(("status", "body", "kind", "hint"), [case for case in TROUBLES if case[0] not in (409, 413)])
def test_a_refused_load_says_so_and_is_never_an_empty_state(
    server: KvServer, status: object, body: object, kind: type[StoreError], hint: str
) -> None:
    server.before = lambda _method, _path: (status, body)
    with pytest.raises(kind) as caught:
        kv(server).load()
    assert hint in caught.value.hint


def test_a_busy_service_is_named_with_the_time_that_it_asks_for(server: KvServer) -> None:
    server.before = lambda _method, _path: (409, LATE_409)
    with pytest.raises(StoreUnavailable, match="kv_store_busy") as caught:
        kv(server).load()
    assert caught.value.hint == "the service is busy; run again in 1 s"


def test_an_expired_token_is_named(server: KvServer) -> None:
    with pytest.raises(StoreUnavailable, match="HTTP 401 Invalid or expired KV token"):
        kv(server, token="another").load()


def test_no_service_at_all_is_named() -> None:
    with KvServer() as gone:
        pass
    with pytest.raises(StoreUnavailable, match="cannot reach the KV store") as caught:
        kv(gone).load()
    assert "automation service runs" in caught.value.hint


@pytest.mark.parametrize("answer", [("drop", ""), (500, "Internal Server Error"), (504, "late"), (200, "garbage")])
def test_a_save_that_took_effect_without_a_clear_answer_is_recognised_by_its_mark(
    server: KvServer, answer: tuple[object, object]
) -> None:
    store = kv(server)
    version = store.save(State(seen=prints(1)), "")
    server.after = scripted(answer)
    again = store.save(State(seen=prints(2)), version)
    assert (store.load().state.seen, store.load().version) == (prints(2), again)


def test_a_first_save_without_a_clear_answer_is_left_to_be_loaded_again(server: KvServer) -> None:
    server.after = scripted((500, "Internal Server Error"))
    with pytest.raises(StoreUnavailable):
        kv(server).save(State(seen=prints(1)), "")
    assert kv(server).load().state.seen == prints(1)


def test_a_loser_that_is_answered_500_sees_a_conflict(server: KvServer) -> None:
    store = kv(server)
    version = store.save(State(seen=prints(1)), "")
    store.save(State(seen=prints(2)), version)
    server.before = scripted((500, "Internal Server Error"))
    with pytest.raises(Conflict):
        store.save(State(seen=prints(3)), version)


def test_a_save_whose_winner_is_not_in_sight_is_never_reported_as_saved(server: KvServer) -> None:
    store = kv(server)
    version = store.save(State(seen=prints(1)), "")
    server.before = lambda method, path: (500, "no") if method == "POST" or "save%3A" in path else None
    with pytest.raises(StoreUnavailable):
        store.save(State(seen=prints(2)), version)


def test_a_plain_condition_lets_several_writers_through_and_the_batch_only_one() -> None:
    with KvServer(delay_seconds=0.03) as server:
        server.put("state", FOREIGN)
        base = str(server.version)
        answers: list[tuple[int, Json]] = []
        wins: list[int] = []

        def plain(_number: int) -> None:
            query = {"if_version": base}
            answers.append(server.answer("PUT", "/api/automation/v1/kv/state", query, FOREIGN))

        def ours(number: int) -> None:
            store = kv(server)
            try:
                store.save(State(seen=prints(number)), current)
            except (Conflict, StoreUnavailable):
                return
            wins.append(number)

        at_once(plain)
        assert [status for status, _ in answers].count(200) > 1
        current = kv(server).load().version
        at_once(ours)
        assert len(wins) == 1
        assert kv(server).load().state.seen == prints(*wins)


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


def at_once(act: Callable[[int], None], writers: int = 8) -> None:
    threads = [threading.Thread(target=act, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_counter_that_another_writer_set_back_is_stepped_over(server: KvServer) -> None:
    store = kv(server)
    version = store.save(State(seen=prints(1)), "")
    for number in (2, 3, 4):
        version = store.save(State(seen=prints(number)), version)
    server.version -= 2
    for _ in range(4):
        loaded = store.load()
        try:
            store.save(State(seen=prints(9)), loaded.version)
        except Conflict:
            continue
        break
    assert store.load().state.seen == prints(9)


def test_a_counter_that_was_set_back_lets_no_stale_save_through(server: KvServer) -> None:
    store = kv(server)
    stale = store.save(State(seen=prints(1)), "")
    store.save(State(seen=prints(3)), store.save(State(seen=prints(2)), stale))
    server.version -= 2
    with pytest.raises(Conflict):
        store.save(State(seen=prints(9)), stale)
    assert store.load().state.seen == prints(3)


def test_a_save_whose_marker_is_long_forgotten_is_refused_by_the_counter(server: KvServer) -> None:
    store = kv(server)
    stale = version = store.save(State(), "")
    for number in range(MARKERS_KEPT + 2):
        version = store.save(State(seen=prints(number)), version)
    assert f"save:{stale}" not in server.keys
    with pytest.raises(Conflict):
        store.save(State(seen=prints(99)), stale)


def test_only_the_last_markers_are_kept(server: KvServer) -> None:
    store = kv(server)
    version = store.save(State(), "")
    for number in range(20):
        version = store.save(State(seen=prints(number)), version)
    assert len([key for key in server.keys if key.startswith("save:")]) == MARKERS_KEPT + 1


def test_the_services_own_key_names_its_automation(server: KvServer) -> None:
    KvStore(CurlHttp("test"), server.url, TOKEN, automation_id="a-1").load()
    assert server.requests == [("GET", "/api/automation/v1/kv/state?meta=true&automation_id=a-1")]


def kv_outbox(server: KvServer) -> KvOutbox:
    return KvOutbox(CurlHttp("test"), server.url, TOKEN)


def counted(kept: Json) -> int:
    return len(json.dumps(kept, ensure_ascii=False).encode())


def test_the_outbox_cuts_excerpts_until_a_value_fits(server: KvServer) -> None:
    kv_outbox(server).put(TODAY, value("é" * 900, stories=50))
    kept = server.keys[f"digest:{TODAY}"]
    assert {story["excerpt"] for story in kept["brief"]["stories"]} == {"é" * 600}
    assert counted(kept) <= VALUE_BYTES


def test_a_value_at_the_limit_is_kept_whole(server: KvServer) -> None:
    whole = value("")
    whole["brief"]["stories"][0]["excerpt"] = "x" * (VALUE_BYTES - counted(whole))
    kv_outbox(server).put(TODAY, whole)
    assert server.keys[f"digest:{TODAY}"] == whole
    whole["brief"]["stories"][0]["excerpt"] += "x"
    kv_outbox(server).put(TODAY, whole)
    assert len(server.keys[f"digest:{TODAY}"]["brief"]["stories"][0]["excerpt"]) == 1000


def test_a_value_that_does_not_fit_without_excerpts_is_refused(server: KvServer) -> None:
    with pytest.raises(StoreFull, match="without any excerpt"):
        kv_outbox(server).put(TODAY, {**value("x"), "digest": "y" * VALUE_BYTES})
    assert server.keys == {}


def test_an_outbox_that_always_loses_gives_up_and_says_so(server: KvServer) -> None:
    kv(server).save(State(), "")
    server.before = lambda method, _path: (409, {"detail": {"message": "State was modified"}}) if method == "POST" else None
    pauses: list[float] = []
    outbox = KvOutbox(CurlHttp("test"), server.url, TOKEN, sleep=pauses.append)
    with pytest.raises(StoreUnavailable, match="12 times in a row"):
        outbox.put(TODAY, value("x"))
    assert len(pauses) == 12
    assert max(pauses) < 1.5


def test_the_outbox_and_the_store_do_not_undo_each_other() -> None:
    with KvServer(delay_seconds=0.005) as server:
        kv(server).save(State(), "")

        def work(number: int) -> None:
            if number % 2:
                append_all(kv(server), number, 3)
            else:
                day = Period(date(2026, 8, number + 1))
                for count in range(3):
                    kv_outbox(server).put(day, {"count": count})

        at_once(work, writers=4)
        assert sorted(kv(server).load().state.seen) == sorted(f"{w:08x}{n:08x}" for w in (1, 3) for n in range(3))
        assert {server.keys[f"digest:2026-08-0{day}"]["count"] for day in (1, 3)} == {2}
