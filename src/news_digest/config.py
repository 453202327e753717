"""The configuration: a mapping that becomes a :class:`Config`, or one clear message.

Three sources, the later wins: defaults, a file (``news-digest.toml``, or the reference's ``config.json``), environment
variables. Reading the files and the environment is the edge's work (:mod:`news_digest.cli.settings`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from news_digest.config_keys import CHANNEL, FEED_KEYS, KEYS, REFERENCE_KEYS, TABLES, Key, Kind, variable
from news_digest.errors import ConfigError

if TYPE_CHECKING:
    from news_digest.model import FeedSource, Json

__all__ = [
    "KEYS",
    "REFERENCE_KEYS",
    "Config",
    "Key",
    "Origin",
    "configure",
    "is_address",
    "secret_headers",
    "sources",
    "variable",
]

_BY_NAME: Final = {key.name: key for key in KEYS}
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})
_COUNT: Final = re.compile(r"[+-]?[0-9]{1,15}", re.ASCII)
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
"""A token (RFC 9110, 5.6.2)."""
_BREAKS_HEADER: Final = re.compile(r"[\r\n\0]")
_PASSWORD: Final = re.compile(r"//[^/@\s]*(?::[^@\s]*)?@")
"""Also one with a slash, which makes its address none."""
_SHOWN_CHARACTERS: Final = 80
"""How much of a wrong value a message shows: it stays on one line or two of a terminal."""


class Origin(NamedTuple):
    """Where a value was set: ``default``, a file's name, or an environment variable."""

    place: str
    is_environment: bool = False


class Config(NamedTuple):
    """The whole configuration; ``values`` by key, ``origins`` says where each was set."""

    values: Mapping[str, Json]
    origins: Mapping[str, Origin]
    channel_options: Mapping[str, Mapping[str, Json]]
    """By channel name: its options, and ``kind`` where the name is not the kind."""

    @property
    def feeds(self) -> tuple[FeedSource, ...]:
        """Return the feeds without their secret headers: see :func:`sources`."""
        return tuple(_source(entry, ()) for entry in self.values["feeds"])

    def text(self, name: str) -> str:
        """Return a text by its key."""
        return str(self.values[name])

    def count(self, name: str) -> int:
        """Return a whole number by its key."""
        return int(self.values[name])

    def flag(self, name: str) -> bool:
        """Return a truth by its key."""
        return bool(self.values[name])

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts by its key."""
        return tuple(self.values[name])


def configure(
    document: Mapping[str, Json],
    environment: Mapping[str, str],
    *,
    file: str = "",
    reference: bool = False,
) -> Config:
    """Return the configuration of a file's content and an environment.

    ``reference``: the content is the reference's ``config.json``, whose unknown keys are ignored. Raises
    ``ConfigError`` that names file, key, value and what is allowed.
    """
    given = _flat(document, file, reference=reference)
    values: dict[str, Json] = {}
    origins: dict[str, Origin] = {}
    for key in KEYS:
        name = variable(key.name)
        if environment.get(name, "").strip():
            origin, value = Origin(name, is_environment=True), environment[name]
        elif key.name in given:
            origin, value = Origin(file), given[key.name]
        else:
            origin, value = Origin("default"), key.default
        values[key.name] = _READERS[key.kind](key, value, origin)
        origins[key.name] = origin
    return Config(values, origins, {} if reference else _channel_options(document, file))


def sources(config: Config, environment: Mapping[str, str]) -> tuple[FeedSource, ...]:
    """Return the feeds with their secret headers, filled in from the variables that ``headers_env`` names.

    Only whoever reads feeds needs this: to look at yesterday's digest takes no secret. Raises ``ConfigError`` for a
    variable that is not set, or whose value fits no header.
    """
    secrets = secret_headers(config, environment)
    return tuple(_source(entry, secrets[entry["url"]]) for entry in config.values["feeds"])


def secret_headers(config: Config, environment: Mapping[str, str]) -> dict[str, list[tuple[str, str]]]:
    """Return the secret headers by the address of their feed; raises like :func:`sources`."""
    return {entry["url"]: _secrets(entry, environment) for entry in config.values["feeds"]}


def _secrets(entry: Mapping[str, Json], environment: Mapping[str, str]) -> list[tuple[str, str]]:
    found = []
    for header, wanted in entry.get("headers_env", {}).items():
        value = environment.get(wanted, "").strip()
        if not value or _BREAKS_HEADER.search(value):
            raise ConfigError(
                "missing secret",
                thing=f"header {header} of {_masked(entry['url'])}",
                cause=f"the environment variable {wanted} " + ("has line breaks" if value else "is not set"),
                hint=f"set {wanted}, or remove the header from headers_env",
            )
        found.append((header, value))
    return found


# --- the document --------------------------------------------------------------------------------------------------


def _flat(document: Mapping[str, Json], file: str, *, reference: bool) -> dict[str, Json]:
    """Return the values of a file by their dotted keys; an unknown key of a TOML file is an error."""
    if reference:
        return {name: document[name] for name in REFERENCE_KEYS if document.get(name) not in (None, "")}
    flat: dict[str, Json] = {}
    for name, value in document.items():
        if name == CHANNEL:
            continue
        if name in TABLES:
            if not isinstance(value, Mapping):
                raise _bad(name, value, Origin(file), f"a table [{name}]")
            flat |= {f"{name}.{inner}": entry for inner, entry in value.items()}
        else:
            flat[name] = value
    for name, value in flat.items():
        if name not in _BY_NAME:
            raise _unknown(name, value, file)
    return flat


def _channel_options(document: Mapping[str, Json], file: str) -> dict[str, Mapping[str, Json]]:
    tables = document.get(CHANNEL, {})
    if not isinstance(tables, Mapping) or not all(isinstance(table, Mapping) for table in tables.values()):
        raise _bad(CHANNEL, tables, Origin(file), "tables [channel.NAME]")
    return dict(tables)


def _unknown(name: str, value: Json, file: str) -> ConfigError:
    from difflib import get_close_matches  # noqa: PLC0415 - only for a mistake

    last = name.rpartition(".")[2]
    elsewhere = [known for known in _BY_NAME if known.rpartition(".")[2] == last]
    near = elsewhere or get_close_matches(name, (*_BY_NAME, *TABLES, CHANNEL), 1)
    return ConfigError(
        "unknown key",
        thing=f"{name} in {file}",
        cause=f"{_shown(value)} is set under a name that nothing reads",
        hint=f"did you mean {near[0]}?" if near else "docs/configuration.md lists every key",
    )


def _bad(name: str, value: Json, origin: Origin, allowed: str) -> ConfigError:
    where = origin.place if origin.is_environment else f"{name} in {origin.place}"
    return ConfigError("wrong value", thing=where, cause=f"{_shown(value)} is not {allowed}")


def _shown(value: Json) -> str:
    """Return a value as a message shows it: one line, short, without passwords and the headers of a feed."""
    if isinstance(value, Mapping):
        value = {name: entry if name in ("url", "name") else "..." for name, entry in value.items()}
    text = _masked(repr(value))
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


def _masked(text: str) -> str:
    return _PASSWORD.sub("//...@", text)


# --- values --------------------------------------------------------------------------------------------------------


def _read_text(key: Key, value: Json, origin: Origin) -> str:
    if not isinstance(value, str):
        raise _bad(key.name, value, origin, key.allowed)
    return value.strip()


def _read_texts(key: Key, value: Json, origin: Origin) -> list[str]:
    parts = _parts(value)
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise _bad(key.name, value, origin, key.allowed)
    return list(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _parts(value: Json) -> Json:
    """Return the parts of a text with commas and lines; anything else as it is."""
    return value.replace("\n", ",").split(",") if isinstance(value, str) else value


def _read_count(key: Key, value: Json, origin: Origin) -> int:
    number = value
    if isinstance(value, str) and _COUNT.fullmatch(value.strip()):
        number = int(value)
    if isinstance(value, float) and value.is_integer():
        number = int(value)
    if not isinstance(number, int) or isinstance(number, bool) or not key.least <= number <= key.most:
        raise _bad(key.name, value, origin, key.allowed)
    return number


def _read_flag(key: Key, value: Json, origin: Origin) -> bool:
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    if word not in _TRUE | _FALSE:
        raise _bad(key.name, value, origin, key.allowed)
    return word in _TRUE


def _read_url(key: Key, value: Json, origin: Origin) -> str:
    text = _read_text(key, value, origin)
    if text and not is_address(text):
        raise _bad(key.name, value, origin, key.allowed)
    return text


def _read_feeds(key: Key, value: Json, origin: Origin) -> list[Mapping[str, Json]]:
    """Return the feeds as tables, one per address: the first of those that name it."""
    parts = _parts(value)
    if not isinstance(parts, list):
        raise _bad(key.name, value, origin, key.allowed)
    entries: dict[str, Mapping[str, Json]] = {}
    for part in parts:
        if isinstance(part, str) and not part.strip():
            continue
        entry = {"url": part.strip()} if isinstance(part, str) else part
        if not isinstance(entry, Mapping) or not is_address(entry.get("url")) or set(entry) - set(FEED_KEYS):
            raise _bad(key.name, part, origin, "an http(s) address, or a table with " + ", ".join(FEED_KEYS))
        _check_feed(entry, origin)
        entries.setdefault(entry["url"], entry)
    if not entries:
        raise _bad(key.name, value, origin, "at least one http(s) address")
    return list(entries.values())


def is_address(value: Json) -> bool:
    """Return whether a value is an http(s) address that a feed may have."""
    if not isinstance(value, str) or any(character.isspace() or not character.isprintable() for character in value):
        return False
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0


_READERS: Final[Mapping[Kind, Callable[[Key, Json, Origin], Json]]] = {
    "text": _read_text,
    "texts": _read_texts,
    "count": _read_count,
    "flag": _read_flag,
    "url": _read_url,
    "feeds": _read_feeds,
}


def _check_feed(entry: Mapping[str, Json], origin: Origin) -> None:
    name, tags = entry.get("name", ""), entry.get("tags", [])
    if not isinstance(name, str) or not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise _bad("feeds", entry, origin, "a table with a text as name and a list of texts as tags")
    for table in ("headers", "headers_env"):
        if not _are_headers(entry.get(table, {})):
            raise _bad(
                "feeds", entry, origin, f"a feed whose {table} is a table of header names and texts, one line each"
            )


def _are_headers(table: Json) -> bool:
    return isinstance(table, Mapping) and all(
        _HEADER_NAME.fullmatch(name) and isinstance(value, str) and not _BREAKS_HEADER.search(value)
        for name, value in table.items()
    )


def _source(entry: Mapping[str, Json], secrets: Sequence[tuple[str, str]]) -> FeedSource:
    from news_digest.model import FeedSource  # noqa: PLC0415 - a run on a finished day does without the records

    headers = (*entry.get("headers", {}).items(), *secrets)
    return FeedSource(entry["url"], entry.get("name", "").strip(), tuple(entry.get("tags", [])), headers)
