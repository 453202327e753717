"""The state document: both directions, foreign keys, damage, and the ceiling."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.ceiling import size
from news_digest.document import VERSION, decode, encode
from news_digest.errors import DocumentDamaged, DocumentTooLarge, DocumentTooNew
from news_digest.model import (
    Active,
    Fingerprint,
    Foreign,
    Funnel,
    LastDigest,
    Outcome,
    Period,
    Receipt,
    Settled,
    Starting,
    State,
    Ticket,
)

NOW = datetime(2026, 8, 20, 8, 0, tzinfo=UTC)
DAY = Period(date(2026, 8, 20))


def a_print(number: int) -> Fingerprint:
    return Fingerprint(f"{number:016x}")


def a_reference_document() -> dict[str, Any]:
    """A document as the reference writes it, with an odd float and keys that nobody knows."""
    return {
        "version": 1,
        "tasks": {
            "news:2026-08-19": {
                "period": "2026-08-19",
                "status": "completed",
                "conversation_id": "bedb0589-772b-4b15-b2ad-7cf6e32d594d",
                "item_count": 8,
                "last_activity": 1787126400.7168553,
                "completed_at": 1787126420.5153308,
                "conversation_url": "http://localhost:8000/conversations/bedb0589",
                "mood": "good",
            },
            "news:2026-08-20": {
                "period": "2026-08-20",
                "status": "active",
                "conversation_id": "6ceaa97a-0000-4b15-b2ad-7cf6e32d594d",
                "workspace_dir": "/srv/automation-runs/48ba21e6-d24e-4d1b-8bcc-585851e1675a/news-digest/2026-08-20",
                "item_keys": [a_print(1), a_print(2)],
                "item_count": 1,
                "last_activity": 1787212800.25,
            },
        },
        "seen": [a_print(7), a_print(8)],
        "last_checked": 1787212799.5043814,
        "last_funnel": {"fetched": 8, "unseen": 8, "fresh": 8},
        "last_feed_errors": ["https://example.test/missing.xml: HTTP Error 404"],
        "updated_at": 1787212800.7248592,
        "last_digest": {
            "period": "2026-08-19",
            "conversation_url": "u",
            "written_at": 1787126420.5153308,
            "text": "# D",
        },
        "foreign": {"kept": [1, 2.5, None]},
    }


def test_a_document_of_the_reference_is_written_back_as_it_was() -> None:
    document = a_reference_document()
    assert encode(decode(document)) == document


def test_an_untouched_document_keeps_every_digit_of_its_times() -> None:
    document = a_reference_document()
    assert json.dumps(encode(decode(document))["tasks"]) == json.dumps(document["tasks"])


def test_an_empty_object_is_an_empty_state_and_becomes_the_smallest_document() -> None:
    assert decode({}) == State()
    assert encode(State()) == {"version": VERSION, "tasks": {}, "seen": []}


def test_the_records_of_the_reference_become_ours() -> None:
    state = decode(a_reference_document())
    done, running = state.tasks["news:2026-08-19"], state.tasks["news:2026-08-20"]
    assert isinstance(done, Settled)
    assert done.outcome is Outcome.COMPLETED
    assert isinstance(running, Active)
    assert running.stories == (a_print(1), a_print(2))
    assert running.ticket == "6ceaa97a-0000-4b15-b2ad-7cf6e32d594d"
    assert state.last_funnel == Funnel(8, 8, 8)


def test_a_changed_record_keeps_the_keys_that_nobody_knows() -> None:
    state = decode(a_reference_document())
    task = state.tasks["news:2026-08-19"]
    assert isinstance(task, Settled)
    changed = replace(state, tasks={**state.tasks, task.period.key: replace(task, workspace="/w")})
    record = encode(changed)["tasks"]["news:2026-08-19"]
    assert record["mood"] == "good"
    assert record["workspace_dir"] == "/w"


@pytest.mark.parametrize(
    "task",
    [
        Starting(DAY, Ticket("t"), (a_print(1),), (a_print(2),), 1, NOW, "/w", 2, "embedded", "hash", "run"),
        Starting(DAY, None, (a_print(1),), (), 1, NOW),
        Active(DAY, Ticket("t"), (a_print(1),), (a_print(2),), 1, NOW, "url", "/w", 2, "embedded", "hash"),
        Settled(
            DAY,
            Ticket("t"),
            Outcome.COMPLETED,
            3,
            NOW,
            NOW,
            None,
            "url",
            "/w",
            1,
            "llm",
            "",
            (Receipt("log", NOW, "ok"),),
        ),
        Settled(DAY, Ticket("t"), Outcome.COMPLETED, 3, NOW, NOW, receipts=(Receipt("log", None, "", NOW, "run"),)),
        Settled(DAY, Ticket("t"), Outcome.EXPIRED, 3, NOW, None, timedelta(seconds=7213.4)),
        Settled(DAY, None, Outcome.FAILED, 3, NOW, NOW, reason="it said no"),
        Settled(DAY, Ticket("t"), Outcome.EMPTY, 0, NOW, NOW),
    ],
)
def test_every_record_comes_back_as_it_was_saved(task: Starting | Active | Settled) -> None:
    state = State(tasks={DAY.key: task})
    assert decode(json.loads(json.dumps(encode(state)))) == state


@pytest.mark.parametrize(
    ("key", "record"),
    [
        ("news:2026-08-20", {"status": "dreaming"}),
        ("news:2026-08-20", {}),
        ("news:2026-08-20", []),
        ("news:2026-8-2", {"status": "completed"}),
        ("news:20260820", {"status": "completed"}),
        ("weather:2026-08-20", {"status": "completed"}),
        ("news:2026-08-20", {"status": ["completed"]}),
    ],
)
def test_a_record_that_cannot_be_read_is_kept_as_it_is(key: str, record: object) -> None:
    document = {"version": 1, "tasks": {key: record}, "seen": []}
    assert decode(document).tasks == {key: Foreign(key)}
    assert encode(decode(document)) == document


def test_an_active_record_without_a_conversation_is_a_claim_that_went_wrong() -> None:
    document = {"tasks": {DAY.key: {"status": "active", "last_activity": NOW.timestamp(), "item_keys": [a_print(1)]}}}
    assert decode(document).tasks[DAY.key] == Starting(DAY, None, (a_print(1),), (), 0, NOW)


@pytest.mark.parametrize("activity", [None, "soon", True, math.inf, 1e300, -1e300, [], {}])
def test_an_open_record_without_a_usable_time_counts_as_long_stalled(activity: object) -> None:
    document = {"tasks": {DAY.key: {"status": "starting", "last_activity": activity}}}
    task = decode(document).tasks[DAY.key]
    assert isinstance(task, Starting)
    assert task.last_activity == datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("version", [2, 99])
def test_a_later_version_is_refused(version: int) -> None:
    with pytest.raises(DocumentTooNew, match=f"version {version}"):
        decode({"version": version})


@pytest.mark.parametrize(
    ("document", "thing"),
    [
        ([], "the document"),
        (None, "the document"),
        ("x", "the document"),
        ({"version": "1"}, "version"),
        ({"version": True}, "version"),
        ({"version": None}, "version"),
        ({"tasks": []}, "tasks"),
        ({"seen": "abc"}, "seen"),
        ({"seen": [1]}, "seen"),
        ({"seen": None}, "seen"),
        ({"seen_wide": {}}, "seen_wide"),
        ({"attempts": []}, "attempts"),
        ({"attempts": {"2026-08-20": "1"}}, "attempts"),
        ({"attempts": {"2026-08-20": -1}}, "attempts"),
        ({"attempts": {"2026-08-20": True}}, "attempts"),
    ],
)
def test_a_garbled_ledger_is_damage_and_never_reads_as_nothing_seen(document: object, thing: str) -> None:
    with pytest.raises(DocumentDamaged) as caught:
        decode(document)
    assert caught.value.thing == thing
    assert caught.value.hint


@pytest.mark.parametrize(
    "diagnostic",
    [
        {"last_checked": "today"},
        {"last_funnel": [1, 2, 3]},
        {"last_funnel": {"fetched": "many"}},
        {"last_feed_errors": "none"},
        {"last_feed_notices": {"a": "b"}},
        {"last_digest": "text"},
        {"last_digest": {"period": "2026-08-20", "text": "no time"}},
        {"updated_at": None},
        {"last_above_cap": "x"},
    ],
)
def test_garbled_diagnostics_read_as_absent(diagnostic: dict[str, object]) -> None:
    state = decode(diagnostic)
    assert state.last_checked is None
    assert state.last_digest is None
    assert state.last_funnel in (None, Funnel())
    assert state.last_feed_errors == ()
    assert state.last_feed_notices == ()


def test_unusable_spans_and_receipts_read_as_absent() -> None:
    record: dict[str, Any] = {"status": "expired", "expired_after": "long", "receipts": []}
    task = decode({"tasks": {DAY.key: record}}).tasks[DAY.key]
    assert isinstance(task, Settled)
    assert task.expired_after is None
    assert task.receipts == ()
    record = {"status": "expired", "expired_after": 1e300, "receipts": {"log": "yes"}}
    task = decode({"tasks": {DAY.key: record}}).tasks[DAY.key]
    assert isinstance(task, Settled)
    assert task.expired_after is None
    assert task.owed == ("log",)


# --- the ceiling ---------------------------------------------------------------------------------------------------


def a_full_state(text: str = "x") -> State:
    """Everything at its cap."""
    tasks = {
        Period(date(2026, 8, day)).key: Settled(
            Period(date(2026, 8, day)),
            Ticket("t"),
            Outcome.COMPLETED,
            50,
            NOW,
            NOW,
            reason=text * 200,
            receipts=(Receipt("log", NOW, text * 100),),
        )
        for day in range(1, 14)
    }
    running = Active(DAY, Ticket("t"), tuple(map(a_print, range(100))), tuple(map(a_print, range(50))), 50, NOW)
    return State(
        tasks={**tasks, DAY.key: running},
        seen=tuple(a_print(number) for number in range(1000)),
        seen_wide=tuple(a_print(number) for number in range(500)),
        last_feed_errors=(text * 200,) * 10,
        last_feed_notices=("n" * 200,) * 10,
        last_digest=LastDigest(str(DAY), text * 4000, NOW),
    )


def test_size_counts_as_the_strictest_service_does() -> None:
    assert size({"text": "😀"}) == len('{"state": {"text": "\\ud83d\\ude00"}}')


def test_what_is_cut_first_is_the_digest_then_errors_then_receipts_then_the_oldest_fingerprints() -> None:
    state = a_full_state("😀")
    whole = decode(encode(state, ceiling=10_000_000))
    assert whole.last_digest == state.last_digest

    def kept(ceiling: int) -> tuple[int, int, int, int, int]:
        cut = decode(encode(state, ceiling=ceiling))
        settled = next(task for task in cut.tasks.values() if isinstance(task, Settled))
        text = len(cut.last_digest.text) if cut.last_digest else -1
        told = len(cut.last_feed_errors) + len(cut.last_feed_notices)
        return text, told, len(settled.receipts[0].detail), len(cut.seen_wide), len(cut.seen)

    sizes = [kept(ceiling) for ceiling in range(120_000, 15_000, -2_500)]
    assert sizes == sorted(sizes, reverse=True)
    first_with_shorter_text = next(entry for entry in sizes if entry[0] < 4000)
    assert first_with_shorter_text[1:] == (20, 100, 500, 1000)
    assert sizes[-1][4] < 1000


def test_the_oldest_fingerprints_go_first_and_an_open_task_never() -> None:
    state = a_full_state()
    cut = decode(encode(state, ceiling=20_000))
    assert cut.seen == state.seen[-len(cut.seen) :]
    assert cut.tasks[DAY.key] == state.tasks[DAY.key]
    assert cut.seen_wide == ()


def test_exactly_at_the_ceiling_nothing_is_cut() -> None:
    state = a_full_state()
    exact = size(encode(state, ceiling=10_000_000))
    assert decode(encode(state, ceiling=exact)) == state
    assert decode(encode(state, ceiling=exact - 1)) != state


def test_what_foreign_keys_leave_no_room_for_is_refused_and_named() -> None:
    state = replace(a_full_state(), origin={"theirs": "x" * 60_000})
    with pytest.raises(DocumentTooLarge, match=r"theirs \(60002 bytes\)"):
        encode(state)


def test_a_memory_of_less_than_the_least_is_refused_not_cut() -> None:
    state = State(seen=tuple(a_print(number) for number in range(250)))
    with pytest.raises(DocumentTooLarge):
        encode(state, ceiling=size(encode(state)) - 1)


def test_when_the_stories_of_the_last_digest_were_selected_is_kept() -> None:
    state = State(last_digest=LastDigest("2026-08-20", "text", NOW, "url", NOW - timedelta(hours=1)))
    assert decode(encode(state)) == state


def test_lone_surrogates_are_replaced_because_no_service_can_store_them() -> None:
    state = State(last_feed_errors=("bad \ud800 text",), last_digest=LastDigest("2026-08-20", "a\udfffb", NOW))
    document = encode(state)
    json.dumps(document, ensure_ascii=False).encode()
    assert document["last_feed_errors"] == ["bad ? text"]


texts = st.text(max_size=300)
foreign = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(texts, foreign, max_size=6), st.lists(texts, max_size=10), texts.map(lambda text: text * 40))
def test_the_ceiling_holds_for_every_input_and_foreign_keys_survive(
    keys: dict[str, object], errors: list[str], digest: str
) -> None:
    known = set(encode(a_full_state())) | {"last_checked", "last_funnel", "last_above_cap", "updated_at"}
    origin = {key: value for key, value in keys.items() if key not in known}
    state = replace(
        a_full_state(),
        origin=origin,
        last_feed_errors=tuple(errors),
        last_feed_notices=tuple(errors),
        last_digest=LastDigest("2026-08-20", digest[:4000], NOW),
    )
    document = encode(state)
    assert size(document) <= 65_536
    assert len(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")) <= 65_536
    assert {key: document[key] for key in origin} == origin


@given(foreign)
def test_any_json_is_a_state_or_a_named_error(document: object) -> None:
    try:
        state = decode(document)
    except (DocumentDamaged, DocumentTooNew):
        return
    assert decode(encode(state, ceiling=10_000_000)) == state
