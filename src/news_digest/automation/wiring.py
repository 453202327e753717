"""Settings and edges of a run under the automation service: what differs from a run by hand.

The state is in the KV store when the run has a token for it, else in the specification's file; the writer is the agent
server's unless the configuration names another one; the digest goes between markers, because the run log has other
lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol, TextIO, cast

from news_digest.cli.settings import Places, Settings, state_file
from news_digest.cli.wiring import Wiring
from news_digest.config import Config, configure, variable
from news_digest.errors import ConfigError
from news_digest.model import Brief, Conversation, Json, Period, Ticket
from news_digest.openhands.injected import Injected
from news_digest.openhands.server import AgentServer
from news_digest.ports import Progress, Tell, Writer
from news_digest.variables import named, named_by

__all__ = ["CONFIG", "FORMAT", "AutomationWiring", "Sink", "secrets_named", "settings_of"]

CONFIG: Final = "config.json"
FORMAT: Final = "format"
"""The key that tells our ``config.json`` (every key of ours, checked) from the reference's (unknown keys ignored)."""


def settings_of(injected: Injected, environment: Mapping[str, str], bundle: Path, working: Path) -> Settings:
    """Return the settings of a run; raises ``ConfigError``."""
    file = next((folder / CONFIG for folder in (bundle, working) if (folder / CONFIG).is_file()), None)
    document = _read(file) if file else {}
    is_ours = FORMAT in document
    document.pop(FORMAT, None)
    told = {**environment, **_settled(injected, document, environment)}
    complete = {**told, **_server_secrets(injected, document, told)}
    config = configure(document, complete, file=str(file or ""), reference=not is_ours)
    return Settings(config, file, _places(injected, environment, config), complete)


def _settled(injected: Injected, document: Mapping[str, Json], environment: Mapping[str, str]) -> dict[str, str]:
    """Return what the service decides, as variables of the configuration."""
    settled = {variable("automation_id"): injected.automation_id}
    if not environment.get(variable("store")) and "store" not in document:
        settled[variable("store")] = "kv" if injected.has_kv else "file"
    if not environment.get(variable("writer")) and "writer" not in document:
        settled[variable("writer")] = "openhands"
    return settled


def _read(file: Path) -> dict[str, Json]:
    try:
        document = json.loads(file.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        cause = error.strerror if isinstance(error, OSError) else f"no valid JSON: {error}"
        raise ConfigError("cannot read the configuration", thing=str(file), cause=str(cause)) from error
    if not isinstance(document, dict):
        raise ConfigError("cannot read the configuration", thing=str(file), cause="it is no JSON object")
    return document


def _places(injected: Injected, environment: Mapping[str, str], config: Config) -> Places:
    """Return where things live: everything beside the state, which stays between runs."""
    state = Path(config.text("paths.state") or state_file(environment, injected.automation_id)).expanduser()
    archive, cache = config.text("paths.archive"), config.text("paths.cache")
    return Places(
        state=state,
        archive=Path(archive).expanduser() if archive else state.with_suffix(".archive"),
        cache=Path(cache).expanduser() if cache else state.with_suffix(".cache"),
        workspaces=state.parent.parent if injected.workspace_base else state.with_suffix(".workspaces"),
    )


# --- secrets of the agent server -----------------------------------------------------------------------------------


def _server_secrets(injected: Injected, document: Mapping[str, Json], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the values of variables that the configuration names and the environment lacks, from the agent server.

    A secret that the server does not have stays missing: whoever needs it says so.
    """
    wanted = [name for name in dict.fromkeys(named(document)) if not environment.get(name)]
    if not wanted or not injected.agent_server_url:
        return {}
    from news_digest.http import CurlHttp, Proxies  # noqa: PLC0415 - only for a configuration with secrets

    with CurlHttp("news-digest", proxies=Proxies.of(environment)) as http:
        server = AgentServer(http, injected.agent_server_url, injected.session_key)
        return {name: value for name in wanted if (value := server.secret(name))}


def secrets_named(settings: Settings) -> tuple[str, ...]:
    """Return the values of all variables that the configuration names as secrets."""
    environment = settings.environment
    return tuple(dict.fromkeys(environment[name] for name in named_by(settings.config) if environment.get(name)))


# --- edges ---------------------------------------------------------------------------------------------------------


class Sink(Protocol):
    """What the digest is printed on: the part of a text stream that the channel ``log`` uses."""

    encoding: str

    def write(self, text: str, /) -> int:
        """Write a text."""
        ...

    def flush(self) -> None:
        """Let it be seen."""
        ...


class AutomationWiring(Wiring):
    """Makes the edges of one digest under the service; ``began`` is told a conversation's id as soon as it is known."""

    def __init__(self, settings: Settings, *, tell: Tell, stdout: Sink, began: Callable[[str], None]) -> None:
        super().__init__(settings, tell=tell, stdout=cast("TextIO", stdout), log_form="markers")
        self._began = began

    def writer(self, name: str) -> Writer:
        """Return a writer by its name; raises ``ConfigError``."""
        writer = super().writer(name)
        return _Telling(writer, self._began) if name == "openhands" else writer


class _Telling:
    """A writer that tells the id of a conversation when it has begun, for a run that is stopped while it waits."""

    def __init__(self, writer: Writer, began: Callable[[str], None]) -> None:
        self._writer = writer
        self._began = began

    def workspace(self, period: Period, ticket: Ticket) -> str:
        return self._writer.workspace(period, ticket)

    def begin(self, brief: Brief, ticket: Ticket) -> Conversation:
        conversation = self._writer.begin(brief, ticket)
        self._began(conversation.ticket)
        return conversation

    def find(self, ticket: Ticket, period: Period, brief_hash: str) -> Conversation | None:
        return self._writer.find(ticket, period, brief_hash)

    def poll(self, conversation: Conversation, brief: Brief | None) -> Progress:
        return self._writer.poll(conversation, brief)

    def release(self, conversation: Conversation, period: Period) -> bool:
        return self._writer.release(conversation, period)
