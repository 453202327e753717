# ruff: noqa: INP001, S603, S310, T201 - a script of its own: it starts Python and pip, calls the address that the service
# gives it, and its log is its standard error.
"""The bundle's entry, run by the OpenHands automation service; standard library only, for the service's own Python.

    python3 main.py              run news-digest from its installation; report an end that it could not report itself
    python3 main.py --install    install it (setup.sh), once for all runs, into a folder named by the wheel's hash

The installation stands below the folder that the service keeps between runs, beside the state. It is built aside under
a lock and renamed when it works, so that runs that overlap share it and none sees half of it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO

HERE = Path(__file__).resolve().parent
FAILURE = HERE / "setup-failed.txt"
LEAST = (3, 11)
INSTALL_SECONDS = 600
LOCK_SECONDS = 660
"""A little longer than an installation may take: who waits for one that hangs takes over."""
UNUSED_DAYS = 30
"""An installation that no run has used for so long is removed when another one is made."""
REASON_CHARACTERS = 1500
SERVER_ERROR = 500
SIGNALLED = 128
"""An exit code above it: a signal stopped news-digest, which has reported that."""
REPORTED = frozenset((0, 2, 3, 4, 5, 6))
"""Exit codes with which news-digest has called the service back itself; with 1 Python may not have come that far."""
SCRATCH = ".pip"
SWITCHES = ("PYTHONNOUSERSITE", "PYTHONSAFEPATH", "PYTHONUTF8", "PYTHONUNBUFFERED")
"""Only our own packages, and text that any terminal can show as it comes."""


class Failed(Exception):
    """The installation failed, and why."""


# --- where -----------------------------------------------------------------------------------------------------------


def installation() -> Path:
    """Return the folder of the installation: one for each wheel and each Python that runs it."""
    wheels = sorted(HERE.glob("*.whl"))
    if len(wheels) != 1:
        raise Failed(f"the bundle has {len(wheels)} wheels beside main.py, not one")
    digest = hashlib.sha256(wheels[0].read_bytes()).hexdigest()[:16]
    major, minor = sys.version_info[:2]
    return kept_folder() / f"{digest}-cp{major}{minor}-{sysconfig.get_platform()}"


def kept_folder() -> Path:
    """Return the folder for installations: beside the state, else in the user's cache."""
    base = Path(os.environ.get("WORKSPACE_BASE", ""))
    if base.is_absolute() and base.parent.name == "automation-runs":
        return base.parents[1] / "automation-state" / "news_digest_installed"
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if cache else Path.home() / ".cache") / "news-digest" / "installed"


# --- installing ------------------------------------------------------------------------------------------------------


def install() -> None:
    """Install the wheel where it is not installed yet; raises :class:`Failed`."""
    if sys.version_info[:2] < LEAST:
        here, least = ".".join(map(str, sys.version_info[:2])), ".".join(map(str, LEAST))
        raise Failed(f"python3 is {here} here; news-digest needs {least} or later")
    target = installation()
    if target.is_dir():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / f"{target.name}.lock").open("w") as lock:
        take(lock)
        if not target.is_dir():
            tidy(target)
            build(target)


def take(lock: IO[str]) -> None:
    """Wait for the lock; the system lets it go with the process that holds it."""
    ends = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > ends:
                raise Failed(f"another run has been installing for {LOCK_SECONDS} seconds") from None
            time.sleep(0.2)
        else:
            return


def tidy(target: Path) -> None:
    """Remove what a killed installation left, and installations that no run has used for long."""
    for folder in target.parent.glob("*/"):
        old = time.time() - folder.stat().st_mtime > UNUSED_DAYS * 86400
        if folder.name.startswith(f"{target.name}.building") or old:
            shutil.rmtree(folder, ignore_errors=True)


def build(target: Path) -> None:
    """Install aside, try whether it works, rename."""
    aside = target.with_name(f"{target.name}.building-{os.getpid()}")
    try:
        (wheel,) = HERE.glob("*.whl")
        words = [*installer(aside), "--target", str(aside), str(wheel)]
        command(words, "installing news-digest failed", dict(os.environ))
        shutil.rmtree(aside / SCRATCH, ignore_errors=True)
        words = [sys.executable, "-m", "news_digest.automation", "--check"]
        command(words, "news-digest is installed and does not start", environment(aside))
        aside.rename(target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def installer(aside: Path) -> list[str]:
    """Return the command that installs, without what to install: pip, else uv, else the pip of a new environment."""
    quiet = ["install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"]
    if works([sys.executable, "-m", "pip", "--version"]):
        return [sys.executable, "-m", "pip", *quiet]
    uv = shutil.which("uv")
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    scratch = aside / SCRATCH
    if works([sys.executable, "-m", "venv", str(scratch)]):
        return [str(scratch / "bin" / "python"), "-m", "pip", *quiet]
    raise Failed(
        "python3 has neither pip nor venv, and there is no uv; install one of them where the agent server runs"
    )


def works(words: list[str]) -> bool:
    """Return whether a command succeeds."""
    try:
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def command(words: list[str], what: str, surroundings: dict[str, str]) -> None:
    """Run a command; raises :class:`Failed` with the end of what it said."""
    try:
        done = subprocess.run(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=surroundings,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{what}: it took longer than {INSTALL_SECONDS} seconds") from None
    except OSError as error:
        raise Failed(f"{what}: {error}") from None
    if done.returncode:
        said = [line for line in done.stdout.decode("utf-8", "replace").splitlines() if line.strip()]
        wrong = [line for line in said if line.startswith(("ERROR", "error"))] or said
        raise Failed(f"{what}: {' | '.join(wrong[-4:])}")


def environment(folder: Path) -> dict[str, str]:
    """Return the environment in which our packages are found, and nothing of the user's own."""
    ours = {"PYTHONPATH": str(folder), **dict.fromkeys(SWITCHES, "1")}
    return {**os.environ, **ours}


# --- running ---------------------------------------------------------------------------------------------------------


def run() -> int:
    """Run news-digest and return its exit code; an end that it cannot have reported is reported here."""
    try:
        target = installed()
    except (Failed, OSError) as error:
        call_back(f"news-digest is not installed: {error}")
        return 1
    child = subprocess.Popen([sys.executable, "-m", "news_digest.automation", str(HERE)], env=environment(target))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: child.send_signal(number))
    code = child.wait()
    if code not in REPORTED and code < SIGNALLED:
        call_back(f"news-digest ended without a word: exit code {code}")
    return code if code >= 0 else SIGNALLED - code


def installed() -> Path:
    """Return the installation, marked as used; raises :class:`Failed` with the reason where there is none."""
    target = installation()
    if not target.is_dir():
        raise Failed(reason_left())
    os.utime(target)
    return target


def reason_left() -> str:
    """Return why there is no installation, as setup.sh left it."""
    try:
        left = FAILURE.read_text("utf-8", "replace").strip()
    except OSError:
        return "setup.sh did not run; the automation service runs it before the entry"
    return left[:REASON_CHARACTERS] or "setup.sh left no reason"


def call_back(error: str) -> None:
    """Report a failed run to the service; a second report of one run is refused there, and does no harm."""
    print(f"failed: {error}", file=sys.stderr, flush=True)
    url = os.environ.get("AUTOMATION_CALLBACK_URL", "")
    key = os.environ.get("AUTOMATION_CALLBACK_API_KEY") or os.environ.get("OPENHANDS_API_KEY") or ""
    if not url.startswith(("http://", "https://")):
        return
    body = {"status": "FAILED", "error": error}
    if os.environ.get("AUTOMATION_RUN_ID"):
        body["run_id"] = os.environ["AUTOMATION_RUN_ID"]
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    data = json.dumps(body).encode()
    for pause in (1, 4, 0):
        try:
            urllib.request.urlopen(urllib.request.Request(url, data, headers, method="POST"), timeout=15).close()
        except urllib.error.HTTPError as answer:
            if answer.code < SERVER_ERROR:
                return
        except (OSError, ValueError) as trouble:
            print(f"warning: the automation service was not told: {trouble}", file=sys.stderr, flush=True)
        else:
            return
        time.sleep(pause)


def main() -> int:
    """Install or run; an installation that failed leaves its reason for the run."""
    if sys.argv[1:] != ["--install"]:
        return run()
    try:
        install()
    except (Failed, OSError) as error:
        FAILURE.write_text(f"{error}\n", "utf-8")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
