"""The form of a configuration file, TOML or the reference's JSON, and how feeds come into it and go out of it.

Comments and layout of TOML are kept by tomlkit; what it would lose or misplace is mended here. It is imported where it
is used: most commands change no file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from news_digest.model import Json

__all__ = ["edited", "extend", "is_json", "loaded", "new_list", "remove", "written"]

_LINE_OF_ITEM: Final = re.compile(r"\n([ \t]*)[\"'{]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half a character: JSON may have it as an escape, a file in UTF-8 may not."""
_INDENT: Final = "    "


def is_json(path: Path) -> bool:
    """Return whether a configuration is the reference's."""
    return path.suffix == ".json"


def loaded(path: Path, text: str) -> Mapping[str, Json]:
    """Return the content of a file as it will be read again; raises ``ValueError``."""
    if is_json(path):
        content: Mapping[str, Json] = json.loads(text)
        return content
    import tomllib  # noqa: PLC0415 - see above

    return tomllib.loads(text)


def edited(path: Path, text: str) -> Any:  # noqa: ANN401 - a document of the editor
    """Return the content of a file with its form; an empty one has no content."""
    if is_json(path):
        return json.loads(text or "{}")
    import tomlkit  # noqa: PLC0415

    return tomlkit.parse(text)


def written(path: Path, document: Any) -> str:  # noqa: ANN401 - see edited
    """Return the text of a document, with one kind of line end."""
    if is_json(path):
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    import tomlkit  # noqa: PLC0415

    text = tomlkit.dumps(document)
    return text.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in text else text


def new_list(path: Path, feeds: Sequence[Json]) -> Any:  # noqa: ANN401 - an item of the editor
    """Return a list of feeds, one a line."""
    if is_json(path):
        return list(feeds)
    import tomlkit  # noqa: PLC0415

    listed = tomlkit.array()
    extend(listed, feeds)
    return listed


def extend(feeds: Any, entries: Sequence[Json]) -> None:  # noqa: ANN401 - an item of the editor
    """Add feeds at the end of a list, each as the list has them: a line of an array, or a table of its own."""
    if type(feeds) is list:
        feeds.extend(entries)
        return
    from tomlkit.items import AoT  # noqa: PLC0415

    (_extend_tables if isinstance(feeds, AoT) else _extend_array)(feeds, entries)


def remove(feeds: Any, position: int) -> None:  # noqa: ANN401 - an item of the editor
    """Take a feed out of a list; comments on what stands behind it stay."""
    if type(feeds) is not list:
        from tomlkit.items import AoT  # noqa: PLC0415

        if isinstance(feeds, AoT):
            _pass_on(feeds, position)
    del feeds[position]


def _extend_array(feeds: Any, entries: Sequence[Json]) -> None:  # noqa: ANN401 - an item of the editor
    """Add lines in one step: the editor's ``append`` takes time with the square, and may leave out a comma."""
    from tomlkit import ws  # noqa: PLC0415

    indents = _LINE_OF_ITEM.findall(feeds.as_string())
    if not indents:
        feeds.multiline(multiline=True)  # they stand on one line, but a list that grows is read by people
    indent = indents[-1] if indents else _INDENT
    items = [part for entry in entries for part in (_inline(entry), ws(f",\n{indent}"))]
    feeds.add_line(*items[:-1], ws(","), indent=indent, add_comma=False)
    if not feeds.as_string().rstrip("]").endswith(("\n", " ", "\t")):
        feeds.add_line(indent="")


def _extend_tables(feeds: Any, entries: Iterable[Json]) -> None:  # noqa: ANN401 - an item of the editor
    import tomlkit  # noqa: PLC0415

    body = _last_body(feeds[-1])
    start = _behind(body)
    moved = body[start:]
    del body[start:]
    body.append((None, tomlkit.nl()))
    for entry in entries:
        table = tomlkit.table()
        table.update(entry if isinstance(entry, dict) else {"url": entry})
        table.add(tomlkit.nl())
        feeds.append(table)
    if moved:
        table.value.body[-1:] = moved


def _pass_on(feeds: Any, position: int) -> None:  # noqa: ANN401 - an item of the editor
    """Let the comments behind a table, which speak of what follows, outlive it."""
    body = _last_body(feeds[position])
    start = _behind(body)
    kept = body[start:] or body[_last_key(body) + 1 :]
    text = "".join(item.as_string() for _, item in kept)
    if "#" not in text:
        return
    if position + 1 < len(feeds):
        following = feeds[position + 1].trivia
        following.indent = text.lstrip("\r\n") + following.indent
    elif position:
        _last_body(feeds[position - 1]).extend(kept)


def _last_body(table: Any) -> Any:  # noqa: ANN401 - an item of the editor
    """Return the lines at the end of a table: those of its last inner table, where it has one."""
    from tomlkit.items import Table  # noqa: PLC0415

    body = table.value.body
    while body and isinstance(body[-1][1], Table):
        body = body[-1][1].value.body
    return body


def _last_key(body: Any) -> int:  # noqa: ANN401 - lines of the editor
    return max((position for position, (key, _) in enumerate(body) if key is not None), default=-1)


def _behind(body: Any) -> int:  # noqa: ANN401 - lines of the editor
    """Return where the lines begin that speak of what follows: below the first blank line behind the last value."""
    from tomlkit.items import Whitespace  # noqa: PLC0415

    behind = range(_last_key(body) + 1, len(body))
    return next((position for position in behind if isinstance(body[position][1], Whitespace)), len(body))


def _inline(entry: Json) -> Any:  # noqa: ANN401 - an item of the editor
    import tomlkit  # noqa: PLC0415

    if not isinstance(entry, dict):
        return entry
    table = tomlkit.inline_table()
    table.update(entry)
    return table
