"""The options of one channel, each read once with its type; what nobody read is a mistake in the configuration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches

from news_digest.channels import Target
from news_digest.errors import ConfigError
from news_digest.model import Json

__all__ = ["Options"]


class Options:
    """Reads a target's options; each reader raises :class:`~news_digest.errors.ConfigError` for a value of no use."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._known = ["kind"]  # which factory it is; whoever opened the channel has read it

    def text(self, key: str, default: str = "", *, choices: Sequence[str] = (), required: bool = False) -> str:
        """Return a text, one of ``choices`` where there are any."""
        value = self._take(key, default)
        if not isinstance(value, str):
            raise self._wrong(key, value, "a text")
        if choices and value not in choices:
            raise self._wrong(key, value, "one of " + ", ".join(choices))
        if required and not value.strip():
            raise self._wrong(key, value, "needed, and empty or missing")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; one text counts as a list of one."""
        value = self._take(key, [])
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list | tuple) or not all(isinstance(each, str) and each.strip() for each in listed):
            raise self._wrong(key, value, "a list of texts, none of them empty")
        return tuple(listed)

    def number(self, key: str, default: int, *, least: int, most: int) -> int:
        """Return a whole number within bounds, both included."""
        value = self._take(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self._wrong(key, value, f"a whole number from {least} to {most}")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, value, "true or false")
        return value

    def secret(self, key: str) -> str:
        """Return the value of the environment variable that the option names; nothing where it names none."""
        variable = self.text(key)
        if not variable:
            return ""
        value = self._target.environment.get(variable, "")
        if not value:
            # What stands in the option may be the secret itself, put there by mistake: it is not repeated.
            raise ConfigError(
                "a secret is not set",
                thing=f"{self._target.name}.{key}",
                cause="the environment variable that it names is empty or missing",
                hint="write the variable's name there, and set it in the environment of the run",
            )
        return value

    def done(self) -> None:
        """Raise for an option that nobody has read."""
        for key in self._target.options:
            if key not in self._known:
                near = get_close_matches(key, self._known, 1)
                raise ConfigError(
                    "unknown option",
                    thing=f"{self._target.name}.{key}",
                    cause="known are " + ", ".join(self._known) if self._known else "this channel has none",
                    hint=f"did you mean {near[0]!r}?" if near else "remove it, or correct its name",
                )

    def _take(self, key: str, default: Json) -> Json:
        self._known.append(key)
        return self._target.options.get(key, default)

    def _wrong(self, key: str, value: Json, allowed: str) -> ConfigError:
        shown = json.dumps(value, default=str)[:80]
        return ConfigError(
            "cannot use an option",
            thing=f"{self._target.name}.{key} = {shown}",
            cause=f"it must be {allowed}" if not allowed.startswith("needed") else allowed,
            hint="correct it in the configuration",
        )
