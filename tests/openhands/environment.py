"""Find, or make, the Python environment of the OpenHands services that the tests run against.

    python tests/openhands/environment.py            print its interpreter; make it first where there is none
    python tests/openhands/environment.py --find     only look; exit code 1 and a reason where there is none

It lives in the user's cache folder (``$XDG_CACHE_HOME/news-digest``), named by the versions, so that every checkout shares
one: about 600 MB. ``OH_PYTHON`` names another interpreter that has the services. Standard library only.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SERVICES = (
    "openhands-agent-server==1.58.2",
    "openhands-automation==1.26.0",
    "openhands-sdk==1.58.1",
    "openhands-tools==1.58.2",
    "openhands-workspace==1.58.1",
)
NAME = "openhands-1.58.2-1.26.0"
LEAST = (3, 12)
COMPLETE = "complete"
"""A file in the environment's folder; without it an installation was cut short and is made again."""

_IS_NEW_ENOUGH = f"import sys, venv, ensurepip; raise SystemExit(sys.version_info < {LEAST})"
_HAS_SERVICES = "import importlib.util as u; raise SystemExit(not (u.find_spec('openhands.agent_server') and u.find_spec('openhands.automation')))"


class Missing(Exception):
    """There is no environment, and why."""


def find() -> str:
    """Return the interpreter of an environment that has the services; raises :class:`Missing`."""
    named = os.environ.get("OH_PYTHON", "")
    if named:
        if _succeeds([named, "-c", _HAS_SERVICES]):
            return named
        raise Missing(f"OH_PYTHON={named} has no openhands.agent_server and openhands.automation")
    python = _folder() / "bin" / "python"
    if (_folder() / COMPLETE).exists() and _succeeds([str(python), "--version"]):
        return str(python)
    raise Missing(f"no environment at {_folder()}; make it: python {Path(__file__).name}")


def make() -> str:
    """Return the interpreter of the environment, installing it first where it is missing; raises :class:`Missing`."""
    folder = _folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{NAME}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            return find()
        except Missing:
            if os.environ.get("OH_PYTHON"):
                raise
        shutil.rmtree(folder, ignore_errors=True)
        _run([_base_python(), "-m", "venv", str(folder)])
        python = str(folder / "bin" / "python")
        installer = (
            ["uv", "pip", "install", "--python", python] if shutil.which("uv") else [python, "-m", "pip", "install"]
        )
        _run([*installer, "--quiet", *SERVICES])
        (folder / COMPLETE).touch()
        return python


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "news-digest" / NAME


def _base_python() -> str:
    """Return a Python of the least version or later, from uv where the machine has none."""
    for candidate in _candidates():
        if _succeeds([candidate, "-c", _IS_NEW_ENOUGH]):
            return candidate
    wanted = ".".join(map(str, LEAST))
    if uv := shutil.which("uv"):
        _run([uv, "python", "install", wanted])
        return _said([uv, "python", "find", wanted])
    raise Missing(f"no Python {wanted} or later; install one or uv, or set OH_PYTHON")


def _candidates() -> Iterator[str]:
    for name in ("python3.12", "python3.13", "python3.14"):
        if found := shutil.which(name):
            yield found
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    installed = [path for path in versions.glob("3.*/bin/python") if re.fullmatch(r"3\.\d+\.\d+", path.parts[-3])]
    yield from map(str, sorted(installed, key=lambda path: tuple(map(int, path.parts[-3].split(".")))))
    yield sys.executable
    if uv := shutil.which("uv"):
        yield _said([uv, "python", "find", f">={LEAST[0]}.{LEAST[1]}"]) or sys.executable


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    if done.returncode:
        raise Missing(f"exit code {done.returncode}: {' '.join(command)}")


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _succeeds(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def main() -> int:
    """Print the interpreter, or the reason why there is none."""
    try:
        print(find() if "--find" in sys.argv[1:] else make())  # noqa: T201 - what the script is for
    except Missing as reason:
        print(f"no environment for the OpenHands services: {reason}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
