"""Whether a day is over, from the bare JSON of the state document and without anything else of the package.

A scheduler starts a run many times a day, and on most of them this is the only question. ``tests/test_quiet.py`` holds
the answer to that of the whole run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from news_digest.model import Json

__all__ = ["is_over"]

_ENDED: Final = frozenset({"completed", "empty", "failed", "expired"})
_TEXTS: Final = ("seen", "seen_wide")


def is_over(document: Json, day: str) -> bool:
    """Return whether a run on ``day`` (``YYYY-MM-DD``) would find it completed, and nothing at all left to do.

    No task is open, no workspace waits for its removal, no channel is owed a digest. False in any doubt: the whole run
    then says what is the matter.
    """
    if not isinstance(document, Mapping) or type(document.get("version")) is not int or document["version"] != 1:
        return False
    tasks = document.get("tasks")
    if not isinstance(tasks, Mapping) or not all(_is_closed(record) for record in tasks.values()):
        return False
    today = tasks.get(f"news:{day}")
    return today is not None and today["status"] == "completed" and _is_sound(document)


def _is_closed(record: Json) -> bool:
    if not isinstance(record, Mapping) or record.get("workspace_dir"):
        return False
    receipts = record.get("receipts", {})
    return (
        isinstance(record.get("status"), str)
        and record["status"] in _ENDED
        and isinstance(receipts, Mapping)
        and all(isinstance(receipt, Mapping) and _is_number(receipt.get("at")) for receipt in receipts.values())
    )


def _is_sound(document: Mapping[str, Json]) -> bool:
    """Return whether the ledger's own keys are what they must be; see :func:`news_digest.document.decode`."""
    attempts = document.get("attempts", {})
    texts = [document.get(name, []) for name in _TEXTS]
    return (
        all(isinstance(listed, list) and all(isinstance(each, str) for each in listed) for listed in texts)
        and isinstance(attempts, Mapping)
        and all(_is_number(count) and isinstance(count, int) and count >= 0 for count in attempts.values())
    )


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
