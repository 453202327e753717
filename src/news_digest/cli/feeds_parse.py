"""``news-digest feeds parse``: show what is read in files of feeds, with each story's fingerprints."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from news_digest.errors import FeedError, NotAFeed
from news_digest.feeds.parse import parse_feed
from news_digest.feeds.text import excerpts_of, title_of
from news_digest.hygiene import clean
from news_digest.model import Entry, Json

__all__ = ["describe", "parse_command"]

_TITLE_WIDTH = 60


def describe(files: Iterable[str], url: str, headers: Mapping[str, str]) -> Iterator[dict[str, Json]]:
    """Yield one object per file: its title and entries, or the error; ``-`` is stdin.

    ``headers`` have lower-case names.
    ``keys`` are remembered and matched, ``stored`` what is written to ``seen``, ``aliases`` only looked up.
    """
    for name in files:
        try:
            body = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
            document = parse_feed(body, url, headers, url or name)
        except OSError as error:
            yield {"file": name, "error": f"cannot be read: {error.strerror}", "hint": "Check the path."}
        except NotAFeed as error:
            yield {"file": name, "error": error.cause or error.what, "hint": error.hint}
        else:
            pairs = zip(document.entries, excerpts_of(document.entries), strict=True)
            entries = [_entry(entry, excerpt) for entry, excerpt in pairs]
            yield {"file": name, "title": document.title, "entries": entries}


def _entry(entry: Entry, excerpt: str) -> dict[str, Json]:
    identity = entry.identity
    keys = [*(key for key in identity.stored if key in identity.lookup), *identity.wide]
    return {
        "title": title_of(entry),
        "link": entry.link,
        "id": entry.identifier,
        "published": f"{entry.published:%Y-%m-%dT%H:%M:%SZ}" if entry.published else None,
        "summary": excerpt,
        "keys": keys,
        "aliases": [key for key in identity.lookup if key not in keys],
        "stored": list(identity.stored),
        "wide": list(identity.wide),
    }


def _table(document: dict[str, Json]) -> Iterator[str]:
    """Yield the lines that people read."""
    if "error" in document:
        yield f"{document['file']}: no feed: {document['error']}"
        if document["hint"]:
            yield f"  {document['hint']}"
        return
    entries = document["entries"]
    yield f"{document['file']}: {document['title'] or '(no title)'}, {len(entries)} entries"
    for entry in entries:
        date = (entry["published"] or "undated")[:16].replace("T", " ")
        title = entry["title"] or entry["summary"] or "(no title)"
        title = title if len(title) <= _TITLE_WIDTH else title[: _TITLE_WIDTH - 1] + "…"
        yield f"  {date:16}  {title}"
        yield f"  {'':16}  {entry['link'] or '(no link)'}"
        yield f"  {'':16}  {' '.join(entry['keys'])}"


def _headers(_context: click.Context, _parameter: click.Parameter, lines: Sequence[str]) -> dict[str, str]:
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise click.BadParameter(f"{line!r} is not of the form 'Name: value'")
        headers[name.strip().lower()] = value.strip()
    return headers


@click.command("parse")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--url", default="", help="The address that the files came from; relative links are relative to it.")
@click.option(
    "--header",
    "headers",
    multiple=True,
    callback=_headers,
    metavar="'NAME: VALUE'",
    help="An HTTP header that came with them; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.pass_context
def parse_command(
    context: click.Context, *, files: tuple[str, ...], url: str, headers: dict[str, str], as_json: bool
) -> None:
    """Show what is read in files of feeds. Each story comes with its fingerprints; exit code 3 when one is no feed.

    `-` is stdin. A file that cannot be read is named, and the others are shown all the same.

    \b
    Examples:
      news-digest feeds parse feed.xml
      curl -s https://example.org/feed.xml | news-digest feeds parse -
      news-digest feeds parse --json --url https://example.org/feed.xml feed.xml
    """
    failed = False
    for document in describe(files, url, headers):
        failed |= "error" in document
        if as_json:
            sys.stdout.write(json.dumps(document) + "\n")
        else:
            sys.stdout.write("".join(clean(line) + "\n" for line in _table(document)))
    context.exit(FeedError.exit_code if failed else 0)


if __name__ == "__main__":
    parse_command()
