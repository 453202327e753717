"""What must always hold, judged at every save and at the end; each rule is a named method, so that each can be seen to fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime

from news_digest.brief import brief_hash
from news_digest.ceiling import size
from news_digest.document import encode
from news_digest.model import Active, Digest, Foreign, Limits, Outcome, Settled, Starting, State, Task, Ticket
from news_digest.testing import Publication, ScriptedWriter


class BrokenPromiseError(AssertionError):
    """A run broke what was promised."""


def _rebased(old: Starting | Active, new: Starting | Active) -> bool:
    """Return whether only the last activity has moved, and back: the clock was set back."""
    return new.last_activity < old.last_activity and replace(new, last_activity=old.last_activity) == old


@dataclass
class Judge:
    """Remembers what happened and what was promised about it."""

    writer: ScriptedWriter
    limits: Limits
    stories: dict[str, tuple[str, datetime | None, str]] = field(default_factory=dict)
    """By link: when it was published, and in which feed."""
    told: dict[str, set[Ticket]] = field(default_factory=dict)
    completed: list[Settled] = field(default_factory=list)
    copies: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    foreign: dict[str, object] = field(default_factory=dict)
    saves: int = 0

    # --- what happens ----------------------------------------------------------------------------------------------

    def published(self, story: Publication, feed: str) -> None:
        self.stories[story.link] = (story.title, story.published, feed)

    def killed(self) -> None:
        self.kills += 1

    def delivered(self, digest: Digest) -> None:
        self.copies[digest.ticket] += 1

    def saved(self, before: State, after: State) -> None:
        """Judge one save."""
        self.saves += 1
        self.check_ceiling(after)
        self.check_foreign_keys(after)
        for key in {**before.tasks, **after.tasks}:
            self.check_move(before.tasks.get(key), after.tasks.get(key), before, after)
        self.check_memory(before, after)

    # --- the rules -------------------------------------------------------------------------------------------------

    def check_ceiling(self, state: State) -> None:
        if size(encode(state)) > self.limits.document_bytes:
            raise BrokenPromiseError("the document is above its ceiling")

    def check_foreign_keys(self, state: State) -> None:
        document = encode(state)
        if any(document.get(key) != value for key, value in self.foreign.items()):
            raise BrokenPromiseError("a key that nobody knows was lost")

    def check_move(self, old: Task | None, new: Task | None, before: State, after: State) -> None:
        """Only the arrows of the specification, each for its own ticket; nothing open or on disk is forgotten."""
        match old, new:
            case (None, Starting()):
                self._check_claim(new, before)
            case (Starting(), Active()) if old.ticket == new.ticket:
                pass
            case (Starting(), None):
                pass
            case (Starting(), Starting()) if _rebased(old, new):
                pass
            case (Active(), Active()) if _rebased(old, new):
                pass
            case (Active(), Settled()) if old.ticket == new.ticket:
                self._check_settled(old, new)
            case (Settled(), Settled()) if old.ticket == new.ticket and old.outcome is new.outcome:
                self._check_receipts(old, new)
            case (Settled(), None) if not old.workspace:
                self._check_evicted(old, before, after)
            case _ if old == new:
                pass
            case _:
                raise BrokenPromiseError(f"no such arrow: {old} -> {new}")

    def _check_claim(self, new: Starting, before: State) -> None:
        held = {*before.seen, *before.seen_wide}
        held |= {key for task in before.tasks.values() if isinstance(task, Starting | Active) for key in task.stories}
        if held.intersection(new.stories):
            raise BrokenPromiseError("a claim took stories that were told or in flight")
        if any(task.period == new.period for task in self.completed):
            raise BrokenPromiseError("a second conversation for a day whose digest was written")

    def _check_settled(self, old: Active, new: Settled) -> None:
        if new.outcome is not Outcome.COMPLETED:
            return
        given = self.writer.begun.get(old.ticket)
        if given is None or brief_hash(given) != old.brief_hash:
            raise BrokenPromiseError("a digest was recorded for a conversation that was not given its stories")
        remembered = {key for story in given.stories for key in story.identity.stored}
        if not remembered.issuperset(old.stories):
            raise BrokenPromiseError("a story is remembered for a conversation that was not given it")
        self.completed.append(new)
        for story in given.stories:
            tickets = self.told.setdefault(story.link, set())
            tickets.add(old.ticket)
            if len(tickets) > 1:
                raise BrokenPromiseError(f"told twice: {story.link}")

    def _check_receipts(self, old: Settled, new: Settled) -> None:
        had = {receipt.channel for receipt in old.receipts if receipt.at}
        if had - {receipt.channel for receipt in new.receipts if receipt.at}:
            raise BrokenPromiseError("a receipt was lost")

    def _check_evicted(self, old: Settled, before: State, after: State) -> None:
        evicted = len(before.tasks) >= self.limits.tasks
        reopened = old.outcome is not Outcome.COMPLETED
        if not (evicted or reopened) or len(after.tasks) > self.limits.tasks:
            raise BrokenPromiseError("a day was forgotten")

    def check_memory(self, before: State, after: State) -> None:
        """``seen`` grows by told stories only, and shrinks only above its cap, oldest first."""
        ended = [
            (old, after.tasks.get(key))
            for key, old in before.tasks.items()
            if isinstance(old, Active) and isinstance(after.tasks.get(key), Settled)
        ]
        told = {
            key
            for old, new in ended
            if isinstance(new, Settled) and new.outcome is Outcome.COMPLETED
            for key in old.stories
        }
        if set(after.seen) - set(before.seen) - told:
            raise BrokenPromiseError("something was remembered that was not told")
        if set(before.seen) - set(after.seen) and len(after.seen) < self.limits.seen_fingerprints:
            raise BrokenPromiseError("something told was forgotten")
        if told and not told.issubset(after.seen):
            raise BrokenPromiseError("a told story is not remembered")

    # --- at the end ------------------------------------------------------------------------------------------------

    def check_copies(self) -> None:
        """Every completed digest left the house; twice only when a process died meanwhile."""
        for task in self.completed:
            copies = self.copies[task.ticket or ""]
            if copies < 1:
                raise BrokenPromiseError(f"the digest of {task.period} was never delivered")
            if copies > 1 and not self.kills:
                raise BrokenPromiseError(f"the digest of {task.period} was delivered {copies} times and nobody died")

    def check_one_a_day(self) -> None:
        days = Counter(task.period for task in self.completed)
        if any(count > 1 for count in days.values()):
            raise BrokenPromiseError(f"two digests for a day: {days}")

    def check_nothing_lost(self, now: datetime, above_cap: Collection[str] = ()) -> None:
        """After the world was healed, everything of the last seven days was told, or named as above the cap."""
        since = now - self.limits.catch_up
        lost = [
            link
            for link, (_, published, _) in self.stories.items()
            if (published is None or published >= since) and link not in self.told and link not in above_cap
        ]
        if lost:
            raise BrokenPromiseError(f"lost: {', '.join(lost)}")

    def check_nothing_left(self, state: State) -> None:
        left = [
            task
            for task in state.tasks.values()
            if isinstance(task, Starting | Active | Foreign) or task.workspace or task.owed
        ]
        if left:
            raise BrokenPromiseError(f"never finished: {left}")
