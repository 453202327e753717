"""The command ``news-digest``: names of commands, each in a module that is imported when it is asked for.

A scheduler calls ``news-digest run`` many times a day, and on most of them there is nothing to do: what such a run
imports is the time that it takes (``benchmarks/cold_start.py``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

import click

from news_digest import __version__
from news_digest.errors import NewsDigestError

__all__ = ["COMMANDS", "LazyGroup", "cli", "main"]

COMMANDS: Final[dict[str, str]] = {
    "run": "news_digest.cli.run:run_command",
    "demo": "news_digest.cli.demo:demo_command",
    "preview": "news_digest.cli.preview:preview_command",
    "show": "news_digest.cli.show:show_command",
    "status": "news_digest.cli.status:status_command",
    "feeds": "news_digest.cli.feeds:feeds_group",
    "config": "news_digest.cli.config:config_command",
    "retry": "news_digest.cli.retry:retry_command",
    "deliver": "news_digest.cli.deliver:deliver_command",
    "seen": "news_digest.cli.why:seen_command",
    "why": "news_digest.cli.why:why_command",
    "state": "news_digest.cli.state:state_group",
    "site": "news_digest.cli.site:site_command",
    "serve": "news_digest.cli.serve:serve_command",
    "bundle": "news_digest.cli.deploy:bundle_command",
    "deploy": "news_digest.cli.deploy:deploy_command",
    "completion": "news_digest.cli.completion:completion_command",
}
"""Every command and where it lives, in the order of the help."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells report it (128 + SIGINT)."""


class LazyGroup(click.Group):
    """A group of commands that are imported when they are asked for."""

    def __init__(self, *args: object, commands_at: dict[str, str] | None = None, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]  # click's own signature, passed through
        self._commands_at = commands_at or {}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the commands in the order of the table, behind those that are here already."""
        return [*self.commands, *self._commands_at]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        """Import and return a command."""
        path = self._commands_at.get(cmd_name)
        if path is None:
            return self.commands.get(cmd_name)
        module, _, name = path.partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches  # noqa: PLC0415 - only for a mistake

            near = get_close_matches(args[0], self.list_commands(ctx), 1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from error


@click.group(
    cls=LazyGroup,
    commands_at=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 bug, 2 configuration, 3 feeds, 4 state, 5 writer, 6 delivery, 130 interrupted.",
)
@click.version_option(__version__, "-V", "--version", prog_name="news-digest")
def cli() -> None:
    """Read feeds, keep what is new, tell it once a day.

    \b
    Examples:
      news-digest demo            a digest from sample feeds, no key, no network
      news-digest run             what a scheduler calls
      news-digest show            the last digest again
      news-digest status          days, feeds, next step
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; never raises for what a user can cause."""
    code = _run(arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output went away before the last of it: the interpreter must not complain of that at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _run(arguments: Sequence[str] | None) -> int:
    stdout = sys.stdout
    try:
        code = cli.main(args=arguments, prog_name="news-digest", standalone_mode=False)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show(sys.stderr)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; the state is consistent, the next run goes on from here", err=True)
        return INTERRUPTED
    except SystemExit:
        # When whoever read our output went away, click puts another stream in its place and exits: nothing is wrong.
        if sys.stdout is stdout:
            raise
        return 0
    except NewsDigestError as error:
        click.echo(f"error: {error}", err=True)
        if error.hint:
            click.echo(f"hint: {error.hint}", err=True)
        return error.exit_code
    return code if isinstance(code, int) else 0
