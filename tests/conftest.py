"""What all tests share: where the shared material is, and how long Hypothesis searches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Read-only material beside the checkout; tests that need it skip where it is missing."""

settings.register_profile("quick", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("quick"), derandomize=True)
"""The same examples in every run: what covers the core today covers it tomorrow, and a person's runs go on searching."""
settings.register_profile("prove", deadline=None, max_examples=20_000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "quick"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of shared material, or skip."""
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED.name}/ is not beside the checkout")
    return SHARED
