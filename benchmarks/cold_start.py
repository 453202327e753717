"""What a run on a finished day costs as a whole process: wall time, CPU time, peak memory.

    python benchmarks/cold_start.py [--rounds 30] [--reference PATH/TO/main.py]

That is what a scheduler starts many times a day. Beside it, in the same rounds, the whole command line (what a run that
finds the day open costs before it reads feeds), the interpreter alone and, where the path of its script is given, the
reference on the same state document. Compiled modules are there already, as after an installation; a script has none.
Figures are medians. Memory is measured on Linux, in a run of its own, as the kernel's high-water mark since the process
was started (what ``getrusage`` says has the parent's in it).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

SEEN = 1000
"""The document is as full as it gets: this many fingerprints, and two weeks of tasks."""
TASKS = 14


WHOLE = "import sys; from news_digest.cli.main import main; sys.exit(main(['run']))"

PEAK = """
import atexit

def tell():
    with open("/proc/self/status") as status, open({told!r}, "w") as told:
        told.write(next(line for line in status if line.startswith("VmHWM")))

atexit.register(tell)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process cost."""

    wall_ms: float
    cpu_ms: float


def main() -> None:
    """Run the rounds and print the table."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="news-digest-cold-") as name:
        folder = Path(name)
        ways = _ways(arguments.reference)
        for command in ways.values():
            _cost(command, folder)
        rounds = [{way: _cost(command, folder) for way, command in ways.items()} for _ in range(arguments.rounds)]
        peaks = {way: _peak_mib(command, folder) for way, command in ways.items()}
    print(f"{arguments.rounds} rounds, Python {sys.version.split()[0]}, a finished day\n")
    print("| process | wall ms | CPU ms | peak MiB | wall, times the interpreter |")
    print("|---|---|---|---|---|")
    bare = next(iter(ways))
    for way in ways:
        costs = [each[way] for each in rounds]
        ratio = median(each[way].wall_ms / each[bare].wall_ms for each in rounds)
        figures = [median(cost.wall_ms for cost in costs), median(cost.cpu_ms for cost in costs), peaks[way]]
        print(f"| {way} | " + " | ".join(f"{figure:.1f}" for figure in figures) + f" | {ratio:.2f} |")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--reference", type=Path, help="the reference's main.py")
    return parser.parse_args()


def _ways(reference: Path | None) -> Mapping[str, Sequence[str]]:
    ways = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "news-digest run": [str(Path(sys.executable).with_name("news-digest")), "run"],
        "the same, all loaded": [sys.executable, "-c", WHOLE],
    }
    return ways | ({"the reference": [sys.executable, str(reference.resolve())]} if reference else {})


def _cost(command: Sequence[str], folder: Path) -> Cost:
    """Run a process on a fresh copy of the state document and return what it cost."""
    environment = _prepared(folder)
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
    )
    output = process.stdout.read() if process.stdout else b""
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.stdout:
        process.stdout.close()
    if process.returncode:
        sys.exit(f"{command[0]} ended with {process.returncode}:\n{output.decode('utf-8', 'replace')}")
    return Cost(wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000)


def _peak_mib(command: Sequence[str], folder: Path) -> float:
    """Run a process that tells its peak memory when it ends."""
    if sys.platform != "linux":
        return float("nan")
    told = folder / "peak"
    (folder / "sitecustomize.py").write_text(PEAK.format(told=str(told)), "utf-8")
    environment = _prepared(folder) | {"PYTHONPATH": str(folder)}
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True, timeout=60)
    return int(told.read_text("utf-8").split()[1]) / 1024


def _prepared(folder: Path) -> dict[str, str]:
    """Write the state document where both programs look for it, and return their environment."""
    root = folder / "workspaces"
    file = root / "automation-state" / "news_digest_default.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(_document()), "utf-8")
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "WORKSPACE_BASE": str(root / "automation-runs" / "benchmark"),
    }


def _document() -> dict[str, object]:
    now = datetime.now(UTC)
    days = [datetime.fromtimestamp(now.timestamp() - 86_400 * back, UTC) for back in range(TASKS)]
    done = {
        f"news:{day:%Y-%m-%d}": {
            "status": "completed",
            "period": f"{day:%Y-%m-%d}",
            "story_count": 20,
            "last_activity": day.timestamp(),
            "completed_at": day.timestamp(),
        }
        for day in days
    }
    seen = [f"{number:016x}" for number in range(SEEN)]
    return {"version": 1, "tasks": done, "seen": seen, "last_checked": now.timestamp(), "updated_at": now.timestamp()}


if __name__ == "__main__":
    main()
