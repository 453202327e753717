"""``news-digest feeds add``: a feed by its address, or by the address of its site."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import click

from news_digest.cli.options import config_option, json_option, print_json, quiet_option, settings_of
from news_digest.cli.progress import ProgressLine
from news_digest.config import is_address
from news_digest.errors import ConfigError, HttpError
from news_digest.hygiene import clean

if TYPE_CHECKING:
    from news_digest.cli.feed_file import FeedFile
    from news_digest.cli.find import Found
    from news_digest.cli.settings import Settings

__all__ = ["add_command", "age"]

_LOGIN: Final = re.compile(r"[^/?#]*@")
_PASSWORD: Final = re.compile(r"(^|//).*@", re.DOTALL)


@click.command("add")
@click.argument("address", metavar="URL")
@click.option("--name", default="", help="What the feed is called here.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag for it, a folder in OPML; may be repeated.")
@config_option
@json_option
@quiet_option
def add_command(
    address: str, name: str, tags: Sequence[str], config_file: str | None, *, as_json: bool, quiet: bool
) -> int:
    """Add a feed by its address, or by the address of its site.

    A site's feeds are found by its link elements, its links, then at the usual places. With several, they are listed
    and none is added.

    \b
    Examples:
      news-digest feeds add example.com
      news-digest feeds add https://example.com/feed.xml --name Example --tag science
    """
    from news_digest.cli.feed_file import FeedFile  # noqa: PLC0415
    from news_digest.cli.wiring import now  # noqa: PLC0415

    settings = settings_of(config_file)
    addresses = _addresses(address)
    FeedFile.of(settings, config_file)  # what cannot be changed is known before anything is asked
    found = _found(settings, addresses, quiet=quiet)
    file = FeedFile.of(settings, config_file)
    added = _add(file, found[0], _with_login(found[0].url, addresses[0]), name, tags) if len(found) == 1 else ""
    if as_json:
        candidates = [
            {"url": f.url, "title": f.title, "entries": f.entries, "newest": age(f.newest, now())} for f in found
        ]
        print_json({"added": added, "found": candidates})
    else:
        lines = [*(_line(feed, now()) for feed in found), *_outcome(file, found, added)]
        sys.stdout.write("".join(clean(line) + "\n" for line in lines))
    return 0 if len(found) == 1 else ConfigError.exit_code


def age(newest: datetime | None, now: datetime) -> str:
    """Return how long ago the newest story of a feed appeared, in words."""
    if newest is None:
        return "undated"
    hours = (now - newest) // timedelta(hours=1)
    if hours < 0:
        return "in the future"
    if hours < 72:  # noqa: PLR2004 - three days
        return f"{hours} h ago" if hours else "just now"
    return f"{hours // 24} days ago"


def _addresses(text: str) -> tuple[str, ...]:
    """Return the addresses that a text may mean, the likeliest first; raises ``ConfigError``.

    One with a login has to name its scheme: no password goes out in the clear because TLS was not answered.
    """
    text = re.sub(r"^feed:(?://)?(?=https?:)|^feed:(?://)?", "", text.strip(), flags=re.IGNORECASE)
    has_scheme = re.match(r"[a-z][a-z0-9+.-]*:(?!\d)", text, re.IGNORECASE)
    addresses = (text,) if has_scheme else (f"https://{text}", f"http://{text}")
    if not is_address(addresses[0]) or (not has_scheme and _LOGIN.match(text)):
        raise ConfigError(
            "cannot look for feeds",
            thing=_PASSWORD.sub(r"\1...@", text) or "''",
            cause="it is no web address",
            hint="give the address of a site or of a feed, like https://example.com",
        )
    return addresses


def _found(settings: Settings, addresses: Sequence[str], *, quiet: bool) -> list[Found]:
    """Return the feeds of the first address whose server answers."""
    from news_digest.cli.find import find_feeds  # noqa: PLC0415
    from news_digest.cli.wiring import Wiring, now  # noqa: PLC0415

    progress = ProgressLine(sys.stderr, quiet=quiet)
    http = Wiring(settings, tell=progress).http()
    first: HttpError | None = None
    try:
        for address in addresses:
            try:
                return find_feeds(http, address, now(), progress)
            except HttpError as error:
                first = first or error
    finally:
        progress.close()
    raise first or HttpError("Cannot ask", thing=", ".join(addresses))


def _with_login(url: str, address: str) -> str:
    """Return a feed's address with the credentials of the address that was given, where both are of one host."""
    from news_digest.cli.find import is_same_site  # noqa: PLC0415
    from news_digest.feeds.manners import split_credentials  # noqa: PLC0415

    given, credentials = split_credentials(address)
    return url.replace("://", f"://{credentials}@", 1) if credentials and is_same_site(given, url) else url


def _add(file: FeedFile, feed: Found, url: str, name: str, tags: Sequence[str]) -> str:
    """Add a feed to the file and return the address that is shown; empty when it is listed already."""
    wanted = dict.fromkeys(" ".join(clean(tag).split()) for tag in tags)
    if not file.add(url, name or feed.title, [tag for tag in wanted if tag]):
        return ""
    file.save()
    return feed.url


def _line(feed: Found, now: datetime) -> str:
    stories = "1 story" if feed.entries == 1 else f"{feed.entries} stories"
    newest = f", newest {age(feed.newest, now)}" if feed.newest else ", undated" if feed.entries else ""
    return f"{feed.url}: {feed.title or 'no title'}, {stories}{newest}"


def _outcome(file: FeedFile, found: Sequence[Found], added: str) -> list[str]:
    if added:
        return [f"added to {file}"]
    if len(found) > 1:
        return [f"none was added: choose one, as in `news-digest feeds add {found[0].url}`"]
    listed = file.listed_as(found[0].url)
    return ["it is there already" + (f", as {listed}" if listed != found[0].url else "")]
