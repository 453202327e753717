"""The digest on a text stream: as plain text for a terminal, or as Markdown between markers in a run log.

No feed can forge a marker: in Markdown every line that could begin with ``=`` is escaped, and no text holds a line
break. Nor can one begin a line with what a build service takes for a command (``::`` or ``##[``).
"""

from __future__ import annotations

from typing import Final, TextIO

from news_digest.channels import Target
from news_digest.channels.options import Options
from news_digest.errors import ConfigError, DeliveryError
from news_digest.model import Digest, Period, Receipt
from news_digest.ports import Clock
from news_digest.render import markdown, terminal_text

__all__ = ["MARKER", "LogChannel", "between_markers", "log_text", "markers", "open_log"]

MARKER: Final = "====="
_COMMANDS: Final = ("::", "##[", "##vso[")
_WIDEST: Final = 400


def markers(period: Period) -> tuple[str, str]:
    """Return the line before a digest and the line after it."""
    return f"{MARKER} News digest {period} {MARKER}", f"{MARKER} end of digest {period} {MARKER}"


def between_markers(digest: Digest) -> str:
    """Return the digest as Markdown between two markers, each on a line of its own."""
    first, last = markers(digest.period)
    lines = [f"\\{line}" if line.startswith("=") else line for line in markdown(digest).splitlines()]
    return "\n".join([first, *map(_tame, lines), last, ""])


def log_text(digest: Digest, *, width: int = 0) -> str:
    """Return the digest as plain text, wrapped where a width is given."""
    return "\n".join([*map(_tame, terminal_text(digest, width=width).splitlines()), ""])


def _tame(line: str) -> str:
    return f"> {line}" if line.lstrip().startswith(_COMMANDS) else line


class LogChannel:
    """Writes a digest to a stream; what the stream's encoding lacks is written as an escape.

    Nobody can take a line back from a stream, so a second delivery prints a second time.
    """

    def __init__(
        self, stream: TextIO, *, clock: Clock, name: str = "log", form: str = "markers", width: int = 0
    ) -> None:
        self.name = name
        self._stream = stream
        self._clock = clock
        self._form = form
        self._width = width

    def deliver(self, digest: Digest) -> Receipt:
        """Write the digest and flush; raises ``DeliveryError`` when the stream takes it no more."""
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        text = self._text(digest).encode(encoding, "backslashreplace").decode(encoding)
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError) as error:
            raise DeliveryError(
                "cannot write the digest",
                thing=self.name,
                cause=str(error) or "the stream is closed",
                hint="`news-digest show` prints it again",
            ) from error
        return Receipt(self.name, at=self._clock(), detail=self._form)

    def _text(self, digest: Digest) -> str:
        match self._form:
            case "markers":
                return between_markers(digest)
            case "markdown":
                return "\n".join([*map(_tame, markdown(digest).splitlines()), ""])
            case _:
                return log_text(digest, width=self._width)


def open_log(target: Target) -> LogChannel:
    """Return the channel ``log``; options ``form`` (``markers``, ``markdown``, ``text``) and ``width``."""
    options = Options(target)
    form = options.text("form", "markers", choices=("markers", "markdown", "text"))
    width = options.number("width", 0, least=0, most=_WIDEST)
    options.done()
    if target.stream is None:
        raise ConfigError("cannot write a log", thing=target.name, cause="there is no stream", hint="pass one")
    return LogChannel(target.stream, clock=target.clock, name=target.name, form=form, width=width)
