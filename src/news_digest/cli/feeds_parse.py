"""``news-digest feeds parse``: show what is read from files, as people or as ``corpus/score.py`` want it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from news_digest.errors import NotAFeed
from news_digest.feeds.parse import Document, parse_feed
from news_digest.feeds.raw import Raw
from news_digest.feeds.text import full_text, plain
from news_digest.hygiene import clean
from news_digest.model import Entry, Json

__all__ = ["describe", "parse_command"]


@click.command("parse")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--url", default="https://feed.example/feed.xml", show_default=True, help="The address it came from.")
@click.option("--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="A response header, as often as needed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, a line a file.")
def parse_command(files: Sequence[str], url: str, headers: Sequence[str], *, as_json: bool) -> int:
    """Show what is read from feed files, with each story's fingerprints. Exit code 3 when one of them is no feed.

    \b
    Examples:
      news-digest feeds parse feed.xml
      news-digest feeds parse --url https://example.com/feed --header 'Content-Type: text/xml; charset=gbk' --json *.xml
    """
    known = dict(_header(line) for line in headers)
    failed = False
    for line in describe(files, url, known):
        failed = failed or "error" in line
        text = json.dumps(line, ensure_ascii=False) if as_json else "\n".join(map(clean, _lines(line)))
        sys.stdout.write(text.encode("utf-8", "replace").decode("utf-8") + "\n")
    return NotAFeed.exit_code if failed else 0


def _header(line: str) -> tuple[str, str]:
    name, separator, value = line.partition(":")
    if not separator:
        raise click.BadParameter(f"{line!r} is not 'NAME: VALUE'", param_hint="--header")
    return name.strip().lower(), value.strip()


def describe(files: Sequence[str], url: str, headers: Mapping[str, str]) -> Iterator[dict[str, Json]]:
    """Yield per file what was read from it, or its ``error``."""
    for file in files:
        try:
            document = parse_feed(Path(file).read_bytes(), url, headers)
        except NotAFeed as error:
            yield {"file": file, "error": f"{error.cause}; {error.hint}"}
        except OSError as error:
            yield {"file": file, "error": f"cannot read the file: {error.strerror}"}
        else:
            yield _document(file, document)


def _document(file: str, document: Document) -> dict[str, Json]:
    found: dict[str, Json] = {"file": file, "title": document.title, "entries": [_entry(e) for e in document.entries]}
    return {**found, "skipped": document.skipped} if document.skipped else found


def _entry(entry: Entry) -> dict[str, Json]:
    raw: Raw = entry.raw
    identity = entry.identity
    keys = [key for key in (*identity.stored, *identity.wide) if key in identity.lookup]
    return {
        "title": plain(raw.head),
        "link": entry.link,
        "id": entry.identifier,
        "published": _instant(entry.published),
        "summary": full_text(raw),
        "keys": keys,
        "aliases": [key for key in identity.lookup if key not in keys],
        "remembered": [*identity.stored, *identity.wide],
    }


def _instant(when: datetime | None) -> str | None:
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if when else None


def _lines(line: Mapping[str, Json]) -> Iterator[str]:
    if "error" in line:
        yield f"{line['file']}: {line['error']}"
        return
    yield f"{line['file']}: {line['title'] or 'no title'}, {len(line['entries'])} entries"
    for entry in line["entries"]:
        yield f"  {entry['published'] or 'undated':<20}  {entry['title'] or '-'}"
        yield f"  {'':<20}  {entry['link'] or 'no link'}"
        yield f"  {'':<20}  {' '.join(entry['remembered'])}"


if __name__ == "__main__":
    sys.exit(parse_command(standalone_mode=False))
