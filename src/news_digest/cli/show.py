"""``news-digest show``: a digest from the archive."""

from __future__ import annotations

import sys
from datetime import date

import click

from news_digest.cli.options import config_option, json_option, print_json, settings_of
from news_digest.errors import ConfigError, NewsDigestError

__all__ = ["day_of", "show_command"]


@click.command("show")
@click.argument("day", required=False, metavar="[DATE]")
@config_option
@json_option
def show_command(day: str | None, config_file: str | None, *, as_json: bool) -> None:
    """Print the last digest, or the one of a date.

    On a terminal it is rendered, with links where the terminal can; piped, it is Markdown.

    \b
    Examples:
      news-digest show
      news-digest show 2026-08-20 > digest.md
      news-digest show --json | jq .counts
    """
    from news_digest.channels.archive import Archive  # noqa: PLC0415
    from news_digest.render import json_value, markdown  # noqa: PLC0415

    archive = Archive(settings_of(config_file).places.archive)
    wanted = day_of(day)
    digest = archive.last() if wanted is None else archive.load(wanted)
    if digest is None:
        days = archive.days()
        raise NewsDigestError(
            "no digest to show",
            thing=day or str(archive.path),
            cause="there is none of that day" if day and days else "the archive is empty",
            hint=f"the last one is of {days[-1]}"
            if days
            else "`news-digest run` makes one, `news-digest demo` shows one",
        )
    if as_json:
        print_json(json_value(digest))
    elif sys.stdout.isatty():
        _render(markdown(digest))
    else:
        sys.stdout.write(markdown(digest))


def day_of(text: str | None) -> date | None:
    """Return the day that a command was given, None where it was given none; raises ``ConfigError``."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ConfigError("wrong value", thing="DATE", cause=f"{text!r} is not a date like 2026-08-20") from error


def _render(text: str) -> None:
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.markdown import Markdown  # noqa: PLC0415

    Console().print(Markdown(text))
