"""What several commands share: their options, and how they get the settings and print a report."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from news_digest.cli.settings import Settings, load_settings
from news_digest.errors import ConfigError
from news_digest.model import Json

__all__ = ["as_json", "config_option", "json_option", "print_json", "quiet_option", "settings_of"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def config_option(command: _Command) -> _Command:
    """Add ``--config``."""
    return click.option("--config", "config_file", metavar="FILE", help="Read this file instead of looking for one.")(
        command
    )


def json_option(command: _Command) -> _Command:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")(command)


def quiet_option(command: _Command) -> _Command:
    """Add ``--quiet``."""
    return click.option("-q", "--quiet", is_flag=True, help="No progress on stderr, only warnings and errors.")(command)


def settings_of(config_file: str | None) -> Settings:
    """Return the settings of this process, and warn of variables that nothing reads; raises ``ConfigError``."""
    try:
        folder = Path.cwd()
    except OSError as error:
        raise ConfigError(
            "cannot find the working folder", cause=str(error.strerror), hint="change into a folder that exists"
        ) from error
    settings = load_settings(os.environ, folder, config_file)
    options = click.get_current_context().params
    if not options.get("quiet"):
        for warning in _unread(settings, options):
            click.echo(f"warning: {warning}", err=True)
    return settings


def _unread(settings: Settings, options: Mapping[str, Any]) -> tuple[str, ...]:
    if not any(name.startswith("NEWS_DIGEST_") for name in os.environ):
        return ()
    from news_digest.variables import unread  # noqa: PLC0415 - most runs have none

    return unread(settings.config, os.environ, [text for text in options.values() if isinstance(text, str)])


def as_json(value: Json) -> str:
    """Return a value as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def print_json(value: Json) -> None:
    """Print a value as JSON on stdout."""
    sys.stdout.write(as_json(value) + "\n")
