"""Long runs of the fuzzers, as their scripts do them: a million inputs together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNS = 500_000


@pytest.mark.prove
@pytest.mark.parametrize("fuzzer", ["fuzz_parse", "fuzz_fetch"])
def test_no_input_of_many_breaks_the_reader(fuzzer: str) -> None:
    command = [sys.executable, "-m", f"tests.prove.{fuzzer}", str(RUNS), "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
