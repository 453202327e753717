"""The configuration: one table of keys, and a mapping that becomes a :class:`Config` or one clear message.

Three sources, the later wins: defaults, a file (``news-digest.toml``, or the reference's ``config.json``), environment
variables (``NEWS_DIGEST_`` and the key in capitals; ``NEWS_DIGEST_LLM_MODEL`` for ``llm.model``). Reading the files
and the environment is the edge's work (:mod:`news_digest.cli.settings`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import urlsplit

from news_digest.errors import ConfigError
from news_digest.model import FeedSource, Json

__all__ = ["KEYS", "REFERENCE_KEYS", "Config", "Key", "Origin", "configure", "variable"]


@dataclass(frozen=True, slots=True)
class Key:
    """One configuration key: its dotted name, its kind, its default, and what is allowed, for people."""

    name: str
    kind: Literal["text", "texts", "count", "flag", "feeds", "url", "choice"]
    default: Json
    about: str
    least: int = 0
    most: int = 1_000_000
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """Return what the key takes, as a message says it."""
        bounds = {"count": f" from {self.least} to {self.most}", "choice": ", ".join(self.choices)}
        return _ALLOWED[self.kind] + bounds.get(self.kind, "")


_ALLOWED: Final = {
    "text": "text",
    "texts": "a list of texts, or one text with commas or lines",
    "count": "a whole number",
    "flag": "true or false",
    "feeds": "a list of http(s) addresses, or tables with url, name, tags, headers, headers_env",
    "url": "an http(s) address",
    "choice": "one of ",
}
_DEFAULT_FEEDS: Final = [
    {"url": "https://news.ycombinator.com/rss", "name": "Hacker News"},
    {"url": "https://feeds.arstechnica.com/arstechnica/index", "name": "Ars Technica"},
    {"url": "https://www.theverge.com/rss/index.xml", "name": "The Verge"},
]

KEYS: Final[tuple[Key, ...]] = (
    Key("feeds", "feeds", _DEFAULT_FEEDS, "what is read"),
    Key("topics", "texts", ["artificial intelligence", "open source", "developer tools"], "sections, in their order"),
    Key("lookback_hours", "count", 48, "how old a story may be", least=1, most=24 * 7),
    Key("max_items", "count", 50, "how many stories a digest is offered", least=1, most=400),
    Key("writer", "text", "embedded", "who writes: embedded, llm, openhands, or an installed one"),
    Key("channels", "texts", ["archive", "log"], "where the digest goes: kinds, or names of [channel.NAME] tables"),
    Key("store", "text", "file", "where the state is kept: file, kv, memory, or an installed one"),
    Key("automation_id", "text", "default", "which digest this is; a state of its own for each"),
    Key("budget_seconds", "count", 600, "how long a run waits for its writer", most=6 * 3600),
    Key("feeds_seconds", "count", 120, "how long reading all feeds may take", least=1, most=3600),
    Key(
        "allow_private_hosts",
        "flag",
        False,  # noqa: FBT003 - a default
        "let feeds name private and loopback addresses",
    ),
    Key("user_agent", "text", "", "what servers of feeds are told; empty: our own with the project's address"),
    Key("agent_secret_names", "texts", [], "secrets of the agent server that the agent may use"),
    Key("openhands_url", "text", "", "where people open conversations; empty: no link"),
    Key("style.language", "text", "en", "the digest's language"),
    Key("style.max_words", "count", 600, "its length", least=50, most=5000),
    Key("style.tone", "text", "", "how it should sound"),
    Key("style.instructions", "text", "", "what the writer should mind besides"),
    Key("paths.state", "text", "", "the state document"),
    Key("paths.archive", "text", "", "the folder of digests"),
    Key("paths.cache", "text", "", "the folder of validators and bodies of feeds"),
    Key(
        "llm.provider", "text", "openai", "openai, anthropic, openrouter, gemini, mistral, groq, deepseek, ollama, ..."
    ),
    Key("llm.base_url", "url", "", "another address than the provider's"),
    Key("llm.model", "text", "", "the model's name"),
    Key("llm.api_key_env", "text", "", "the environment variable that holds the key; empty: the provider's usual one"),
    Key("llm.max_tokens", "count", 60_000, "tokens that a digest may cost, input and output", least=1000),
    Key("openhands.url", "url", "", "the agent server; empty: AGENT_SERVER_URL"),
    Key("openhands.tools", "texts", [], "tools of the agent, none by default: file_editor, terminal"),
)
"""Every key, in the order of the documentation; a key ``table.name`` stands in a table of the TOML file.

Beside these, a table ``[channel.NAME]`` holds the options of a channel, which checks them itself."""

REFERENCE_KEYS: Final = ("feeds", "topics", "lookback_hours", "max_items", "agent_secret_names", "openhands_url")
"""What the reference's ``config.json`` has; its other keys are ignored."""

_BY_NAME: Final = {key.name: key for key in KEYS}
_TABLES: Final = frozenset(key.name.partition(".")[0] for key in KEYS if "." in key.name)
_CHANNEL: Final = "channel"
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})
_FEED_KEYS: Final = ("url", "name", "tags", "headers", "headers_env")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was set: ``default``, a file's name, or an environment variable."""

    place: str
    is_environment: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration; ``values`` by key, ``origins`` says where each was set."""

    values: Mapping[str, Json]
    feeds: tuple[FeedSource, ...]
    origins: Mapping[str, Origin] = field(default_factory=dict)
    channel_options: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """By channel name: its options, and ``kind`` where the name is not the kind."""

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


def variable(name: str) -> str:
    """Return the environment variable of a key."""
    return "NEWS_DIGEST_" + name.replace(".", "_").upper()


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
    feeds = tuple(_source(entry, environment, origins["feeds"]) for entry in values["feeds"])
    return Config(values, feeds, origins, _channel_options(document, file))


def _flat(document: Mapping[str, Json], file: str, *, reference: bool) -> dict[str, Json]:
    """Return the values of a file by their dotted keys; an unknown key of a TOML file is an error."""
    if reference:
        return {name: document[name] for name in REFERENCE_KEYS if document.get(name) not in (None, "")}
    flat: dict[str, Json] = {}
    for name, value in document.items():
        if name == _CHANNEL:
            continue
        if name in _TABLES:
            if not isinstance(value, Mapping):
                raise _bad(name, value, Origin(file), "a table")
            flat |= {f"{name}.{inner}": entry for inner, entry in value.items()}
        else:
            flat[name] = value
    for name in flat:
        if name not in _BY_NAME:
            raise _unknown(name, file)
    return flat


def _channel_options(document: Mapping[str, Json], file: str) -> dict[str, Mapping[str, Json]]:
    tables = document.get(_CHANNEL, {})
    if not isinstance(tables, Mapping) or not all(isinstance(table, Mapping) for table in tables.values()):
        raise _bad(_CHANNEL, tables, Origin(file), "tables [channel.NAME]")
    return dict(tables)


def _unknown(name: str, file: str) -> ConfigError:
    from difflib import get_close_matches  # noqa: PLC0415 - only for a mistake

    near = get_close_matches(name, _BY_NAME, 1)
    return ConfigError(
        "unknown key",
        thing=f"{name} in {file}",
        hint=f"did you mean {near[0]}?" if near else "`news-digest config` lists every key",
    )


def _bad(name: str, value: Json, origin: Origin, allowed: str) -> ConfigError:
    shown = repr(value)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."  # noqa: PLR2004 - one line of a terminal
    where = f"{origin.place}" if origin.is_environment else f"{name} in {origin.place}"
    return ConfigError("wrong value", thing=where, cause=f"{shown} is not {allowed}")


# --- values --------------------------------------------------------------------------------------------------------


def _read_text(key: Key, value: Json, origin: Origin) -> str:
    if not isinstance(value, str):
        raise _bad(key.name, value, origin, key.allowed)
    return value.strip()


def _read_texts(key: Key, value: Json, origin: Origin) -> list[str]:
    parts = value.replace("\n", ",").split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise _bad(key.name, value, origin, key.allowed)
    return list(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _read_count(key: Key, value: Json, origin: Origin) -> int:
    number = value
    if isinstance(value, str) and value.strip().lstrip("-").isdecimal():
        number = int(value)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if not isinstance(number, int) or isinstance(number, bool) or not key.least <= number <= key.most:
        raise _bad(key.name, value, origin, key.allowed)
    return number


def _read_flag(key: Key, value: Json, origin: Origin) -> bool:
    word = value.strip().lower() if isinstance(value, str) else value
    if isinstance(word, bool):
        return word
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise _bad(key.name, value, origin, key.allowed)


def _read_choice(key: Key, value: Json, origin: Origin) -> str:
    if value not in key.choices:
        raise _bad(key.name, value, origin, key.allowed)
    return str(value)


def _read_url(key: Key, value: Json, origin: Origin) -> str:
    text = _read_text(key, value, origin)
    if text and not _is_address(text):
        raise _bad(key.name, value, origin, key.allowed)
    return text


def _read_feeds(key: Key, value: Json, origin: Origin) -> list[Mapping[str, Json]]:
    parts = value.replace("\n", ",").split(",") if isinstance(value, str) else value
    if not isinstance(parts, list):
        raise _bad(key.name, value, origin, key.allowed)
    entries: dict[str, Mapping[str, Json]] = {}
    for part in parts:
        if isinstance(part, str) and not part.strip():
            continue
        entry = {"url": part.strip()} if isinstance(part, str) else part
        if not isinstance(entry, Mapping) or not _is_address(entry.get("url")) or set(entry) - set(_FEED_KEYS):
            raise _bad(key.name, part, origin, "an http(s) address, or a table with " + ", ".join(_FEED_KEYS))
        entries.setdefault(entry["url"], entry)
    if not entries:
        raise _bad(key.name, value, origin, "at least one http(s) address")
    return list(entries.values())


def _is_address(value: Json) -> bool:
    if not isinstance(value, str) or any(character.isspace() or not character.isprintable() for character in value):
        return False
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0


_READERS: Final[Mapping[str, Callable[[Key, Json, Origin], Json]]] = {
    "text": _read_text,
    "texts": _read_texts,
    "count": _read_count,
    "flag": _read_flag,
    "choice": _read_choice,
    "url": _read_url,
    "feeds": _read_feeds,
}


def _source(entry: Mapping[str, Json], environment: Mapping[str, str], origin: Origin) -> FeedSource:
    """Return a feed of the configuration, its secret headers filled in from the variables that it names."""
    name, tags = entry.get("name", ""), entry.get("tags", [])
    headers, secret = entry.get("headers", {}), entry.get("headers_env", {})
    if not isinstance(name, str) or not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise _bad("feeds", entry, origin, "a table with a text as name and a list of texts as tags")
    for table in (headers, secret):
        if not isinstance(table, Mapping) or not all(_is_header(key, value) for key, value in table.items()):
            raise _bad("feeds", entry["url"], origin, "a feed whose headers are a table of texts without line breaks")
    for header, wanted in secret.items():
        if not environment.get(wanted):
            raise ConfigError(
                "missing secret",
                thing=f"header {header} of {entry['url']}",
                cause=f"the environment variable {wanted} is not set",
                hint=f"set {wanted}, or remove the header from headers_env",
            )
    filled = (*headers.items(), *((header, environment[wanted]) for header, wanted in secret.items()))
    return FeedSource(entry["url"], name.strip(), tuple(tags), tuple(filled))


def _is_header(name: Json, value: Json) -> bool:
    return isinstance(value, str) and not any(character in f"{name}{value}" for character in "\r\n\0") and bool(name)
