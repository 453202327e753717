"""What the automation service tells a run in its environment, checked. Pure.

Local mode (automation service 1.26, measured) names everything below; the cloud names no agent server, no workspace
and another key for the callback. A variable that is not set is empty here; those that cannot be used are one error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from news_digest.errors import ConfigError
from news_digest.model import Json

__all__ = ["DEFAULT_AUTOMATION", "Injected", "hidden", "longest_first", "read_injected", "secrets_of"]

DEFAULT_AUTOMATION: Final = "default"
"""The automation's id where nothing names one (specification, "Storage")."""

_SECRETS: Final = (
    "AUTOMATION_CALLBACK_API_KEY",
    "AUTOMATION_KV_TOKEN",
    "OPENHANDS_API_KEY",
    "OPENHANDS_CLOUD_API_KEY",
    "OH_SESSION_API_KEYS_0",
    "SESSION_API_KEY",
)
_SHORTEST_SECRET: Final = 6
"""What is shorter hides nothing and would blot out ordinary words."""
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Injected:
    """The service's word to one run."""

    agent_server_url: str = ""
    session_key: str = field(default="", repr=False)
    workspace_base: str = ""
    api_url: str = ""
    callback_url: str = ""
    phase_url: str = ""
    callback_key: str = field(default="", repr=False)
    kv_token: str = field(default="", repr=False)
    automation_id: str = DEFAULT_AUTOMATION
    automation_name: str = ""
    run_id: str = ""
    trigger: str = ""
    is_cloud: bool = False

    @property
    def has_kv(self) -> bool:
        """Return whether the state can live in the service's KV store."""
        return bool(self.kv_token and self.api_url)


def read_injected(environment: Mapping[str, str]) -> Injected:
    """Return what the service says; raises ``ConfigError`` that names every variable that cannot be used."""
    event = _event(environment.get("AUTOMATION_EVENT_PAYLOAD", ""))
    troubles = list(_troubles(environment, event))
    if troubles:
        raise ConfigError(
            "the automation service's environment cannot be used",
            cause="; ".join(troubles),
            hint="these variables come from the automation service; see its version and its AUTOMATION_BASE_URL",
        )
    known = event if isinstance(event, Mapping) else {}
    text = _texts(environment)
    return Injected(
        agent_server_url=text("AGENT_SERVER_URL").rstrip("/"),
        session_key=text("SESSION_API_KEY"),
        workspace_base=text("WORKSPACE_BASE"),
        api_url=text("AUTOMATION_API_URL").rstrip("/"),
        callback_url=text("AUTOMATION_CALLBACK_URL"),
        phase_url=text("AUTOMATION_PHASE_URL"),
        callback_key=text("AUTOMATION_CALLBACK_API_KEY") or text("OPENHANDS_API_KEY"),
        kv_token=text("AUTOMATION_KV_TOKEN"),
        automation_id=str(known.get("automation_id") or text("AUTOMATION_ID") or DEFAULT_AUTOMATION),
        automation_name=str(known.get("automation_name") or text("AUTOMATION_NAME")),
        run_id=text("AUTOMATION_RUN_ID"),
        trigger=str(known.get("trigger") or text("AUTOMATION_TRIGGER_TYPE")),
        is_cloud=bool(text("OPENHANDS_CLOUD_API_URL") or text("SANDBOX_ID")),
    )


def secrets_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that must never be printed, the longest first."""
    return longest_first([environment.get(name, "").strip() for name in _SECRETS])


def longest_first(values: Iterable[str]) -> tuple[str, ...]:
    """Return secrets as :func:`hidden` takes them: the longest first, what is too short to be one left out."""
    return tuple(sorted({value for value in values if len(value) >= _SHORTEST_SECRET}, key=len, reverse=True))


def hidden(text: str, secrets: tuple[str, ...]) -> str:
    """Return a text with every secret in it blotted out."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def _texts(environment: Mapping[str, str]) -> Callable[[str], str]:
    return lambda name: environment.get(name, "").strip()


def _event(payload: str) -> Json:
    """Return the event that started the run: an object, None without one, the text itself where it is no JSON."""
    if not payload.strip():
        return None
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        return payload


def _troubles(environment: Mapping[str, str], event: Json) -> Iterator[str]:
    """Yield what is wrong, one part of a sentence each; a secret is named and never shown."""
    text = _texts(environment)
    for name in ("AGENT_SERVER_URL", "AUTOMATION_API_URL", "AUTOMATION_CALLBACK_URL", "AUTOMATION_PHASE_URL"):
        if text(name) and not _is_address(text(name)):
            yield f"{name}={_shown(text(name))} is no http(s) address"
    yield from (f"{name} has characters that no HTTP header may have" for name in _SECRETS if _is_odd(text(name)))
    yield from _token_troubles(text("AUTOMATION_KV_TOKEN"), text("AUTOMATION_API_URL"))
    if text("WORKSPACE_BASE") and not text("WORKSPACE_BASE").startswith("/"):
        yield f"WORKSPACE_BASE={_shown(text('WORKSPACE_BASE'))} is no absolute path"
    if text("AUTOMATION_RUN_ID") and not _is_uuid(text("AUTOMATION_RUN_ID")):
        yield f"AUTOMATION_RUN_ID={_shown(text('AUTOMATION_RUN_ID'))} is no UUID"
    if not text("AUTOMATION_ID").isprintable():
        yield "AUTOMATION_ID has characters that cannot be shown"
    yield from _event_troubles(event)


def _token_troubles(token: str, api_url: str) -> Iterator[str]:
    if token and not re.fullmatch(r"[\w-]+\.[\w-]+\.[\w-]+", token, re.ASCII):
        yield "AUTOMATION_KV_TOKEN is no token of the form a.b.c"
    if token and not api_url:
        yield "AUTOMATION_KV_TOKEN is set and AUTOMATION_API_URL is not"


def _event_troubles(event: Json) -> Iterator[str]:
    if event is not None and not isinstance(event, Mapping):
        yield f"AUTOMATION_EVENT_PAYLOAD={_shown(str(event))} is no JSON object"
    elif event and not isinstance(event.get("automation_id", ""), str):
        yield "AUTOMATION_EVENT_PAYLOAD has an automation_id that is no text"
    elif event and not event.get("automation_id", "").isprintable():
        yield "AUTOMATION_EVENT_PAYLOAD has an automation_id with characters that cannot be shown"


def _is_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return usable and not any(character.isspace() or not character.isprintable() for character in value)


def _is_odd(value: str) -> bool:
    return not (value.isascii() and value.isprintable())


def _is_uuid(value: str) -> bool:
    try:
        UUID(value)
    except ValueError:
        return False
    return True


def _shown(value: str) -> str:
    shown = ascii(value)
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 3] + "..."
