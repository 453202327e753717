"""What a run did, as a line for people and as JSON for programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from news_digest.model import Counts, Digest, FeedFailure, Funnel, Json, Outcome, Period

__all__ = ["Delivered", "Ended", "RunOutcome", "RunReport"]


class RunOutcome(StrEnum):
    """How a run ended."""

    WROTE = "wrote"
    DONE = "done"
    NOTHING_NEW = "nothing new"
    WAITING = "waiting"
    OVERTAKEN = "overtaken"
    FEEDS_FAILED = "all feeds failed"
    REFUSED = "writer refused"
    UNCLEAR = "writer unclear"
    NO_DIGEST = "no digest"


_EXIT_CODES = {
    RunOutcome.FEEDS_FAILED: 3,
    RunOutcome.REFUSED: 5,
    RunOutcome.UNCLEAR: 5,
    RunOutcome.NO_DIGEST: 5,
}
_UNDELIVERED_EXIT_CODE = 6


@dataclass(frozen=True, slots=True)
class Ended:
    """A task that this run settled."""

    period: Period
    outcome: Outcome
    reason: str = ""
    conversation_id: str = ""
    conversation_url: str = ""


@dataclass(frozen=True, slots=True)
class Delivered:
    """A delivery that this run tried; ``cause`` is empty when the channel took the digest."""

    period: Period
    channel: str
    cause: str = ""
    hint: str = ""


@dataclass
class RunReport:
    """What a run did; filled as it goes, read when it has ended."""

    period: Period
    started_at: datetime
    outcome: RunOutcome = RunOutcome.DONE
    detail: str = ""
    hint: str = ""
    funnel: Funnel | None = None
    feeds_read: int = 0
    failures: tuple[FeedFailure, ...] = ()
    notices: tuple[str, ...] = ()
    ended: list[Ended] = field(default_factory=list)
    delivered: list[Delivered] = field(default_factory=list)
    digests: list[Digest] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    conversation_id: str = ""
    conversation_url: str = ""

    @property
    def exit_code(self) -> int:
        """Return the process's exit code (``docs/exit-codes.md``)."""
        code = _EXIT_CODES.get(self.outcome, 0)
        undelivered = any(delivery.cause for delivery in self.delivered)
        return code or (_UNDELIVERED_EXIT_CODE if undelivered else 0)

    @property
    def counts(self) -> Counts | None:
        """Return the numbers of the period's digest, where this run has it."""
        return next((digest.counts for digest in self.digests if digest.period == self.period), None)

    def line(self) -> str:
        """Return the report as one line."""
        return f"{self.period}: {self.outcome}" + (f" - {self.detail}" if self.detail else "")

    def lines(self) -> list[str]:
        """Return the whole report for people, most important first."""
        return [
            self.line(),
            *(f"settled {e.period}: {e.outcome}" + (f" ({e.reason})" if e.reason else "") for e in self._earlier()),
            *(f"feed failed: {failure}" + (f" ({failure.hint})" if failure.hint else "") for failure in self.failures),
            *(f"note: {notice}" for notice in self.notices),
            *(f"not delivered: {d.period} to {d.channel}: {d.cause}" for d in self.delivered if d.cause),
            *(f"warning: {warning}" for warning in self.warnings),
            *([f"next: {self.hint}"] if self.hint else []),
        ]

    def _earlier(self) -> list[Ended]:
        """Return what was settled besides what the first line says."""
        said = self.outcome in (RunOutcome.WROTE, RunOutcome.NO_DIGEST)
        return [ended for ended in self.ended if not (said and ended.period == self.period)]

    def to_json(self) -> dict[str, Json]:
        """Return the report as a JSON object."""
        return {
            "period": str(self.period),
            "started_at": self.started_at.isoformat(),
            "outcome": str(self.outcome),
            "exit_code": self.exit_code,
            "detail": self.detail,
            "hint": self.hint,
            "funnel": _funnel(self.funnel),
            "feeds_read": self.feeds_read,
            "failures": [{"feed": f.feed, "reason": f.reason, "hint": f.hint} for f in self.failures],
            "notices": list(self.notices),
            "ended": [{"period": str(e.period), "outcome": str(e.outcome), "reason": e.reason} for e in self.ended],
            "delivered": [{"period": str(d.period), "channel": d.channel, "cause": d.cause} for d in self.delivered],
            "warnings": self.warnings,
            "conversation_id": self.conversation_id,
            "conversation_url": self.conversation_url,
        }


def _funnel(funnel: Funnel | None) -> dict[str, int] | None:
    if funnel is None:
        return None
    return {
        "fetched": funnel.fetched,
        "unseen": funnel.unseen,
        "fresh": funnel.fresh,
        "picked": funnel.picked,
        "above_cap": funnel.above_cap,
    }
