"""The document's ceiling: how its size is counted, and what is cut, in which order, to stay below it.

Services count differently. The stricter count is the ASCII-escaped JSON, in which one emoji costs 12 bytes; the other
is the UTF-8 of the JSON, which is never larger (measured on both, ``docs/decisions.md``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from news_digest.errors import DocumentTooLarge
from news_digest.model import Fingerprint, Json, Limits, Receipt, Settled, State

__all__ = ["CUTS", "size", "too_large"]

_LEAST_FINGERPRINTS: Final = Limits().least_fingerprints


def size(document: Mapping[str, Json]) -> int:
    """Return the document's size in bytes as the strictest service counts it: ASCII-escaped, with its key."""
    return len(json.dumps({"state": document}))


def _cut_digest_text(state: State, excess: int) -> State:
    last = state.last_digest
    if last is None:
        return state
    return replace(state, last_digest=replace(last, text=_without_bytes(last.text, excess)))


def _without_bytes(text: str, excess: int) -> str:
    """Return the text without at least ``excess`` bytes of its escaped form, cut at the end."""
    while text and excess > 0:
        excess -= len(json.dumps(text[-1])) - 2
        text = text[:-1]
    return text


def _cut_reasons(state: State, _excess: int) -> State:
    state = replace(state, last_feed_errors=(), last_feed_notices=())
    return _with_settled(state, lambda task: replace(task, reason=""))


def _cut_receipt_details(state: State, _excess: int) -> State:
    return _with_settled(state, lambda task: replace(task, receipts=tuple(map(_bare, task.receipts))))


def _bare(receipt: Receipt) -> Receipt:
    return replace(receipt, detail="")


def _with_settled(state: State, change: Callable[[Settled], Settled]) -> State:
    tasks = {key: change(task) if isinstance(task, Settled) else task for key, task in state.tasks.items()}
    return replace(state, tasks=tasks)


def _cut_wide(state: State, excess: int) -> State:
    return replace(state, seen_wide=_without_oldest(state.seen_wide, excess, least=0))


def _cut_seen(state: State, excess: int) -> State:
    return replace(state, seen=_without_oldest(state.seen, excess, least=_LEAST_FINGERPRINTS))


def _without_oldest(prints: tuple[Fingerprint, ...], excess: int, *, least: int) -> tuple[Fingerprint, ...]:
    droppable = max(0, len(prints) - least)
    drop = 0
    while drop < droppable and excess > 0:
        excess -= len(json.dumps(prints[drop])) + 2
        drop += 1
    return prints[drop:]


CUTS: Final[tuple[Callable[[State, int], State], ...]] = (
    _cut_digest_text,
    _cut_reasons,
    _cut_receipt_details,
    _cut_wide,
    _cut_seen,
)
"""What gives way, first to last: each takes a state and the bytes that are too many; an open task never does."""


def too_large(document: Mapping[str, Json], ceiling: int) -> DocumentTooLarge:
    """Return the error that names the largest keys of a document that cannot be cut any further."""
    largest = ", ".join(f"{key} ({count} bytes)" for key, count in _largest(document.items()))
    return DocumentTooLarge(
        "cannot save the state",
        thing=f"{size(document)} bytes of at most {ceiling}",
        cause=f"the largest keys are {largest}",
        hint="remove what another program put into the document, or give news-digest a state of its own",
    )


def _largest(items: Iterable[tuple[str, Json]]) -> list[tuple[str, int]]:
    sizes = [(key, len(json.dumps(value))) for key, value in items]
    return sorted(sizes, key=lambda pair: -pair[1])[:3]
