"""Run news-digest several times at the same instant: jobs on stdin as JSON, their exit codes and output on stdout.

A job is ``{"folder": ..., "environment": {...}}``; a round is a list of jobs. Everything is imported before the first fork,
so that the runs of a round differ by less than a millisecond at their start.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from news_digest.automation import main


def started(job: dict[str, Any], gate: int) -> int:
    """Fork a run that waits at the gate, and return its process id."""
    child = os.fork()
    if child:
        return child
    out = os.open(Path(job["folder"]) / "out.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    os.read(gate, 1)
    os._exit(main([job["folder"]]))


def run_round(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Let all jobs of a round go at once, and return how they ended."""
    gate, opener = os.pipe()
    children = [started(job, gate) for job in jobs]
    os.write(opener, b"." * len(jobs))
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    os.close(gate)
    os.close(opener)
    return [
        {"code": code, "out": (Path(job["folder"]) / "out.txt").read_text()}
        for code, job in zip(codes, jobs, strict=True)
    ]


for name in (
    "automation.wiring",
    "run",
    "http",
    "feeds.read",
    "stores.kv",
    "stores.file",
    "writers.openhands",
    "finishing",
    "render",
):
    import_module(f"news_digest.{name}")
json.dump([run_round(jobs) for jobs in json.load(sys.stdin)], sys.stdout)
