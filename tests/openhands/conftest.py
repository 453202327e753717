"""The real OpenHands services, started once for the whole group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.openhands.environment import Missing, find
from tests.openhands.stage import Automation, Feed, Stage, stories


@pytest.fixture(scope="session")
def stage(shared: Path) -> Iterator[Stage]:
    """Return the running services; skips where the material or their environment is missing."""
    try:
        python = find()
    except Missing as reason:
        pytest.skip(str(reason))
    running = Stage(shared, python)
    yield running
    running.close()


@pytest.fixture
def feed() -> Iterator[Feed]:
    """Return a feed with three stories."""
    feed = Feed(stories(1, 2, 3))
    yield feed
    feed.server.close()


@pytest.fixture
def automation(stage: Stage, feed: Feed) -> Iterator[Callable[..., Automation]]:
    """Return a maker of automations; the model finishes at once with a digest until it is told otherwise."""
    made: list[Automation] = []

    def make(**options: Any) -> Automation:
        made.append(Automation(stage, options.pop("feed", feed), **options))
        return made[-1]

    stage.mode("finish_only")
    yield make
    stage.mode("finish_only")
    for each in made:
        each.close()
