"""A long run of the fuzzer, as its script does it; in ``make prove``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("fuzz_parse.py")
RUNS = 200_000


@pytest.mark.prove
def test_no_input_of_many_breaks_the_reader() -> None:
    command = [sys.executable, str(SCRIPT), str(RUNS), "1", f"-atheris_runs={RUNS}", "-max_len=4096"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
