"""``news-digest completion SHELL``: the script that makes a shell complete our commands."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

__all__ = ["completion_command"]

_SHELLS: Final = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
def completion_command(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples:
      news-digest completion bash > ~/.local/share/bash-completion/completions/news-digest
      news-digest completion zsh  > ~/.zfunc/_news-digest
      news-digest completion fish > ~/.config/fish/completions/news-digest.fish
    """
    from news_digest.cli.main import cli  # noqa: PLC0415 - main imports this module's name

    found = get_completion_class(shell)
    if found is None:  # pragma: no cover - the choices are click's own shells
        raise click.UsageError(f"no completion for {shell}")
    click.echo(found(cli, {}, "news-digest", "_NEWS_DIGEST_COMPLETE").source())
