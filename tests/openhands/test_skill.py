"""The skill in ``integrations/openhands``: it loads in OpenHands, and what it tells an agent to type works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.openhands.environment import find
from tests.openhands.stage import SOURCE, Feed, Stage

pytestmark = pytest.mark.openhands

PLUGIN = Path(__file__).resolve().parents[2] / "integrations" / "openhands"
SKILL = PLUGIN / "skills" / "news-digest" / "SKILL.md"

LOAD = """
import json, sys
from openhands.sdk.plugin import Plugin
plugin = Plugin.load(sys.argv[1])
print(json.dumps([plugin.manifest.name, [[skill.name, skill.description, skill.get_triggers()] for skill in plugin.skills]]))
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", SKILL.read_text(), re.DOTALL)


def test_openhands_loads_the_plugin_and_its_skill(stage: Stage) -> None:
    done = subprocess.run([find(), "-c", LOAD, str(PLUGIN)], capture_output=True, text=True, timeout=120, check=True)
    said = done.stdout.splitlines()[-1]
    assert said.startswith('["news-digest", [["news-digest", "Set up, change or check')
    assert '"rss digest"' in said


def test_every_command_of_the_skill_works_with_its_own_configuration(stage: Stage, feed: Feed, tmp_path: Path) -> None:
    [configuration] = blocks("toml")
    stage.mode("finish_only")
    local = configuration.replace("https://example.org/feed.xml", feed.url)
    (tmp_path / "news-digest.toml").write_text(f"allow_private_hosts = true\n{local}")
    command = tmp_path / "bin" / "news-digest"
    command.parent.mkdir()
    command.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "import sys; from news_digest.cli.main import main; sys.exit(main())" "$@"\n'
    )
    command.chmod(0o755)
    environment = {
        "PATH": f"{command.parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PYTHONPATH": str(SOURCE),
        "OPENHANDS_AUTOMATION_URL": stage.stack.automation_host,
        "OPENHANDS_AUTOMATION_API_KEY": stage.stack.local_key,
    }
    said = []
    for block in blocks("bash"):
        done = subprocess.run(
            ["sh", "-ec", block],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout + done.stderr)
    shown, planned, deployed, changed = said
    assert feed.url in shown
    assert "would create a new automation" in planned
    assert "Story 1 about robots" in deployed
    assert "set trigger to" in changed
    assert "upload" not in changed
