"""The environment variables that a configuration names, and those with our prefix that nothing reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from news_digest.config import KEYS, Config, variable
from news_digest.model import Json

__all__ = ["named", "named_by", "unread"]

_PREFIX = variable("")


def unread(config: Config, environment: Mapping[str, str], also_named: Collection[str] = ()) -> tuple[str, ...]:
    """Return a sentence for each variable that sets something and that nothing reads; ``also_named`` are read.

    In a file an unknown key is an error. Here it is none: a service may well have variables of its own.
    """
    known = {variable(key.name) for key in KEYS}
    read = known.union(named_by(config), also_named)
    names = (name for name, value in sorted(environment.items()) if name.startswith(_PREFIX) and value.strip())
    return tuple(f"nothing reads the variable {name}: {_near(name, known)}" for name in names if name not in read)


def named_by(config: Config) -> tuple[str, ...]:
    """Return the variables that a configuration names, each once."""
    return tuple(dict.fromkeys(named({**config.values, "channel": config.channel_options})))


def named(value: Json) -> Iterator[str]:
    """Yield every variable that the content of a configuration names: the values of ``..._env``."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner) if isinstance(key, str) and key.endswith("_env") else named(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from named(inner)


def _texts(value: Json) -> list[str]:
    listed = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
    return [each for each in listed if isinstance(each, str) and each]


def _near(name: str, known: Collection[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for a mistake

    ends = [each.removeprefix(_PREFIX) for each in sorted(known)]  # the prefix would make all of them alike
    near = get_close_matches(name.removeprefix(_PREFIX), ends, 1)
    return f"did you mean {_PREFIX}{near[0]}?" if near else "docs/configuration.md lists all"
