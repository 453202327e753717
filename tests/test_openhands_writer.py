"""The writer ``openhands`` against answers of an agent server: each has one consequence."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from news_digest.brief import brief_hash
from news_digest.errors import ConfigError, HttpError, Refused, Unclear, WriterUnavailable
from news_digest.model import Brief, Conversation, Fingerprint, Identity, Period, Story, Ticket
from news_digest.ports import Request, Response, Running, Stopped, Wrote
from news_digest.testing import FakeClock, FakeHttp
from news_digest.writers import Desk, open_writer

NOW = datetime(2026, 8, 20, 8, 0, tzinfo=UTC)
TICKET = Ticket("98e70db7-7716-5227-97b3-4a8446889c6f")
RUN = "a35bff33-4679-4048-8bb3-afbc6b524790"
STORY = Story(
    "Robots win the cup",
    "https://a.test/1",
    "A",
    "https://a.test/rss",
    NOW,
    "Robots win.",
    Identity((Fingerprint("0" * 16),)),
)
BRIEF = Brief(Period.of(NOW), NOW - timedelta(hours=48), NOW, ("robots",), (STORY,))
HASH = brief_hash(BRIEF)
MODEL = {"model": "openai/fake", "api_key": "sk-secret-key", "base_url": None}

Answers = dict[str, Any]
"""By method and the path's end: a status with a body, or an error to raise."""


def answered(answers: Answers) -> Callable[[Request], Response]:
    """Return an agent server that has a model and answers as told; what it is not told it has not."""
    known: Answers = {"GET /api/settings": (200, {"agent_settings": {"llm": MODEL}}), **answers}

    def answer(request: Request) -> Response:
        path = request.url.removeprefix("http://agent.test").partition("?")[0].replace(TICKET, "ID")
        found = known.get(f"{request.method} {path}", (404, {"detail": "Not Found"}))
        if isinstance(found, Exception):
            raise found
        status, body = found
        return Response(status, request.url, {}, body.encode() if isinstance(body, str) else json.dumps(body).encode())

    return answer


def writer(answers: Answers | None = None, **options: Any) -> tuple[Any, FakeHttp]:
    http = FakeHttp(answered(answers or {}))
    environment = {
        "AGENT_SERVER_URL": "http://agent.test",
        "SESSION_API_KEY": "session-secret",
        "WORKSPACE_BASE": f"/no/such/root/automation-runs/{RUN}",
    }
    desk = Desk("/no/such/place", FakeClock(NOW), lambda: http, options, environment)
    return open_writer("openhands", desk), http


def conversation(status: str, **more: Any) -> dict[str, Any]:
    return {"id": TICKET, "execution_status": status, "tags": {"brief": HASH}, **more}


def given(workspace: str = "") -> Conversation:
    return Conversation(TICKET, "openhands", "", workspace, HASH)


CREATE, GET = "POST /api/conversations", "GET /api/conversations/ID"
LOST = HttpError("no answer", cause="timed out", sent=True)
NEVER_SENT = HttpError("no answer", cause="connection refused", sent=False)


# --- beginning --------------------------------------------------------------------------------------------------------


def test_a_conversation_is_created_with_the_ticket_the_tag_and_no_more_rights_than_it_needs() -> None:
    ours, http = writer({CREATE: (201, conversation("idle"))})
    begun = ours.begin(BRIEF, TICKET)
    sent = json.loads(http.requests[-1].body or b"")
    assert (sent["conversation_id"], sent["tags"]["brief"], sent["autotitle"]) == (TICKET, HASH, False)
    assert (sent["agent"]["tools"], sent["agent"]["include_default_tools"]) == ([], ["FinishTool"])
    assert not {"secrets", "mcp_config", "plugins"} & (sent.keys() | sent["agent"].keys())
    assert sent["agent"]["llm"] == MODEL
    workspace = f"/no/such/root/automation-runs/{RUN}/news-digest/2026-08-20"
    assert sent["workspace"] == {"working_dir": workspace}
    assert begun == Conversation(TICKET, "openhands", "", workspace, HASH)
    assert dict(http.requests[0].headers)["X-Expose-Secrets"] == "plaintext"


def test_a_link_is_made_only_where_people_can_open_it() -> None:
    ours, _ = writer({CREATE: (200, conversation("running"))}, people_url="https://hands.test/")
    assert ours.begin(BRIEF, TICKET).url == f"https://hands.test/conversations/{TICKET}"


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"GET /api/settings": NEVER_SENT}, "connection refused"),
        ({"GET /api/settings": (401, {"detail": "Unauthorized"})}, "HTTP 401 Unauthorized"),
        (
            {"GET /api/settings": (200, {"agent_settings": {"llm": {"model": "gpt-5.6", "api_key": None}}})},
            "no key is set for gpt-5.6",
        ),
        ({"GET /api/settings": (200, {})}, "it has no model"),
        ({CREATE: NEVER_SENT}, "connection refused"),
        (
            {CREATE: (422, {"detail": [{"loc": ["body", "agent"], "msg": "Field required"}]})},
            "body.agent Field required",
        ),
        ({CREATE: (429, {"detail": "Conversation run limit reached. Retry the request later."})}, "run limit"),
        ({CREATE: (500, {"detail": "Internal Server Error", "exception": "'nope' is not registered"})}, "nope"),
        ({CREATE: (200, {**conversation("running"), "tags": {"brief": "other"}})}, "another brief"),
        ({CREATE: (200, {**conversation("running"), "tags": {}})}, "another brief"),
    ],
    ids=[
        "no server",
        "wrong key",
        "no model key",
        "no model",
        "refused",
        "bad",
        "full",
        "broken",
        "other brief",
        "no tag",
    ],
)
def test_what_certainly_did_not_start_is_refused(answers: Answers, said: str) -> None:
    ours, _ = writer(answers)
    with pytest.raises(Refused) as caught:
        ours.begin(BRIEF, TICKET)
    assert said in str(caught.value)
    assert "secret" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(
    "answer", [LOST, (500, "Internal Server Error"), (502, "bad gateway")], ids=["lost", "500", "502"]
)
def test_a_conversation_that_is_there_after_an_unclear_answer_has_begun(answer: Any) -> None:
    ours, _ = writer({CREATE: answer, GET: (200, conversation("running"))})
    assert ours.begin(BRIEF, TICKET).ticket == TICKET


@pytest.mark.parametrize(
    "answers",
    [
        {CREATE: LOST},
        {CREATE: LOST, GET: LOST},
        {CREATE: (500, "x"), GET: (503, "x")},
        {CREATE: (201, {"id": "another"})},
    ],
    ids=["not there yet", "no word at all", "broken", "another conversation"],
)
def test_what_may_have_started_is_unclear(answers: Answers) -> None:
    ours, _ = writer(answers)
    with pytest.raises(Unclear):
        ours.begin(BRIEF, TICKET)


def test_after_a_conversation_that_did_not_start_there_is_nothing_to_stop() -> None:
    ours, http = writer({CREATE: NEVER_SENT, GET: LOST})
    with pytest.raises(Refused):
        ours.begin(BRIEF, TICKET)
    asked = len(http.requests)
    assert ours.release(given(ours.workspace(BRIEF.period, TICKET)), BRIEF.period)
    assert len(http.requests) == asked


# --- finding and polling ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tag", "found"), [(HASH, True), ("other", False), ("", False)])
def test_what_is_found_under_a_ticket_counts_only_with_the_tag(tag: str, found: bool) -> None:
    ours, _ = writer({GET: (200, {**conversation("running"), "tags": {"brief": tag}})})
    assert (ours.find(TICKET, BRIEF.period, HASH) is not None) is found


def test_a_ticket_without_a_conversation_is_none() -> None:
    assert writer()[0].find(TICKET, BRIEF.period, HASH) is None


@pytest.mark.parametrize(
    ("status", "progress"),
    [
        ("idle", Running(started=False)),
        ("running", Running()),
        ("paused", Running()),
        ("waiting_for_confirmation", Running()),
        ("stuck", Stopped("the agent repeated itself without getting on")),
        ("deleting", Stopped("the conversation is being deleted")),
        ("error", Stopped("the conversation ended in an error")),
    ],
)
def test_every_status_that_is_no_end_with_a_digest_has_its_meaning(status: str, progress: Any) -> None:
    ours, _ = writer({GET: (200, conversation(status))})
    assert ours.poll(given(), BRIEF) == progress


def test_a_conversation_that_is_gone_has_stopped() -> None:
    assert writer()[0].poll(given(), BRIEF) == Stopped("the conversation is gone: the agent server knows it no more")


def test_a_digest_is_read_back_from_the_final_message_with_what_it_cost() -> None:
    usage = {"accumulated_token_usage": {"prompt_tokens": 900, "completion_tokens": 80}, "token_usages": [{}, {}]}
    said = conversation("finished", agent={"llm": MODEL}, stats={"usage_to_metrics": {"default": usage}})
    text = {"response": "# News digest\n\n## robots\n\n- **Robots win.** They won the cup. [1]\n"}
    ours, _ = writer({GET: (200, said), f"{GET}/agent_final_response": (200, text)})
    wrote = ours.poll(given(), BRIEF)
    assert isinstance(wrote, Wrote)
    [section] = wrote.draft.sections
    assert (section.title, section.items[0].stories) == ("robots", (1,))
    assert wrote.draft.writer == "openhands (openai/fake)"
    assert wrote.draft.usage == {"requests": 2, "input_tokens": 900, "output_tokens": 80}


def test_a_finished_conversation_without_a_word_wrote_nothing() -> None:
    ours, _ = writer({GET: (200, conversation("finished")), f"{GET}/agent_final_response": (200, {"response": " \n"})})
    wrote = ours.poll(given(), BRIEF)
    assert isinstance(wrote, Wrote)
    assert (wrote.draft.lead, wrote.draft.sections, wrote.draft.headlines) == ((), (), ())


def test_the_reason_of_a_failure_comes_from_the_events_on_one_line_and_without_a_key() -> None:
    event = {"code": "LLMError", "detail": "wrong key sk-secret-key\n\x1b[31mtry again"}
    ours, _ = writer({GET: (200, conversation("error")), f"{GET}/events/search": (200, {"items": [event]})})
    assert ours.poll(given(), BRIEF) == Stopped("LLMError: wrong key *** \\x1b[31mtry again")


@pytest.mark.parametrize(
    "answer",
    [LOST, NEVER_SENT, (500, "x"), (429, {}), (401, {"detail": "Unauthorized"}), (200, conversation("dreaming"))],
)
def test_a_server_that_cannot_be_asked_changes_nothing(answer: Any) -> None:
    with pytest.raises(WriterUnavailable):
        writer({GET: answer})[0].poll(given(), BRIEF)


# --- releasing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "stopped"),
    [("running", True), ("idle", True), ("paused", True), ("finished", False), ("error", False), ("stuck", False)],
)
def test_releasing_stops_what_may_still_run(status: str, stopped: bool) -> None:
    ours, http = writer(
        {GET: (200, conversation(status)), "POST /api/conversations/ID/interrupt": (200, {"success": True})}
    )
    assert ours.release(given(), BRIEF.period)
    assert any(request.url.endswith("/interrupt") for request in http.requests) is stopped


# --- setting up -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "environment", "said"),
    [
        ({}, {}, "there is no agent server"),
        ({}, {"OPENHANDS_CLOUD_API_URL": "https://x.test"}, "the cloud names none to a run"),
        ({"server_url": "localhost:8000"}, {}, "must be an http"),
        ({"server_url": "http://a.test", "tools": ["browser"]}, {}, "known are file_editor, terminal"),
        ({"server_url": "http://a.test"}, {"SESSION_API_KEY": "a\nb"}, "no HTTP header"),
    ],
)
def test_a_desk_that_lacks_something_is_a_configuration_error(
    options: dict[str, Any], environment: dict[str, str], said: str
) -> None:
    desk = Desk("/tmp/x", FakeClock(NOW), lambda: FakeHttp(answered({})), options, environment)
    with pytest.raises(ConfigError, match=said):
        open_writer("openhands", desk)
