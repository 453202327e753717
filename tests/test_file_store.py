"""The state in a file: damaged, cut, full, read-only, killed at every step; and the outbox beside it."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TypeVar

import pytest
from tests.storing import (
    TODAY,
    in_child,
    prints,
    value,
)

from news_digest.errors import (
    DocumentDamaged,
    DocumentTooNew,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from news_digest.model import State
from news_digest.stores.durable import Disk, locked
from news_digest.stores.file import FileStore
from news_digest.stores.outbox import FileOutbox

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
    assert sorted(file.name for file in path.parent.iterdir()) == ["news.json", "news.json.lock", "news.json.previous"]
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
    with locked(path.with_name("news.json.lock")), pytest.raises(StoreUnavailable, match=r"held it for 0\.05 s"):
        store.save(State(), version)
    store.save(State(seen=prints(2)), version)
    assert store.load().state.seen == prints(2)


# --- the file: dying at every step ---------------------------------------------------------------------------------


T = TypeVar("T")


@dataclass
class Fragile(Disk):
    """A disk on which ``fate`` happens at the step of that number, before the step or behind it."""

    at: int
    fate: Callable[[], None]
    late: bool = False
    steps: list[str] = field(default_factory=list)

    def _step(self, name: str, act: Callable[[], T]) -> T:
        self.steps.append(name)
        if len(self.steps) == self.at and not self.late:
            self.fate()
        done = act()
        if len(self.steps) == self.at and self.late:
            self.fate()
        return done

    def create(self, path: Path) -> int:
        return self._step("create", lambda: Disk.create(self, path))

    def write(self, descriptor: int, data: bytes) -> None:
        half = len(data) // 2
        self._step("write", lambda: Disk.write(self, descriptor, data[:half]))
        self._step("write", lambda: Disk.write(self, descriptor, data[half:]))

    def flush(self, descriptor: int) -> None:
        self._step("flush", lambda: Disk.flush(self, descriptor))

    def link(self, source: Path, target: Path) -> None:
        self._step("link", lambda: Disk.link(self, source, target))

    def rename(self, source: Path, target: Path) -> None:
        self._step("rename", lambda: Disk.rename(self, source, target))

    def flush_folder(self, folder: Path) -> None:
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
@pytest.mark.parametrize(
    ("number", "kind"), [(errno.ENOSPC, StoreFull), (errno.EDQUOT, StoreFull), (errno.EIO, StoreUnavailable)]
)
def test_an_error_of_the_disk_at_any_step_is_said_and_the_next_save_works(
    path: Path, step: int, number: int, kind: type[StoreError], *, late: bool
) -> None:
    def fail() -> None:
        raise OSError(number, os.strerror(number))

    store = FileStore(path)
    old = store.save(State(seen=prints(1)), store.save(State(), ""))
    with pytest.raises(kind if step < len(STEPS) else StoreUnavailable) as caught:
        FileStore(path, disk=Fragile(step, fail, late)).save(State(seen=prints(2)), old)
    assert caught.value.hint
    loaded = store.load()
    moved = step == len(STEPS) or (late and step == len(STEPS) - 1)
    assert (loaded.state.seen, loaded.warnings) == (prints(2) if moved else prints(1), ())
    store.save(State(seen=prints(3)), loaded.version)
    assert store.load().state.seen == prints(3)


def test_a_file_system_without_second_names_gets_a_copy(path: Path) -> None:
    class Plain(Disk):
        def link(self, source: Path, target: Path) -> None:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(source), None, str(target))

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

    def create(self, path: Path) -> int:
        self._fresh = path.name
        return super().create(path)

    def write(self, descriptor: int, data: bytes) -> None:
        super().write(descriptor, data)
        self._data[self._fresh] = b"\0" * len(data)

    def flush(self, descriptor: int) -> None:
        if self.flushes:
            super().flush(descriptor)
            self._data[self._fresh] = (self.folder / self._fresh).read_bytes()

    def link(self, source: Path, target: Path) -> None:
        super().link(source, target)
        self._data[target.name] = source.read_bytes()

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self._moved.append((target.name, self._data[source.name]))
        for count in range(len(self._moved) + 1):
            self.outcomes += [self._certain | dict(chosen) for chosen in combinations(self._moved, count)]

    def flush_folder(self, folder: Path) -> None:
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


def test_an_outbox_that_cannot_be_reached_is_said_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outbox = FileOutbox(tmp_path / "file")
    attempts: list[Callable[[], object]] = [
        lambda: outbox.put(TODAY, {}),
        lambda: outbox.get(TODAY),
        lambda: outbox.drop(TODAY),
    ]
    for attempt in attempts:
        with pytest.raises(StoreUnavailable) as caught:
            attempt()
        assert caught.value.hint


def test_a_cut_or_garbled_outbox_entry_counts_as_none(tmp_path: Path) -> None:
    outbox = FileOutbox(tmp_path)
    for content in (b"", b"{", b"\0\0", b"[]", b"\xff"):
        (tmp_path / f"{TODAY}.json").write_bytes(content)
        assert outbox.get(TODAY) is None
