"""A run under the automation service, with the embedded writer and the state in a file: every end is called back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.openhands.stage import SOURCE, Asked, Feed, Loopback, stories, until

SECRET = "secret-key-of-the-service"


class Service:
    """What of the automation service a run needs: a workspace, and somebody who hears how it ended."""

    def __init__(self, root: Path) -> None:
        self.root, self.run_id = root, str(uuid4())
        self.folder = root / "automation-runs" / self.run_id
        self.folder.mkdir(parents=True)
        self.status = 200
        self.recorder = Loopback(lambda _asked: (self.status, {}, b"{}"))

    def start(self, config: Any = None, **changes: str) -> subprocess.Popen[str]:
        if config is not None:
            text = config if isinstance(config, str) else json.dumps(config)
            (self.folder / "config.json").write_text(text)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "PYTHONPATH": str(SOURCE),
            "WORKSPACE_BASE": str(self.folder),
            "AUTOMATION_CALLBACK_URL": f"{self.recorder.url}/complete",
            "AUTOMATION_CALLBACK_API_KEY": SECRET,
            "AUTOMATION_RUN_ID": self.run_id,
            "AUTOMATION_EVENT_PAYLOAD": json.dumps({"automation_id": "an-id"}),
            "NEWS_DIGEST_ALLOW_PRIVATE_HOSTS": "yes",
            **changes,
        }
        command = [sys.executable, "-m", "news_digest.automation", str(self.folder)]
        return subprocess.Popen(
            command, cwd=self.root, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def run(self, config: Any = None, **changes: str) -> tuple[int, str, str]:
        process = self.start(config, **changes)
        out, err = process.communicate(timeout=60)
        assert SECRET not in out + err
        return process.returncode, out, err

    def told(self) -> dict[str, Any]:
        """Return what the one callback said."""
        [asked] = self.recorder.asked
        told: dict[str, Any] = json.loads(asked.body)
        assert told.pop("run_id") == self.run_id
        return told


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = Service(tmp_path)
    yield running
    running.recorder.close()


@pytest.fixture
def feed() -> Iterator[Feed]:
    feed = Feed(stories(1, 2))
    yield feed
    feed.server.close()


def test_a_digest_stands_between_markers_and_the_run_is_completed(service: Service, feed: Feed) -> None:
    config = {"format": "news-digest", "feeds": [feed.url], "topics": ["robots"], "writer": "embedded"}
    code, out, err = service.run(config)
    assert code == 0, err
    assert out.startswith("===== News digest ")
    assert out.splitlines()[-1].startswith("===== end of digest ")
    assert "https://loop.test/robots/1" in out
    assert service.told() == {"status": "COMPLETED"}
    state = service.root / "automation-state" / "news_digest_an-id.json"
    [task] = json.loads(state.read_text())["tasks"].values()
    assert task["status"] == "completed"


def test_the_references_configuration_in_the_working_folder_is_understood(service: Service, feed: Feed) -> None:
    (service.root / "config.json").write_text(json.dumps({"feeds": [feed.url], "topics": ["robots"], "repo_url": "x"}))
    code, _, err = service.run(NEWS_DIGEST_WRITER="embedded")
    assert (code, service.told()) == (0, {"status": "COMPLETED"}), err


@pytest.mark.parametrize(
    ("config", "changes", "said"),
    [
        ("{", {}, "no valid JSON"),
        ("[]", {}, "it is no JSON object"),
        ({"format": "news-digest", "topcs": []}, {}, "did you mean topics?"),
        ({"format": "news-digest", "max_items": 0}, {}, "max_items"),
        ({}, {"WORKSPACE_BASE": "here"}, "WORKSPACE_BASE='here' is no absolute path"),
        ({}, {"AUTOMATION_RUN_ID": "seven"}, "AUTOMATION_RUN_ID='seven' is no UUID"),
        ({"format": "news-digest", "writer": "nobody"}, {}, "there is no 'nobody'"),
        ({}, {}, "there is no agent server"),
    ],
    ids=["syntax", "form", "key", "value", "variable", "run id", "writer", "no agent server"],
)
def test_a_run_that_is_configured_wrongly_says_how_and_is_failed(
    service: Service, config: Any, changes: dict[str, str], said: str
) -> None:
    code, out, err = service.run(config, **changes)
    told = json.loads(service.recorder.asked[0].body)
    assert (code, out, told["status"], len(service.recorder.asked)) == (2, "", "FAILED", 1)
    assert said in told["error"]
    assert f"failed: {told['error']}" in err


def test_feeds_that_all_fail_fail_the_run(service: Service, feed: Feed) -> None:
    feed.down = True
    code, _, _ = service.run({"format": "news-digest", "feeds": [feed.url], "writer": "embedded"})
    assert (code, service.told()["status"]) == (3, "FAILED")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_run_that_a_signal_stops_is_failed(service: Service, number: signal.Signals) -> None:
    def slow(_asked: Asked) -> None:
        time.sleep(5)

    feed = Loopback(slow)
    process = service.start({"format": "news-digest", "feeds": [f"{feed.url}/rss"], "writer": "embedded"})
    until(lambda: feed.asked)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert number.name in service.told()["error"]
    feed.close()


def test_a_service_that_cannot_be_told_changes_no_exit_code(service: Service, feed: Feed) -> None:
    service.status = 401
    code, _, err = service.run({"format": "news-digest", "feeds": [feed.url], "writer": "embedded"})
    assert code == 0
    assert "the automation service was not told how the run ended: HTTP 401" in err


def test_what_a_damaged_environment_leaves_usable_is_used_to_call_back(service: Service) -> None:
    code, _, _ = service.run({}, AUTOMATION_EVENT_PAYLOAD="{", SESSION_API_KEY="line\nbreak")
    assert (code, service.told()["status"]) == (2, "FAILED")
