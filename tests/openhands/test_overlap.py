"""Runs of one automation at the same instant: one conversation, one digest, whatever overlaps."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.openhands.stage import SOURCE, Automation, Stage, today

from news_digest.model import Period
from news_digest.run import ticket_for

pytestmark = pytest.mark.openhands

ROUNDS = 20
DRIVER = Path(__file__).with_name("overlapping.py")


@pytest.mark.parametrize("use_kv", [True, False], ids=["kv store", "file"])
def test_runs_that_overlap_start_one_conversation_and_print_one_digest(
    automation: Callable[..., Automation], stage: Stage, use_kv: bool
) -> None:
    ours = [automation(use_kv=use_kv) for _ in range(ROUNDS)]
    before = stage.conversations()
    rounds = [[each.prepared() for _ in range(2)] for each in ours]
    done = subprocess.run(
        [sys.executable, str(DRIVER)],
        input=json.dumps(rounds),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(SOURCE)},
    )
    ended = json.loads(done.stdout)
    started = stage.conversations() - before
    for each, runs in zip(ours, ended, strict=True):
        said = "\n".join(run["out"] for run in runs)
        tickets = {ticket_for(each.id, Period(today()), attempt) for attempt in (1, 2, 3)}
        assert len(tickets & started) == 1, said
        assert [run["code"] for run in runs] == [0, 0], said
        assert said.count("===== News digest") == 1, said
        assert each.task()["status"] == "completed", said
    assert len(started) == ROUNDS
