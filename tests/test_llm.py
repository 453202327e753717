"""The writer that asks a model: forms, troubles, the repair turn, the budget, the key. Against real HTTP on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacking import CANARIES, attacks, faults, obeying_json, read
from tests.attacking import brief as brief_of
from tests.digests import STORIES, TICKET, brief, story
from tests.servers_llm import Answer, LlmServer, chat, error, llm_server, message

from news_digest.brief import brief_hash
from news_digest.digest import compose
from news_digest.errors import ConfigError
from news_digest.model import Brief, Draft, Style
from news_digest.ports import Wrote
from news_digest.repair import checked
from news_digest.review import review
from news_digest.wire import to_json
from news_digest.writers import Desk, open_writer
from news_digest.writers.answers import SCHEMA, draft_of, looks_like_a_refusal
from news_digest.writers.llm import BUDGET_TOKENS, Budget, ModelWriter, estimate
from news_digest.writers.models import ModelError, Reply, Trouble, open_model
from news_digest.writers.providers import PROVIDERS, account

pytest.importorskip("openai")

KEY = "sk-test-0123456789abcdef"
GOOD = {
    "lead": [{"text": "Northwind released the weights of Gale, which has 70B parameters.", "stories": [1, 2]}],
    "sections": [
        {
            "title": "artificial intelligence",
            "items": [
                {
                    "headline": "Northwind publishes the weights of its 70B model",
                    "sentences": ["Training it cost $4.2 million."],
                    "stories": [1, 2],
                    "update": False,
                }
            ],
        }
    ],
    "headlines": [3, 4],
}
BAD = json.loads(json.dumps(GOOD).replace("$4.2 million", "$9.9 million"))


def text(value: Any = GOOD) -> str:
    return json.dumps(value)


@pytest.fixture
def world() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def options(server: LlmServer, **more: Any) -> dict[str, Any]:
    return {"provider": "openai", "base_url": f"{server.url}/v1", "model": "scripted", "api_key_env": "THE_KEY", **more}


def writer_at(server: LlmServer, **more: Any) -> ModelWriter:
    """Return the writer with a clock that stands still and a sleep that is remembered in ``server``."""
    pauses: list[float] = []
    who = account(options(server), {"THE_KEY": KEY})
    return ModelWriter(open_model(who, SCHEMA), "scripted", secrets=(KEY,), sleep=pauses.append, **more)


def draft_from(*script: Any, of: Brief | None = None, **more: Any) -> tuple[Draft, LlmServer]:
    with llm_server(*script) as server:
        return writer_at(server, **more).compose(of or brief()), server


# --- the good way --------------------------------------------------------------------------------------------------


def test_a_model_that_fills_in_the_schema_writes_the_digest() -> None:
    draft, server = draft_from(chat(text()))
    assert draft.writer == "llm (scripted)"
    assert draft.sections[0].items[0].stories == (1, 2)
    assert [item.stories for item in draft.headlines] == [(3,), (4,)]
    assert draft.usage == {"requests": 1, "input_tokens": 900, "output_tokens": 300}
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert asked.body["max_completion_tokens"] == 4000
    assert "tools" not in asked.body
    assert "[1] Northwind publishes" in asked.prompt
    assert KEY not in json.dumps(asked.body)


def test_the_ladder_goes_from_schema_to_json_to_text() -> None:
    draft, server = draft_from(
        error(400, "response_format is not supported"), error(422), chat(f"Sure:\n```json\n{text()}\n```")
    )
    assert draft.writer == "llm (scripted)"
    forms = [asked.body.get("response_format", {}).get("type", "text") for asked in server.asked]
    assert forms == ["json_schema", "json_object", "text"]


def test_an_unreadable_answer_steps_down_too() -> None:
    draft, server = draft_from(chat("hm"), chat(""), chat(text()))
    assert (draft.writer, len(server.asked)) == ("llm (scripted)", 3)


def test_plain_markdown_is_read_as_well() -> None:
    shown = "# News digest\n\n## developer tools\n\n- **Ferrous 2.0 drops its build daemon.** Ferrous 2.0 no longer needs a daemon. [3]\n"
    draft, _ = draft_from(error(400), error(400), chat(shown))
    assert draft.sections[0].items[0].stories == (3,)


def test_findings_are_told_once_and_the_better_answer_is_taken() -> None:
    draft, server = draft_from(chat(text(BAD)), chat(text(GOOD)))
    assert review(draft, brief()).clean
    told = server.asked[1].body["messages"]
    assert [turn["role"] for turn in told] == ["system", "user", "assistant", "user"]
    assert "9.9 million" in told[-1]["content"]
    assert draft.usage["requests"] == 2


@pytest.mark.parametrize("second", [chat(text(BAD)), error(500), chat("no"), error(429, "insufficient_quota")])
def test_what_the_model_does_not_put_right_is_left_to_the_storys_words(second: Answer) -> None:
    draft, _ = draft_from(chat(text(BAD)), second)
    assert draft.writer == "llm (scripted)"
    right = checked(draft, brief()).draft
    assert right.sections[0].items[0].sentences == ("Training it cost $4.2 million.",)


# --- troubles ------------------------------------------------------------------------------------------------------

GERMAN = {
    "lead": [
        {
            "text": "Das Unternehmen Northwind hat die Gewichte von Gale am Montag veröffentlicht, und der Aufwand dafür war nicht gering.",
            "stories": [1],
        }
    ],
    "sections": [],
    "headlines": [2],
}
MADE_UP = {
    "lead": [{"text": "The king of Freedonia abdicated on 14 March.", "stories": [1]}],
    "sections": [],
    "headlines": [2],
}

TROUBLES = [
    ([error(401)], Trouble.KEY),
    ([error(403)], Trouble.KEY),
    ([error(402)], Trouble.QUOTA),
    ([error(429, "You exceeded your current quota, please check your plan", "insufficient_quota")], Trouble.QUOTA),
    ([error(429, "slow down")], Trouble.RATE),
    ([error(429, "slow down", retry_after="3600")], Trouble.RATE),
    ([error(404)], Trouble.MODEL),
    ([error(413)], Trouble.TOO_LARGE),
    ([error(400, "This model's maximum context length is 8192 tokens")], Trouble.TOO_LARGE),
    ([error(500)], Trouble.SERVER),
    ([error(408)], Trouble.TIMEOUT),
    ([error(400)], Trouble.FORM),
    ([chat("hm")], Trouble.UNREADABLE),
    ([Answer(b"<html>no</html>")], Trouble.UNREADABLE),
    ([Answer({"choices": []})], Trouble.UNREADABLE),
    ([Answer({})], Trouble.UNREADABLE),
    ([chat("", refusal="I cannot help with that.")], Trouble.REFUSED),
    ([chat("I'm sorry, but I can\u2019t help with that.")], Trouble.REFUSED),
    ([chat("", finish="content_filter")], Trouble.REFUSED),
    ([chat(text()[:200], finish="length")], Trouble.TRUNCATED),
    ([chat(text(GERMAN))], Trouble.LANGUAGE),
    ([chat(text(MADE_UP))], Trouble.UNFAITHFUL),
    ([Answer("x", 307, {"Location": "http://127.0.0.1:9/v1"})], Trouble.REDIRECT),
]


@pytest.mark.parametrize(("script", "trouble"), TROUBLES)
def test_each_trouble_is_named_and_the_embedded_writer_steps_in(script: list[Answer], trouble: Trouble) -> None:
    draft, _ = draft_from(*script)
    assert draft.writer == f"embedded (llm failed: {trouble})"
    assert draft.sections or draft.headlines
    assert review(draft, brief()).clean


def test_nobody_there_is_named() -> None:
    with llm_server(chat("")) as server:
        pass
    assert writer_at(server).compose(brief()).writer == "embedded (llm failed: the server cannot be reached)"


@pytest.mark.parametrize("slow", [Answer(b"{}", delay=5), Answer(b" " * 100, drip=0.2)])
def test_a_server_that_is_slow_or_drips_is_left_in_time(slow: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("news_digest.writers.llm.REQUEST_SECONDS", 0.5)
    draft, server = draft_from(slow)
    assert draft.writer == "embedded (llm failed: no answer in time)"
    assert len(server.asked) == 1


def test_no_request_begins_after_the_deadline() -> None:
    clock = iter([0.0, 1000.0])
    draft, server = draft_from(chat(text()), now=lambda: next(clock))
    assert (draft.writer, server.asked) == ("embedded (llm failed: no answer in time)", [])


def test_a_busy_server_is_asked_again_after_the_pause_it_wants() -> None:
    with llm_server(error(429, retry_after="7"), error(503), chat(text())) as server:
        writer = writer_at(server)
        draft = writer.compose(brief())
        assert draft.writer == "llm (scripted)"
        assert writer.sleep.__self__ == [7.0, 2.0]  # type: ignore[attr-defined]


def test_a_cut_answer_is_asked_for_once_more_with_more_room() -> None:
    draft, server = draft_from(chat("{", finish="length"), chat(text()))
    assert draft.writer == "llm (scripted)"
    assert [asked.body["max_completion_tokens"] for asked in server.asked] == [4000, 8000]
    assert "cut off" in server.asked[1].prompt


def test_no_provider_message_reaches_the_digest() -> None:
    draft, _ = draft_from(error(401, f"Incorrect API key provided: {KEY}"))
    assert KEY not in str(to_json(draft))


# --- key and address -----------------------------------------------------------------------------------------------


def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else(world: ExitStack) -> None:
    other = world.enter_context(llm_server(chat(text())))
    first = world.enter_context(llm_server(Answer("", 308, {"Location": f"{other.url}/v1/chat/completions"})))
    writer_at(first).compose(brief())
    assert other.asked == []


def test_ids_of_another_providers_account_are_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    with llm_server(chat(text())) as server:
        who = account(options(server, provider="groq"), {"THE_KEY": KEY})
        ModelWriter(open_model(who, SCHEMA), "scripted").compose(brief())
        assert "org-secret" not in str(server.asked[0].headers)
        assert server.asked[0].body["max_tokens"] == 4000


ACCOUNTS = [
    ({"provider": "nobody", "model": "m"}, {}, "no such provider"),
    ({"provider": "openai"}, {"OPENAI_API_KEY": "k"}, "llm.model: it is not set"),
    ({"provider": "openai", "model": "m"}, {}, "OPENAI_API_KEY: the variable is not set"),
    (
        {"provider": "openai", "model": "m", "api_key_env": "MINE"},
        {"OPENAI_API_KEY": "k"},
        "MINE: the variable is not set",
    ),
    (
        {"provider": "openai", "model": "m", "base_url": "http://far.example/v1", "api_key_env": "MINE"},
        {"MINE": "k"},
        "unencrypted",
    ),
]


@pytest.mark.parametrize(("given_options", "environment", "cause"), ACCOUNTS)
def test_options_that_cannot_work_are_refused_before_anything_is_asked(
    given_options: dict[str, str], environment: dict[str, str], cause: str
) -> None:
    with pytest.raises(ConfigError, match=cause):
        account(given_options, environment)


def test_the_usual_key_is_sent_to_its_own_provider_only() -> None:
    who = account({"provider": "openai", "model": "m", "base_url": "https://other.example/v1"}, {"OPENAI_API_KEY": "k"})
    assert who.key == ""
    assert account({"provider": "openai", "model": "m"}, {"OPENAI_API_KEY": KEY}).key == KEY
    assert KEY not in repr(account({"provider": "openai", "model": "m"}, {"OPENAI_API_KEY": KEY}))


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_each_provider_can_be_opened(name: str) -> None:
    provider = PROVIDERS[name]
    if provider.dialect == "anthropic":
        pytest.importorskip("anthropic")
    who = account({"provider": name, "model": "m"}, {provider.key_variable: "k"} if provider.key_variable else {})
    assert open_model(who, SCHEMA).forms


def test_anthropic_is_asked_in_its_own_way() -> None:
    pytest.importorskip("anthropic")
    with llm_server(message(text())) as server:
        who = account({"provider": "anthropic", "model": "m", "base_url": server.url, "api_key_env": "K"}, {"K": KEY})
        draft = ModelWriter(open_model(who, SCHEMA), "m").compose(brief())
        assert draft.writer == "llm (m)"
        assert draft.usage["input_tokens"] == 800
        (asked,) = server.asked
        assert asked.path == "/v1/messages"
        assert KEY in asked.headers.get("x-api-key", asked.headers.get("authorization", ""))
        assert "system" in asked.body
        assert "tools" not in asked.body


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        (message("", stop="refusal"), Trouble.REFUSED),
        (message("{", stop="max_tokens"), Trouble.TRUNCATED),
        (error(529), Trouble.SERVER),
        (error(401), Trouble.KEY),
    ],
)
def test_anthropics_troubles_are_named_too(answer: Answer, trouble: Trouble) -> None:
    pytest.importorskip("anthropic")
    with llm_server(answer) as server:
        who = account({"provider": "anthropic", "model": "m", "base_url": server.url, "api_key_env": "K"}, {"K": KEY})
        draft = ModelWriter(open_model(who, SCHEMA), "m", sleep=lambda _: None).compose(brief())
    assert draft.writer == f"embedded (llm failed: {trouble})"


def test_the_writer_of_the_registry_keeps_its_draft_for_a_later_process(tmp_path: Path) -> None:
    with llm_server(chat(text())) as server:
        desk = Desk(str(tmp_path), lambda: datetime.now(UTC), lambda: None, options(server), {"THE_KEY": KEY})  # type: ignore[arg-type, return-value]
        conversation = open_writer("llm", desk).begin(brief(), TICKET)
        again = open_writer("llm", desk)
        assert again.find(TICKET, brief().period, brief_hash(brief())) == conversation
        assert again.begin(brief(), TICKET) == conversation
        progress = again.poll(conversation, brief())
        assert isinstance(progress, Wrote)
        assert progress.draft.writer == "llm (scripted)"
        assert len(server.asked) == 1
        assert again.release(conversation, brief().period)
    assert KEY not in "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())


# --- budget --------------------------------------------------------------------------------------------------------


class Spender:
    """A model that spends all it may, and more of the prompt than anybody would expect: a token for each byte."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = answers
        self.spent = 0
        self.forms = ("JSON schema", "JSON mode", "plain text")

    def ask(self, system: str, turns: Any, form: Any, output_tokens: int, seconds: float) -> Reply:
        assert seconds > 0
        size = len((system + "".join(turn for _, turn in turns) + json.dumps(SCHEMA)).encode())
        answer = self.answers.pop(0) if self.answers else "?"
        if isinstance(answer, ModelError):
            if answer.billed:
                self.spent += size + output_tokens
            raise answer
        self.spent += size + output_tokens
        return Reply(answer, "length" if answer == "{" else "stop", size, output_tokens)


ANSWERS = st.lists(
    st.sampled_from(
        [
            "?",
            "{",
            "",
            text(GOOD),
            text(BAD),
            text(GERMAN),
            ModelError(Trouble.RATE),
            ModelError(Trouble.SERVER),
            ModelError(Trouble.FORM),
            ModelError(Trouble.TIMEOUT, billed=True),
            ModelError(Trouble.UNREADABLE, billed=True),
        ]
    ),
    max_size=8,
)


@given(ANSWERS, st.integers(0, 90_000))
@settings(max_examples=40, deadline=None)
def test_no_digest_costs_more_than_its_budget(answers: list[Any], most: int) -> None:
    model = Spender(answers)
    draft = ModelWriter(model, "m", budget_tokens=most, now=lambda: 0.0, sleep=lambda _: None).compose(brief())  # type: ignore[arg-type]
    assert model.spent <= most
    assert draft.lead or draft.sections or draft.headlines


def test_a_budget_too_small_for_any_request_asks_nothing() -> None:
    draft, server = draft_from(chat(text()), budget_tokens=3000)
    assert (draft.writer, server.asked) == ("embedded (llm failed: the token budget is too small)", [])


def test_a_small_budget_shortens_the_prompt_and_keeps_every_story() -> None:
    long = brief(*(story_with(n) for n in range(1, 31)))
    draft, server = draft_from(chat(text()), of=long, budget_tokens=16_000)
    prompt = server.asked[0].prompt
    assert len(prompt.encode()) < 12_000
    assert all(f"[{n}] " in prompt for n in range(1, 31))
    assert draft.usage["requests"] >= 1


def story_with(number: int) -> Any:
    return story(number, excerpt="é word " * 80)


def test_what_a_server_does_not_say_counts_as_spent() -> None:
    budget = Budget(1000)
    budget.reserve(400)
    budget.settle(400, Reply("x"), billed=True)
    assert budget.left == 600
    budget.reserve(400)
    budget.settle(400, None, billed=False)
    assert budget.left == 600
    with pytest.raises(ModelError, match="budget"):
        budget.reserve(601)


def test_the_estimate_says_what_is_likely_and_what_is_the_most() -> None:
    said = str(estimate(brief()))
    assert said.endswith("out; never more than 60,000 together")
    assert estimate(brief(), 5000).likely_input <= 5000
    assert estimate(brief()).most == BUDGET_TOKENS


# --- answers -------------------------------------------------------------------------------------------------------

LENIENT = [
    ('{"lead": "One sentence.", "headlines": ["[3]", {"story": 4}, {"stories": [1]}, 99]}', [(3,), (4,), (1,)]),
    ('Here: {"headlines": [3]} and more', [(3,)]),
    ('{broken {"headlines": [3]}', [(3,)]),
    ('{"headlines": [true, null, 3.5, 2]}', [(2,)]),
]


@pytest.mark.parametrize(("answer", "noted"), LENIENT)
def test_answers_are_read_forgivingly(answer: str, noted: list[tuple[int, ...]]) -> None:
    draft = draft_of(answer, brief())
    assert draft is not None
    assert [item.stories for item in draft.headlines] == noted


@pytest.mark.parametrize(
    "answer", ["", "{}", "[1]", "null", '{"lead": 7, "sections": "x", "headlines": {}}', "{" * 5000]
)
def test_what_is_no_draft_is_none(answer: str) -> None:
    assert draft_of(answer, brief()) is None


def test_an_item_without_a_headline_takes_its_first_sentence() -> None:
    draft = draft_of(
        '{"sections": [{"title": "t", "items": [{"sentences": "Only this.", "stories": "1"}, {}, 7]}]}', brief()
    )
    assert draft is not None
    assert draft.sections[0].items[0].headline == "Only this."
    assert draft.sections[0].items[0].stories == (1,)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "lead",
                        "text",
                        "stories",
                        "sections",
                        "items",
                        "title",
                        "headline",
                        "sentences",
                        "headlines",
                        "update",
                    ]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
@settings(max_examples=50, deadline=None)
def test_no_json_breaks_the_reading(value: Any) -> None:
    draft = draft_of(json.dumps(value), brief())
    assert draft is None or review(checked(draft, brief()).draft, brief()).clean


def test_refusals_are_told_from_answers() -> None:
    assert looks_like_a_refusal("I cannot assist with this request.")
    assert not looks_like_a_refusal('{"lead": [{"text": "I cannot", "stories": [1]}]}')
    assert not looks_like_a_refusal("Northwind cannot.")


# --- attacks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attack", attacks(Path(__file__).with_name("attacks.jsonl"))[::16], ids=lambda attack: attack.id
)
def test_a_model_that_obeys_the_attack_harms_nobody(attack: Any) -> None:
    given_brief = brief_of(read(attack))
    obeyed = list(obeying_json(attack, given_brief))
    with llm_server(*[chat(text(to_json(draft))) for draft in obeyed]) as server:
        draft = writer_at(server).compose(given_brief)
    right = checked(draft, given_brief, secrets=CANARIES).draft
    assert faults(attack, compose(given_brief, right, TICKET, given_brief.until)) == []


def test_the_operators_style_reaches_the_model() -> None:
    _, server = draft_from(chat(text()), of=brief(style=Style(tone="dry", max_words=200)))
    assert "Tone: dry" in server.asked[0].prompt
    assert len(STORIES) == server.asked[0].prompt.count("    Source: ")
