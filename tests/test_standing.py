from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from news_digest.model import (
    Active,
    Foreign,
    Funnel,
    Limits,
    Outcome,
    Period,
    Receipt,
    Settled,
    Starting,
    State,
    Task,
    Ticket,
)
from news_digest.standing import standing

NOW = datetime(2026, 8, 20, 9, 30, tzinfo=UTC)
TODAY = Period.of(NOW)
YESTERDAY = Period.of(NOW - timedelta(days=1))
LIMITS = Limits()
SECOND = timedelta(seconds=1)
TICKET = Ticket("t1")

STARTING = Starting(TODAY, TICKET, (), (), 7, NOW)
ACTIVE = Active(TODAY, TICKET, (), (), 7, NOW, conversation_url="https://oh.test/t1")
TOLD = Settled(TODAY, TICKET, Outcome.COMPLETED, 7, NOW, completed_at=NOW)
FAILED = Settled(TODAY, TICKET, Outcome.FAILED, 7, NOW)
OWED = (Receipt("log", NOW), Receipt("email", detail="refused"), Receipt("feed"))

CASES: list[tuple[Task, str, str, str]] = [
    (STARTING, "starting", "claimed at 2026-08-20 09:30 UTC", "wait; after 15 minutes"),
    (replace(STARTING, last_activity=NOW - LIMITS.stalled_claim), "starting", "claimed", "wait; after 15 minutes"),
    (replace(STARTING, last_activity=NOW - LIMITS.stalled_claim - SECOND), "starting", "claimed", "that run has died"),
    (ACTIVE, "active", "the writer is at work since 2026-08-20 09:30 UTC", "the next run reads the digest"),
    (replace(ACTIVE, last_activity=NOW - LIMITS.active_age - SECOND), "active", "the writer", "or lets it expire"),
    (TOLD, "completed", "told 7 stories at 09:30 UTC", "nothing to do until tomorrow"),
    (replace(TOLD, completed_at=None), "completed", "told 7 stories", "nothing to do until tomorrow"),
    (
        replace(TOLD, receipts=OWED),
        "completed",
        "still owed to email, feed (email: refused)",
        "the next run delivers it",
    ),
    (replace(TOLD, receipts=OWED[2:]), "completed", "still owed to feed", "the next run delivers it"),
    (FAILED, "failed", "ended without a digest", "`news-digest retry` opens the day again"),
    (replace(FAILED, reason="no model"), "failed", "ended without a digest: no model", "`news-digest retry`"),
    (replace(FAILED, outcome=Outcome.EMPTY), "empty", "ended without a digest", "`news-digest retry`"),
    (replace(FAILED, outcome=Outcome.EXPIRED), "expired", "ended without a digest", "`news-digest retry`"),
    (
        replace(FAILED, outcome=Outcome.EXPIRED, expired_after=timedelta(hours=2, minutes=1)),
        "expired",
        "gave up after 121 minutes",
        "`news-digest retry`",
    ),
    (Foreign(TODAY.key), "unreadable", "this version cannot read it", "nothing to do until tomorrow"),
]


@pytest.mark.parametrize(("task", "status", "story", "step"), CASES)
def test_a_day_says_what_happened_and_what_is_next(task: Task, status: str, story: str, step: str) -> None:
    found = standing(State(tasks={TODAY.key: task}), NOW, LIMITS)
    (day,) = found.days
    assert (day.day, day.status) == (str(TODAY), status)
    assert story in day.story
    assert step in found.next_step
    assert day.next_step in ("", found.next_step)


def test_a_day_that_ended_without_a_digest_is_covered_by_the_next_run() -> None:
    found = standing(State(tasks={YESTERDAY.key: replace(FAILED, period=YESTERDAY)}), NOW, LIMITS)
    assert found.days[0].next_step == "the window of the next run covers its stories"
    assert found.next_step == "today is open: the next run reads the feeds"


def test_nothing_has_happened_yet() -> None:
    found = standing(State(), NOW, LIMITS).to_json()
    assert (found["days"], found["last_checked"], found["funnel"]["fetched"]) == ([], None, None)
    assert found["next_step"] == "today is open: the next run reads the feeds"


def test_everything_is_in_the_json_newest_day_first() -> None:
    state = State(
        tasks={YESTERDAY.key: replace(TOLD, period=YESTERDAY), TODAY.key: ACTIVE},
        last_checked=NOW,
        last_funnel=Funnel(9, 5, 4, 3),
        last_above_cap=1,
        last_feed_errors=("https://a.test/: no answer",),
        last_feed_notices=("https://b.test/ has had nothing new",),
    )
    found = standing(state, NOW, LIMITS).to_json()
    assert [day["day"] for day in found["days"]] == [str(TODAY), str(YESTERDAY)]
    assert found["days"][0]["conversation_url"] == "https://oh.test/t1"
    assert found["funnel"] == {"fetched": 9, "unseen": 5, "fresh": 4, "above_cap": 1}
    assert found["last_checked"] == "2026-08-20T09:30:00+00:00"
    assert found["feed_errors"] == ["https://a.test/: no answer"]
    assert found["feed_notices"] == ["https://b.test/ has had nothing new"]
    assert 0 < found["state_bytes"] < found["state_ceiling_bytes"] == LIMITS.document_bytes
