"""Every place where a run can be overtaken or die, one after the other: no search, so nothing depends on luck.

A first run goes as far as its n-th pause. Then it is left alone for a while, or killed; the clock moves; a second run goes
from start to end; the first one, if it lives, goes on. Afterwards the world is healed and judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import count

from tests.machine.world import FEEDS, World, foreign

from news_digest.errors import Unclear
from news_digest.ports import StateStore

MONTH = timedelta(days=30)


@dataclass(frozen=True)
class Scenario:
    """What the world is like when the first run starts, and what happens between the two runs."""

    name: str
    passes: timedelta
    kill: bool = False
    before: Callable[[World], None] = lambda _world: None
    between: Callable[[World], None] = lambda _world: None


def _hang(world: World) -> None:
    world.writer.mode = "hang"


def _late_night(world: World) -> None:
    world.clock.now = world.clock.now.replace(hour=23, minute=59, second=50)


def _yesterday_runs(world: World) -> None:
    """A conversation of yesterday is still open, with stories of its own."""
    world.writer.mode = "hang"
    world.run()
    world.clock.sleep(timedelta(minutes=90))
    world.publish(FEEDS[1])
    world.clock.sleep(timedelta(hours=22))
    world.writer.mode = "write"


def _feed_was_down(world: World) -> None:
    """One feed is down for four days of digests."""
    world.feeds.down[FEEDS[2]] = "HTTP 503"
    for _ in range(4):
        world.publish(FEEDS[0])
        world.publish(FEEDS[2])
        world.run()
        world.clock.sleep(timedelta(days=1))
    world.feeds.down.clear()


def _writer_fails_for_days(world: World) -> None:
    world.writer.mode = "fail"
    for _ in range(4):
        world.publish(FEEDS[0])
        world.run()
        world.clock.sleep(timedelta(days=1))
    world.writer.mode = "write"


def _unclear(world: World) -> None:
    world.writer.refuse = Unclear("cannot begin", cause="timeout")


def _channel_down(world: World) -> None:
    world.channel.broken = "SMTP 451"


def _recover(world: World) -> None:
    world.writer.mode, world.writer.refuse, world.channel.broken = "write", None, ""


def _only_the_first_feed(world: World) -> None:
    world.feeds.down |= {FEEDS[1]: "HTTP 503", FEEDS[2]: "HTTP 503"}


def _only_the_other_feeds(world: World) -> None:
    world.feeds.down.clear()
    world.feeds.down[FEEDS[0]] = "HTTP 503"


def _publish_more(world: World) -> None:
    world.publish(FEEDS[1])


def _yesterday_stays(world: World) -> None:
    """A conversation that began a minute ago, yesterday, is still at work."""
    world.clock.now = world.clock.now.replace(hour=23, minute=59, second=0)
    world.writer.mode = "hang"
    world.run()
    world.clock.sleep(timedelta(minutes=2))


NOW, SECONDS = timedelta(0), timedelta(seconds=20)
SCENARIOS = (
    Scenario("two runs at once", NOW),
    Scenario("two runs at once, more is published", NOW, between=_publish_more),
    Scenario("two runs see different feeds", NOW, before=_only_the_first_feed, between=_only_the_other_feeds),
    Scenario("two sides of midnight", SECONDS, before=_late_night),
    Scenario("killed, the next run at once", NOW, kill=True),
    Scenario("killed, the next run after the claim has stalled", timedelta(minutes=16), kill=True),
    Scenario("killed, the next run tomorrow", timedelta(days=1), kill=True, between=_publish_more),
    Scenario("killed, three days of silence", timedelta(days=3), kill=True),
    Scenario("asleep while its claim stalls and is taken again", timedelta(minutes=16)),
    Scenario("asleep for a day", timedelta(days=1), between=_publish_more),
    Scenario("killed while the writer hangs", timedelta(hours=3), kill=True, before=_hang, between=_recover),
    Scenario("yesterday's conversation is open", NOW, before=_yesterday_runs),
    Scenario("yesterday's conversation is open, and stays", SECONDS, before=_yesterday_stays, between=_publish_more),
    Scenario("yesterday's conversation is open, killed", timedelta(minutes=16), kill=True, before=_yesterday_runs),
    Scenario("a feed was down for four days", NOW, before=_feed_was_down),
    Scenario("a feed was down for four days, killed", timedelta(days=1), kill=True, before=_feed_was_down),
    Scenario("the writer failed for four days", NOW, before=_writer_fails_for_days),
    Scenario("no answer from the writer", timedelta(minutes=16), before=_unclear, between=_recover),
    Scenario("a channel is down", NOW, before=_channel_down, between=_recover),
    Scenario("a channel is down, killed", timedelta(minutes=16), kill=True, before=_channel_down, between=_recover),
    Scenario("the clock is set back by a month", -MONTH, kill=True, between=_publish_more),
    Scenario("the clock is set back by a month, asleep", -MONTH),
)


def sweep(scenario: Scenario, store: Callable[[], StateStore], *, stride: int = 1) -> int:
    """Run a scenario with the first run stopped at every ``stride``-th pause; return how many ways that were."""
    for ways, pauses in enumerate(count(0, stride), start=1):
        world = _prepared(scenario, store)
        first = world.start()
        first.step(pauses)
        reached_the_end = first.ended
        if scenario.kill and not reached_the_end:
            world.kill(first)
        world.clock.sleep(scenario.passes)
        if abs(scenario.passes) > world.limits.delivery_lease:
            world.judge.killed()  # who sleeps through its lease in the middle of sending is like one that died
        scenario.between(world)
        world.run()
        first.finish()
        _judge(world)
        if reached_the_end:
            return ways
    raise AssertionError("unreachable")


def _prepared(scenario: Scenario, store: Callable[[], StateStore]) -> World:
    world = World(store())
    world.judge.foreign = {"theirs": {"kept": [1, 2.5, None]}}
    loaded = world.store.load()
    world.store.inner.save(foreign(loaded.state, world.judge.foreign), loaded.version)
    world.run()
    world.publish(FEEDS[0])
    world.publish(FEEDS[1], dated=False)
    scenario.before(world)
    world.publish(FEEDS[2])
    return world


def _judge(world: World) -> None:
    ended = world.clock()
    world.heal(days=2)
    world.judge.check_one_a_day()
    world.judge.check_nothing_lost(ended)
    world.judge.check_copies()
    world.judge.check_nothing_left(world.state)


def names() -> Iterator[str]:
    """Yield the scenarios' names, for the tests' ids."""
    return (scenario.name for scenario in SCENARIOS)
