"""What a run delivers to whom, how often, whatever fails when: whole runs, real channels, a memory of the state.

The one way to a second copy is a process that dies between sending and its receipt; the copy then carries the same id.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.mailboxes import Mailbox, mailbox

from news_digest.channels import Target, open_channel
from news_digest.errors import DeliveryError
from news_digest.model import Digest, FeedSource, Limits, Receipt, Settled
from news_digest.ports import Channel, Edges
from news_digest.report import RunReport
from news_digest.run import Job, run
from news_digest.stores import Place, open_store
from news_digest.testing import FakeClock, FakeFeeds, FakeJournal, Publication, ScriptedWriter

FEED = "https://outlet.example/feed"


class Killed(BaseException):
    """The process dies here."""


@dataclass
class Faulty:
    """A channel whose next deliveries go wrong as told: ``fails`` before, ``killed before`` or ``killed after`` sending."""

    inner: Channel
    plan: list[str] = field(default_factory=list)
    name: str = ""

    def __post_init__(self) -> None:
        self.name = self.inner.name

    def deliver(self, digest: Digest) -> Receipt:
        fault = self.plan.pop(0) if self.plan else ""
        if fault == "fails":
            raise DeliveryError("cannot deliver", thing=self.name, cause="the far end is down", hint="try later")
        if fault == "killed before":
            raise Killed
        receipt = self.inner.deliver(digest)
        if fault == "killed after":
            raise Killed
        return receipt


@dataclass
class World:
    """A day's worth of runs over one store, with an archive and a mailbox as far ends."""

    box: Mailbox
    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    feeds: FakeFeeds = field(default_factory=FakeFeeds)
    journal: FakeJournal = field(default_factory=FakeJournal)
    runs: int = 0

    def __post_init__(self) -> None:
        self.kept = open_store("memory", Place())
        self.feeds.publish(FEED, Publication("A bridge opens", "https://outlet.example/1", self.clock()))
        options = {
            "host": "127.0.0.1",
            "port": self.box.port,
            "security": "none",
            "from": "d@mail.example",
            "to": "r@mail.example",
        }
        archive = {"folder": str(self.folder / "archive")}
        self.archive = Faulty(open_channel("archive", Target("archive", self.clock, archive)))
        self.email = Faulty(open_channel("email", Target("email", self.clock, options)))

    def run(self, *channels: Channel) -> RunReport | None:
        """Run once; None when the process died."""
        self.runs += 1
        self.clock.now += timedelta(hours=1)
        job = Job("default", (FeedSource(FEED),), (), "scripted", f"run-{self.runs}")
        edges = Edges(
            clock=self.clock,
            sleep=self.clock.sleep,
            feeds=self.feeds,
            store=self.kept.store,
            outbox=self.kept.outbox,
            writer=lambda _name: self.writer,
            channels={channel.name: channel for channel in channels or (self.archive, self.email)},
            journal=self.journal,
        )
        with suppress(Killed):
            return run(job, edges, Limits())
        return None

    writer: ScriptedWriter = field(default_factory=ScriptedWriter)

    def got(self) -> tuple[int, int]:
        """Return how many copies the archive and the mailbox have."""
        return len(list((self.folder / "archive").glob("*.md"))), len(self.box.letters)

    def task(self) -> Settled:
        """Return the day's record."""
        (task,) = self.kept.store.load().state.tasks.values()
        assert isinstance(task, Settled)
        return task


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with mailbox() as box:
        yield World(box, tmp_path)


@pytest.mark.parametrize(
    ("archive", "email", "first", "after"),
    [
        ([], [], (1, 1), (1, 1)),
        (["fails"], [], (0, 1), (1, 1)),
        ([], ["fails"], (1, 0), (1, 1)),
        (["fails", "fails"], ["fails"], (0, 0), (1, 1)),
        (["killed before"], [], (0, 0), (1, 1)),
        ([], ["killed before"], (1, 0), (1, 1)),
        (["killed after"], [], (1, 0), (1, 1)),
        ([], ["killed after"], (1, 1), (1, 2)),
        (["fails"], ["killed after"], (0, 1), (1, 2)),
    ],
    ids=lambda value: ", ".join(value) or "works" if isinstance(value, list) else None,
)
def test_everyone_gets_the_digest_once_and_twice_only_after_a_death_between_sending_and_receipt(
    world: World, archive: list[str], email: list[str], first: tuple[int, int], after: tuple[int, int]
) -> None:
    world.archive.plan, world.email.plan = archive, email
    world.run()
    assert world.got() == first
    for _ in range(4):
        world.run()
    assert world.got() == after
    assert world.task().owed == ()
    assert world.kept.outbox.get(world.task().period) is None


def test_a_second_copy_is_the_same_mail_byte_for_byte(world: World) -> None:
    world.email.plan = ["killed after"]
    for _ in range(3):
        world.run()
    first, second = world.box.letters
    assert first == second


def test_a_failure_is_in_the_report_and_in_the_record_until_it_is_made_good(world: World) -> None:
    world.box.answers["DATA"] = "451 4.3.0 greylisted"
    report = world.run()
    assert report is not None
    assert report.exit_code == DeliveryError.exit_code
    assert [(each.channel, bool(each.cause)) for each in report.delivered] == [("archive", False), ("email", True)]
    assert world.task().owed == ("email",)
    assert "451 4.3.0 greylisted" in next(each.detail for each in world.task().receipts if each.at is None)
    del world.box.answers["DATA"]
    later = world.run()
    assert later is not None
    assert (later.exit_code, world.got(), world.task().owed) == (0, (1, 1), ())


def test_a_channel_that_is_not_configured_any_more_is_owed_nothing(world: World) -> None:
    world.email.plan = ["fails"]
    world.run()
    world.run(world.archive)
    assert world.task().owed == ()


def test_a_channel_that_fails_for_days_gets_its_digests_in_the_end(world: World) -> None:
    world.box.answers["DATA"] = "451 later"
    for day in range(3):
        link = f"https://outlet.example/day{day}"
        world.feeds.publish(FEED, Publication(f"Day {day}", link, world.clock()))
        world.run()
        world.clock.now += timedelta(days=1)
    assert world.got() == (3, 0)
    del world.box.answers["DATA"]
    world.run()
    subjects = sorted(str(each["Subject"]) for each in world.box.messages())
    assert len(subjects) == len(set(subjects)) == 3


def test_the_faults_of_one_channel_are_not_anothers(world: World) -> None:
    closed = io.StringIO()
    closed.close()
    third = replace(
        world.archive, inner=open_channel("log", Target("log", world.clock, {"form": "text"}, stream=closed))
    )
    world.run(third, world.archive, world.email)
    assert world.got() == (1, 1)
    assert world.task().owed == ("log",)
