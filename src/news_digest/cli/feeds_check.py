"""``news-digest feeds check`` and ``fix``: read every feed, say how each fares, write down where it has moved to."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

import click

from news_digest.cli.feeds_add import age
from news_digest.cli.options import config_option, json_option, print_json, quiet_option, settings_of
from news_digest.cli.progress import ProgressLine
from news_digest.errors import FeedError
from news_digest.hygiene import clean
from news_digest.model import FeedResult, FeedSource, Json
from news_digest.ports import Step

if TYPE_CHECKING:
    from news_digest.cli.settings import Settings

__all__ = ["check_command", "fix_command"]

_HEADINGS: Final = ("state", "stories", "newest", "feed")
_TITLE_CHARACTERS: Final = 40


@click.command("check")
@config_option
@json_option
@quiet_option
def check_command(config_file: str | None, *, as_json: bool, quiet: bool) -> int:
    """Read every feed and say how it fares. Below one that failed stands why, and what to do; the exit code is then 3.

    \b
    Examples:
      news-digest feeds check
      news-digest feeds check --json | jq -r '.[] | select(.failure) | .url'
    """
    settings = settings_of(config_file)
    results, now = _read(settings, settings.sources(), quiet=quiet)
    if as_json:
        print_json([_checked(result, now) for result in results])
    else:
        sys.stdout.write("".join(clean(line) + "\n" for line in _table(results, now)))
    return FeedError.exit_code if any(result.failure for result in results) else 0


@click.command("fix")
@config_option
@json_option
@quiet_option
def fix_command(config_file: str | None, *, as_json: bool, quiet: bool) -> None:
    """Write down where feeds have moved to for good. `news-digest feeds check` only names them.

    \b
    Examples:
      news-digest feeds fix
    """
    from news_digest.cli.feed_file import FeedFile  # noqa: PLC0415 - the TOML editor

    settings = settings_of(config_file)
    results, _ = _read(settings, settings.sources(), quiet=quiet)
    moved = {result.source.url: result.moved_to for result in results if result.moved_to and not result.failure}
    if moved:
        file = FeedFile.of(settings, config_file)
        file.move(moved)
        file.save()
    if as_json:
        print_json(moved)
        return
    lines = [f"{old} -> {new}" for old, new in moved.items()] or ["nothing has moved"]
    sys.stdout.write("".join(clean(line) + "\n" for line in lines))
    failed = sum(1 for result in results if result.failure)
    if failed:
        click.echo(f"{failed} of {len(results)} feeds cannot be read: `news-digest feeds check` says why", err=True)


def _read(settings: Settings, sources: Sequence[FeedSource], *, quiet: bool) -> tuple[Sequence[FeedResult], datetime]:
    from news_digest.cli.wiring import Wiring, now  # noqa: PLC0415

    progress = ProgressLine(sys.stderr, quiet=quiet)
    wiring = Wiring(settings, tell=progress)
    progress(Step("feeds", f"reading {len(sources)} feeds", total=len(sources)))
    try:
        results = wiring.feeds(always_ask=True).read(sources, wiring.limits().feeds_deadline)
    finally:
        progress.close()
    return results, now()


def _checked(result: FeedResult, now: datetime) -> dict[str, Json]:
    newest = _newest(result)
    return {
        "url": result.source.url,
        "name": result.source.name,
        "tags": list(result.source.tags),
        "title": result.title,
        "entries": len(result.entries),
        "newest": newest.isoformat() if newest else None,
        "newest_age": age(newest, now),
        "failure": result.failure.reason if result.failure else None,
        "hint": result.failure.hint if result.failure else "",
        "moved_to": result.moved_to,
        "notices": list(result.notices),
    }


def _newest(result: FeedResult) -> datetime | None:
    return max((entry.published for entry in result.entries if entry.published), default=None)


def _table(results: Sequence[FeedResult], now: datetime) -> Iterator[str]:
    """Yield a row for each feed, below it what is wrong with it and what to do, then how many can be read."""
    rows = [_row(result, now) for result in results]
    widths = [max(map(len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    yield _joined(_HEADINGS, widths)
    for result, row in zip(results, rows, strict=True):
        yield _joined(row, widths)
        for sentence in _sentences(result):
            yield f"        {sentence}"
    failed = sum(1 for result in results if result.failure)
    yield f"{len(results) - failed} of {len(results)} feeds can be read"


def _joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    state, stories, newest, feed = cells
    return f"{state:<{widths[0]}}  {stories:>{widths[1]}}  {newest:<{widths[2]}}  {feed}"


def _row(result: FeedResult, now: datetime) -> tuple[str, str, str, str]:
    title = " ".join(clean(result.source.name or result.title).split())
    title = title if len(title) <= _TITLE_CHARACTERS else title[: _TITLE_CHARACTERS - 1] + "…"
    feed = f"{title}  {result.source.url}" if title else result.source.url
    if result.failure:
        return "failed", "", "", feed
    return "ok", str(len(result.entries)), age(_newest(result), now) if result.entries else "", feed


def _sentences(result: FeedResult) -> Iterator[str]:
    if result.failure:
        reason = result.failure.reason
        yield f"{reason[:1].upper()}{reason[1:]}. {result.failure.hint}".rstrip()
    yield from result.notices
