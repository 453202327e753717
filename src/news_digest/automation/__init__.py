"""One run under the OpenHands automation service: ``python -m news_digest.automation [FOLDER]``.

Reads what the service says in the environment and ``config.json`` (in FOLDER, else in the working folder), runs the
lifecycle once within its budget, prints the digest between markers, and calls the service back at every end: done,
failed, configured wrongly, stopped by a signal.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final, TextIO

from news_digest.errors import ConfigError, NewsDigestError
from news_digest.hygiene import clean
from news_digest.openhands.callback import Callback
from news_digest.openhands.injected import Injected, hidden, longest_first, read_injected, secrets_of
from news_digest.ports import Http, Step

if TYPE_CHECKING:
    from news_digest.report import RunReport

__all__ = ["SignalledError", "main"]

BUG: Final = 1
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
AFTER_SIGNAL: Final = 128
"""A process that a signal ended exits with this plus the signal's number, as shells report it."""

_CALLBACK: Final = (
    "AUTOMATION_CALLBACK_URL",
    "AUTOMATION_CALLBACK_API_KEY",
    "OPENHANDS_API_KEY",
    "AUTOMATION_RUN_ID",
)
"""What calling back takes; the run's id comes last because it is in the address too."""


class SignalledError(KeyboardInterrupt):
    """A signal asked the run to stop; the run's own clean-up treats it like Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@dataclass
class _End:
    """How a run ended, as the service is told."""

    code: int = 0
    error: str = ""
    conversation_id: str = ""


@dataclass
class _Log:
    """The run log: the digest on one stream, everything else on the other; no secret passes."""

    out: TextIO
    err: TextIO
    secrets: tuple[str, ...] = field(default=(), repr=False)
    encoding: str = "utf-8"

    def note(self, text: str) -> None:
        self.err.write(clean(hidden(text, self.secrets)) + "\n")
        self.err.flush()

    def write(self, text: str) -> int:
        return self.out.write(hidden(text, self.secrets))

    def flush(self) -> None:
        self.out.flush()


def main(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Run once and return the exit code; never raises, and every end is reported to the service.

    ``arguments``: the folder where ``config.json`` is looked for first; nothing else.
    """
    surroundings = dict(os.environ if environment is None else environment)
    log = _Log(sys.stdout, sys.stderr, secrets_of(surroundings), sys.stdout.encoding or "utf-8")
    for number in SIGNALS:
        signal.signal(number, _raise)
    end = _End()
    try:
        _run(Path(arguments[0] if arguments else ""), surroundings, log, end)
    except SignalledError as stopped:
        end.code = AFTER_SIGNAL + stopped.number
        end.error = f"the run was stopped by {signal.Signals(stopped.number).name}; the next run goes on from here"
    except NewsDigestError as error:
        end.code = error.exit_code
        end.error = f"{error}" + (f" (next: {error.hint})" if error.hint else "")
    except Exception as error:  # noqa: BLE001 - the entry: what nobody foresaw is reported as a bug, not as silence
        end.code, end.error = BUG, f"a bug in news-digest: {type(error).__name__}: {error}"
        log.note(traceback.format_exc())
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if end.error:
        log.note(f"failed: {end.error}")
    _report(surroundings, end, log)
    return end.code


def _raise(number: int, _frame: FrameType | None) -> None:
    raise SignalledError(number)


def _report(environment: Mapping[str, str], end: _End, log: _Log) -> None:
    """Call the service back; where its environment is damaged, with what of it can be used."""
    callback = Callback(_reachable(environment), lambda: _client(environment), _sleep)
    trouble = callback.complete(error=hidden(end.error, log.secrets), conversation_id=end.conversation_id)
    if trouble:
        log.note(f"warning: the automation service was not told how the run ended: {trouble}")


def _reachable(environment: Mapping[str, str]) -> Injected:
    """Return where and how to call back; nothing where that cannot be read."""
    for names in (_CALLBACK, _CALLBACK[:-1]):
        try:
            return read_injected({name: environment[name] for name in names if name in environment})
        except ConfigError:
            continue
    return Injected()


def _client(environment: Mapping[str, str]) -> Http:
    from news_digest import __version__  # noqa: PLC0415 - a client that is made at the very end
    from news_digest.http import CurlHttp, Proxies  # noqa: PLC0415

    return CurlHttp(f"news-digest/{__version__}", proxies=Proxies.of(environment))


def _sleep(span: timedelta) -> None:
    time.sleep(span.total_seconds())


# --- the run -------------------------------------------------------------------------------------------------------


def _run(folder: Path, environment: dict[str, str], log: _Log, end: _End) -> None:
    from news_digest.automation.wiring import (  # noqa: PLC0415 - errors of imports are ends
        AutomationWiring,
        secrets_named,
        settings_of,
    )
    from news_digest.run import run  # noqa: PLC0415

    injected = read_injected(environment)
    settings = settings_of(injected, environment, folder, Path.cwd())
    log.secrets = longest_first((*log.secrets, *secrets_named(settings)))
    teller = _Teller(log)
    wiring = AutomationWiring(settings, tell=teller, stdout=log, began=lambda ticket: _began(end, ticket))
    teller.phase = Callback(injected, wiring.http, _sleep).phase
    job = wiring.job()
    report = run(job, wiring.edges(), wiring.limits())
    _end_of(report, end, is_conversation=job.writer == "openhands")
    for line in report.lines():
        log.note(line)


def _began(end: _End, ticket: str) -> None:
    end.conversation_id = ticket


def _end_of(report: RunReport, end: _End, *, is_conversation: bool) -> None:
    """Take over how the run ended; a ticket of a writer without conversations means nothing to the service."""
    end.code = report.exit_code
    end.conversation_id = report.conversation_id if is_conversation else ""
    if end.code:
        told = [report.line(), *(f"not delivered to {d.channel}: {d.cause}" for d in report.delivered if d.cause)]
        end.error = "; ".join([*told, *([f"next: {report.hint}"] if report.hint else [])])


class _Teller:
    """Shows each stage once in the run log, and the long wait as the run's phase."""

    def __init__(self, log: _Log) -> None:
        self._log = log
        self._stage = ""
        self.phase: Callable[[str], None] = lambda _text: None

    def __call__(self, step: Step) -> None:
        if step.stage == self._stage:
            return
        self._stage = step.stage
        self._log.note(f"{step.stage}: {step.text}")
        if step.stage == "write":
            self.phase(step.text)
