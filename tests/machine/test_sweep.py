"""Every scenario, with the first run overtaken or killed at every place: by default at every third, all with ``make prove``."""

from __future__ import annotations

import os

import pytest
from tests.machine.sweep import SCENARIOS, Scenario, names, sweep

from news_digest.stores.memory import MemoryStore

pytestmark = pytest.mark.slow

STRIDE = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "prove" else 3


@pytest.mark.parametrize("scenario", SCENARIOS, ids=names())
def test_no_promise_breaks_wherever_a_run_is_overtaken_or_dies(scenario: Scenario) -> None:
    assert sweep(scenario, MemoryStore, stride=STRIDE) > 5
