"""Find the configuration and the places where things live: all about files and the environment is decided here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from news_digest.config import Config, configure, sources, variable
from news_digest.errors import ConfigError

if TYPE_CHECKING:
    from news_digest.model import FeedSource, Json

__all__ = ["Places", "Settings", "load_settings", "state_file"]

_TOML: Final = "news-digest.toml"
_JSON: Final = "config.json"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")


class Places(NamedTuple):
    """Where everything of one digest lives."""

    state: Path
    archive: Path
    cache: Path
    workspaces: Path

    @property
    def journal(self) -> Path:
        """Return the file that remembers what happened to each story."""
        return self.archive / "journal.jsonl"


class Settings(NamedTuple):
    """The configuration, the file that it came from (None: only defaults and environment) and the places."""

    config: Config
    file: Path | None
    places: Places
    environment: Mapping[str, str]

    def sources(self) -> tuple[FeedSource, ...]:
        """Return the feeds with their secret headers; raises ``ConfigError`` where the environment lacks one."""
        return sources(self.config, self.environment)


def load_settings(environment: Mapping[str, str], folder: Path, given: str | None = None) -> Settings:
    """Return the settings for a working folder; ``given`` names the file, else the usual places are looked at.

    Raises ``ConfigError``, also for a file that was given and is not there.
    """
    file = Path(given) if given else _find(environment, folder)
    document = _read(file) if file else {}
    reference = file is not None and file.suffix == ".json"
    event_id = _event_id(environment)
    told = {**environment, variable("automation_id"): event_id} if event_id else environment
    config = configure(document, told, file=str(file or ""), reference=reference)
    return Settings(config, file, _places(config, told, folder), told)


def _find(environment: Mapping[str, str], folder: Path) -> Path | None:
    user = _user_folder(environment, "XDG_CONFIG_HOME", ".config")
    candidates = (folder / _TOML, folder / _JSON, user / _TOML)
    return next((path for path in candidates if path.is_file()), None)


def _read(file: Path) -> Mapping[str, Json]:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigError("cannot read the configuration", thing=str(file), cause="there is no such file") from error
    except (OSError, UnicodeDecodeError) as error:
        cause = str(error.strerror) if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError("cannot read the configuration", thing=str(file), cause=cause) from error
    try:
        document = json.loads(text) if file.suffix == ".json" else _toml(text)
    except (ValueError, RecursionError) as error:
        form = "JSON" if file.suffix == ".json" else "TOML"
        raise ConfigError(
            "cannot read the configuration", thing=str(file), cause=f"no valid {form}: {error}"
        ) from error
    if not isinstance(document, Mapping):
        raise ConfigError("cannot read the configuration", thing=str(file), cause="it is no JSON object")
    return document


def _toml(text: str) -> Mapping[str, Json]:
    import tomllib  # noqa: PLC0415 - a configuration in JSON, or none, does without it

    return tomllib.loads(text)


# --- places --------------------------------------------------------------------------------------------------------


def _places(config: Config, environment: Mapping[str, str], folder: Path) -> Places:
    identity = config.text("automation_id")
    name = _file_name(identity)
    state, archive, cache = (
        _chosen(config, f"paths.{place}", environment, folder) for place in ("state", "archive", "cache")
    )
    state = state or state_file(environment, identity)
    return Places(
        state=state,
        archive=archive or _user_folder(environment, "XDG_DATA_HOME", ".local/share") / name,
        cache=cache or _user_folder(environment, "XDG_CACHE_HOME", ".cache") / name,
        workspaces=state.parent / "workspaces",
    )


def _chosen(config: Config, name: str, environment: Mapping[str, str], folder: Path) -> Path | None:
    """Return a configured path, None where there is none.

    A relative one belongs to the file that names it, so that a scheduler finds the same state from any working folder;
    in a variable it belongs to the working folder.
    """
    value, origin = config.text(name), config.origins[name]
    if not value:
        return None
    if "\0" in value:
        raise ConfigError("wrong value", thing=f"{name} in {origin.place}", cause=f"{value!r} is not a path")
    if value.startswith("~/"):
        return _home(environment) / value[2:]
    return (folder if origin.is_environment else folder / Path(origin.place).parent) / value


def state_file(environment: Mapping[str, str], automation_id: str = "default") -> Path:
    """Return where the state document is (specification, "Storage", and ``docs/state.md``).

    Below the workspace root of the automation service where there is one; else below ``~/.openhands/workspaces`` when a
    document is there already; else in the user's state folder. The id never leaves the folder.
    """
    name = f"automation-state/news_digest_{_file_name(_event_id(environment) or automation_id)}.json"
    workspace = environment.get("WORKSPACE_BASE", "")
    if workspace:
        return Path(workspace).parents[1] / name if len(Path(workspace).parents) > 1 else Path(workspace) / name
    shared = _home(environment) / ".openhands" / "workspaces" / name
    if shared.is_file():
        return shared
    return _user_folder(environment, "XDG_STATE_HOME", ".local/state") / Path(name).name


def _event_id(environment: Mapping[str, str]) -> str:
    """Return the automation's id from the event that started the run; empty where it names none."""
    payload = environment.get("AUTOMATION_EVENT_PAYLOAD", "")
    try:
        event = json.loads(payload) if payload else {}
    except (ValueError, RecursionError) as error:
        raise ConfigError("wrong value", thing="AUTOMATION_EVENT_PAYLOAD", cause=f"no valid JSON: {error}") from error
    identity = event.get("automation_id") if isinstance(event, Mapping) else None
    return identity if isinstance(identity, str) else ""


def _file_name(identity: str) -> str:
    """Return an id as a part of a file name: letters, digits, ``-`` and ``_`` only."""
    return _UNSAFE.sub("_", identity)[:100] or "default"


def _home(environment: Mapping[str, str]) -> Path:
    if environment.get("HOME"):
        return Path(environment["HOME"])
    try:
        return Path.home()
    except RuntimeError as error:
        raise ConfigError("cannot find the home folder", cause=str(error), hint="set HOME") from error


def _user_folder(environment: Mapping[str, str], name: str, fallback: str) -> Path:
    """Return our folder below one of the XDG base folders; a relative value counts as unset (XDG specification)."""
    value = environment.get(name, "")
    base = Path(value) if value and Path(value).is_absolute() else _home(environment) / fallback
    return base / "news-digest"
