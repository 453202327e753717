"""Records as JSON and back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from news_digest import wire
from news_digest.model import (
    Brief,
    Claim,
    Conversation,
    Counts,
    Digest,
    Draft,
    FeedFailure,
    Fingerprint,
    Identity,
    Item,
    LastDigest,
    Limits,
    Outcome,
    Period,
    Receipt,
    Section,
    Settled,
    Story,
    Ticket,
)

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def story(**changes: object) -> Story:
    base = {
        "title": "Telescope sees first light",
        "link": "https://a.example/1",
        "source": "A",
        "feed": "https://a.example/feed",
        "published": NOON,
        "excerpt": "It did.",
        "identity": Identity(stored=(Fingerprint("0" * 16),)),
    }
    return Story(**{**base, **changes})  # type: ignore[arg-type]


INSTANTS = st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2100, 1, 1)).map(  # noqa: DTZ001
    lambda naive: naive.replace(tzinfo=UTC)
)
WORDS = st.text(max_size=20)
ITEMS = st.builds(Item, WORDS, st.lists(WORDS, max_size=3).map(tuple), st.just((1, 2)), st.booleans())
STORIES = st.builds(
    Story,
    WORDS,
    WORDS,
    WORDS,
    WORDS,
    st.none() | INSTANTS,
    WORDS,
    st.just(Identity((Fingerprint("a" * 16),))),
    st.lists(st.tuples(WORDS, WORDS), max_size=2).map(tuple),
)
DIGESTS = st.builds(
    Digest,
    period=st.dates().map(Period),
    ticket=WORDS.map(Ticket),
    written_at=INSTANTS,
    since=INSTANTS,
    until=INSTANTS,
    draft=st.builds(
        Draft,
        lead=st.lists(st.builds(Claim, WORDS, st.just((1,))), max_size=2).map(tuple),
        sections=st.lists(st.builds(Section, WORDS, st.lists(ITEMS, max_size=2).map(tuple)), max_size=2).map(tuple),
        usage=st.dictionaries(WORDS, st.integers()),
    ),
    stories=st.lists(STORIES, max_size=3).map(tuple),
    counts=st.builds(Counts, st.integers(), st.integers()),
)


@given(DIGESTS)
@settings(max_examples=60, deadline=None)
def test_a_digest_survives_the_way_through_json(digest: Digest) -> None:
    assert wire.from_json(Digest, json.loads(json.dumps(wire.to_json(digest)))) == digest


@pytest.mark.parametrize(
    "record",
    [
        Brief(Period(date(2026, 12, 1)), NOON, NOON, ("ai",), (story(),), (FeedFailure("f", "why", retry_after=NOON),)),
        Limits(lookback=timedelta(hours=3)),
        LastDigest("2026-12-01", "text", NOON),
        Conversation(Ticket("t"), "llm", brief_hash="x"),
        Receipt("log", NOON),
        story(published=None, also=(("B", "https://b.example/1"),), suspicious=("hidden text",)),
    ],
)
def test_records_come_back_equal(record: object) -> None:
    assert wire.from_json(type(record), wire.to_json(record)) == record


def test_times_are_written_in_utc_with_a_z() -> None:
    east = datetime(2026, 12, 1, 3, tzinfo=timezone(timedelta(hours=5)))
    assert wire.to_json(east) == "2026-11-30T22:00:00Z"


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without a time zone"):
        wire.to_json(datetime(2026, 12, 1))  # noqa: DTZ001


def test_an_enum_is_read_by_its_value() -> None:
    settled = {
        "period": "2026-12-01",
        "ticket": None,
        "outcome": "expired",
        "story_count": 3,
        "last_activity": "2026-12-01T00:00:00Z",
        "expired_after": 7200,
    }
    task = wire.from_json(Settled, settled)
    assert (task.outcome.name, task.expired_after) == ("EXPIRED", timedelta(hours=2))


def test_enums_and_days_are_written_as_they_are_read() -> None:
    assert (wire.to_json(Outcome.EXPIRED), wire.to_json(date(2026, 12, 1))) == ("expired", "2026-12-01")
    assert wire.to_json({"any": (timedelta(minutes=2), None)}) == {"any": [120.0, None]}


def test_unknown_keys_are_ignored_and_defaults_fill_in() -> None:
    assert wire.from_json(Claim, {"text": "x", "stories": [1], "later": {}}) == Claim("x", (1,))
    assert wire.from_json(Draft, {}) == Draft()


STORY = wire.to_json(story())


@pytest.mark.parametrize(
    ("cls", "value", "path"),
    [
        (Claim, [], r"\$: an object"),
        (Claim, {"text": "x"}, r"\$\.stories: missing"),
        (Claim, {"text": 1, "stories": []}, r"\$\.text: a string is expected, not int"),
        (Claim, {"text": "x", "stories": "12"}, r"\$\.stories: a list"),
        (Claim, {"text": "x", "stories": [1, True]}, r"\$\.stories\[1\]: a whole number"),
        (Claim, {"text": "x", "stories": [1.5]}, r"\$\.stories\[0\]: a whole number"),
        (Item, {"headline": "h", "sentences": [], "stories": [], "update": 1}, r"\$\.update: true or false"),
        (Story, {**STORY, "published": "yesterday"}, r"\$\.published: not a time"),
        (Story, {**STORY, "published": "2026-12-01T00:00:00"}, r"\$\.published: a time zone"),
        (Story, {**STORY, "published": "0001-01-01T00:00:00+14:00"}, r"\$\.published: not a time"),
        (Story, {**STORY, "also": [["only one"]]}, r"\$\.also\[0\]: 2 values"),
        (Limits, {"lookback": float("nan")}, r"\$\.lookback: a finite number"),
        (Limits, {"lookback": 1e300}, r"\$\.lookback: too long"),
        (LastDigest, {"period": None, "text": "", "written_at": ""}, r"\$\.period: a string is expected, not null"),
        (Draft, {"usage": {"tokens": "many"}}, r"\$\.usage\.tokens: a whole"),
        (Draft, {"usage": []}, r"\$\.usage: an object"),
        (Draft, {"sections": [{"title": "x", "items": [{}]}]}, r"\$\.sections\[0\]\.items\[0\]\.headline: missing"),
    ],
)
def test_a_bad_value_is_named_by_its_path(cls: type, value: object, path: str) -> None:
    with pytest.raises(ValueError, match=path):
        wire.from_json(cls, value)


@pytest.mark.parametrize("day", ["2026-13-01", "20261201", "2026-W49-2", ""])
def test_a_period_is_a_day_in_one_form_only(day: str) -> None:
    with pytest.raises(ValueError, match="YYYY-MM-DD"):
        wire.from_json(Period, day)


def test_an_unknown_outcome_lists_the_known_ones() -> None:
    value = {"period": "2026-12-01", "ticket": None, "outcome": "lost", "story_count": 0, "last_activity": "x"}
    with pytest.raises(ValueError, match="completed, empty, failed, expired"):
        wire.from_json(Settled, value)


def test_what_is_no_record_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError, match="not a record"):
        wire.to_json(object())
    with pytest.raises(TypeError, match="no record"):
        wire.from_json(object, {})


def test_a_union_of_records_is_not_guessed() -> None:
    with pytest.raises(TypeError, match="cannot tell apart"):
        wire.from_json(int | str, 3)  # type: ignore[arg-type]


def test_what_may_be_anything_is_taken_as_it_is() -> None:
    @dataclass(frozen=True)
    class Box:
        value: Any

    assert wire.from_json(Box, {"value": {"a": [1]}}) == Box({"a": [1]})
