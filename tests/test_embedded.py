"""The embedded writer keeps its draft where a later process finds it, and removes only what is its own."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from news_digest.brief import brief_hash
from news_digest.errors import Refused, WriterUnavailable
from news_digest.extract import compose_draft
from news_digest.model import Brief, Conversation, Identity, Period, Story, Ticket
from news_digest.ports import Stopped, Wrote
from news_digest.writers import workspace
from news_digest.writers.embedded import embedded_writer

DAY = Period(date(2026, 12, 1))
NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
TICKET = Ticket("7c5c1c9e-0000-5000-8000-000000000001")


def story(title: str, excerpt: str = "", link: str = "https://a.example/1") -> Story:
    return Story(title, link, "A", "https://a.example/feed", NOON, excerpt, Identity(()))


BRIEF = Brief(DAY, NOON, NOON, ("open source",), (story("A tool is open source", "The tool is free for all now."),))
OTHER = replace(BRIEF, stories=(story("Another story altogether"),))


def test_a_later_process_finds_and_reads_the_draft(tmp_path: Path) -> None:
    conversation = embedded_writer(tmp_path).begin(BRIEF, TICKET)
    later = embedded_writer(tmp_path)
    assert later.find(TICKET, DAY, brief_hash(BRIEF)) == conversation
    assert later.poll(conversation, None) == Wrote(compose_draft(BRIEF))


def test_beginning_again_finds_the_first_and_writes_nothing(tmp_path: Path) -> None:
    writer = embedded_writer(tmp_path)
    first = writer.begin(BRIEF, TICKET)
    before = Path(first.workspace).stat()
    assert writer.begin(BRIEF, TICKET) == first
    assert Path(first.workspace).stat().st_ino == before.st_ino


def test_a_ticket_with_a_draft_of_another_brief_is_refused(tmp_path: Path) -> None:
    writer = embedded_writer(tmp_path)
    writer.begin(BRIEF, TICKET)
    with pytest.raises(Refused, match="another brief"):
        writer.begin(OTHER, TICKET)
    assert writer.find(TICKET, DAY, brief_hash(OTHER)) is None


def test_nothing_is_found_before_it_began_and_nothing_is_made_by_asking(tmp_path: Path) -> None:
    writer = embedded_writer(tmp_path / "deep")
    assert writer.find(TICKET, DAY, brief_hash(BRIEF)) is None
    assert writer.workspace(DAY, TICKET) == str(tmp_path / "deep/news-digest/2026-12-01" / f"{TICKET}.json")
    assert not (tmp_path / "deep").exists()


def test_release_removes_the_draft_and_the_empty_folders_and_may_be_repeated(tmp_path: Path) -> None:
    writer = embedded_writer(tmp_path)
    conversation = writer.begin(BRIEF, TICKET)
    assert writer.release(conversation, DAY)
    assert list(tmp_path.iterdir()) == []
    assert writer.release(conversation, DAY)
    assert isinstance(writer.poll(conversation, None), Stopped)


def test_release_leaves_what_another_ticket_keeps(tmp_path: Path) -> None:
    writer = embedded_writer(tmp_path)
    first, second = writer.begin(BRIEF, TICKET), writer.begin(OTHER, Ticket("second"))
    assert writer.release(first, DAY)
    assert writer.poll(second, None) == Wrote(compose_draft(OTHER))


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/hostname",
        "{root}/precious.json",
        "{root}/news-digest/2026-12-01",
        "{root}/news-digest/../precious.json",
    ],
)
def test_release_leaves_a_path_that_is_not_its_own(tmp_path: Path, path: str) -> None:
    precious = tmp_path / "precious.json"
    precious.write_text("{}")
    writer = embedded_writer(tmp_path)
    kept = writer.begin(BRIEF, TICKET)
    workspace = path.format(root=tmp_path)
    assert not writer.release(Conversation(TICKET, "embedded", "", workspace), DAY)
    assert precious.exists()
    assert Path(kept.workspace).exists()


@pytest.mark.parametrize("where", ["file", "day", "folder"])
def test_no_link_on_the_way_is_followed(tmp_path: Path, where: str) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    embedded_writer(outside).begin(BRIEF, TICKET)
    writer = embedded_writer(root)
    link = Path(writer.workspace(DAY, TICKET))
    link = {"file": link, "day": link.parent, "folder": link.parent.parent}[where]
    link.parent.mkdir(parents=True)
    link.symlink_to(outside / link.relative_to(root))
    conversation = Conversation(TICKET, "embedded", "", writer.workspace(DAY, TICKET), brief_hash(BRIEF))
    assert not writer.release(conversation, DAY)
    with pytest.raises(WriterUnavailable, match="link"):
        writer.find(TICKET, DAY, brief_hash(BRIEF))
    with pytest.raises(Refused, match="link"):
        writer.begin(BRIEF, TICKET)
    assert isinstance(writer.poll(conversation, None), Stopped)
    assert Path(embedded_writer(outside).workspace(DAY, TICKET)).exists()


@pytest.mark.parametrize("ticket", ["../up", "", "a/b", "a\x00b", ".hidden", "x" * 101])
def test_a_ticket_that_could_mean_a_path_is_refused_and_never_found(tmp_path: Path, ticket: str) -> None:
    writer = embedded_writer(tmp_path)
    with pytest.raises(Refused, match="ticket"):
        writer.begin(BRIEF, Ticket(ticket))
    assert writer.find(Ticket(ticket), DAY, brief_hash(BRIEF)) is None
    assert not writer.release(Conversation(Ticket(ticket), "embedded", "", str(tmp_path / "x")), DAY)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kept", ["", "{", "[]", "{}", '{"brief": "x"}'])
def test_a_damaged_draft_counts_as_none_and_is_written_anew(tmp_path: Path, kept: str) -> None:
    writer = embedded_writer(tmp_path)
    conversation = writer.begin(BRIEF, TICKET)
    Path(conversation.workspace).write_text(kept)
    assert writer.find(TICKET, DAY, brief_hash(BRIEF)) is None
    assert isinstance(writer.poll(conversation, None), Stopped)
    assert writer.begin(BRIEF, TICKET) == conversation
    assert isinstance(writer.poll(conversation, None), Wrote)


def test_a_file_too_large_for_a_draft_counts_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = embedded_writer(tmp_path).begin(BRIEF, TICKET)
    size = Path(conversation.workspace).stat().st_size
    monkeypatch.setattr(workspace, "DRAFT_BYTES", size)
    assert isinstance(embedded_writer(tmp_path).poll(conversation, None), Wrote)
    monkeypatch.setattr(workspace, "DRAFT_BYTES", size - 1)
    assert isinstance(embedded_writer(tmp_path).poll(conversation, None), Stopped)


def test_a_draft_elsewhere_is_not_read(tmp_path: Path) -> None:
    kept = embedded_writer(tmp_path / "other").begin(BRIEF, TICKET)
    assert isinstance(embedded_writer(tmp_path).poll(kept, None), Stopped)


def test_a_draft_of_another_shape_stops_the_conversation(tmp_path: Path) -> None:
    writer = embedded_writer(tmp_path)
    conversation = writer.begin(BRIEF, TICKET)
    Path(conversation.workspace).write_text(json.dumps({"brief": brief_hash(BRIEF), "draft": {"lead": 7}}))
    progress = writer.poll(conversation, None)
    assert isinstance(progress, Stopped)
    assert "lead" in progress.reason


def test_a_folder_that_cannot_be_written_is_refused_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "news-digest").write_text("a file where the folder should be")
    with pytest.raises(Refused, match="cannot keep the draft") as refusal:
        embedded_writer(tmp_path).begin(BRIEF, TICKET)
    assert "writable" in refusal.value.hint


def test_no_half_written_draft_is_left_where_the_disk_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Refused, match="No space left"):
        embedded_writer(tmp_path).begin(BRIEF, TICKET)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
