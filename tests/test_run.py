"""The lifecycle, top to bottom: every way a run can end, with real moves, selection and store and a scripted world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from news_digest.errors import (
    ConfigError,
    DeliveryError,
    DocumentTooLarge,
    Refused,
    StoreFull,
    Unclear,
    WriterUnavailable,
)
from news_digest.lifecycle import activate
from news_digest.model import (
    Active,
    Brief,
    Conversation,
    Digest,
    FeedSource,
    Foreign,
    Limits,
    Outcome,
    Period,
    Receipt,
    Settled,
    Starting,
    State,
    Ticket,
)
from news_digest.ports import Edges, Step, Stopped, Writer
from news_digest.report import RunOutcome, RunReport
from news_digest.run import Job, run, ticket_for
from news_digest.stores.memory import MemoryStore
from news_digest.testing import (
    FakeChannel,
    FakeClock,
    FakeFeeds,
    FakeJournal,
    FakeOutbox,
    Publication,
    ScriptedWriter,
)
from news_digest.wire import from_json

FEED, OTHER = "https://a.example/feed", "https://b.example/feed"
MINUTE = timedelta(minutes=1)


@dataclass
class World:
    """Everything that a run sees, and a way to run."""

    clock: FakeClock = field(default_factory=FakeClock)
    feeds: FakeFeeds = field(default_factory=FakeFeeds)
    store: MemoryStore = field(default_factory=MemoryStore)
    outbox: FakeOutbox = field(default_factory=FakeOutbox)
    writer: ScriptedWriter = field(default_factory=lambda: ScriptedWriter(root="/w"))
    channel: FakeChannel = field(default_factory=FakeChannel)
    journal: FakeJournal = field(default_factory=FakeJournal)
    steps: list[Step] = field(default_factory=list)
    runs: int = 0
    limits: Limits = field(default_factory=lambda: Limits(run_budget=timedelta(seconds=10)))
    writers: dict[str, Writer] = field(default_factory=dict)

    def publish(self, *titles: str, feed: str = FEED) -> None:
        for title in titles:
            link = f"https://news.example/{title}"
            self.feeds.publish(feed, Publication(title, link, self.clock(), f"id-of-{title}"))

    def job(self) -> Job:
        self.runs += 1
        return Job("auto", (FeedSource(FEED), FeedSource(OTHER)), ("news",), "scripted", f"run-{self.runs}")

    def edges(self) -> Edges:
        return Edges(
            clock=self.clock,
            sleep=self.clock.sleep,
            feeds=self.feeds,
            store=self.store,
            outbox=self.outbox,
            writer=self._writer,
            channels={"memory": self.channel},
            journal=self.journal,
            tell=self.steps.append,
        )

    def _writer(self, name: str) -> Writer:
        if name in self.writers:
            return self.writers[name]
        if name != "scripted":
            raise ConfigError(f"there is no writer {name}")
        return self.writer

    def run(self) -> RunReport:
        return run(self.job(), self.edges(), self.limits)

    @property
    def state(self) -> State:
        return self.store.load().state

    @property
    def today(self) -> Period:
        return Period.of(self.clock())

    def task(self) -> object:
        return self.state.tasks.get(self.today.key)

    def change(self, move: Callable[[State], State]) -> None:
        loaded = self.store.load()
        self.store.save(move(loaded.state), loaded.version)


@pytest.fixture
def world() -> World:
    return World()


def test_a_new_story_is_told_remembered_and_delivered(world: World) -> None:
    world.publish("one", "two")
    report = world.run()
    assert report.outcome is RunOutcome.WROTE
    assert report.exit_code == 0
    assert report.detail == "told 2 stories"
    task = world.task()
    assert isinstance(task, Settled)
    assert task.outcome is Outcome.COMPLETED
    assert task.workspace == ""
    assert task.owed == ()
    assert len(world.state.seen) == 4
    assert [digest.period for digest in world.channel.digests] == [world.today]
    assert world.outbox.kept == {}
    assert world.writer.released == [ticket_for("auto", world.today, 1)]
    assert [step.stage for step in world.steps] == ["feeds", "claim", "write", "check", "deliver"]


def test_the_journal_says_what_happened_to_each_story(world: World) -> None:
    world.limits = replace(world.limits, shortlist_stories=1)
    world.publish("old")
    world.clock.sleep(timedelta(days=3))
    world.publish("one", "two")
    world.run()
    happened = {(event.what, event.link.rpartition("/")[2]) for event in world.journal.events}
    assert {what for what, _ in happened} == {"offered", "told", "above the cap", "stale"}
    assert ("stale", "old") in happened


def test_the_second_run_of_the_day_reads_no_feed(world: World) -> None:
    world.publish("one")
    world.run()
    reads = world.feeds.reads
    report = world.run()
    assert report.outcome is RunOutcome.DONE
    assert report.detail == "the day is done (completed); no feed was read"
    assert report.exit_code == 0
    assert world.feeds.reads == reads


def test_the_next_day_tells_only_what_is_new(world: World) -> None:
    world.publish("one")
    world.run()
    world.clock.sleep(timedelta(days=1))
    world.publish("two")
    world.run()
    assert [[story.title for story in digest.stories] for digest in world.channel.digests] == [["one"], ["two"]]


@pytest.mark.parametrize(
    ("prepare", "detail"),
    [
        (lambda _world: None, "the feeds have no entries"),
        (lambda w: (w.publish("one"), w.run(), w.clock.sleep(timedelta(days=1))), "all 1 entries were told before"),
        (lambda w: (w.publish("one"), w.clock.sleep(timedelta(days=3))), "none of 1 unseen stories is newer than"),
    ],
)
def test_nothing_new_names_the_stage_that_emptied_the_funnel_and_leaves_the_day_open(
    world: World, prepare: Callable[[World], object], detail: str
) -> None:
    prepare(world)
    report = world.run()
    assert report.outcome is RunOutcome.NOTHING_NEW
    assert detail in report.detail
    assert report.exit_code == 0
    assert world.task() is None
    assert world.state.last_checked == world.clock()


def test_stories_in_flight_are_named(world: World) -> None:
    world.publish("one")
    world.writer.mode = "hang"
    world.run()
    world.clock.now = world.clock.now.replace(hour=23, minute=59)
    world.change(
        lambda s: replace(
            s,
            tasks={
                k: replace(t, last_activity=world.clock()) for k, t in s.tasks.items() if not isinstance(t, Foreign)
            },
        )
    )
    world.clock.sleep(2 * MINUTE)
    report = world.run()
    assert "1 are being written about" in report.detail


def test_every_feed_failing_is_an_error_with_the_reasons_and_the_check_is_recorded(world: World) -> None:
    world.feeds.down = {FEED: "HTTP 503", OTHER: "no route"}
    report = world.run()
    assert report.outcome is RunOutcome.FEEDS_FAILED
    assert report.exit_code == 3
    assert [failure.reason for failure in report.failures] == ["HTTP 503", "no route"]
    assert world.state.last_feed_errors == (f"{FEED}: HTTP 503", f"{OTHER}: no route")


def test_one_feed_failing_costs_only_that_feed(world: World) -> None:
    world.feeds.down = {OTHER: "HTTP 503"}
    world.publish("one")
    report = world.run()
    assert report.outcome is RunOutcome.WROTE
    assert report.feeds_read == 1
    assert "feed failed" in "\n".join(report.lines())


def test_what_is_odd_about_a_feed_stands_in_the_digest_whichever_run_finishes_it(world: World) -> None:
    world.feeds.odd = {FEED: f"{FEED} has had nothing new since May."}
    world.publish("one")
    world.writer.mode = "hang"
    world.run()
    assert world.state.last_feed_notices == (f"{FEED} has had nothing new since May.",)
    world.writer.mode = "write"
    (digest,) = world.run().digests
    assert digest.notices == ("a.example has had nothing new since May.",)


def test_what_is_odd_about_a_feed_of_a_long_address_is_remembered_whole(world: World) -> None:
    world.feeds.odd = {FEED: f"{FEED}{'f' * 200} has ended: remove it."}
    world.publish("one")
    world.run()
    assert world.state.last_feed_notices == ("a.example has ended: remove it.",)


# --- the writer ----------------------------------------------------------------------------------------------------


def test_a_writer_that_refuses_leaves_the_day_open_and_its_ticket_used(world: World) -> None:
    world.publish("one")
    world.writer.refuse = Refused("cannot begin", cause="429", hint="wait a minute")
    report = world.run()
    assert report.outcome is RunOutcome.REFUSED
    assert report.exit_code == 5
    assert report.hint == "wait a minute"
    assert world.task() is None
    assert world.outbox.kept == {}
    world.writer.refuse = None
    world.run()
    assert list(world.writer.begun) == [ticket_for("auto", world.today, 2)]


def test_a_workspace_that_cannot_be_removed_keeps_the_claim(world: World) -> None:
    world.publish("one")
    world.writer.refuse = Refused("cannot begin", cause="429")
    world.writer.unavailable = WriterUnavailable("cannot ask", cause="refused")
    report = world.run()
    assert isinstance(world.task(), Starting)
    assert any("claim stays" in warning for warning in report.warnings)


def test_an_unclear_answer_keeps_the_claim_and_a_later_run_finds_the_conversation(world: World) -> None:
    world.publish("one")
    world.writer.refuse = Unclear("cannot begin", cause="timeout")
    assert world.run().outcome is RunOutcome.UNCLEAR
    claimed = world.task()
    assert isinstance(claimed, Starting)
    world.writer.refuse = None
    given = world.outbox.kept[world.today]
    assert given["ticket"] == claimed.ticket
    _begin_unseen(world)
    world.clock.sleep(15 * MINUTE)
    assert world.run().detail.startswith("claimed by another run")
    world.clock.sleep(timedelta(seconds=1))
    report = world.run()
    assert report.outcome is RunOutcome.DONE
    assert [ended.outcome for ended in report.ended] == [Outcome.COMPLETED]
    assert len(world.channel.digests) == 1


def _begin_unseen(world: World) -> None:
    """The server got the request whose answer was lost."""
    value = world.outbox.kept[world.today]
    world.writer.begin(from_json(Brief, value["brief"]), Ticket(str(value["ticket"])))


def test_a_stalled_claim_without_a_conversation_opens_the_day(world: World) -> None:
    world.publish("one")
    world.writer.refuse = Unclear("cannot begin", cause="timeout")
    world.run()
    world.writer.refuse = None
    world.clock.sleep(16 * MINUTE)
    report = world.run()
    assert report.outcome is RunOutcome.WROTE
    assert any("had stalled" in warning for warning in report.warnings)
    assert list(world.writer.begun) == [ticket_for("auto", world.today, 2)]


def test_a_stalled_claim_whose_writer_cannot_be_asked_waits_two_hours(world: World) -> None:
    world.publish("one")
    world.writer.refuse = Unclear("cannot begin", cause="timeout")
    world.run()
    world.writer.refuse, world.writer.unavailable = None, WriterUnavailable("cannot ask", cause="down")
    world.clock.sleep(timedelta(hours=2))
    assert any("stays claimed" in warning for warning in world.run().warnings)
    world.clock.sleep(timedelta(seconds=1))
    world.run()
    assert not isinstance(world.task(), Starting) or world.state.attempts[str(world.today)] == 2


def test_a_claim_of_the_reference_has_no_ticket_and_is_dropped(world: World) -> None:
    old = world.clock() - timedelta(hours=1)
    claimed = Starting(world.today, None, (), (), 1, old)
    world.change(lambda s: replace(s, tasks={claimed.period.key: claimed}))
    world.writers["openhands"] = world.writer
    report = world.run()
    assert any("had stalled" in warning for warning in report.warnings)
    assert world.task() is None


@pytest.mark.parametrize(
    ("mode", "outcome", "reason"),
    [
        ("empty", Outcome.EMPTY, "without writing anything"),
        ("fail", Outcome.FAILED, "the model refused"),
        ("gone", Outcome.FAILED, "gone"),
    ],
)
def test_a_conversation_without_a_digest_closes_the_day_with_its_reason(
    world: World, mode: str, outcome: Outcome, reason: str
) -> None:
    world.publish("one")
    world.writer.mode = mode
    report = world.run()
    assert report.outcome is RunOutcome.NO_DIGEST
    assert report.exit_code == 5
    task = world.task()
    assert isinstance(task, Settled)
    assert task.outcome is outcome
    assert reason in task.reason
    assert world.state.seen == ()
    assert "retry" in world.run().hint


def test_a_failed_day_is_told_the_next_day(world: World) -> None:
    world.publish("one")
    world.writer.mode = "fail"
    world.run()
    world.writer.mode = "write"
    world.clock.sleep(timedelta(days=1))
    world.publish("two")
    world.run()
    assert sorted(story.title for story in world.channel.digests[0].stories) == ["one", "two"]


def test_a_run_waits_within_its_budget_and_a_later_one_reads_the_digest(world: World) -> None:
    world.publish("one")
    world.writer.mode = "hang"
    start = world.clock()
    report = world.run()
    assert report.outcome is RunOutcome.WAITING
    assert report.exit_code == 0
    assert timedelta(seconds=10) <= world.clock() - start <= timedelta(seconds=12)
    assert world.run().outcome is RunOutcome.WAITING
    world.writer.mode = "write"
    report = world.run()
    assert report.outcome is RunOutcome.DONE
    assert [digest.period for digest in report.digests] == [world.today]


@pytest.mark.parametrize(
    ("mode", "passed", "outcome"),
    [
        ("hang", timedelta(hours=2), None),
        ("hang", timedelta(hours=2, seconds=1), Outcome.EXPIRED),
        ("idle", timedelta(seconds=60), None),
        ("idle", timedelta(seconds=61), Outcome.FAILED),
    ],
)
def test_the_age_is_judged_after_polling(world: World, mode: str, passed: timedelta, outcome: Outcome | None) -> None:
    world.publish("one")
    world.writer.mode = "hang"
    world.run()
    task = world.task()
    assert isinstance(task, Active)
    world.writer.mode = mode
    world.clock.now = task.last_activity + passed
    world.run()
    now = world.task()
    assert (now.outcome if isinstance(now, Settled) else None) is outcome


def test_a_digest_that_comes_late_counts_more_than_the_age(world: World) -> None:
    world.publish("one")
    world.writer.mode = "hang"
    world.run()
    world.writer.mode = "write"
    world.clock.sleep(timedelta(hours=20))
    world.run()
    assert len(world.channel.digests) == 1


def test_a_writer_that_cannot_be_asked_changes_nothing_before_two_hours(world: World) -> None:
    world.publish("one")
    world.writer.mode = "hang"
    world.run()
    task = world.task()
    assert isinstance(task, Active)
    world.writer.unavailable = WriterUnavailable("cannot ask", cause="down")
    world.clock.now = task.last_activity + timedelta(hours=2)
    assert any("stays open" in warning for warning in world.run().warnings)
    assert isinstance(world.task(), Active)
    world.clock.sleep(timedelta(seconds=1))
    world.run()
    expired = world.task()
    assert isinstance(expired, Settled)
    assert expired.outcome is Outcome.EXPIRED
    assert expired.workspace
    world.writer.unavailable = None
    world.run()
    cleaned = world.task()
    assert isinstance(cleaned, Settled)
    assert cleaned.workspace == ""


def test_a_workspace_that_is_not_ours_is_left_and_forgotten_with_a_warning(world: World) -> None:
    class Careful(ScriptedWriter):
        def release(self, conversation: Conversation, period: Period) -> bool:
            return False

    world.writer = Careful(root="/w")
    world.publish("one")
    report = world.run()
    assert any("left alone: /w/news-digest/" in warning for warning in report.warnings)
    task = world.task()
    assert isinstance(task, Settled)
    assert task.workspace == ""


def test_a_record_whose_writer_is_not_installed_waits_for_it(world: World) -> None:
    world.publish("one")
    world.writer.mode = "hang"
    world.run()
    world.change(
        lambda s: replace(
            s, tasks={k: replace(t, writer="gone") for k, t in s.tasks.items() if not isinstance(t, Foreign)}
        )
    )
    assert any("there is no writer gone" in warning for warning in world.run().warnings)


def test_ctrl_c_while_the_writer_begins_opens_the_day_again(world: World) -> None:
    class Interrupted(ScriptedWriter):
        def begin(self, *_: object) -> Conversation:
            raise KeyboardInterrupt

    world.publish("one")
    world.writer = Interrupted(root="/w")
    with pytest.raises(KeyboardInterrupt):
        world.run()
    assert world.task() is None
    world.writer = ScriptedWriter(root="/w")
    assert world.run().outcome is RunOutcome.WROTE


# --- overlap -------------------------------------------------------------------------------------------------------


class Overtaking(FakeFeeds):
    """Feeds during whose reading something else happens."""

    then: Callable[[], object] | None = None

    def read(self, *arguments: object, **options: object) -> object:  # type: ignore[override]
        results = super().read(*arguments, **options)  # type: ignore[arg-type]
        if self.then is not None:
            then, self.then = self.then, None
            then()
        return results


def test_a_run_that_was_overtaken_says_so_and_stops(world: World) -> None:
    feeds = Overtaking()
    world.feeds = feeds
    world.publish("one")
    feeds.then = world.run
    report = world.run()
    assert report.outcome is RunOutcome.OVERTAKEN
    assert report.exit_code == 0
    assert len(world.channel.digests) == 1


def test_two_runs_on_two_sides_of_midnight_do_not_tell_the_same_stories(world: World) -> None:
    feeds = Overtaking()
    world.feeds = feeds
    world.clock.now = world.clock.now.replace(hour=23, minute=59, second=50)
    world.publish("one")

    def the_other_side() -> None:
        world.clock.sleep(timedelta(seconds=20))
        world.run()

    feeds.then = the_other_side
    report = world.run()
    assert report.outcome is RunOutcome.OVERTAKEN
    assert "some of its stories" in report.detail
    assert len(world.channel.digests) == 1


def test_a_late_owner_of_a_claim_that_was_taken_again_lets_its_conversation_go(world: World) -> None:
    class Slow(ScriptedWriter):
        def begin(self, brief: Brief, ticket: Ticket) -> Conversation:
            conversation = super().begin(brief, ticket)
            if len(self.begun) == 1:
                world.change(lambda s: replace(s, tasks={}))
            return conversation

    world.publish("one")
    world.writer = Slow(root="/w")
    report = world.run()
    assert report.outcome is RunOutcome.OVERTAKEN
    assert world.writer.released == [ticket_for("auto", world.today, 1)]


def test_a_day_that_cannot_be_read_counts_as_handled(world: World) -> None:
    world.change(
        lambda s: replace(s, tasks={world.today.key: Foreign(world.today.key)}, origin={"tasks": {world.today.key: 7}})
    )
    report = world.run()
    assert report.outcome is RunOutcome.DONE
    assert "cannot read" in report.detail


# --- delivery ------------------------------------------------------------------------------------------------------


def test_a_channel_that_fails_is_tried_again_and_the_digest_is_kept(world: World) -> None:
    world.publish("one")
    world.channel.broken = "SMTP 451"
    report = world.run()
    assert report.outcome is RunOutcome.WROTE
    assert report.exit_code == 6
    assert "not delivered" in "\n".join(report.lines())
    task = world.task()
    assert isinstance(task, Settled)
    assert task.owed == ("memory",)
    assert "SMTP 451" in task.receipts[0].detail
    world.channel.broken = ""
    report = world.run()
    assert [delivery.cause for delivery in report.delivered] == [""]
    assert len(world.channel.digests) == 1
    assert world.outbox.kept == {}


def test_a_channel_whose_secret_is_missing_does_not_stop_the_others(world: World) -> None:
    class Unset(FakeChannel):
        def deliver(self, digest: Digest) -> Receipt:
            raise ConfigError("missing secret", thing="email.password_env", hint="set it")

    world.publish("one")
    channels = {"email": Unset("email"), "memory": world.channel}
    report = run(world.job(), replace(world.edges(), channels=channels), world.limits)
    assert [(delivery.channel, bool(delivery.cause)) for delivery in report.delivered] == [
        ("email", True),
        ("memory", False),
    ]
    assert report.exit_code == 6


def test_a_channel_that_failed_is_not_tried_again_by_the_same_run(world: World) -> None:
    tries: list[str] = []

    class Greylisting(FakeChannel):
        def deliver(self, digest: Digest) -> Receipt:
            tries.append(self.name)
            if len(tries) == 1:
                raise DeliveryError("cannot deliver", thing=self.name, cause="451")
            return super().deliver(digest)

    world.channel = Greylisting()
    world.publish("one")
    world.writer.mode = "hang"
    world.run()
    world.writer.mode = "write"
    report = world.run()
    assert tries == ["memory"]
    assert report.exit_code == 6
    assert world.run().exit_code == 0
    assert tries == ["memory", "memory"]


def test_a_run_that_finds_the_day_settled_otherwise_leaves_the_outbox_alone(world: World) -> None:
    world.publish("one")
    world.writer.mode = "hang"
    world.run()
    world.channel.broken = "down"

    class Slow(ScriptedWriter):
        def poll(self, *arguments: object) -> object:  # type: ignore[override]
            world.writer = quick
            world.run()
            return Stopped("too late")

    quick = world.writer
    quick.mode = "write"
    world.writer = Slow(begun=quick.begun, root="/w")
    report = world.run()
    assert report.ended == []
    assert world.today in world.outbox.kept
    world.channel.broken = ""
    world.run()
    assert len(world.channel.digests) == 1


def test_a_claim_whose_owner_wakes_up_while_it_is_recovered_is_left_to_it(world: World) -> None:
    class Waking(ScriptedWriter):
        def find(self, ticket: Ticket, *_: object) -> None:
            world.change(lambda state: activate(state, ticket, world.clock()))

    world.publish("one")
    world.writer.refuse = Unclear("cannot begin", cause="timeout")
    world.run()
    world.clock.sleep(timedelta(minutes=16))
    world.writer = Waking(root="/w", mode="hang")
    assert world.run().outcome in (RunOutcome.WAITING, RunOutcome.DONE)


def test_a_claim_counts_from_when_it_is_made_not_from_when_the_run_began(world: World) -> None:
    feeds = Overtaking()
    world.feeds = feeds
    world.publish("one")
    feeds.then = lambda: world.clock.sleep(timedelta(minutes=14))
    world.writer.refuse = Unclear("cannot begin", cause="timeout")
    world.run()
    task = world.task()
    assert isinstance(task, Starting)
    assert task.last_activity == world.clock()


def test_ctrl_c_while_nothing_can_be_asked_is_still_ctrl_c(world: World) -> None:
    class Interrupted(ScriptedWriter):
        def begin(self, *_: object) -> Conversation:
            self.unavailable = WriterUnavailable("cannot ask", cause="down")
            raise KeyboardInterrupt

    world.publish("one")
    world.writer = Interrupted(root="/w")
    with pytest.raises(KeyboardInterrupt):
        world.run()
    assert isinstance(world.task(), Starting)


def test_a_digest_that_the_outbox_lost_is_named(world: World) -> None:
    world.publish("one")
    world.channel.broken = "down"
    world.run()
    world.outbox.kept.clear()
    report = world.run()
    assert any("no longer in the outbox" in warning for warning in report.warnings)


def test_a_channel_that_is_no_longer_configured_is_owed_nothing(world: World) -> None:
    world.publish("one")
    world.channel.broken = "down"
    world.run()
    job, edges = world.job(), replace(world.edges(), channels={})
    run(job, edges, world.limits)
    task = world.task()
    assert isinstance(task, Settled)
    assert task.receipts[0].detail == "no longer configured"


def test_a_run_that_slept_through_its_lease_does_not_send_a_second_copy(world: World) -> None:
    sent: list[str] = []

    class Slow(FakeChannel):
        def deliver(self, digest: Digest) -> Receipt:
            sent.append(self.name)
            world.clock.sleep(timedelta(minutes=16))
            if len(sent) == 1:
                run(world.job(), replace(world.edges(), channels=both), world.limits)
            return super().deliver(digest)

    world.publish("one")
    both = {"first": Slow("first"), "second": Slow("second")}
    run(world.job(), replace(world.edges(), channels=both), world.limits)
    assert sorted(sent) == ["first", "first", "second"]


def test_a_clock_that_was_set_back_does_not_hold_a_claim_for_ever(world: World) -> None:
    world.publish("one")
    world.writer.refuse = Unclear("cannot begin", cause="timeout")
    world.run()
    world.writer.refuse = None
    world.clock.sleep(-timedelta(days=30))
    world.run()
    world.clock.sleep(timedelta(minutes=16))
    assert world.run().outcome is RunOutcome.WROTE


@pytest.mark.parametrize("garbage", [{"ticket": "another"}, {"brief": {"period": "x"}, "digest": 3}])
def test_an_outbox_that_holds_something_else_is_not_believed(world: World, garbage: dict[str, object]) -> None:
    world.publish("one")
    world.writer.mode = "hang"
    world.run()
    task = world.task()
    assert isinstance(task, Active)
    world.outbox.kept[world.today] = {"ticket": task.ticket, **garbage}
    world.writer.mode = "write"
    world.run()
    assert [story.title for story in world.channel.digests[0].stories] == ["one"]


@pytest.mark.parametrize(("owed", "kept"), [(False, False), (True, True)])
def test_the_next_claim_empties_what_a_killed_run_left_in_the_outbox(world: World, *, owed: bool, kept: bool) -> None:
    world.publish("one")
    world.channel.broken = "down" if owed else ""
    world.run()
    yesterday = world.today
    world.outbox.kept.setdefault(yesterday, {"ticket": "left"})
    world.clock.sleep(timedelta(days=1))
    world.publish("two")
    world.run()
    assert (yesterday in world.outbox.kept) is kept


def test_a_full_disk_at_the_outbox_gives_the_claim_back(world: World) -> None:
    class Full(FakeOutbox):
        def put(self, *_: object) -> None:
            raise StoreFull("cannot keep the brief", cause="the disk is full")

    world.publish("one")
    world.outbox = Full()
    with pytest.raises(StoreFull):
        world.run()
    assert world.task() is None


def test_a_state_without_room_refuses_before_it_claims(world: World) -> None:
    world.change(lambda s: replace(s, origin={"theirs": "x" * 64_000}))
    world.publish("one")
    with pytest.raises(DocumentTooLarge):
        world.run()
    assert world.writer.begun == {}


def test_a_ticket_is_the_same_for_the_same_attempt_and_another_for_every_other() -> None:
    day = Period.of(FakeClock()())
    tickets = {ticket_for(name, day, attempt) for name in ("a", "b") for attempt in (1, 2)}
    assert len(tickets) == 4
    assert ticket_for("a", day, 1) in tickets
