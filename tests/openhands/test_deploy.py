"""Deploying to the real automation service, and what the deployed bundle does there."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.openhands.stage import SOURCE, Automation, Feed, Loopback, Stage

pytestmark = pytest.mark.openhands

COMMAND = "import sys; from news_digest.cli.main import main; sys.exit(main())"


def news_digest(stage: Stage, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run our command in a folder, with the service's key in the environment."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(SOURCE),
        "AUTOMATION_LOCAL_API_KEY": stage.stack.local_key,
    }
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture
def folder(tmp_path: Path, feed: Feed, stage: Stage) -> Path:
    """Return a folder with a configuration."""
    stage.mode("finish_only")
    (tmp_path / "news-digest.toml").write_text(
        f'feeds = ["{feed.url}"]\ntopics = ["robots"]\nallow_private_hosts = true\n'
    )
    return tmp_path


def automations(stage: Stage, name: str) -> list[dict[str, Any]]:
    return [each for each in stage.service("GET", "/v1?limit=100")["automations"] if each["name"] == name]


def test_deploying_creates_the_automation_and_its_first_run_tells_and_twice_changes_nothing(
    stage: Stage, folder: Path
) -> None:
    name = f"digest-{uuid4()}"
    options = ("deploy", "--host", stage.stack.automation_host, "--name", name)
    planned = news_digest(stage, folder, *options, "--dry-run")
    assert (planned.returncode, automations(stage, name)) == (0, []), planned.stderr
    assert "would create a new automation" in planned.stderr

    first = news_digest(stage, folder, *options, "--dispatch")
    assert first.returncode == 0, first.stderr
    assert "Story 1 about robots" in first.stdout
    [automation] = automations(stage, name)
    assert automation["trigger"] == {"type": "cron", "schedule": "0 8 * * *", "timezone": "UTC"}
    [run] = stage.service("GET", f"/v1/{automation['id']}/runs")["runs"]
    assert run["current_phase"] == "openhands writes about 3 stories"
    assert run["status"] == "COMPLETED"
    assert run["conversation_id"] in first.stderr
    assert run["run_metadata"]["finish_tool_response"]["message"].startswith("# Digest")
    out, _ = stage.run_log(run)
    assert out.splitlines()[0].startswith("===== News digest")
    state = stage.service("GET", f"/v1/kv/state?meta=true&automation_id={automation['id']}")["value"]
    [task] = state["tasks"].values()
    assert (task["status"], task["conversation_id"]) == ("completed", run["conversation_id"])

    again = news_digest(stage, folder, *options)
    assert "nothing to change" in again.stderr
    assert automations(stage, name) == [automation]

    changed = news_digest(stage, folder, *options, "--schedule", "30 7 * * *", "--timezone", "Europe/Berlin")
    assert changed.returncode == 0
    assert "upload" not in changed.stderr
    [automation] = automations(stage, name)
    assert automation["trigger"]["timezone"] == "Europe/Berlin"

    second = stage.service("POST", f"/v1/{automation['id']}/dispatch")
    second = stage.finished(automation["id"], second["id"])
    assert (second["status"], second["conversation_id"]) == ("COMPLETED", run["conversation_id"])
    out, err = stage.run_log(second)
    assert (out, "no feed was read" in err) == ("", True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--schedule", "every day"), "cron"),
        (("--timezone", "Middle/Earth"), "imezone"),
        (("--key-env", "NOT_SET_ANYWHERE"), "NOT_SET_ANYWHERE"),
        (("--host", "http://127.0.0.1:9"), "cannot reach the automation service"),
    ],
    ids=["schedule", "time zone", "key", "host"],
)
def test_what_cannot_be_deployed_is_said_with_what_to_do(
    stage: Stage, folder: Path, options: tuple[str, ...], said: str
) -> None:
    done = news_digest(
        stage, folder, "deploy", "--host", stage.stack.automation_host, "--name", f"x-{uuid4()}", *options
    )
    assert done.returncode in {2, 4}
    assert said in done.stderr
    assert "hint: " in done.stderr


# --- the bundle ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def bundle(stage: Stage, folder: Path) -> Path:
    done = news_digest(stage, folder, "bundle", "bundle")
    assert done.returncode == 0, done.stderr
    return folder / "bundle"


class Place:
    """A root of workspaces with runs of a bundle in it, each in a folder of its own."""

    def __init__(self, root: Path, bundle: Path, path: str = "") -> None:
        self.root, self.bundle = root, bundle
        self.recorder = Loopback(lambda _asked: (200, {}, b"{}"))
        self.path = path or os.environ["PATH"]

    def run_folder(self) -> Path:
        folder = self.root / "automation-runs" / str(uuid4())
        folder.mkdir(parents=True)
        for path in self.bundle.iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        return folder

    def start(self, folder: Path, *command: str) -> subprocess.Popen[str]:
        environment = {
            "PATH": self.path,
            "HOME": str(self.root),
            "WORKSPACE_BASE": str(folder),
            "AUTOMATION_CALLBACK_URL": f"{self.recorder.url}/complete",
            "AUTOMATION_CALLBACK_API_KEY": "k",
        }
        return subprocess.Popen(
            list(command), cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def set_up(self, folder: Path) -> float:
        """Run setup.sh and return how long it took."""
        began = time.monotonic()
        process = self.start(folder, "bash", "setup.sh")
        assert process.communicate(timeout=300) == ("", "")
        assert process.returncode == 0
        return time.monotonic() - began

    def installations(self) -> list[Path]:
        return [path for path in (self.root / "automation-state" / "news_digest_installed").glob("*") if path.is_dir()]

    def told(self) -> dict[str, Any]:
        [asked] = self.recorder.asked
        told: dict[str, Any] = json.loads(asked.body)
        return told


def test_first_runs_that_overlap_share_one_installation_and_a_later_one_is_five_times_faster(
    tmp_path: Path, bundle: Path
) -> None:
    place = Place(tmp_path / "root", bundle)
    began = time.monotonic()
    folders = [place.run_folder() for _ in range(2)]
    processes = [place.start(folder, "bash", "setup.sh") for folder in folders]
    assert [process.wait(300) for process in processes] == [0, 0]
    for process in processes:
        process.communicate()
    first = time.monotonic() - began
    assert [folder / "setup-failed.txt" for folder in folders if (folder / "setup-failed.txt").exists()] == []
    assert len(place.installations()) == 1
    assert place.set_up(place.run_folder()) < first / 5


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda folder: next(folder.glob("*.whl")).write_bytes(b"no wheel"), "installing news-digest failed"),
        (lambda folder: next(folder.glob("*.whl")).unlink(), "the bundle has 0 wheels"),
        (lambda folder: (folder / "setup.sh").write_text("exit 0\n"), "setup.sh did not run"),
    ],
    ids=["damaged wheel", "no wheel", "setup did not run"],
)
def test_an_installation_that_failed_is_reported_with_its_reason(
    tmp_path: Path, bundle: Path, spoil: Callable[[Path], Any], reason: str
) -> None:
    place = Place(tmp_path / "root", bundle)
    folder = place.run_folder()
    spoil(folder)
    place.set_up(folder)
    process = place.start(folder, "python3", "main.py")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert place.told()["status"] == "FAILED"
    assert reason in place.told()["error"]
    assert reason in err
    assert place.installations() == []


def test_a_python_that_does_not_work_leaves_its_reason(tmp_path: Path, bundle: Path) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "python3").write_text("#!/bin/sh\necho 'no such interpreter' >&2\nexit 3\n")
    (bin_folder / "python3").chmod(0o755)
    place = Place(tmp_path / "root", bundle, path=f"{bin_folder}:/usr/bin:/bin")
    folder = place.run_folder()
    place.set_up(folder)
    left = (folder / "setup-failed.txt").read_text()
    assert "exit code 3" in left
    assert "no such interpreter" in left


def test_the_service_shows_why_a_deployed_bundle_could_not_be_installed(
    stage: Stage, bundle: Path, automation: Callable[..., Automation]
) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path in bundle.iterdir():
            content = b"no wheel" if path.suffix == ".whl" else path.read_bytes()
            member = tarfile.TarInfo(path.name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    upload = stage.service("POST", "/v1/uploads?name=x", packed.getvalue())
    ours = automation()
    stage.service("PATCH", f"/v1/{ours.id}", {"tarball_path": upload["tarball_path"], "setup_script_path": "setup.sh"})
    run = stage.service("POST", f"/v1/{ours.id}/dispatch")
    run = stage.finished(ours.id, run["id"])
    assert run["status"] == "FAILED"
    assert "news-digest is not installed: installing news-digest failed" in run["error_detail"]
