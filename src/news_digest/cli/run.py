"""``news-digest run``: one run of the lifecycle, as a scheduler calls it."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import click

from news_digest.cli.options import config_option, json_option, print_json, quiet_option, settings_of
from news_digest.cli.progress import ProgressLine

if TYPE_CHECKING:
    from news_digest.cli.settings import Settings
    from news_digest.report import RunReport

__all__ = ["run_command", "run_once"]


@click.command("run")
@config_option
@json_option
@quiet_option
def run_command(config_file: str | None, *, as_json: bool, quiet: bool) -> int:
    """Read the feeds, tell what is new, remember it. Starting it twice is always safe.

    The digest goes to stdout, everything else to stderr. On a finished day no feed is read.

    \b
    Examples:
      news-digest run
      news-digest run --json | jq .outcome
      0 8 * * *  news-digest run --quiet >> digest.log     (crontab)
    """
    return run_once(settings_of(config_file), as_json=as_json, quiet=quiet)


def run_once(settings: Settings, *, as_json: bool = False, quiet: bool = False) -> int:
    """Run the lifecycle once with these settings, print what came of it, and return the exit code."""
    from news_digest.cli.wiring import Wiring  # noqa: PLC0415 - the help does without it
    from news_digest.run import run  # noqa: PLC0415

    progress = ProgressLine(sys.stderr, quiet=quiet)
    stdout = io.StringIO() if as_json else sys.stdout
    wiring = Wiring(settings, tell=progress, stdout=stdout, log_form="text" if sys.stdout.isatty() else "markdown")
    try:
        report = run(wiring.job(), wiring.edges(), wiring.limits())
    finally:
        progress.close()
    _print(report, as_json=as_json, quiet=quiet)
    return report.exit_code


def _print(report: RunReport, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        value = report.to_json()
        if report.digests:
            from news_digest.render import json_value  # noqa: PLC0415 - a finished day has none

            value["digests"] = [json_value(digest) for digest in report.digests]
        print_json(value)
    lines = report.lines() if not quiet or report.exit_code else [f"warning: {text}" for text in report.warnings]
    for line in lines:
        click.echo(line, err=True)
