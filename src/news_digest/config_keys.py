"""The configuration keys: what each is called, takes and means; ``docs/configuration.md`` is written from them.

The records of the configuration are named tuples: importing ``dataclasses`` takes a quarter of a finished day's run
(``benchmarks/cold_start.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from news_digest.model import Json

__all__ = ["CHANNEL", "FEED_KEYS", "KEYS", "KINDS", "REFERENCE_KEYS", "TABLES", "Key", "Kind", "variable"]

Kind = Literal["text", "texts", "count", "flag", "feeds", "url"]


class Key(NamedTuple):
    """One configuration key: its dotted name, its kind, its default, and what it means, for people."""

    name: str
    kind: Kind
    default: Json
    about: str
    least: int = 0
    most: int = 1_000_000

    @property
    def allowed(self) -> str:
        """Return what the key takes, as a message says it."""
        return KINDS[self.kind] + (f" from {self.least} to {self.most}" if self.kind == "count" else "")


KINDS: Final[dict[Kind, str]] = {
    "text": "text",
    "texts": "a list of texts, or one text with commas or lines",
    "count": "a whole number",
    "flag": "true or false",
    "feeds": "a list of http(s) addresses, or tables with url, name, tags, headers, headers_env",
    "url": "an http(s) address",
}
"""What a value of each kind looks like."""

FEED_KEYS: Final = ("url", "name", "tags", "headers", "headers_env")
"""What the table of a feed has."""

CHANNEL: Final = "channel"
"""Tables ``[channel.NAME]`` hold the options of a channel, which checks them itself."""

_FEEDS: Final = [
    {"url": "https://news.ycombinator.com/rss", "name": "Hacker News"},
    {"url": "https://feeds.arstechnica.com/arstechnica/index", "name": "Ars Technica"},
    {"url": "https://www.theverge.com/rss/index.xml", "name": "The Verge"},
]
_TOPICS: Final = ["artificial intelligence", "open source", "developer tools"]
_OFF: Final = False

KEYS: Final[tuple[Key, ...]] = (
    Key("feeds", "feeds", _FEEDS, "what is read"),
    Key("topics", "texts", _TOPICS, "sections, in their order"),
    Key("lookback_hours", "count", 48, "how old a story may be", least=1, most=24 * 7),
    Key("max_items", "count", 50, "how many stories a digest is offered", least=1, most=400),
    Key("writer", "text", "embedded", "who writes: embedded, local, llm, openhands, or an installed one"),
    Key("channels", "texts", ["archive", "log"], "where the digest goes: kinds, or names of [channel.NAME] tables"),
    Key("store", "text", "file", "where the state is kept: file, kv, memory, or an installed one"),
    Key("automation_id", "text", "default", "which digest this is; a state of its own for each"),
    Key("budget_seconds", "count", 600, "how long a run waits for its writer", most=6 * 3600),
    Key("feeds_seconds", "count", 120, "how long reading all feeds may take", least=1, most=3600),
    Key("feed_megabytes", "count", 10, "how large one feed may be, decoded", least=1, most=200),
    Key("allow_private_hosts", "flag", _OFF, "let feeds name private and loopback addresses"),
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
    Key("openhands.server_url", "url", "", "the agent server; empty: AGENT_SERVER_URL"),
    Key("openhands.tools", "texts", [], "tools of the agent, none by default: file_editor, terminal"),
)
"""Every key, in the order of the documentation; a key ``table.name`` stands in a table of the TOML file."""

TABLES: Final = tuple(dict.fromkeys(key.name.partition(".")[0] for key in KEYS if "." in key.name))
"""The tables of the TOML file, beside those of channels."""

REFERENCE_KEYS: Final = ("feeds", "topics", "lookback_hours", "max_items", "agent_secret_names", "openhands_url")
"""What the reference's ``config.json`` has; its other keys are ignored."""


def variable(name: str) -> str:
    """Return the environment variable of a key: ``NEWS_DIGEST_LLM_MODEL`` for ``llm.model``."""
    return "NEWS_DIGEST_" + name.replace(".", "_").upper()
