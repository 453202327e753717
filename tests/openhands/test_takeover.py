"""What the reference wrote is taken over in place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.openhands.stage import Automation, Feed, Stage, today

pytestmark = pytest.mark.openhands

KEPT = [(f"Story {number} & friends", f"https://news.example.test/{number}?utm_source=rss") for number in range(1, 6)]
KEPT += [(f"Atom {number}", f"https://atom.example.test/{number}") for number in range(1, 4)]
"""The stories that the reference's documents remember."""


@pytest.fixture
def old_feed() -> Iterator[Feed]:
    feed = Feed(KEPT)
    yield feed
    feed.server.close()


def document(shared: Path, name: str) -> dict[str, Any]:
    """Return one of the reference's documents, written yesterday."""
    state: dict[str, Any] = json.loads((shared / "openhands" / "state" / name).read_text())
    [(_, record)] = state["tasks"].items()
    yesterday = today() - timedelta(days=1)
    state["tasks"] = {f"news:{yesterday}": {**record, "period": str(yesterday)}}
    return state


@pytest.mark.parametrize("name", ["run2.json", "run3.json"])
def test_stories_that_the_reference_told_are_not_repeated_the_next_day(
    automation: Callable[..., Automation], shared: Path, old_feed: Feed, name: str
) -> None:
    ours = automation(feed=old_feed)
    before = document(shared, name)
    ours.put(before)
    quiet = ours.run()
    assert quiet.code == 0, quiet.err
    assert ours.task() == {}
    assert ours.state()["tasks"] == before["tasks"]
    old_feed.stories = [*KEPT, ("A new story", "https://news.example.test/99")]
    ours.run()
    assert ours.task()["item_count"] == 1
    assert ours.state()["seen"][: len(before["seen"])] != []
    assert set(before["seen"]) <= set(ours.state()["seen"])


def test_a_conversation_that_the_reference_left_running_is_finished_before_anything_is_selected(
    automation: Callable[..., Automation], stage: Stage, shared: Path, old_feed: Feed
) -> None:
    ours = automation(feed=old_feed)
    state = document(shared, "run1.json")
    [record] = state["tasks"].values()
    ticket = str(uuid4())
    stage.create(ticket)
    stage.settle(ticket)
    workspace = stage.workspaces / "automation-runs" / str(uuid4()) / "news-digest" / record["period"]
    workspace.mkdir(parents=True)
    (workspace / "digest.md").write_text("# Digest\n\nWhat the reference's agent wrote.\n")
    record |= {"conversation_id": ticket, "workspace_dir": str(workspace)}
    ours.put(state)
    ran = ours.run()
    assert ran.code == 0, ran.err
    [settled] = ours.state()["tasks"].values()
    assert settled["status"] == "completed"
    assert "What the reference's agent wrote." in ran.out
    assert not workspace.exists()
    assert (ours.task(), set(record["item_keys"]) <= set(ours.state()["seen"])) == ({}, True)


def test_a_workspace_outside_todays_root_is_left_alone_and_forgotten(
    automation: Callable[..., Automation], stage: Stage, shared: Path, old_feed: Feed, tmp_path: Path
) -> None:
    ours = automation(feed=old_feed)
    state = document(shared, "run2.json")
    [record] = state["tasks"].values()
    outside = tmp_path / "automation-runs" / str(uuid4()) / "news-digest" / record["period"]
    outside.mkdir(parents=True)
    record["workspace_dir"] = str(outside)
    ours.put(state)
    ran = ours.run()
    assert "left alone" in ran.err
    assert outside.exists()
    [settled] = ours.state()["tasks"].values()
    assert "workspace_dir" not in settled
