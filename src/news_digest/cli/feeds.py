"""``news-digest feeds``: the feeds of the configuration, looked at and looked after."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from news_digest.cli.main import LazyGroup
from news_digest.cli.options import config_option, json_option, print_json, quiet_option, settings_of
from news_digest.cli.progress import ProgressLine
from news_digest.errors import ConfigError, FeedError
from news_digest.hygiene import clean
from news_digest.model import FeedResult, FeedSource, Json

if TYPE_CHECKING:
    from news_digest.cli.settings import Settings

__all__ = ["feeds_group"]

_FAILED: Final = FeedError.exit_code


@click.group(cls=LazyGroup, commands_at={"parse": "news_digest.cli.feeds_parse:parse_command"})
def feeds_group() -> None:
    """List, check, add, remove and repair feeds; read and write OPML.

    \b
    Examples:
      news-digest feeds check
      news-digest feeds add https://example.com
      news-digest feeds import subscriptions.opml
    """


@feeds_group.command("list")
@config_option
@json_option
def list_command(config_file: str | None, *, as_json: bool) -> None:
    """List the configured feeds."""
    feeds = settings_of(config_file).config.feeds
    if as_json:
        print_json([_source(source) for source in feeds])
        return
    for source in feeds:
        tags = f"  [{', '.join(source.tags)}]" if source.tags else ""
        sys.stdout.write(clean(f"{source.url}  {source.name}{tags}") + "\n")


def _source(source: FeedSource) -> dict[str, Json]:
    return {"url": source.url, "name": source.name, "tags": list(source.tags)}


# --- check and fix -------------------------------------------------------------------------------------------------


@feeds_group.command("check")
@config_option
@json_option
@quiet_option
def check_command(config_file: str | None, *, as_json: bool, quiet: bool) -> int:
    """Read every feed and explain each failure in one sentence, with what to do. Exit code 3 when one failed."""
    settings = settings_of(config_file)
    results, now = _read(settings, settings.sources(), quiet=quiet)
    if as_json:
        print_json([_checked(result, now) for result in results])
    else:
        _print_table(results, now)
    return _FAILED if any(result.failure for result in results) else 0


@feeds_group.command("fix")
@config_option
@json_option
@quiet_option
def fix_command(config_file: str | None, *, as_json: bool, quiet: bool) -> None:
    """Write the new addresses of feeds that have moved for good into the configuration."""
    from news_digest.cli.feed_file import FeedFile  # noqa: PLC0415 - the TOML editor

    settings = settings_of(config_file)
    results, _ = _read(settings, settings.sources(), quiet=quiet)
    moved = {result.source.url: result.moved_to for result in results if result.moved_to and not result.failure}
    if moved:
        file = FeedFile.of(settings, config_file)
        for old, new in moved.items():
            file.move(old, new)
        file.save()
    if as_json:
        print_json(moved)
    else:
        sys.stdout.write(
            "".join(clean(f"{old} -> {new}") + "\n" for old, new in moved.items()) or "nothing has moved\n"
        )


def _read(settings: Settings, sources: Sequence[FeedSource], *, quiet: bool) -> tuple[Sequence[FeedResult], datetime]:
    from news_digest.cli.wiring import Wiring, now  # noqa: PLC0415

    progress = ProgressLine(sys.stderr, quiet=quiet)
    wiring = Wiring(settings, tell=progress)
    try:
        results = wiring.feeds(always_ask=True).read(sources, wiring.limits().feeds_deadline)
    finally:
        progress.close()
    return results, now()


def _checked(result: FeedResult, now: datetime) -> dict[str, Json]:
    newest = _newest(result)
    return {
        **_source(result.source),
        "title": result.title,
        "entries": len(result.entries),
        "newest": newest.isoformat() if newest else None,
        "newest_age": _age(newest, now),
        "failure": result.failure.reason if result.failure else None,
        "hint": result.failure.hint if result.failure else "",
        "moved_to": result.moved_to,
        "notices": list(result.notices),
    }


def _newest(result: FeedResult) -> datetime | None:
    return max((entry.published for entry in result.entries if entry.published), default=None)


def _age(newest: datetime | None, now: datetime) -> str:
    if newest is None:
        return "undated"
    hours = int((now - newest) / timedelta(hours=1))
    if hours < 0:
        return "in the future"
    return f"{hours} h ago" if hours < 72 else f"{hours // 24} days ago"  # noqa: PLR2004 - three days


def _print_table(results: Sequence[FeedResult], now: datetime) -> None:
    for result in results:
        if result.failure:
            sys.stdout.write(clean(f"failed  {result.source.url}: {result.failure.reason}") + "\n")
            if result.failure.hint:
                sys.stdout.write(clean(f"        {result.failure.hint}") + "\n")
        else:
            newest = _age(_newest(result), now)
            title, entries = result.title or "no title", len(result.entries)
            line = f"ok      {result.source.url}: {title}, {entries} entries, newest {newest}"
            sys.stdout.write(clean(line) + "\n")
        for notice in result.notices:
            sys.stdout.write(clean(f"        {notice}") + "\n")
    failed = sum(1 for result in results if result.failure)
    sys.stdout.write(f"{len(results) - failed} of {len(results)} feeds can be read\n")


# --- add and remove ------------------------------------------------------------------------------------------------


@feeds_group.command("add")
@click.argument("address", metavar="URL")
@click.option("--name", default="", help="What the feed is called here.")
@config_option
@json_option
@quiet_option
def add_command(address: str, name: str, config_file: str | None, *, as_json: bool, quiet: bool) -> int:
    """Add a feed by its address, or by the address of its site.

    A site's feeds are found by its link elements, then at the usual places. With several, they are listed and none is
    added.

    \b
    Examples:
      news-digest feeds add https://example.com
      news-digest feeds add https://example.com/feed.xml --name Example
    """
    from news_digest.cli.feed_file import FeedFile  # noqa: PLC0415
    from news_digest.cli.find import find_feeds  # noqa: PLC0415
    from news_digest.cli.wiring import Wiring, now  # noqa: PLC0415

    settings = settings_of(config_file)
    progress = ProgressLine(sys.stderr, quiet=quiet)
    found = find_feeds(Wiring(settings, tell=progress).http(), _address(address))
    progress.close()
    file = FeedFile.of(settings, config_file)
    added = found[0].url if len(found) == 1 and file.add(found[0].url, name or found[0].title) else ""
    if added:
        file.save()
    if as_json:
        candidates = [
            {"url": f.url, "title": f.title, "entries": f.entries, "newest": _age(f.newest, now())} for f in found
        ]
        print_json({"added": added, "found": candidates})
    else:
        for feed in found:
            line = f"{feed.url}: {feed.title or 'no title'}, {feed.entries} stories, newest {_age(feed.newest, now())}"
            sys.stdout.write(clean(line) + "\n")
        outcome = (
            f"added to {file.path}" if added else "it is there already" if len(found) == 1 else "choose one of them"
        )
        sys.stdout.write(outcome + "\n")
    return 0 if len(found) == 1 else ConfigError.exit_code


def _address(text: str) -> str:
    return text if "://" in text else f"https://{text}"


@feeds_group.command("remove")
@click.argument("address", metavar="URL")
@config_option
def remove_command(address: str, config_file: str | None) -> None:
    """Remove a feed from the configuration."""
    from news_digest.cli.feed_file import FeedFile  # noqa: PLC0415

    file = FeedFile.of(settings_of(config_file), config_file)
    file.remove(address)
    file.save()
    sys.stdout.write(clean(f"removed {address} from {file.path}") + "\n")


# --- OPML ----------------------------------------------------------------------------------------------------------


@feeds_group.command("import")
@click.argument("source", metavar="FILE")
@config_option
@json_option
def import_command(source: str, config_file: str | None, *, as_json: bool) -> None:
    """Add the feeds of an OPML file; nested folders become tags. Importing twice adds nothing."""
    from news_digest.cli.feed_file import FeedFile  # noqa: PLC0415
    from news_digest.feeds.opml import read_opml  # noqa: PLC0415

    try:
        text = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise ConfigError("cannot read the OPML file", thing=source, cause=str(error.strerror)) from error
    subscriptions = read_opml(text)
    file = FeedFile.of(settings_of(config_file), config_file)
    added = [feed.url for feed in subscriptions if file.add(feed.url, feed.name, feed.tags)]
    if added:
        file.save()
    if as_json:
        print_json({"found": len(subscriptions), "added": added})
    else:
        sys.stdout.write(f"{len(added)} of {len(subscriptions)} feeds added to {file.path}\n")


@feeds_group.command("export")
@config_option
def export_command(config_file: str | None) -> None:
    """Print the feeds as OPML 2.0; tags become folders."""
    from news_digest.feeds.opml import write_opml  # noqa: PLC0415

    sources = settings_of(config_file).config.feeds
    sys.stdout.write(write_opml([replace(source, headers=()) for source in sources]))
