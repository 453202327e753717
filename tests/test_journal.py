"""The journal: kept across runs, bounded, and never the reason for a failed run."""

from __future__ import annotations

import errno
import os
import threading
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from news_digest.model import Period
from news_digest.ports import Event
from news_digest.stores.durable import locked
from news_digest.stores.journal import FileJournal, NoJournal

NOON = datetime(2026, 8, 20, 12, tzinfo=UTC)
TOLD = Event(
    NOON, Period(date(2026, 8, 20)), "told", "Title é😀", "https://a.example/1", "https://a.example/feed", ("f" * 16,)
)


def numbered(*numbers: int) -> tuple[Event, ...]:
    return tuple(replace(TOLD, title=str(number)) for number in numbers)


def titles(journal: FileJournal) -> list[str]:
    return [event.title for event in journal.read()]


def test_events_are_read_by_a_later_run_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "new" / "journal.jsonl"
    FileJournal(path).note([TOLD])
    FileJournal(path).note([replace(TOLD, what="seen"), replace(TOLD, what="stale", title="")])
    read = FileJournal(path).read()
    assert read == (TOLD, replace(TOLD, what="seen"), replace(TOLD, what="stale", title=""))
    assert oct(path.stat().st_mode)[-3:] == "600"


def test_a_journal_that_was_never_written_is_empty_and_stays_so(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "journal.jsonl")
    journal.note([])
    assert journal.read() == ()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_line_that_was_cut_costs_only_itself(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "journal.jsonl"
    journal = FileJournal(path)
    journal.note(numbered(1, 2))
    os.truncate(path, path.stat().st_size - cut)
    journal.note(numbered(3))
    kept = ["1", "2", "3"] if cut == 1 else ["1", "3"]
    assert titles(journal) == kept


def test_lines_of_others_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'\0\0\0\n[1]\n{"what": "told"}\n\xff\n' + b"[" * 100_000 + b"\n")
    FileJournal(path).note(numbered(1))
    assert titles(FileJournal(path)) == ["1"]


def test_a_file_that_reaches_its_limit_is_kept_once_and_a_new_one_begins(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    FileJournal(path).note(numbered(0))
    line = path.stat().st_size
    journal = FileJournal(path, longest_bytes=3 * line)
    for number in range(1, 8):
        journal.note(numbered(number))
        assert path.stat().st_size <= 3 * line
    assert titles(journal) == ["3", "4", "5", "6", "7"]
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "journal.jsonl",
        "journal.jsonl.1",
        "journal.jsonl.lock",
    ]


def test_eight_writers_at_once_lose_nothing_across_a_change_of_files(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    FileJournal(path).note(numbered(0))
    limit = 50 * path.stat().st_size

    def work(writer: int) -> None:
        for count in range(1, 9):
            FileJournal(path, longest_bytes=limit).note(numbered(writer * 100 + count))

    threads = [threading.Thread(target=work, args=(writer,)) for writer in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = ["0", *(str(writer * 100 + count) for writer in range(8) for count in range(1, 9))]
    assert sorted(titles(FileJournal(path))) == sorted(wanted)


def test_nothing_that_is_wrong_with_the_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "file" / "journal.jsonl"):
        journal = FileJournal(place)
        journal.note([TOLD])
        assert journal.read() == ()


def test_a_full_disk_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    journal = FileJournal(tmp_path / "journal.jsonl")
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        journal.note(numbered(1))
    journal.note(numbered(2))
    assert titles(journal) == ["2"]


def test_a_lock_that_is_held_too_long_loses_the_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("news_digest.stores.journal.LOCK_WAIT_SECONDS", 0.02)
    journal = FileJournal(tmp_path / "journal.jsonl")
    with locked(tmp_path / "journal.jsonl.lock"):
        journal.note(numbered(1))
    assert journal.read() == ()


def test_where_there_is_no_disk_it_says_that_nothing_is_kept() -> None:
    journal = NoJournal()
    journal.note([TOLD])
    assert (journal.read(), journal.where) == ((), "not kept")
