"""Names to parts: ``name -> "module:factory"`` tables, and entry points of other distributions.

A part costs nothing until its name is asked for: resolving imports its module, nothing before does.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from news_digest.errors import ConfigError

__all__ = ["Factory", "names", "resolve"]

Factory: TypeAlias = Callable[..., Any]
"""Makes one part; its arguments belong to the kind of part."""


def resolve(table: Mapping[str, str], group: str, name: str) -> Factory:
    """Return the factory of a name: in the table first, then among the entry points of ``group``.

    Raises :class:`~news_digest.errors.ConfigError` with the nearest name where there is none, and where its module
    cannot be imported (an optional library is missing, for one).
    """
    target = table.get(name) or _entry_points(group).get(name)
    if target is None:
        raise _unknown(table, group, name)
    module, _, factory = target.partition(":")
    try:
        found: Factory = getattr(importlib.import_module(module), factory)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"cannot use {name!r}",
            thing=target,
            cause=str(error),
            hint="install what it needs, or choose one of: " + ", ".join(names(table, group)),
        ) from error
    return found


def names(table: Mapping[str, str], group: str) -> tuple[str, ...]:
    """Return all names that :func:`resolve` knows, sorted."""
    return tuple(sorted({*table, *_entry_points(group)}))


def _entry_points(group: str) -> dict[str, str]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - some 20 ms that a built-in name does without

    return {entry.name: entry.value for entry in entry_points(group=group)}


def _unknown(table: Mapping[str, str], group: str, name: str) -> ConfigError:
    from difflib import get_close_matches  # noqa: PLC0415 - needed for a mistake only

    known = names(table, group)
    near = get_close_matches(name.lower(), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else ""
    return ConfigError(
        f"there is no {name!r}",
        thing=group.removeprefix("news_digest."),
        cause="known are " + ", ".join(known),
        hint=hint or "use one of them, or install the package that brings it",
    )
