"""What goes wrong on the real services, and how each run, and the next one, ends."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from tests.openhands.stage import Asked, Automation, Stage, today, until

from news_digest.model import Period
from news_digest.run import ticket_for

pytestmark = pytest.mark.openhands

Make = Callable[..., Automation]
HOURS = 3600
SHORT = {"budget_seconds": 1}


def told_today(automation: Automation) -> bool:
    """Return whether the next run of today writes the digest, as a repaired day lets it."""
    ran = automation.run()
    assert ran.code == 0, ran.err
    return bool(automation.task()["status"] == "completed")


def retried(automation: Automation) -> bool:
    """Return whether the stories are offered again: the day was closed, so the next day's run tells them."""
    automation.next_day()
    ran = automation.run()
    return ran.code == 0 and bool(automation.task().get("item_count") == 3)


# --- the conversation ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "outcome", "reason"),
    [
        ("http_401", "failed", "LLMAuthenticationError: Your LLM API key appears to be invalid or has expired."),
        ("empty", "failed", "the agent repeated itself without getting on"),
        ("file_only", "empty", "the writer stopped without writing anything"),
    ],
    ids=["in error", "stuck", "answering nothing"],
)
def test_a_conversation_without_a_digest_closes_the_day_with_its_reason_and_the_next_day_tells(
    automation: Make, stage: Stage, mode: str, outcome: str, reason: str
) -> None:
    ours = automation()
    stage.mode(mode)
    ran = ours.run()
    assert (ran.code, ran.end["status"]) == (5, "FAILED")
    task = ours.task()
    assert (task["status"], task["reason"]) == (outcome, reason)
    assert ran.end["conversation_id"] == task["conversation_id"]
    assert outcome in ran.end["error"]
    assert not ours.state().get("seen")
    stage.mode("finish_only")
    assert retried(ours)


def test_a_model_that_is_down_fails_the_day_and_says_so(automation: Make, stage: Stage) -> None:
    ours = automation()
    with stage.model_at("http://127.0.0.1:9/v1"):
        ran = ours.run()
    assert ran.code == 5
    assert ours.task()["reason"].startswith("LLMServiceUnavailableError")
    assert retried(ours)


def test_a_slow_model_is_waited_for_within_the_budget_and_a_later_run_finishes(automation: Make, stage: Stage) -> None:
    ours = automation(config=SHORT)
    stage.mode("slow:4")
    ran = ours.run()
    assert (ran.code, ran.end["status"]) == (0, "COMPLETED")
    assert "waiting" in ran.err
    assert ours.task()["status"] == "active"
    stage.settle(ours.task()["conversation_id"])
    before = stage.conversations()
    ran = ours.run()
    assert "===== News digest" in ran.out
    assert ours.task()["status"] == "completed"
    assert stage.conversations() == before


def test_a_model_that_hangs_lets_the_conversation_expire_and_it_is_interrupted(automation: Make, stage: Stage) -> None:
    ours = automation(config=SHORT)
    stage.mode("slow:40")
    ours.run()
    ticket = ours.task()["conversation_id"]
    assert stage.status(ticket) == "running"
    ours.age(2 * HOURS + 1)
    assert ours.run().end["status"] == "COMPLETED"
    task = ours.task()
    assert task["status"] == "expired"
    assert task["expired_after"] > 2 * HOURS
    assert "workspace_dir" not in task
    assert until(lambda: stage.status(ticket) == "paused")
    stage.mode("finish_only")
    assert retried(ours)


def test_a_deleted_conversation_fails_the_day(automation: Make, stage: Stage) -> None:
    ours = automation(config=SHORT)
    stage.mode("slow:40")
    ours.run()
    stage.agent("DELETE", f"/api/conversations/{ours.task()['conversation_id']}")
    ours.run()
    assert ours.task()["status"] == "failed"
    assert "gone" in ours.task()["reason"]
    assert "workspace_dir" not in ours.task()
    stage.mode("finish_only")
    assert retried(ours)


def test_a_conversation_that_never_starts_fails_after_a_minute(automation: Make, stage: Stage) -> None:
    ours = automation(config=SHORT)
    ticket = str(uuid4())
    stage.create(ticket, initial_message=None)
    assert stage.status(ticket) == "idle"
    record = {
        "period": str(today()),
        "status": "active",
        "conversation_id": ticket,
        "item_keys": ["0" * 16],
        "item_count": 1,
    }
    ours.put({"version": 1, "tasks": {f"news:{today()}": {**record, "last_activity": time.time() - 35}}, "seen": []})
    ours.run()
    assert ours.task()["status"] == "active"
    ours.age(26)
    ours.run()
    assert (ours.task()["status"], ours.task()["reason"]) == ("failed", "never started")


def test_a_paused_conversation_stays_open_and_expires_like_the_rest(automation: Make, stage: Stage) -> None:
    ours = automation(config=SHORT)
    stage.mode("slow:40")
    ours.run()
    ticket = ours.task()["conversation_id"]
    stage.agent("POST", f"/api/conversations/{ticket}/interrupt")
    until(lambda: stage.status(ticket) == "paused")
    ours.run()
    assert ours.task()["status"] == "active"
    ours.age(2 * HOURS + 1)
    ours.run()
    assert ours.task()["status"] == "expired"


def test_a_server_that_is_full_refuses_the_claim_is_dropped_and_the_next_run_tells(
    automation: Make, stage: Stage
) -> None:
    ours = automation()
    stage.mode("hang")
    others = [f"00000000-0000-4000-8000-0000000000{number:02d}" for number in range(10)]
    try:
        for ticket in others:
            stage.create(ticket)
        ran = ours.run()
        assert (ran.code, ran.end["status"]) == (5, "FAILED")
        assert "run limit" in ran.end["error"]
        assert ours.task() == {}
    finally:
        stage.mode("finish_only")
        for ticket in others:
            stage.agent("POST", f"/api/conversations/{ticket}/interrupt")
            stage.agent("DELETE", f"/api/conversations/{ticket}")
    assert told_today(ours)


def test_a_conversation_of_the_ticket_that_was_given_another_brief_does_not_count(
    automation: Make, stage: Stage
) -> None:
    ours = automation()
    ticket = ticket_for(ours.id, Period(today()), 1)
    stage.create(ticket, tags={"brief": "0" * 64})
    ran = ours.run()
    assert ran.code == 5
    assert "another brief" in ran.end["error"]
    assert ours.task() == {}
    assert told_today(ours)
    assert ours.task()["conversation_id"] != ticket


# --- the agent server -------------------------------------------------------------------------------------------------


def test_an_agent_server_that_is_killed_costs_the_conversation_and_no_story(automation: Make, stage: Stage) -> None:
    caught, late = automation(config=SHORT), automation()
    stage.mode("slow:40")
    caught.run()
    ticket = caught.task()["conversation_id"]
    stage.kill_agent()
    try:
        waiting = caught.run()
        assert waiting.code == 0
        assert "stays open: cannot reach the agent server" in waiting.err
        refused = late.run()
        assert (refused.code, late.task()) == (5, {})
        assert "the agent server did not start the conversation" in refused.end["error"]
        assert "conversation_id" not in refused.end
    finally:
        stage.mode("finish_only")
        stage.start_agent()
    assert stage.status(ticket) == "error"
    caught.run()
    assert caught.task()["status"] == "failed"
    assert retried(caught)
    assert told_today(late)


def test_an_agent_server_that_is_stopped_in_order_leaves_a_paused_conversation_that_expires(
    automation: Make, stage: Stage
) -> None:
    ours = automation(config=SHORT)
    stage.mode("slow:15")
    ours.run()
    stage.kill_agent(signal.SIGTERM)
    stage.mode("finish_only")
    stage.start_agent()
    assert stage.status(ours.task()["conversation_id"]) == "paused"
    ours.age(2 * HOURS + 1)
    ours.run()
    assert ours.task()["status"] == "expired"
    assert retried(ours)


# --- the state --------------------------------------------------------------------------------------------------------


def nth_write(number: int) -> Callable[[Asked], str | int | None]:
    """Return a rule under which the service is down from the so manieth write on."""
    count = 0

    def rule(asked: Asked) -> str | int | None:
        nonlocal count
        count += asked.method == "POST" and asked.path.endswith("/batch")
        return 503 if count >= number else None

    return rule


@pytest.mark.parametrize("answer", [503, "drop"], ids=["answers 503", "hangs up"])
def test_a_state_that_cannot_be_read_stops_the_run_before_anything_is_done(
    automation: Make, stage: Stage, answer: str | int
) -> None:
    ours = automation()
    ours.gate.rule = lambda _asked: answer
    before = stage.conversations()
    ran = ours.run()
    assert (ran.code, ran.end["status"]) == (4, "FAILED")
    assert "KV store" in ran.end["error"] or "the state" in ran.end["error"]
    assert (stage.conversations(), ours.state(), ours.feed.server.asked) == (before, {}, [])
    ours.gate.rule = lambda _asked: None
    assert told_today(ours)


def test_a_claim_that_cannot_be_saved_starts_no_conversation(automation: Make, stage: Stage) -> None:
    ours = automation()
    ours.gate.rule = nth_write(1)
    before = stage.conversations()
    ran = ours.run()
    assert (ran.code, ran.end["status"]) == (4, "FAILED")
    assert (stage.conversations(), ours.state()) == (before, {})
    ours.gate.rule = lambda _asked: None
    assert told_today(ours)


def test_an_end_that_cannot_be_saved_is_settled_by_the_next_run(automation: Make, stage: Stage) -> None:
    ours = automation()
    ours.gate.rule = nth_write(4)  # claim, brief, active; then the digest
    before = stage.conversations()
    ran = ours.run()
    assert (ran.code, ran.end["status"]) == (4, "FAILED")
    assert ours.task()["status"] == "active"
    assert ran.end["conversation_id"] == ours.task()["conversation_id"]
    ours.gate.rule = lambda _asked: None
    ran = ours.run()
    assert ran.out.count("===== News digest") == 1
    assert ours.task()["status"] == "completed"
    assert len(stage.conversations() - before) == 1


def test_an_expired_token_is_named_and_nothing_is_written(automation: Make, stage: Stage) -> None:
    ours = automation()
    ran = ours.run(AUTOMATION_KV_TOKEN=ours.token(age=timedelta(hours=25)))
    assert (ran.code, ran.end["status"]) == (4, "FAILED")
    assert "24 hours" in ran.end["error"]
    assert ours.state() == {}
    assert told_today(ours)


def test_a_document_at_its_ceiling_is_refused_before_the_claim(automation: Make, stage: Stage) -> None:
    ours = automation()
    foreign = {"version": 1, "tasks": {}, "seen": [], "theirs": "x" * 65_000}
    ours.put(foreign)
    before = stage.conversations()
    ran = ours.run()
    assert (ran.code, ran.end["status"]) == (4, "FAILED")
    assert "theirs" in ran.end["error"]
    assert (stage.conversations(), ours.state()) == (before, foreign)
    ours.put({**foreign, "theirs": "x"})
    assert told_today(ours)
    assert ours.state()["theirs"] == "x"


# --- the run itself ---------------------------------------------------------------------------------------------------


def test_a_run_killed_between_creating_and_recording_is_found_again_by_its_ticket(
    automation: Make, stage: Stage
) -> None:
    ours = automation()
    before = stage.conversations()
    held: list[bool] = []
    writes = nth_write(3)  # claim, brief; then active

    def rule(asked: Asked) -> str | int | None:
        if writes(asked) is None:
            return None
        held.append(True)
        time.sleep(3)
        return "drop"

    ours.gate.rule = rule
    process = ours.start()
    until(lambda: held)
    process.kill()
    assert ours.ended(process).told == []
    ours.gate.rule = lambda _asked: None
    assert ours.task()["status"] == "starting"
    claimed = ours.run()
    assert claimed.code == 0
    assert "claimed by another run" in claimed.err
    ours.age(15 * 60 + 1)
    found = ours.run()
    assert found.code == 0, found.err
    assert ours.task()["status"] == "completed"
    assert len(stage.conversations() - before) == 1


def test_a_run_that_is_stopped_while_it_waits_says_so_with_its_conversation(automation: Make, stage: Stage) -> None:
    ours = automation()
    stage.mode("slow:3")
    process = ours.start()
    until(lambda: ours.task().get("status") == "active")
    os.kill(process.pid, signal.SIGTERM)
    ran = ours.ended(process)
    assert ran.code == 128 + signal.SIGTERM
    assert (ran.end["status"], ran.end["conversation_id"]) == ("FAILED", ours.task()["conversation_id"])
    assert "SIGTERM" in ran.end["error"]
    stage.settle(ours.task()["conversation_id"])
    assert told_today(ours)
