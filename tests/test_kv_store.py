"""The state in the KV service: what each answer means, and writers that race."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date

import pytest
from tests.servers_kv import TOKEN, Answer, KvServer
from tests.storing import (
    FOREIGN,
    TODAY,
    append_all,
    at_once,
    prints,
    value,
)

from news_digest.errors import (
    Conflict,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from news_digest.http import CurlHttp
from news_digest.model import Json, Period, State
from news_digest.stores.kv import MOST_PARTS, PART_CHARACTERS, KvOutbox, KvStore
from news_digest.stores.kv_service import MARKERS_KEPT, VALUE_BYTES

# --- the KV store: what each answer means --------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[KvServer]:
    with KvServer() as made:
        yield made


def kv(server: KvServer, token: str = TOKEN) -> KvStore:
    return KvStore(CurlHttp("test"), server.url, token)


def scripted(*answers: Answer | None) -> Callable[[str, str], Answer | None]:
    """Give these answers in turn to batches; None lets one through."""
    left = list(answers)
    return lambda method, _path: left.pop(0) if left and method == "POST" else None


LATE_409 = {"detail": "kv_store_busy: another operation is in progress, please retry"}
TROUBLES = [
    (401, {"detail": "Invalid or expired KV token"}, StoreUnavailable, "older than 24 hours"),
    (403, {"detail": "Forbidden"}, StoreUnavailable, "another automation"),
    (404, {"detail": "Not Found"}, StoreUnavailable, "does not know this automation"),
    (400, {"detail": "invalid_value: Value exceeds maximum nesting depth"}, StoreUnavailable, "refuses the request"),
    (
        413,
        {"detail": {"error": "value_too_large", "message": "Value is 70000 bytes"}},
        StoreFull,
        "keep the state in a file",
    ),
    (409, LATE_409, Conflict, "load again in 1 s"),
    (500, "Internal Server Error", StoreUnavailable, "automation service's log"),
    (502, "<html>Bad Gateway</html>", StoreUnavailable, "automation service's log"),
    (
        503,
        {"detail": "KV store not configured (missing AUTOMATION_KV_SECRET)"},
        StoreUnavailable,
        "AUTOMATION_KV_SECRET",
    ),
    (200, "<html>hello</html>", StoreUnavailable, ""),
    (200, {"version": "many"}, StoreUnavailable, ""),
    (301, "", StoreUnavailable, ""),
    (0, "", StoreUnavailable, "automation service runs"),
]


@pytest.mark.parametrize(("status", "body", "kind", "hint"), TROUBLES)
def test_a_refused_save_says_what_a_person_can_do_and_changes_nothing(
    server: KvServer, status: int, body: Json, kind: type[StoreError], hint: str
) -> None:
    store = kv(server)
    version = store.save(State(seen=prints(1)), "")
    server.before = scripted((status, body))
    with pytest.raises(kind) as caught:
        store.save(State(seen=prints(2)), version)
    assert hint in caught.value.hint
    assert store.load().state.seen == prints(1)
    assert store.load().version == version


@pytest.mark.parametrize(("status", "body", "kind", "hint"), [case for case in TROUBLES if case[0] not in (409, 413)])
def test_a_refused_load_says_so_and_is_never_an_empty_state(
    server: KvServer, status: int, body: Json, kind: type[StoreError], hint: str
) -> None:
    server.before = lambda _method, _path: (status, body)
    with pytest.raises(kind) as caught:
        kv(server).load()
    assert hint in caught.value.hint


def test_a_busy_service_is_named_with_the_time_that_it_asks_for(server: KvServer) -> None:
    server.before = lambda _method, _path: (409, LATE_409)
    with pytest.raises(StoreUnavailable, match="kv_store_busy") as caught:
        kv(server).load()
    assert caught.value.hint == "the service is busy; run again in 1 s"


def test_an_expired_token_is_named(server: KvServer) -> None:
    with pytest.raises(StoreUnavailable, match="HTTP 401 Invalid or expired KV token"):
        kv(server, token="another").load()


def test_no_service_at_all_is_named() -> None:
    with KvServer() as gone:
        pass
    with pytest.raises(StoreUnavailable, match="cannot reach the KV store") as caught:
        kv(gone).load()
    assert "automation service runs" in caught.value.hint
    with pytest.raises(StoreUnavailable, match="cannot reach the KV store"):
        kv(gone).save(State(), "1")


@pytest.mark.parametrize("answer", [(0, ""), (500, "Internal Server Error"), (504, "late"), (200, "garbage")])
def test_a_save_that_took_effect_without_a_clear_answer_is_recognised_by_its_mark(
    server: KvServer, answer: Answer
) -> None:
    store = kv(server)
    version = store.save(State(seen=prints(1)), "")
    server.after = scripted(answer)
    again = store.save(State(seen=prints(2)), version)
    assert (store.load().state.seen, store.load().version) == (prints(2), again)


def test_a_first_save_without_a_clear_answer_is_left_to_be_loaded_again(server: KvServer) -> None:
    server.after = scripted((500, "Internal Server Error"))
    with pytest.raises(StoreUnavailable):
        kv(server).save(State(seen=prints(1)), "")
    assert kv(server).load().state.seen == prints(1)


def test_a_loser_that_is_answered_500_sees_a_conflict(server: KvServer) -> None:
    store = kv(server)
    version = store.save(State(seen=prints(1)), "")
    store.save(State(seen=prints(2)), version)
    server.before = scripted((500, "Internal Server Error"))
    with pytest.raises(Conflict):
        store.save(State(seen=prints(3)), version)


def test_a_save_whose_winner_is_not_in_sight_is_never_reported_as_saved(server: KvServer) -> None:
    store = kv(server)
    version = store.save(State(seen=prints(1)), "")
    server.before = lambda method, path: (500, "no") if method == "POST" or "save%3A" in path else None
    with pytest.raises(StoreUnavailable):
        store.save(State(seen=prints(2)), version)


def test_a_plain_condition_lets_several_writers_through_and_the_batch_only_one() -> None:
    with KvServer(delay_seconds=0.03) as server:
        server.put("state", FOREIGN)
        base = str(server.version)
        answers: list[tuple[int, Json]] = []
        wins: list[int] = []

        def plain(_number: int) -> None:
            query = {"if_version": base}
            answers.append(server.answer("PUT", "/api/automation/v1/kv/state", query, FOREIGN))

        def ours(number: int) -> None:
            store = kv(server)
            try:
                store.save(State(seen=prints(number)), current)
            except (Conflict, StoreUnavailable):
                return
            wins.append(number)

        at_once(plain)
        assert [status for status, _ in answers].count(200) > 1
        current = kv(server).load().version
        at_once(ours)
        assert len(wins) == 1
        assert kv(server).load().state.seen == prints(*wins)


def test_a_counter_that_another_writer_set_back_is_stepped_over(server: KvServer) -> None:
    store = kv(server)
    version = store.save(State(seen=prints(1)), "")
    for number in (2, 3, 4):
        version = store.save(State(seen=prints(number)), version)
    server.version -= 2
    for _ in range(4):
        loaded = store.load()
        try:
            store.save(State(seen=prints(9)), loaded.version)
        except Conflict:
            continue
        break
    assert store.load().state.seen == prints(9)


def test_a_counter_that_was_set_back_lets_no_stale_save_through(server: KvServer) -> None:
    store = kv(server)
    stale = store.save(State(seen=prints(1)), "")
    store.save(State(seen=prints(3)), store.save(State(seen=prints(2)), stale))
    server.version -= 2
    with pytest.raises(Conflict):
        store.save(State(seen=prints(9)), stale)
    assert store.load().state.seen == prints(3)


def test_a_save_whose_marker_is_long_forgotten_is_refused_by_the_counter(server: KvServer) -> None:
    store = kv(server)
    stale = version = store.save(State(), "")
    for number in range(MARKERS_KEPT + 2):
        version = store.save(State(seen=prints(number)), version)
    assert f"save:{stale}" not in server.keys
    with pytest.raises(Conflict):
        store.save(State(seen=prints(99)), stale)


def test_only_the_last_markers_are_kept(server: KvServer) -> None:
    store = kv(server)
    version = store.save(State(), "")
    for number in range(20):
        version = store.save(State(seen=prints(number)), version)
    assert len([key for key in server.keys if key.startswith("save:")]) == MARKERS_KEPT + 1


def test_the_services_own_key_names_its_automation(server: KvServer) -> None:
    KvStore(CurlHttp("test"), server.url, TOKEN, automation_id="a-1").load()
    assert server.requests == [("GET", "/api/automation/v1/kv/state?meta=true&automation_id=a-1")]


def kv_outbox(server: KvServer) -> KvOutbox:
    return KvOutbox(CurlHttp("test"), server.url, TOKEN)


def counted(kept: Json) -> int:
    return len(json.dumps(kept, ensure_ascii=False).encode())


def sized(size: int) -> dict[str, Json]:
    """Return a value of so many bytes as the service counts them."""
    made = value("")
    made["brief"]["stories"][0]["excerpt"] = "x" * (size - counted(made))
    return made


@pytest.mark.parametrize(("size", "parts"), [(VALUE_BYTES, 1), (VALUE_BYTES + 1, 5), (200_000, 13)])
def test_the_outbox_keeps_a_value_whole_in_as_many_keys_as_it_takes(server: KvServer, size: int, parts: int) -> None:
    kv_outbox(server).put(TODAY, sized(size))
    assert len(server.keys) - 1 == parts, "and the marker"
    assert kv_outbox(server).get(TODAY) == sized(size)
    kv_outbox(server).put(TODAY, value("small"))
    assert server.keys.keys() == {f"digest:{TODAY}", "save:first"}
    kv_outbox(server).put(TODAY, sized(size))
    kv_outbox(server).drop(TODAY)
    assert server.keys.keys() == {"save:first"}


@pytest.mark.parametrize("character", ['"', "\\", "é", "😀", "\ud800"])
def test_the_outbox_keeps_characters_that_grow_as_json(server: KvServer, character: str) -> None:
    for stories in (1, 60):
        kv_outbox(server).put(TODAY, value(character * 1000, stories))
        assert kv_outbox(server).get(TODAY) == value(character * 1000, stories)


def test_a_value_beyond_all_parts_is_refused(server: KvServer) -> None:
    most = MOST_PARTS * PART_CHARACTERS
    kv_outbox(server).put(TODAY, sized(most))
    with pytest.raises(StoreFull, match=f"{most + 1} characters, and {most} are what the outbox holds"):
        kv_outbox(server).put(TODAY, sized(most + 1))
    assert kv_outbox(server).get(TODAY) == sized(most)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda keys: keys.pop(f"digest:{TODAY}:2"),
        lambda keys: keys[f"digest:{TODAY}:2"].update(mark="another"),
        lambda keys: keys[f"digest:{TODAY}:5"].update(text="{"),
        lambda keys: keys.update({f"digest:{TODAY}": ["no", "object"]}),
        lambda keys: keys.update({f"digest:{TODAY}:2": "no object"}),
        lambda keys: keys[f"digest:{TODAY}"].update(text="", parts=1),
    ],
)
def test_parts_that_do_not_belong_together_count_as_none(
    server: KvServer, spoil: Callable[[dict[str, Json]], object]
) -> None:
    kv_outbox(server).put(TODAY, sized(VALUE_BYTES + 1))
    spoil(server.keys)
    assert kv_outbox(server).get(TODAY) is None


def test_an_outbox_that_always_loses_gives_up_and_says_so(server: KvServer) -> None:
    kv(server).save(State(), "")
    server.before = lambda method, _path: (
        (409, {"detail": {"message": "State was modified"}}) if method == "POST" else None
    )
    pauses: list[float] = []
    outbox = KvOutbox(CurlHttp("test"), server.url, TOKEN, sleep=pauses.append)
    with pytest.raises(StoreUnavailable, match="12 times in a row"):
        outbox.put(TODAY, value("x"))
    assert len(pauses) == 12
    assert max(pauses) < 1.5


def test_the_outbox_and_the_store_do_not_undo_each_other() -> None:
    with KvServer(delay_seconds=0.005) as server:
        kv(server).save(State(), "")

        def work(number: int) -> None:
            if number % 2:
                append_all(kv(server), number, 3)
            else:
                day = Period(date(2026, 8, number + 1))
                for count in range(3):
                    kv_outbox(server).put(day, {"count": count})

        at_once(work, writers=4)
        assert sorted(kv(server).load().state.seen) == sorted(f"{w:08x}{n:08x}" for w in (1, 3) for n in range(3))
        assert {server.keys[f"digest:2026-08-0{day}"]["count"] for day in (1, 3)} == {2}
