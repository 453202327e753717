"""The state document: JSON to :class:`State` and back (specification, "Top-Level Schema" and "Task Record").

What this version does not know is kept: :func:`encode` starts from ``State.origin``. A value that a run did not change
is written back as it was read, to the last digit. The ceiling holds for every input, measured in the stricter of the
two counts that the services use (ASCII-escaped JSON: one emoji costs 12 bytes).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from news_digest.ceiling import CUTS, size, too_large
from news_digest.errors import DocumentDamaged, DocumentTooNew
from news_digest.model import (
    Active,
    Fingerprint,
    Foreign,
    Funnel,
    Json,
    LastDigest,
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

__all__ = ["VERSION", "decode", "encode"]

VERSION = 1
"""The document's version (specification); a higher one is refused and never overwritten."""

_TASK_PREFIX = "news:"
_TASK_KEYS = frozenset(
    {
        *("period", "status", "conversation_id", "conversation_url", "workspace_dir", "item_keys", "item_count"),
        *("last_activity", "completed_at", "expired_after"),
        # Ours, beside those of the specification:
        *("attempt", "writer", "reason", "receipts", "wide_keys", "brief_hash", "run", "since", "caught_up"),
    }
)
_LIMITS = Limits()
_T = TypeVar("_T")


# --- reading -------------------------------------------------------------------------------------------------------


def decode(document: Json) -> State:
    """Return the state that a document holds; an empty object is an empty state.

    A task record that cannot be read becomes :class:`Foreign`: kept, never evicted, and its day counts as handled.
    Raises ``DocumentTooNew`` for a later version and ``DocumentDamaged`` where the ledger's own keys are garbled; what
    is only diagnostic is read as absent instead.
    """
    if not isinstance(document, Mapping):
        raise _damaged("the document", "is no JSON object")
    _check_version(document.get("version", VERSION))
    tasks = document.get("tasks", {})
    if not isinstance(tasks, Mapping):
        raise _damaged("tasks", "is no object")
    return State(
        tasks={key: _decode_task(key, record) for key, record in tasks.items()},
        seen=_fingerprints(document.get("seen", []), "seen"),
        seen_wide=_fingerprints(document.get("seen_wide", []), "seen_wide"),
        attempts=_attempts(document.get("attempts", {})),
        behind=_instants(document.get("behind")),
        last_checked=_instant(document.get("last_checked")),
        last_funnel=_decode_funnel(document.get("last_funnel")),
        last_feed_errors=_texts(document.get("last_feed_errors")),
        last_feed_notices=_texts(document.get("last_feed_notices")),
        last_above_cap=_count(document.get("last_above_cap")),
        last_digest=_decode_last_digest(document.get("last_digest")),
        updated_at=_instant(document.get("updated_at")),
        origin=document,
    )


def _check_version(version: Json) -> None:
    if isinstance(version, bool) or not isinstance(version, int):
        raise _damaged("version", f"is {version!r}, not a whole number")
    if version > VERSION:
        raise DocumentTooNew(
            "cannot read the state",
            thing=f"version {version}",
            cause=f"this program knows version {VERSION}",
            hint="update news-digest, or point it to another state; the document was left as it is",
        )


def _damaged(thing: str, cause: str) -> DocumentDamaged:
    return DocumentDamaged(
        "cannot read the state", thing=thing, cause=cause, hint="restore a copy with `news-digest state import FILE`"
    )


def _fingerprints(value: Json, name: str) -> tuple[Fingerprint, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _damaged(name, "is no list of strings")
    return tuple(Fingerprint(item) for item in value)


def _attempts(value: Json) -> dict[str, int]:
    if not isinstance(value, Mapping) or not all(_is_count(count) for count in value.values()):
        raise _damaged("attempts", "is no object of whole numbers")
    return {str(key): int(count) for key, count in value.items()}


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _count(value: Json) -> int:
    return value if _is_count(value) else 0


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _instant(value: Json) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    try:
        return datetime.fromtimestamp(value, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _instants(value: Json) -> dict[str, datetime]:
    if not isinstance(value, Mapping):
        return {}
    read = {str(key): _instant(entry) for key, entry in value.items()}
    return {key: instant for key, instant in read.items() if instant is not None}


def _span(value: Json) -> timedelta | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    try:
        return timedelta(seconds=value)
    except OverflowError:
        return None


def _decode_funnel(value: Json) -> Funnel | None:
    if not isinstance(value, Mapping):
        return None
    return Funnel(*(_count(value.get(stage)) for stage in ("fetched", "unseen", "fresh")))


def _decode_last_digest(value: Json) -> LastDigest | None:
    written_at = _instant(value.get("written_at")) if isinstance(value, Mapping) else None
    if written_at is None:
        return None
    return LastDigest(
        period=_text(value.get("period")),
        text=_text(value.get("text")),
        written_at=written_at,
        conversation_url=_text(value.get("conversation_url")),
        until=_instant(value.get("until")),
    )


def _decode_period(key: str) -> Period | None:
    try:
        period = Period(date.fromisoformat(key.removeprefix(_TASK_PREFIX)))
    except ValueError:
        return None
    return period if period.key == key else None


def _decode_task(key: str, record: Json) -> Task:
    period = _decode_period(key)
    if period is None or not isinstance(record, Mapping):
        return Foreign(key)
    status = record.get("status")
    if status in ("starting", "active"):
        return _decode_open(period, record)
    if isinstance(status, str) and status in set(Outcome):
        return _decode_settled(period, Outcome(status), record)
    return Foreign(key)


def _decode_open(period: Period, record: Mapping[str, Json]) -> Starting | Active:
    """Read an open record; an active one that names no conversation can only be a claim that went wrong."""
    ticket = _text(record.get("conversation_id"))
    starting = Starting(
        period=period,
        ticket=Ticket(ticket) if ticket else None,
        stories=tuple(Fingerprint(key) for key in _texts(record.get("item_keys"))),
        wide=tuple(Fingerprint(key) for key in _texts(record.get("wide_keys"))),
        story_count=_count(record.get("item_count")),
        last_activity=_instant(record.get("last_activity")) or datetime.fromtimestamp(0, UTC),
        workspace=_text(record.get("workspace_dir")),
        attempt=_count(record.get("attempt")) or 1,
        writer=_text(record.get("writer")),
        brief_hash=_text(record.get("brief_hash")),
        run=_text(record.get("run")),
        since=_instant(record.get("since")),
        caught_up=_instants(record.get("caught_up")),
    )
    if record.get("status") == "starting" or not ticket:
        return starting
    return Active(
        period=period,
        ticket=Ticket(ticket),
        stories=starting.stories,
        wide=starting.wide,
        story_count=starting.story_count,
        last_activity=starting.last_activity,
        conversation_url=_text(record.get("conversation_url")),
        workspace=starting.workspace,
        attempt=starting.attempt,
        writer=starting.writer,
        brief_hash=starting.brief_hash,
        since=starting.since,
        caught_up=starting.caught_up,
    )


def _decode_settled(period: Period, outcome: Outcome, record: Mapping[str, Json]) -> Settled:
    ticket = _text(record.get("conversation_id"))
    receipts = record.get("receipts")
    return Settled(
        period=period,
        ticket=Ticket(ticket) if ticket else None,
        outcome=outcome,
        story_count=_count(record.get("item_count")),
        last_activity=_instant(record.get("last_activity")) or datetime.fromtimestamp(0, UTC),
        completed_at=_instant(record.get("completed_at")),
        expired_after=_span(record.get("expired_after")),
        conversation_url=_text(record.get("conversation_url")),
        workspace=_text(record.get("workspace_dir")),
        attempt=_count(record.get("attempt")) or 1,
        writer=_text(record.get("writer")),
        reason=_text(record.get("reason")),
        receipts=tuple(_decode_receipt(name, value) for name, value in receipts.items())
        if isinstance(receipts, Mapping)
        else (),
    )


def _decode_receipt(channel: str, value: Json) -> Receipt:
    entry = value if isinstance(value, Mapping) else {}
    return Receipt(
        channel,
        at=_instant(entry.get("at")),
        detail=_text(entry.get("detail")),
        taken_at=_instant(entry.get("taken_at")),
        run=_text(entry.get("run")),
    )


# --- writing -------------------------------------------------------------------------------------------------------


def encode(state: State, *, ceiling: int = _LIMITS.document_bytes) -> dict[str, Json]:
    """Return the document of a state, at most ``ceiling`` bytes by :func:`size`.

    What is cut to fit, in this order: the last digest's text, feed errors and reasons, receipts' details, the oldest
    fingerprints down to ``Limits.least_fingerprints``; an open task never. Raises ``DocumentTooLarge`` when that does
    not do, naming what is in the way.
    """
    document = _encode(state)
    for cut in CUTS:
        excess = size(document) - ceiling
        if excess <= 0:
            return document
        state = cut(state, excess)
        document = _encode(state)
    if size(document) > ceiling:
        raise too_large(document, ceiling)
    return document


def _encode(state: State) -> dict[str, Json]:
    origin = state.origin
    document: dict[str, Json] = {**origin, "version": origin.get("version", VERSION)}
    known = origin.get("tasks", {})
    document["tasks"] = {key: _encode_task(task, known.get(key)) for key, task in state.tasks.items()}
    _set(document, "seen", list(state.seen), always=True)
    _set(document, "seen_wide", list(state.seen_wide))
    _set(document, "attempts", dict(state.attempts))
    _set(document, "behind", _encode_instants(state.behind))
    _keep(document, "last_checked", state.last_checked, _instant, datetime.timestamp)
    _keep(document, "last_funnel", state.last_funnel, _decode_funnel, _encode_funnel)
    _set(document, "last_feed_errors", [_printable(text) for text in state.last_feed_errors])
    _set(document, "last_feed_notices", [_printable(text) for text in state.last_feed_notices])
    _set(document, "last_above_cap", state.last_above_cap)
    _keep(document, "last_digest", state.last_digest, _decode_last_digest, _encode_last_digest)
    _keep(document, "updated_at", state.updated_at, _instant, datetime.timestamp)
    return document


def _set(document: dict[str, Json], key: str, value: Json, *, always: bool = False) -> None:
    """Write a value; an empty one only where the document had the key (or ``always``)."""
    if value or always or key in document:
        document[key] = value


def _keep(
    document: dict[str, Json],
    key: str,
    value: _T | None,
    read: Callable[[Json], _T | None],
    write: Callable[[_T], Json],
) -> None:
    """Write a value unless the document already says it: a float keeps its last digit, an object its unknown keys."""
    before = document.get(key)
    if value is None or read(before) == value:
        return
    written = write(value)
    document[key] = {**before, **written} if isinstance(before, Mapping) and isinstance(written, Mapping) else written


def _encode_instants(instants: Mapping[str, datetime]) -> dict[str, float]:
    return {key: instant.timestamp() for key, instant in instants.items()}


def _encode_funnel(funnel: Funnel) -> dict[str, int]:
    return {"fetched": funnel.fetched, "unseen": funnel.unseen, "fresh": funnel.fresh}


def _encode_last_digest(last: LastDigest) -> dict[str, Json]:
    return {
        "period": last.period,
        "conversation_url": _printable(last.conversation_url),
        "written_at": last.written_at.timestamp(),
        "text": _printable(last.text),
        **({"until": last.until.timestamp()} if last.until else {}),
    }


def _printable(text: str) -> str:
    """Return the text without lone surrogates, which no service can store."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _encode_task(task: Task, before: Json) -> Json:
    """Return a task's record: as it was where the run did not touch it, else with its unknown keys kept."""
    if isinstance(task, Foreign) or (before is not None and _decode_task(task.period.key, before) == task):
        return before
    foreign = (
        {key: value for key, value in before.items() if key not in _TASK_KEYS} if isinstance(before, Mapping) else {}
    )
    written = _encode_settled(task) if isinstance(task, Settled) else _encode_open(task)
    return {**{key: value for key, value in written.items() if value not in ("", None, [], {})}, **foreign}


def _encode_open(task: Starting | Active) -> dict[str, Json]:
    return {
        "period": str(task.period),
        "status": "active" if isinstance(task, Active) else "starting",
        "conversation_id": task.ticket,
        "conversation_url": task.conversation_url if isinstance(task, Active) else "",
        "workspace_dir": task.workspace,
        "item_keys": list(task.stories),
        "item_count": task.story_count,
        "last_activity": task.last_activity.timestamp(),
        "attempt": task.attempt,
        "writer": task.writer,
        "wide_keys": list(task.wide),
        "brief_hash": task.brief_hash,
        "run": task.run if isinstance(task, Starting) else "",
        "since": task.since.timestamp() if task.since else None,
        "caught_up": _encode_instants(task.caught_up),
    }


def _encode_settled(task: Settled) -> dict[str, Json]:
    return {
        "period": str(task.period),
        "status": str(task.outcome),
        "conversation_id": task.ticket,
        "conversation_url": _printable(task.conversation_url),
        "workspace_dir": task.workspace,
        "item_count": task.story_count,
        "last_activity": task.last_activity.timestamp(),
        "completed_at": task.completed_at.timestamp() if task.completed_at else None,
        "expired_after": task.expired_after.total_seconds() if task.expired_after is not None else None,
        "attempt": task.attempt,
        "writer": task.writer,
        "reason": _printable(task.reason),
        "receipts": {receipt.channel: _encode_receipt(receipt) for receipt in task.receipts},
    }


def _encode_receipt(receipt: Receipt) -> dict[str, Json]:
    written = {
        "at": receipt.at.timestamp() if receipt.at else None,
        "detail": _printable(receipt.detail),
        "taken_at": receipt.taken_at.timestamp() if receipt.taken_at else None,
        "run": receipt.run,
    }
    return {key: value for key, value in written.items() if value not in ("", None)}
