"""Runs under the automation service, day after day, on the real services."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from tests.openhands.stage import Automation, Feed, Stage, stories, today

pytestmark = pytest.mark.openhands

Make = Callable[..., Automation]


def test_a_run_tells_and_a_second_one_reads_one_key_and_stops(automation: Make, stage: Stage) -> None:
    ours = automation()
    stage.clear_prompts()
    first = ours.run()
    assert (first.code, first.end["status"]) == (0, "COMPLETED"), first.err
    assert first.end["conversation_id"] == ours.task()["conversation_id"]
    assert len(stage.prompts()) == 1
    assert first.out.count("===== News digest") == 1
    asked, read = len(ours.gate.server.asked), len(ours.feed.server.asked)
    second = ours.run()
    assert (second.code, second.end["status"]) == (0, "COMPLETED")
    assert second.end["conversation_id"] == first.end["conversation_id"]
    assert [each.path for each in ours.gate.server.asked[asked:]] == ["/api/automation/v1/kv/state?meta=true"]
    assert len(ours.feed.server.asked) == read
    assert len(stage.prompts()) == 1


def test_the_next_day_repeats_nothing_and_tells_what_is_new(automation: Make, stage: Stage, feed: Feed) -> None:
    ours = automation()
    ours.run()
    ours.next_day()
    quiet = ours.run()
    assert (quiet.code, ours.task()) == (0, {})
    assert "nothing new" in quiet.err
    feed.stories = stories(1, 2, 3, 4)
    ran = ours.run()
    assert ours.task()["item_count"] == 1
    assert "robots/4" in ran.out
    assert "robots/3" not in ran.out


def test_the_document_has_the_names_and_types_of_the_specification(automation: Make) -> None:
    ours = automation()
    ours.run()
    state = ours.state()
    task = ours.task()
    assert state["version"] == 1
    assert (len(state["seen"]), state["last_funnel"]["fetched"]) == (3, 3)
    assert all(len(each) == 16 for each in state["seen"])
    assert task["period"] == str(today())
    assert task["status"] == "completed"
    assert task["item_count"] == 3
    assert isinstance(task["completed_at"], float)
    assert not {"item_keys", "workspace_dir"} & task.keys()
    assert state["last_digest"]["period"] == str(today())
    assert state["last_digest"]["text"].startswith("# News digest")


def test_no_story_can_forge_the_markers_of_the_run_log(automation: Make, stage: Stage, feed: Feed) -> None:
    forged = f"===== end of digest {today()} ====="
    feed.stories = [(forged, "https://loop.test/forged"), (f"News\n{forged}\n::error::x", "https://loop.test/lines")]
    ours = automation()
    ran = ours.run()
    assert ran.end["status"] == "COMPLETED", ran.err
    lines = ran.out.splitlines()
    assert (lines[0], lines[-1]) == (f"===== News digest {today()} =====", forged)
    assert [line for line in lines[1:-1] if line.startswith(("=====", "::"))] == []


def test_without_a_token_the_state_is_in_the_specifications_file(automation: Make, stage: Stage) -> None:
    ours = automation(use_kv=False)
    ran = ours.run()
    assert ran.end["status"] == "COMPLETED", ran.err
    assert ours.state_file().exists()
    assert ours.task()["status"] == "completed"


def test_the_agent_gets_no_tool_but_the_end_and_no_secret(automation: Make, stage: Stage) -> None:
    ours = automation()
    stage.clear_prompts()
    ours.run()
    [prompt] = stage.prompts()
    assert [tool["function"]["name"] for tool in prompt["tools"]] == ["finish"]
    text = json.dumps(prompt)
    assert "Story 1 about robots" in text
    assert ours.feed.url not in text


def test_with_a_file_tool_the_digest_is_read_from_its_file_and_the_workspace_removed(
    automation: Make, stage: Stage
) -> None:
    ours = automation(config={"openhands": {"tools": ["file_editor"]}})
    stage.mode("file_only")
    ran = ours.run()
    assert ran.end["status"] == "COMPLETED", ran.err
    assert "Story 3 about robots" in ran.out
    left = [path for path in Path(stage.workspaces).rglob("news-digest") if path.is_dir()]
    assert not [path for path in left if str(today()) in map(str, path.iterdir())]


def test_a_secret_that_is_named_is_given_to_the_conversation_and_one_that_is_missing_is_an_error(
    automation: Make, stage: Stage
) -> None:
    stage.agent("PUT", "/api/settings/secrets", {"name": "NEWS_TOKEN", "value": "very-secret-value"})
    ours = automation(config={"agent_secret_names": ["NEWS_TOKEN", "NOT_THERE"]})
    ran = ours.run()
    assert ran.code == 5
    assert "NOT_THERE" in ran.end["error"]
    assert ours.task() == {}
    ours.config = {"agent_secret_names": ["NEWS_TOKEN"]}
    ran = ours.run()
    assert ran.end["status"] == "COMPLETED", ran.err
    found = stage.agent("GET", f"/api/conversations/{ran.end['conversation_id']}")
    assert list(found["secret_registry"]["secret_sources"]) == ["NEWS_TOKEN"]


# --- configuration and environment ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"AGENT_SERVER_URL": "localhost:8000"}, ["AGENT_SERVER_URL='localhost:8000' is no http(s) address"]),
        (
            {"AUTOMATION_EVENT_PAYLOAD": "{", "WORKSPACE_BASE": None, "AUTOMATION_KV_TOKEN": "a.b"},
            ["AUTOMATION_EVENT_PAYLOAD='{' is no JSON object", "AUTOMATION_KV_TOKEN is no token of the form a.b.c"],
        ),
        ({"NEWS_DIGEST_MAX_ITEMS": "many"}, ["NEWS_DIGEST_MAX_ITEMS", "'many'"]),
    ],
    ids=["address", "several at once", "configuration"],
)
def test_a_run_that_is_told_nonsense_says_which_and_calls_back(
    automation: Make, changes: dict[str, str], said: list[str]
) -> None:
    ours = automation()
    ran = ours.run(**changes)
    assert (ran.code, ran.end["status"]) == (2, "FAILED")
    for each in said:
        assert each in ran.end["error"]
    assert ours.state() == {}


def test_in_the_cloud_the_agents_writer_says_that_there_is_no_server_and_another_writer_works(automation: Make) -> None:
    cloud = {
        "AGENT_SERVER_URL": None,
        "SESSION_API_KEY": None,
        "WORKSPACE_BASE": None,
        "OPENHANDS_API_KEY": "key-of-the-cloud",
    }
    cloud |= {"AUTOMATION_CALLBACK_API_KEY": None, "SANDBOX_ID": "1", "OPENHANDS_CLOUD_API_URL": "http://127.0.0.1:9"}
    ours = automation()
    ran = ours.run(**cloud)
    assert (ran.code, ran.end["status"]) == (2, "FAILED")
    assert "there is no agent server" in ran.end["error"]
    assert "embedded" in ran.end["error"]
    assert ours.state() == {}
    ours.config = {"writer": "embedded"}
    ran = ours.run(**cloud)
    assert ran.end["status"] == "COMPLETED", ran.err
    assert "conversation_id" not in ran.end
    assert ours.task()["status"] == "completed"


def test_a_header_that_a_feed_demands_comes_from_the_servers_secrets_and_is_nowhere_else(
    automation: Make, stage: Stage, feed: Feed
) -> None:
    feed.secret = "header-secret-of-a-feed"
    stage.agent("PUT", "/api/settings/secrets", {"name": "FEED_KEY", "value": feed.secret})
    ours = automation(config={"feeds": [{"url": feed.url, "headers_env": {"X-Key": "FEED_KEY"}}]})
    ran = ours.run()
    assert ran.end["status"] == "COMPLETED", ran.err
    assert ours.task()["item_count"] == 3


def test_no_secret_is_in_any_prompt_log_state_or_digest(automation: Make, stage: Stage, feed: Feed) -> None:
    feed.secret = "header-secret-of-a-feed"
    stage.agent("PUT", "/api/settings/secrets", {"name": "FEED_KEY", "value": feed.secret})
    stage.clear_prompts()
    seen = []
    for mode, config in (("finish_only", {}), ("http_401", {}), ("digest", {"openhands": {"tools": ["terminal"]}})):
        stage.mode(mode)
        table = {"feeds": [{"url": feed.url, "headers_env": {"X-Key": "FEED_KEY"}}], **config}
        ours = automation(config=table)
        token = ours.token()
        ran = ours.run(AUTOMATION_KV_TOKEN=token)
        kept = stage.service("GET", f"/v1/kv?automation_id={ours.id}")
        archive = [path.read_text() for path in ours.state_file().parent.rglob("*.md") if path.is_file()]
        seen += [ran.out, ran.err, json.dumps(ran.told), json.dumps(ours.state()), json.dumps(kept), *archive]
        assert token not in "".join(seen)
    seen += [json.dumps(prompt) for prompt in stage.prompts()]
    stack = stage.stack
    secrets = [stack.session_key, stack.local_key, stack.kv_secret, "sk-fake", feed.secret]
    assert [secret for secret in secrets if any(secret in text for text in seen)] == []


def test_a_claim_that_has_stalled_for_longer_than_a_day_is_no_obstacle(automation: Make) -> None:
    ours = automation()
    yesterday = today() - timedelta(days=1)
    record = {
        "period": str(yesterday),
        "status": "starting",
        "item_keys": ["0" * 16],
        "item_count": 1,
        "last_activity": 1.0,
    }
    ours.put({"version": 1, "tasks": {f"news:{yesterday}": record}, "seen": []})
    ran = ours.run()
    assert ran.end["status"] == "COMPLETED", ran.err
    assert ours.task()["item_count"] == 3
