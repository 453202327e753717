"""A world for the real run function: real moves, stores and feeds' selection; simulated time, deaths and outages.

Each run lives in a greenlet of its own. Every call of a port lets the other run go on, before and after it, so that two
runs can be interleaved at every step. After a kill every port call of that run fails: an exception alone would still let
its ``finally`` clauses talk to the world, which a dead process does not.

The world watches every save and judges it at once (:mod:`tests.machine.judge`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from greenlet import getcurrent, greenlet
from tests.machine.judge import Judge

from news_digest.errors import NewsDigestError
from news_digest.model import Digest, FeedSource, Limits, Receipt, State
from news_digest.ports import Edges, Loaded, StateStore, Version
from news_digest.report import RunReport
from news_digest.run import Job, run
from news_digest.testing import FakeChannel, FakeClock, FakeFeeds, FakeJournal, FakeOutbox, Publication, ScriptedWriter

FEEDS = ("https://a.example/feed", "https://b.example/feed", "https://c.example/feed")
START = datetime(2026, 8, 20, 8, 0, tzinfo=UTC)


class KilledError(BaseException):
    """The process is dead; nothing may catch this."""


class Gate:
    """A port as one process sees it: every call is a place where the other process may go on, or this one may die."""

    def __init__(self, process: Process, name: str, port: object) -> None:
        self._process = process
        self._name = name
        self._port = port

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(self._port, attribute)
        if not callable(value):
            return value

        def call(*arguments: object, **options: object) -> object:
            self._process.pause(f"{self._name}.{attribute}")
            try:
                return value(*arguments, **options)
            finally:
                self._process.pause(f"after {self._name}.{attribute}")

        return call


@dataclass
class WatchedStore:
    """A store whose saves are judged, and which fails where it is told to: before a save, or after it happened."""

    inner: StateStore
    judge: Judge
    faults: list[tuple[str, NewsDigestError]] = field(default_factory=list)

    def load(self) -> Loaded:
        return self.inner.load()

    def save(self, state: State, expected: Version) -> Version:
        when, error = self.faults.pop(0) if self.faults else ("", None)
        if error is not None and when == "before":
            raise error
        before = self.inner.load().state
        version = self.inner.save(state, expected)
        self.judge.saved(before, self.inner.load().state)
        if error is not None:
            raise error
        return version


@dataclass
class WatchedChannel:
    """A channel that remembers every copy of a digest that left the house."""

    inner: FakeChannel
    judge: Judge
    name: str = "memory"

    def deliver(self, digest: Digest) -> Receipt:
        receipt = self.inner.deliver(digest)
        self.judge.delivered(digest)
        return receipt


class Process:
    """One run, as far as it has come."""

    def __init__(self, world: World, number: int) -> None:
        self._world = world
        self.number = number
        self.dead = False
        self.report: RunReport | None = None
        self.error: NewsDigestError | None = None
        self.calls: list[str] = []
        self._greenlet = greenlet(self._live)
        self._parent: greenlet | None = None

    @property
    def ended(self) -> bool:
        return self.dead or self._greenlet.dead

    def pause(self, call: str) -> None:
        """Let the world go on; die here if that was decided meanwhile."""
        if self.dead:
            raise KilledError
        self.calls.append(call)
        if self._parent is not None and getcurrent() is self._greenlet:
            self._parent.switch()
        if self.dead:
            raise KilledError

    def step(self, count: int = 1) -> None:
        """Go on over so many port calls (each has two pauses)."""
        for _ in range(count):
            if self.ended:
                return
            self._parent = getcurrent()
            self._greenlet.switch()

    def finish(self) -> None:
        """Go on to the end."""
        while not self.ended:
            self.step()

    def kill(self) -> None:
        """Die at the next pause, without another word to the world."""
        self.dead = True
        if self._greenlet and not self._greenlet.dead:
            self._parent = getcurrent()
            self._greenlet.switch()

    def _live(self) -> None:
        try:
            self.report = run(self._world.job(self.number), self._world.edges(self), self._world.limits)
        except NewsDigestError as error:
            self.error = error
        except KilledError:
            return


class World:
    """Everything that two runs share."""

    def __init__(self, store: StateStore, *, limits: Limits | None = None) -> None:
        self.limits = limits or Limits(shortlist_stories=6, run_budget=timedelta(seconds=10))
        self.clock = FakeClock(START)
        self.feeds = FakeFeeds()
        self.writer = ScriptedWriter(root="/state/automation-runs")
        self.judge = Judge(self.writer, self.limits)
        self.store = WatchedStore(store, self.judge)
        self.outbox = FakeOutbox()
        self.journal = FakeJournal()
        self.channel = FakeChannel()
        self.processes: list[Process] = []
        self._stories = 0
        self._runs = 0

    def job(self, number: int) -> Job:
        sources = tuple(FeedSource(url) for url in FEEDS)
        return Job("machine", sources, ("news",), "scripted", f"run-{number}")

    def edges(self, process: Process) -> Edges:
        def gate(name: str, port: object) -> Any:
            return Gate(process, name, port)

        return Edges(
            clock=self.clock,
            sleep=_yielding(process, self.clock.sleep),
            feeds=gate("feeds", self.feeds),
            store=gate("store", self.store),
            outbox=gate("outbox", self.outbox),
            writer=lambda _name: gate("writer", self.writer),
            channels={"memory": gate("channel", WatchedChannel(self.channel, self.judge))},
            journal=self.journal,
        )

    def publish(self, feed: str, *, age: timedelta = timedelta(0), dated: bool = True) -> Publication:
        """Publish a story that nobody has seen."""
        self._stories += 1
        link = f"https://news.example/{self._stories}"
        story = Publication(f"Story {self._stories}", link, self.clock() - age if dated else None, f"id-{link}")
        self.feeds.publish(feed, story)
        self.judge.published(story, feed)
        return story

    def start(self) -> Process:
        """Start a run, up to its first port call."""
        self._runs += 1
        process = Process(self, self._runs)
        self.processes = [*(p for p in self.processes if not p.ended), process]
        process.step()
        return process

    def run(self) -> Process:
        """Start a run and let it go on to the end, alone."""
        process = self.start()
        process.finish()
        return process

    def kill(self, process: Process) -> None:
        """Kill a run; from here on a second copy of a digest is allowed for what it was sending."""
        self.judge.killed()
        process.kill()

    def heal(self, days: int = 4) -> None:
        """End everything that runs, repair the world, and run often enough that nothing can be left to tell."""
        for process in self.processes:
            process.finish()
        self.store.faults.clear()
        self.feeds.down.clear()
        self.writer.mode, self.writer.refuse, self.writer.unavailable = "write", None, None
        self.channel.broken = ""
        for _ in range(days * 6):
            process = self.run()
            assert process.error is None, process.error
            self.clock.sleep(timedelta(hours=4))

    @property
    def state(self) -> State:
        return self.store.load().state


def _yielding(process: Process, sleep: Callable[[timedelta], None]) -> Callable[[timedelta], None]:
    def pause(span: timedelta) -> None:
        process.pause("sleep")
        sleep(span)

    return pause


def foreign(state: State, keys: Mapping[str, object]) -> State:
    """Return the state with keys that nobody knows."""
    return replace(state, origin={**state.origin, **keys})


def links(digests: Sequence[Digest]) -> list[str]:
    """Return the links of all stories that digests tell."""
    return [story.link for digest in digests for story in digest.stories]
