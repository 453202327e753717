"""Writers that write within ``begin``: where their drafts are kept, and how a later process finds them.

A draft stands in ``<root>/news-digest/<day>/<ticket>.json`` with the hash of its brief. The folder is made
when needed, and no link is followed below the root.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from news_digest.brief import brief_hash
from news_digest.errors import ConfigError, Refused, WriterUnavailable
from news_digest.model import Brief, Conversation, Draft, Json, Period, Ticket
from news_digest.ports import Progress, Stopped, Wrote
from news_digest.wire import from_json, to_json

__all__ = ["DirectWriter"]

SAFE_TICKET = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")
"""A ticket names a file, so it may hold nothing that a path could mean something by."""

DRAFT_BYTES = 8 * 1024 * 1024
"""Most that is read back; a draft of 5,000 stories has about one."""


class DirectWriter:
    """Implements :class:`~news_digest.ports.Writer` around a function from brief to draft.

    What the function raises of ``ConfigError`` becomes ``Refused``: certainly nothing was written.
    """

    def __init__(self, root: str | Path, name: str, compose: Callable[[Brief], Draft]) -> None:
        self._root = Path(root)
        self._name = name
        self._compose = compose

    def workspace(self, period: Period, ticket: Ticket) -> str:
        """Return the file that will hold the draft; raises ``Refused`` for a ticket that names none."""
        return str(self._file(period, ticket))

    def begin(self, brief: Brief, ticket: Ticket) -> Conversation:
        """Write the draft; the second call with the same ticket and brief finds the first one's.

        Raises ``Refused`` where the ticket has a draft of another brief, or where the draft cannot be kept.
        """
        file, given = self._file(brief.period, ticket), brief_hash(brief)
        try:
            kept = self._read(file)
            if kept is None:
                self._keep(file, given, self._compose(brief))
            elif kept["brief"] != given:
                raise Refused("cannot begin", thing=ticket, cause="the ticket has a draft of another brief")
        except ConfigError as error:
            raise Refused("cannot begin", thing=self._name, cause=str(error), hint=error.hint) from error
        except OSError as error:
            hint = "make the folder writable, or set another one for workspaces"
            raise Refused("cannot keep the draft", thing=str(file), cause=_cause(error), hint=hint) from error
        return self._conversation(brief.period, ticket, given)

    def find(self, ticket: Ticket, period: Period, brief_hash: str) -> Conversation | None:
        """Return the conversation of a ticket that was given this brief, None where there is none."""
        if not SAFE_TICKET.fullmatch(ticket):
            return None
        file = self._file(period, ticket)
        with _asking(file):
            kept = self._read(file)
        if kept is None or kept["brief"] != brief_hash:
            return None
        return self._conversation(period, ticket, brief_hash)

    def poll(self, conversation: Conversation, brief: Brief | None) -> Progress:  # noqa: ARG002 - the port's
        """Return the draft, or that it is gone."""
        file = Path(conversation.workspace)
        with _asking(file):
            kept = self._read(file) if self._is_ours(file) else None
        if kept is None:
            return Stopped(f"no draft at {file}")
        try:
            return Wrote(from_json(Draft, kept["draft"]))
        except ValueError as error:
            return Stopped(f"the draft at {file} cannot be read: {error}")

    def release(self, conversation: Conversation, period: Period) -> bool:
        """Remove the draft, and the day's folder when that leaves it empty; False for a path that is not ours."""
        if not SAFE_TICKET.fullmatch(conversation.ticket):
            return False
        file = self._file(period, conversation.ticket)
        if conversation.workspace != str(file) or not self._is_ours(file):
            return False
        with _asking(file):
            file.unlink(missing_ok=True)
            for half in file.parent.glob(f".{file.name}.*"):  # a run was killed while it wrote
                half.unlink(missing_ok=True)
        for folder in (file.parent, file.parent.parent):
            try:
                folder.rmdir()
            except OSError:  # still in use by another draft, or gone
                break
        return True

    def _file(self, period: Period, ticket: Ticket) -> Path:
        if not SAFE_TICKET.fullmatch(ticket):
            raise Refused("cannot begin", thing=ticket, cause="a ticket has letters, digits, - and _ only")
        return self._root / "news-digest" / str(period) / f"{ticket}.json"

    def _is_ours(self, file: Path) -> bool:
        """Return whether a path stands where our drafts do, with no link on the way below the root."""
        if self._root / "news-digest" != file.parent.parent:
            return False
        return not any(each.is_symlink() for each in (file, file.parent, file.parent.parent))

    def _conversation(self, period: Period, ticket: Ticket, given: str) -> Conversation:
        return Conversation(ticket, self._name, "", self.workspace(period, ticket), given)

    def _read(self, file: Path) -> dict[str, Json] | None:
        """Return what is kept, None where nothing is or what is there is not ours."""
        if not self._is_ours(file):
            raise OSError(0, "a link stands in the way")
        try:
            if file.stat().st_size > DRAFT_BYTES:
                return None
            kept = json.loads(file.read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return kept if isinstance(kept, dict) and {"brief", "draft"} <= kept.keys() else None

    def _keep(self, file: Path, given: str, draft: Draft) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"brief": given, "draft": to_json(draft)}, ensure_ascii=False, indent=1)
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            with beside.open("w", encoding="utf-8", errors="surrogatepass") as sink:
                sink.write(text + "\n")
                sink.flush()
                os.fsync(sink.fileno())
            beside.replace(file)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def _asking(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WriterUnavailable("cannot read the draft", thing=str(file), cause=_cause(error)) from error


def _cause(error: OSError) -> str:
    return error.strerror or type(error).__name__
