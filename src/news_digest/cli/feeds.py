"""``news-digest feeds``: the feeds of the configuration, looked at and looked after."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from news_digest.cli.main import LazyGroup
from news_digest.cli.options import config_option, json_option, print_json, settings_of
from news_digest.errors import ConfigError
from news_digest.hygiene import clean
from news_digest.model import FeedSource

__all__ = ["export_command", "feeds_group", "import_command", "list_command", "remove_command"]

_NAMED_MOST: Final = 10
"""How many entries that were left out of an import are named."""

_COMMANDS: Final = {
    "list": "news_digest.cli.feeds:list_command",
    "add": "news_digest.cli.feeds_add:add_command",
    "remove": "news_digest.cli.feeds:remove_command",
    "check": "news_digest.cli.feeds_check:check_command",
    "fix": "news_digest.cli.feeds_check:fix_command",
    "import": "news_digest.cli.feeds:import_command",
    "export": "news_digest.cli.feeds:export_command",
    "parse": "news_digest.cli.feeds_parse:parse_command",
}
"""In the order of the help."""


@click.group(cls=LazyGroup, commands_at=_COMMANDS)
def feeds_group() -> None:
    """List, check, add, remove and repair feeds; read and write OPML.

    \b
    Examples:
      news-digest feeds check
      news-digest feeds add https://example.com
      news-digest feeds import subscriptions.opml
    """


@click.command("list")
@config_option
@json_option
def list_command(config_file: str | None, *, as_json: bool) -> None:
    """List the configured feeds. Passwords in their addresses are left out.

    \b
    Examples:
      news-digest feeds list
      news-digest feeds list --json | jq -r '.[].url'
    """
    feeds = _public_feeds(config_file)
    if as_json:
        print_json([{"url": each.url, "name": each.name, "tags": list(each.tags)} for each in feeds])
        return
    for source in feeds:
        tags = f"  [{', '.join(source.tags)}]" if source.tags else ""
        sys.stdout.write(clean(f"{source.url}  {source.name}{tags}").rstrip() + "\n")


@click.command("remove")
@click.argument("wanted", metavar="FEED")
@config_option
def remove_command(wanted: str, config_file: str | None) -> None:
    """Remove a feed from the configuration. FEED is its address, its name, or a part of either that no other one has.

    \b
    Examples:
      news-digest feeds remove https://example.com/feed.xml
      news-digest feeds remove "Ars Technica"
    """
    from news_digest.cli.feed_file import FeedFile  # noqa: PLC0415 - the TOML editor

    file = FeedFile.of(settings_of(config_file), config_file)
    removed = file.remove(wanted)
    file.save()
    sys.stdout.write(clean(f"removed {removed} from {file.path}") + "\n")


# --- OPML ----------------------------------------------------------------------------------------------------------


@click.command("import")
@click.argument("source", metavar="FILE")
@config_option
@json_option
def import_command(source: str, config_file: str | None, *, as_json: bool) -> None:
    """Add the feeds of an OPML file or a list. A list has one address a line; `-` is stdin.

    Nested folders become tags. Importing twice adds nothing.

    \b
    Examples:
      news-digest feeds import subscriptions.opml
      curl -s https://example.com/blogroll.opml | news-digest feeds import -
    """
    from news_digest.cli.feed_file import FeedFile  # noqa: PLC0415 - the TOML editor
    from news_digest.feeds.manners import split_credentials  # noqa: PLC0415
    from news_digest.feeds.opml import read_opml  # noqa: PLC0415

    subscriptions = read_opml(_list(source), "stdin" if source == "-" else source)
    file = FeedFile.of(settings_of(config_file), config_file)
    added = [split_credentials(feed.url)[0] for feed in subscriptions.feeds if file.add(feed.url, feed.name, feed.tags)]
    if added:
        file.save()
    left_out = [split_credentials(each)[0] for each in subscriptions.left_out]
    if as_json:
        print_json({"found": len(subscriptions.feeds), "added": added, "left_out": left_out})
        return
    sys.stdout.write(f"{len(added)} of {len(subscriptions.feeds)} feeds added to {file}\n")
    for each in left_out[:_NAMED_MOST]:
        click.echo(clean(f"left out, no address of a feed: {each}"), err=True)
    if len(left_out) > _NAMED_MOST:
        click.echo(f"left out, {len(left_out) - _NAMED_MOST} more: --json lists them", err=True)


def _list(source: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        hint = "fetch it first, with a browser or curl" if "://" in source else "check the path; `-` reads from stdin"
        cause = str(error.strerror)
        raise ConfigError("cannot read the list of feeds", thing=source, cause=cause, hint=hint) from error


@click.command("export")
@config_option
def export_command(config_file: str | None) -> None:
    """Print the feeds as OPML 2.0. Passwords and headers are left out; tags become folders.

    \b
    Examples:
      news-digest feeds export > subscriptions.opml
    """
    from news_digest.feeds.opml import write_opml  # noqa: PLC0415

    sys.stdout.write(write_opml(_public_feeds(config_file)))


def _public_feeds(config_file: str | None) -> list[FeedSource]:
    """Return the configured feeds without what is only for their servers: they are printed to be passed on."""
    from news_digest.feeds.manners import discreet  # noqa: PLC0415

    return [replace(discreet(source), headers=()) for source in settings_of(config_file).config.feeds]
