"""Write the tables of ``docs/`` that come from the code: ``python -m tests.pages`` (``make docs``)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from news_digest.config_keys import KEYS, Key, variable
from news_digest.errors import NewsDigestError

DOCS = Path(__file__).resolve().parents[1] / "docs"


def keys_table() -> str:
    """Return the table of configuration keys."""
    rows = (
        f"| `{key.name}` | {key.about} | {_cell(key.allowed)} | {_default(key)} | `{variable(key.name)}` |"
        for key in KEYS
    )
    return "\n".join(["| key | what | takes | default | variable |", "|---|---|---|---|---|", *rows])


def _default(key: Key) -> str:
    match key.default:
        case "" | []:
            return "-"
        case bool():
            return f"`{str(key.default).lower()}`"
        case list() if key.kind == "feeds":
            return ", ".join(feed["name"] for feed in key.default)
        case list():
            return ", ".join(f"`{each}`" for each in key.default)
    return f"`{key.default}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def errors_table() -> str:
    """Return the table of errors by their exit codes."""
    rows = [f"| {error.exit_code} | `{error.__name__}` | {_sentence(error)} |" for error in errors()]
    return "\n".join(["| code | error | what it says |", "|---|---|---|", *rows])


def errors() -> list[type[NewsDigestError]]:
    """Return every error of the tree that names an exit code, parents first, by code."""
    return sorted([NewsDigestError, *_below(NewsDigestError)], key=lambda error: error.exit_code)


def _below(error: type[NewsDigestError]) -> Iterator[type[NewsDigestError]]:
    for child in error.__subclasses__():
        if child.__module__ == "news_digest.errors":
            yield child
            yield from _below(child)


def _sentence(error: type[NewsDigestError]) -> str:
    return _cell((error.__doc__ or "").partition("\n")[0])


PAGES: Mapping[str, tuple[str, Callable[[], str]]] = {
    "configuration.md": ("keys", keys_table),
    "exit-codes.md": ("errors", errors_table),
}
"""By page: the name of its generated part, and what makes it."""


def written(page: str, text: str) -> str:
    """Return a page's text with its generated part written anew."""
    name, make = PAGES[page]
    start, end = f"<!-- generated: {name} -->\n", "<!-- /generated -->"
    found = re.search(f"{re.escape(start)}.*?{re.escape(end)}", text, re.DOTALL)
    if found is None:
        raise ValueError(f"{page} has no generated part {name!r}")
    return text.replace(found[0], f"{start}{make()}\n{end}")


def main() -> int:
    """Write every page anew."""
    for page in PAGES:
        file = DOCS / page
        file.write_text(written(page, file.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
