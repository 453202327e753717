"""The records of :mod:`news_digest.model` as JSON and back: for the outbox, the archive and ``--json``.

============  ==========================================================
record        its JSON
============  ==========================================================
dataclass     an object, one key per field
``Period``    ``"YYYY-MM-DD"``
``datetime``  RFC 3339 in UTC with ``Z``: ``"2026-12-01T06:30:00Z"``
``timedelta`` seconds, a number
tuple         a list (of fixed length where the type says so)
enum          its value
============  ==========================================================

Reading is strict, so that nothing malformed gets past the edge: a missing key without a default, a wrong type or an
impossible value raises ``ValueError`` with the path of the value, as in ``$.stories[3].published``. Keys that this
version does not know are ignored, so that a later one may add some.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from functools import cache
from typing import Any, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

from news_digest.model import Json, Period

__all__ = ["from_json", "instant_text", "to_json"]

Record = TypeVar("Record")


def instant_text(instant: datetime) -> str:
    """Return an aware datetime as RFC 3339 in UTC, with ``Z`` and without empty fractions."""
    if instant.tzinfo is None:
        message = f"a datetime without a time zone: {instant.isoformat()}"
        raise ValueError(message)
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def to_json(value: Any) -> Json:  # noqa: ANN401, PLR0911 - takes every record and every value inside one
    """Return a record, or a value inside one, as what ``json.dumps`` takes."""
    match value:
        case Period():
            return value.day.isoformat()
        case Enum():
            return value.value
        case None | str() | bool() | int() | float():
            return value
        case datetime():
            return instant_text(value)
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Mapping():
            return {str(key): to_json(inner) for key, inner in value.items()}
        case tuple() | list():
            return [to_json(inner) for inner in value]
    if is_dataclass(value):
        return {each.name: to_json(getattr(value, each.name)) for each in fields(value)}
    message = f"not a record: {type(value).__name__}"
    raise TypeError(message)


def from_json(cls: type[Record], value: Json) -> Record:
    """Return the record of class ``cls`` that ``value`` describes; raises ``ValueError`` with the path otherwise."""
    return _read(cls, value, "$")  # type: ignore[no-any-return]


def _read(kind: Any, value: Json, path: str) -> Any:  # noqa: ANN401, PLR0911 - driven by the types
    if isinstance(kind, NewType):
        return _read(kind.__supertype__, value, path)
    if kind is Any:
        return value
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _read_optional(get_args(kind), value, path)
    if origin is tuple:
        return _read_tuple(get_args(kind), value, path)
    if origin is not None and issubclass(origin, Mapping):
        return _read_mapping(get_args(kind), value, path)
    if kind in _SCALARS:
        return _SCALARS[kind](value, path)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _read_enum(kind, value, path)
    if is_dataclass(kind):
        return _read_record(kind, value, path)
    message = f"no record: {kind!r}"
    raise TypeError(message)


def _wrong(path: str, why: str) -> ValueError:
    return ValueError(f"{path}: {why}")


def _read_optional(choices: tuple[Any, ...], value: Json, path: str) -> Any:  # noqa: ANN401
    kinds = [choice for choice in choices if choice is not types.NoneType]
    if len(kinds) != 1:
        message = f"a union that JSON cannot tell apart: {choices!r}"
        raise TypeError(message)
    return None if value is None else _read(kinds[0], value, path)


def _read_tuple(kinds: tuple[Any, ...], value: Json, path: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _wrong(path, f"a list is expected, not {_name(value)}")
    if len(kinds) == 2 and kinds[1] is ...:  # noqa: PLR2004 - tuple[X, ...]
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        raise _wrong(path, f"{len(kinds)} values are expected, not {len(value)}")
    return tuple(
        _read(kind, inner, f"{path}[{index}]") for index, (kind, inner) in enumerate(zip(kinds, value, strict=True))
    )


def _read_mapping(kinds: tuple[Any, ...], value: Json, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(path, f"an object is expected, not {_name(value)}")
    return {_text(key, path): _read(kinds[1], inner, f"{path}.{key}") for key, inner in value.items()}


def _read_enum(kind: type[Enum], value: Json, path: str) -> Enum:
    if value not in [member.value for member in kind]:
        raise _wrong(path, f"one of {', '.join(str(member.value) for member in kind)} is expected")
    return kind(value)


def _read_record(kind: Any, value: Json, path: str) -> Any:  # noqa: ANN401
    if not isinstance(value, dict):
        raise _wrong(path, f"an object is expected, not {_name(value)}")
    given = {}
    for name, (inner, has_default) in _fields(kind).items():
        if name in value:
            given[name] = _read(inner, value[name], f"{path}.{name}")
        elif not has_default:
            raise _wrong(f"{path}.{name}", "missing")
    return kind(**given)


@cache
def _fields(kind: Any) -> Mapping[str, tuple[Any, bool]]:  # noqa: ANN401
    hints = get_type_hints(kind)
    return {
        each.name: (hints[each.name], each.default is not MISSING or each.default_factory is not MISSING)
        for each in fields(kind)
        if each.init
    }


def _name(value: Json) -> str:
    return "null" if value is None else type(value).__name__


def _text(value: Json, path: str) -> str:
    if not isinstance(value, str):
        raise _wrong(path, f"a string is expected, not {_name(value)}")
    return value


def _flag(value: Json, path: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(path, f"true or false is expected, not {_name(value)}")
    return value


def _whole(value: Json, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(path, f"a whole number is expected, not {_name(value)}")
    return value


def _number(value: Json, path: str) -> float:
    if isinstance(value, float):
        if value - value != 0:
            raise _wrong(path, "a finite number is expected")
        return value
    return float(_whole(value, path))


def _instant(value: Json, path: str) -> datetime:
    try:
        instant = datetime.fromisoformat(_text(value, path))
        if instant.tzinfo is None:
            raise _wrong(path, "a time zone is missing")
        return instant.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        if str(error).startswith(path):
            raise
        raise _wrong(path, "not a time in the form of RFC 3339") from error


def _day(value: Json, path: str) -> date:
    text = _text(value, path)
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise _wrong(path, "not a day in the form YYYY-MM-DD") from error
    if day.isoformat() != text:
        raise _wrong(path, "not a day in the form YYYY-MM-DD")
    return day


def _span(value: Json, path: str) -> timedelta:
    try:
        return timedelta(seconds=_number(value, path))
    except OverflowError as error:
        raise _wrong(path, "too long a span") from error


_SCALARS: dict[Any, Callable[[Json, str], Any]] = {
    str: _text,
    bool: _flag,
    int: _whole,
    float: _number,
    datetime: _instant,
    date: _day,
    timedelta: _span,
    Period: lambda value, path: Period(_day(value, path)),
}
