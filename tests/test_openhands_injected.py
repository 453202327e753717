"""What the automation service says to a run, and what a run says back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from news_digest.errors import ConfigError, HttpError
from news_digest.openhands.callback import Callback
from news_digest.openhands.injected import Injected, hidden, read_injected, secrets_of
from news_digest.ports import Request, Response
from news_digest.testing import FakeHttp

RUN = "a35bff33-4679-4048-8bb3-afbc6b524790"
API = "http://127.0.0.1:8001/api/automation"
LOCAL = {
    "AGENT_SERVER_URL": "http://127.0.0.1:8000/",
    "SESSION_API_KEY": "session-secret",
    "WORKSPACE_BASE": f"/srv/automation-runs/{RUN}",
    "AUTOMATION_API_URL": API,
    "AUTOMATION_CALLBACK_URL": f"{API}/v1/runs/{RUN}/complete",
    "AUTOMATION_PHASE_URL": f"{API}/v1/runs/{RUN}/phase",
    "AUTOMATION_CALLBACK_API_KEY": "local-secret",
    "AUTOMATION_KV_TOKEN": "aaaa.bbbb.cccc",
    "AUTOMATION_EVENT_PAYLOAD": json.dumps({"trigger": "cron", "automation_id": "an-id", "automation_name": "News"}),
    "AUTOMATION_RUN_ID": RUN,
    "AUTOMATION_ID": "another-id",
}


def test_every_variable_of_a_local_run_is_read() -> None:
    read = read_injected(LOCAL)
    assert (read.agent_server_url, read.session_key) == ("http://127.0.0.1:8000", "session-secret")
    assert (read.api_url, read.kv_token, read.has_kv) == (API, "aaaa.bbbb.cccc", True)
    assert (read.callback_key, read.run_id, read.trigger) == ("local-secret", RUN, "cron")
    assert (read.automation_id, read.automation_name, read.is_cloud) == ("an-id", "News", False)
    assert "secret" not in repr(read)


def test_nothing_said_is_nothing_read() -> None:
    assert read_injected({}) == Injected()


def test_the_cloud_has_a_key_of_its_own_for_the_callback() -> None:
    read = read_injected(
        {"OPENHANDS_API_KEY": "cloud-key", "OPENHANDS_CLOUD_API_URL": "https://x.test", "AUTOMATION_ID": "7"}
    )
    assert (read.callback_key, read.is_cloud, read.automation_id, read.agent_server_url) == ("cloud-key", True, "7", "")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"AGENT_SERVER_URL": "localhost:8000"}, "AGENT_SERVER_URL='localhost:8000' is no http(s) address"),
        ({"AGENT_SERVER_URL": "http://[::1"}, "AGENT_SERVER_URL='http://[::1' is no http(s) address"),
        ({"AUTOMATION_CALLBACK_URL": "file:///etc/passwd"}, "AUTOMATION_CALLBACK_URL='file:///etc/passwd'"),
        ({"SESSION_API_KEY": "secret\nsecret"}, "SESSION_API_KEY has characters that no HTTP header may have"),
        ({"AUTOMATION_KV_TOKEN": "secret"}, "AUTOMATION_KV_TOKEN is no token of the form a.b.c"),
        ({"AUTOMATION_API_URL": ""}, "AUTOMATION_KV_TOKEN is set and AUTOMATION_API_URL is not"),
        ({"WORKSPACE_BASE": "../x"}, "WORKSPACE_BASE='../x' is no absolute path"),
        ({"AUTOMATION_RUN_ID": "7"}, "AUTOMATION_RUN_ID='7' is no UUID"),
        ({"AUTOMATION_EVENT_PAYLOAD": "[1]"}, "AUTOMATION_EVENT_PAYLOAD='[1]' is no JSON object"),
        ({"AUTOMATION_EVENT_PAYLOAD": "[" * 100_000}, "is no JSON object"),
        ({"AUTOMATION_EVENT_PAYLOAD": '{"automation_id": 7}'}, "an automation_id that is no text"),
        (
            {"AUTOMATION_EVENT_PAYLOAD": '{"automation_id": "7\\n7"}'},
            "an automation_id with characters that cannot be shown",
        ),
        (
            {"AUTOMATION_EVENT_PAYLOAD": "", "AUTOMATION_ID": "7\n7"},
            "AUTOMATION_ID has characters that cannot be shown",
        ),
    ],
)
def test_what_cannot_be_used_is_named_and_no_secret_shown(changes: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_injected({**LOCAL, **changes})
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_all_of_it_is_one_message() -> None:
    with pytest.raises(ConfigError) as caught:
        read_injected({"AGENT_SERVER_URL": "x", "WORKSPACE_BASE": "y", "AUTOMATION_EVENT_PAYLOAD": "z"})
    assert str(caught.value).count(" is no ") == 3


@given(some.dictionaries(some.sampled_from(sorted(LOCAL)), some.text('a7/:.[]{}"\n\0\u00e9-', max_size=9), max_size=3))
def test_any_environment_is_read_or_refused_in_one_sentence(changes: dict[str, str]) -> None:
    try:
        said = read_injected({**LOCAL, **changes}).automation_id
    except ConfigError as error:
        said = str(error)
    assert said.isprintable()


def test_secrets_are_blotted_out_the_longest_first() -> None:
    secrets = secrets_of({"SESSION_API_KEY": "abcdef", "AUTOMATION_KV_TOKEN": "abcdef.x.y", "OPENHANDS_API_KEY": "key"})
    assert hidden("abcdef.x.y and abcdef and key", secrets) == "*** and *** and key"


# --- calling back -----------------------------------------------------------------------------------------------------


def callback(answers: list[int | HttpError]) -> tuple[Callback, FakeHttp, list[timedelta]]:
    left: Iterator[int | HttpError] = iter(answers)
    slept: list[timedelta] = []

    def answer(request: Request) -> Response:
        found = next(left)
        if isinstance(found, HttpError):
            raise found
        return Response(found, request.url, {}, b"{}")

    http = FakeHttp(answer)
    return Callback(read_injected(LOCAL), lambda: http, slept.append), http, slept


def sent(http: FakeHttp) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(http.requests[-1].body or b"")
    return body


@pytest.mark.parametrize(
    ("error", "conversation_id", "body"),
    [
        ("", "", {"status": "COMPLETED", "run_id": RUN}),
        ("", "c", {"status": "COMPLETED", "run_id": RUN, "conversation_id": "c"}),
        ("why", "", {"status": "FAILED", "run_id": RUN, "error": "why"}),
        ("x" * 9999, "c", {"status": "FAILED", "run_id": RUN, "error": "x" * 2000, "conversation_id": "c"}),
    ],
)
def test_an_end_is_told_in_the_fields_that_the_service_takes(
    error: str, conversation_id: str, body: dict[str, str]
) -> None:
    ours, http, slept = callback([200])
    assert ours.complete(error=error, conversation_id=conversation_id) == ""
    assert (sent(http), slept) == (body, [])
    assert http.requests[0].url == LOCAL["AUTOMATION_CALLBACK_URL"]
    assert dict(http.requests[0].headers)["Authorization"] == "Bearer local-secret"


@pytest.mark.parametrize(
    ("answers", "trouble", "tries"),
    [
        ([409], "", 1),
        ([503, 200], "", 2),
        ([HttpError("x", cause="refused"), 500, 204], "", 3),
        ([503, 503, 503], "HTTP 503", 3),
        ([401], "HTTP 401", 1),
    ],
    ids=["told before", "busy once", "third time", "never", "wrong key"],
)
def test_a_service_that_may_come_back_is_told_again(answers: list[int | HttpError], trouble: str, tries: int) -> None:
    ours, http, slept = callback(answers)
    assert ours.complete() == trouble
    assert (len(http.requests), len(slept)) == (tries, tries - 1)


def test_a_run_by_hand_tells_nobody() -> None:
    def nobody() -> FakeHttp:
        raise AssertionError("no client is needed")

    ours = Callback(Injected(), nobody, lambda _span: None)
    ours.phase("writing")
    assert ours.complete(error="why") == ""


def test_a_phase_that_cannot_be_shown_is_no_matter() -> None:
    ours, http, _ = callback([HttpError("x", cause="refused")])
    ours.phase("w" * 300)
    assert sent(http) == {"phase": "w" * 200}
