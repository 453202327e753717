"""``news-digest state``: check, export and import the state document."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

import click

from news_digest.ceiling import size
from news_digest.cli.options import config_option, json_option, print_json, settings_of
from news_digest.document import decode, encode
from news_digest.errors import ConfigError, DocumentDamaged
from news_digest.model import Foreign, Limits, State
from news_digest.stores import Kept

__all__ = ["state_group"]

_FINGERPRINT_DIGITS: Final = 16


@click.group("state")
def state_group() -> None:
    """Check, export or import the state document.

    \b
    Examples:
      news-digest state check
      news-digest state export > state-backup.json
      news-digest state import state-backup.json
    """


@state_group.command("check")
@config_option
@json_option
def check_command(config_file: str | None, *, as_json: bool) -> None:
    """Read the state and say what is odd about it; exit code 4 when it cannot be read."""
    loaded = _kept(config_file).store.load()
    oddities = [*loaded.warnings, *_oddities(loaded.state)]
    if as_json:
        print_json({"ok": not oddities, "oddities": oddities, "bytes": size(encode(loaded.state))})
        return
    sys.stdout.write("\n".join(oddities or ["the state is in order"]) + "\n")


@state_group.command("export")
@config_option
def export_command(config_file: str | None) -> None:
    """Print the state document as it is stored, unknown keys included."""
    print_json(encode(_kept(config_file).store.load().state))


@state_group.command("import")
@click.argument("file", metavar="FILE")
@config_option
def import_command(file: str, config_file: str | None) -> None:
    """Put a state document in place of what is stored; also over a damaged one. ``-`` reads stdin."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        document = json.loads(text)
    except (OSError, ValueError) as error:
        raise ConfigError("cannot import the state", thing=file, cause=str(error)) from error
    try:
        state = decode(document)
    except DocumentDamaged as error:
        raise ConfigError("cannot import the state", thing=file, cause=str(error)) from error
    _kept(config_file).store.restore(state)
    click.echo(f"imported {len(state.tasks)} days and {len(state.seen)} fingerprints", err=True)


def _kept(config_file: str | None) -> Kept:
    from news_digest.cli.wiring import Wiring  # noqa: PLC0415

    return Wiring(settings_of(config_file), tell=lambda _step: None).kept()


def _oddities(state: State) -> list[str]:
    odd = [
        f"{task.key}: a record that this version cannot read; kept as it is"
        for task in state.tasks.values()
        if isinstance(task, Foreign)
    ]
    most = Limits().seen_fingerprints
    if len(state.seen) > most:
        odd.append(f"seen: {len(state.seen)} fingerprints, above {most}")
    wrong = [key for key in (*state.seen, *state.seen_wide) if len(key) != _FINGERPRINT_DIGITS]
    if wrong:
        odd.append(f"seen: {len(wrong)} entries are no fingerprints, {wrong[0]!r} for one")
    return odd
