"""Which stories are new: every stage of the funnel, the window's boundaries, the cap."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.fingerprint import fingerprint
from news_digest.lifecycle import ALL_FEEDS
from news_digest.model import (
    Entry,
    FeedFailure,
    FeedResult,
    FeedSource,
    Fingerprint,
    Funnel,
    Identity,
    LastDigest,
    Limits,
    Period,
    Starting,
    State,
    Ticket,
)
from news_digest.selection import lookups, prints, select, window_start

LIMITS = Limits()
NOW = datetime(2026, 8, 20, 8, 0, tzinfo=UTC)
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
DAY = Period(date(2026, 8, 20))


def fp(name: str) -> Fingerprint:
    return Fingerprint(name.rjust(16, "_"))


def entry(*names: str, feed: str = "a", published: datetime | None = NOW - HOUR, wide: tuple[str, ...] = ()) -> Entry:
    keys = tuple(map(fp, names))
    identity = Identity(keys, tuple(map(fp, wide)), keys + tuple(map(fp, wide)))
    return Entry(feed, feed, names[0], f"https://{names[0]}.example/", published, identity)


def read(*entries: Entry) -> list[FeedResult]:
    feeds = dict.fromkeys(entry.feed for entry in entries)
    return [FeedResult(FeedSource(feed), entries=tuple(e for e in entries if e.feed == feed)) for feed in feeds]


def test_what_was_told_or_is_in_flight_is_not_offered_again() -> None:
    flying = Starting(DAY, Ticket("t"), (fp("c"),), (fp("d"),), 1, NOW)
    state = State(seen=(fp("a"),), seen_wide=(fp("b"),), tasks={DAY.key: flying})
    entries = [entry("a"), entry("x", wide=("b",)), entry("c"), entry("y", wide=("d",)), entry("e")]
    selection = select(read(*entries), state, NOW, LIMITS)
    assert [group[0].identifier for group in selection.picked] == ["e"]
    assert [e.identifier for e in selection.seen] == ["a", "x"]
    assert [e.identifier for e in selection.in_flight] == ["c", "y"]
    assert selection.funnel == Funnel(fetched=5, unseen=1, fresh=1, picked=1)


def test_nothing_read_is_nothing_new() -> None:
    selection = select([], State(), NOW, LIMITS)
    assert selection.funnel == Funnel()
    assert selection.picked == ()


@pytest.mark.parametrize(
    ("published", "current"),
    [
        (NOW - timedelta(hours=48), True),
        (NOW - timedelta(hours=48) - SECOND, False),
        (NOW, True),
        (NOW + timedelta(hours=48), True),
        (NOW + timedelta(hours=48) + SECOND, True),
        (datetime(2097, 1, 1, tzinfo=UTC), True),
        (None, True),
    ],
)
def test_the_window_is_the_lookback_and_undated_or_future_stories_are_current(
    published: datetime | None, *, current: bool
) -> None:
    selection = select(read(entry("a", published=published)), State(), NOW, LIMITS)
    assert bool(selection.picked) is current
    assert bool(selection.stale) is not current


@pytest.mark.parametrize(
    ("written", "start"),
    [
        (NOW - timedelta(hours=1), timedelta(hours=48)),
        (NOW - timedelta(hours=24), timedelta(hours=48)),
        (NOW - timedelta(hours=24) - SECOND, timedelta(hours=48) + SECOND),
        (NOW - timedelta(hours=48) - SECOND, timedelta(hours=72) + SECOND),
        (NOW - timedelta(days=6) + SECOND, timedelta(days=7) - SECOND),
        (NOW - timedelta(days=6), timedelta(days=7)),
        (NOW - timedelta(days=7), timedelta(days=7)),
        (NOW - timedelta(days=7) - SECOND, timedelta(days=7)),
        (NOW + timedelta(days=30), timedelta(hours=48)),
    ],
)
def test_the_window_reaches_back_to_the_last_digest_for_seven_days(written: datetime, start: timedelta) -> None:
    state = State(last_digest=LastDigest("2026-08-01", "", written))
    assert window_start(state, NOW, LIMITS) == NOW - start


def test_a_digest_that_was_read_late_tells_until_its_stories_were_selected() -> None:
    late = LastDigest("2026-08-18", "", NOW, until=NOW - timedelta(days=2))
    assert window_start(State(last_digest=late), NOW, LIMITS) == NOW - timedelta(days=3)


def test_before_the_first_digest_the_window_reaches_back_to_the_last_check() -> None:
    assert window_start(State(last_checked=NOW - timedelta(days=3)), NOW, LIMITS) == NOW - timedelta(days=4)
    assert window_start(State(), NOW, LIMITS) == NOW - timedelta(hours=48)


@pytest.mark.parametrize(
    ("behind", "start"),
    [
        (NOW - timedelta(days=4), timedelta(days=4)),
        (NOW - timedelta(days=8), timedelta(days=7)),
        (NOW, timedelta(hours=48)),
    ],
)
def test_the_window_reaches_back_to_what_was_not_told(behind: datetime, start: timedelta) -> None:
    assert window_start(State(behind={ALL_FEEDS: behind}), NOW, LIMITS) == NOW - start


def test_a_feed_that_was_down_is_read_back_to_before_it_failed_and_other_feeds_are_not() -> None:
    old = [
        entry("a", feed="a", published=NOW - timedelta(days=4)),
        entry("b", feed="b", published=NOW - timedelta(days=4)),
    ]
    state = State(behind={fingerprint("a"): NOW - timedelta(days=5)})
    selection = select(read(*old), state, NOW, LIMITS)
    assert [group[0].feed for group in selection.picked] == ["a"]
    assert selection.caught_up == state.behind
    older = entry("a", published=NOW - timedelta(days=8))
    assert not select(read(older), State(behind={fingerprint("a"): NOW - timedelta(days=9)}), NOW, LIMITS).picked


def test_a_feed_that_fails_is_named_and_catches_up_with_nothing() -> None:
    down = FeedResult(FeedSource("a"), failure=FeedFailure("a", "it is down"))
    state = State(behind={fingerprint("a"): NOW, ALL_FEEDS: NOW})
    alone = select([down], state, NOW, LIMITS)
    assert alone.failed == (fingerprint("a"),)
    assert alone.caught_up == {}
    assert select([down, *read(entry("b", feed="b"))], state, NOW, LIMITS).caught_up == {ALL_FEEDS: NOW}


def test_what_is_above_the_cap_keeps_the_window_open() -> None:
    state = State(behind={ALL_FEEDS: NOW - timedelta(days=4)})
    assert select(read(*numbered("a", 50)), state, NOW, LIMITS).caught_up == state.behind
    assert select(read(*numbered("a", 51)), state, NOW, LIMITS).caught_up == {}


def test_entries_that_share_a_fingerprint_are_one_story_remembered_by_all_of_them() -> None:
    first, second = entry("g1", "link", feed="a", wide=("w",)), entry("g2", "link", feed="b")
    (group,) = select(read(first, second), State(), NOW, LIMITS).picked
    assert group == (first, second)
    assert prints(group) == ((fp("g1"), fp("link"), fp("g2")), (fp("w"),))
    assert lookups(group) == (fp("g1"), fp("link"), fp("w"), fp("g2"))


def test_an_entry_can_connect_two_stories_into_one() -> None:
    entries = [entry("a"), entry("b"), entry("c"), entry("b", "a", feed="z")]
    groups = select(read(*entries), State(), NOW, LIMITS).picked
    assert [[e.feed + e.identifier for e in group] for group in groups] == [["aa", "ab", "zb"], ["ac"]]
    late = entry("b", feed="later")
    joined = select(read(*entries, late), State(), NOW, LIMITS).picked
    assert joined[0][-1] == late


def test_a_story_is_old_when_any_of_its_entries_was_told() -> None:
    state = State(seen=(fp("g1"),))
    selection = select(read(entry("g1", "link"), entry("g2", "link", feed="b")), state, NOW, LIMITS)
    assert selection.picked == ()
    assert len(selection.seen) == 2


def test_a_wide_fingerprint_that_is_also_stored_is_remembered_once() -> None:
    assert prints([entry("a"), entry("b", wide=("a",))]) == ((fp("a"), fp("b")), ())


def numbered(feed: str, amount: int) -> list[Entry]:
    return [entry(f"{feed}{number}", feed=feed, published=NOW - number * HOUR / 10) for number in range(amount)]


@pytest.mark.parametrize(("amount", "picked"), [(49, 49), (50, 50), (51, 50)])
def test_the_shortlist_has_its_cap_and_what_is_above_is_counted(amount: int, picked: int) -> None:
    selection = select(read(*numbered("a", amount)), State(), NOW, LIMITS)
    assert selection.funnel == Funnel(amount, amount, amount, picked)
    assert len(selection.above_cap) == amount - picked == selection.funnel.above_cap


def test_no_feed_has_more_than_its_share_while_others_have_stories() -> None:
    results = read(*numbered("flood", 100), *numbered("small", 5), *numbered("middle", 30))
    picked = select(results, State(), NOW, LIMITS).picked
    by_feed = {feed: sum(group[0].feed == feed for group in picked) for feed in ("flood", "small", "middle")}
    assert by_feed == {"flood": 23, "small": 5, "middle": 22}
    newest = [group[0].identifier for group in picked if group[0].feed == "flood"]
    assert newest == [f"flood{number}" for number in range(23)]


def test_stories_come_newest_first_and_a_future_date_does_not_lead_for_ever() -> None:
    later = entry("later", published=NOW + timedelta(days=300))
    undated = entry("undated", published=None)
    old, new = entry("old", published=NOW - 5 * HOUR), entry("new", published=NOW - HOUR)
    picked = select(read(old, undated, later, new), State(), NOW, LIMITS).picked
    assert [group[0].identifier for group in picked] == ["undated", "later", "new", "old"]


names = st.text("abcdef", min_size=1, max_size=2)
entries = st.builds(
    lambda keys, feed, hours: entry(*keys, feed=feed, published=None if hours is None else NOW - hours * HOUR),
    st.lists(names, min_size=1, max_size=3, unique=True),
    st.sampled_from("xyz"),
    st.none() | st.integers(-100, 100),
)


@given(st.lists(entries, max_size=25), st.lists(names, max_size=4), st.integers(1, 10))
def test_every_entry_goes_to_exactly_one_place_and_nothing_told_is_picked(
    found: list[Entry], told: list[str], cap: int
) -> None:
    numbers = count()
    found = [replace(e, source=str(next(numbers))) for e in found]
    state = State(seen=tuple(map(fp, told)))
    selection = select(read(*found), state, NOW, replace(LIMITS, shortlist_stories=cap))
    places = [
        *(e for group in (*selection.picked, *selection.above_cap) for e in group),
        *selection.seen,
        *selection.in_flight,
        *selection.stale,
    ]
    assert sorted(e.source for e in places) == sorted(e.source for e in found)
    picked = [key for group in selection.picked for key in lookups(group)]
    assert not set(picked) & set(map(fp, told))
    assert len(picked) == len(set(picked))
    assert len(selection.picked) <= cap
    assert selection.funnel.fetched == len(found)
