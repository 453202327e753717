"""The newest digests as feeds: Atom 1.0 (RFC 4287) and JSON Feed 1.1, in two files, with ids that stay.

An entry's id is the digest's own, so that a reader shows a digest once, also after it was written again.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from news_digest.channels import Target
from news_digest.channels.archive import Archive
from news_digest.channels.folder import Folder, PublicDisk
from news_digest.channels.options import Options
from news_digest.errors import ConfigError
from news_digest.model import Digest, Json, Receipt
from news_digest.ports import Clock
from news_digest.render_html import atom_entry, html_body, identifier
from news_digest.shown import lead_text, title_line, visible, writer_line
from news_digest.wire import instant_text

__all__ = ["ATOM", "ENTRIES", "JSON_FEED", "FeedChannel", "Heading", "feed_files", "newest", "open_feed", "public_url"]

ATOM: Final = "atom.xml"
JSON_FEED: Final = "feed.json"
ENTRIES: Final = 30
"""A month of days: who reads more seldom has the archive."""
_MOST_ENTRIES: Final = 366


@dataclass(frozen=True, slots=True)
class Heading:
    """What a feed or site says of itself."""

    title: str = "News digest"
    url: str = ""
    """Where the folder is served, ending in ``/``; empty where it is not."""
    language: str = "en"


def feed_files(digests: Sequence[Digest], heading: Heading) -> dict[str, bytes]:
    """Return the two feeds of digests, newest first, as file names and contents; equal digests give equal bytes."""
    value = json.dumps(_json_feed(digests, heading), ensure_ascii=False, indent=1)
    return {ATOM: _atom(digests, heading).encode(), JSON_FEED: f"{value}\n".encode()}


def _atom(digests: Sequence[Digest], heading: Heading) -> str:
    updated = instant_text(max(digest.written_at for digest in digests)) if digests else "1970-01-01T00:00:00Z"
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{escape(heading.language)}">',
        f"<id>{_feed_id(heading)}</id>",
        f"<title>{escape(visible(heading.title))}</title>",
        f"<updated>{updated}</updated>",
    ]
    if heading.url:
        lines.append(f'<link rel="self" type="application/atom+xml" href="{escape(heading.url + ATOM)}"/>')
        lines.append(f'<link rel="alternate" type="text/html" href="{escape(heading.url)}"/>')
    return (
        "\n".join(lines) + "\n" + "".join(atom_entry(each, link=_page(each, heading)) for each in digests) + "</feed>\n"
    )


def _json_feed(digests: Iterable[Digest], heading: Heading) -> dict[str, Json]:
    value: dict[str, Json] = {"version": "https://jsonfeed.org/version/1.1", "title": visible(heading.title)}
    if heading.url:
        value |= {"home_page_url": heading.url, "feed_url": heading.url + JSON_FEED}
    return value | {"language": heading.language, "items": [_json_item(digest, heading) for digest in digests]}


def _json_item(digest: Digest, heading: Heading) -> dict[str, Json]:
    page = _page(digest, heading)
    writer = visible(digest.draft.writer) or "unknown writer"
    return {
        "id": identifier(digest),
        **({"url": page} if page else {}),
        "title": title_line(digest),
        "summary": lead_text(digest) or writer_line(digest),
        "content_html": html_body(digest),
        "date_published": instant_text(digest.written_at),
        "authors": [{"name": f"news-digest, {writer}"}],
        "tags": list(dict.fromkeys(visible(section.title) for section in digest.draft.sections)),
    }


def _page(digest: Digest, heading: Heading) -> str:
    return f"{heading.url}{digest.period}.html" if heading.url else ""


def _feed_id(heading: Heading) -> str:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"news-digest:{heading.url}:{heading.title}").urn


class FeedChannel:
    """Keeps the digest in an archive and writes the feeds of its newest days."""

    def __init__(
        self, archive: Archive, folder: Folder, heading: Heading, *, entries: int, name: str, clock: Clock
    ) -> None:
        self.name = name
        self._archive = archive
        self._folder = folder
        self._heading = heading
        self._entries = entries
        self._clock = clock

    def deliver(self, digest: Digest) -> Receipt:
        """Write both files where they change."""
        self._archive.put(digest)
        made = feed_files(newest(self._archive, self._entries), self._heading)
        wrote = [name for name, data in made.items() if self._folder.put(name, data)]
        return Receipt(self.name, at=self._clock(), detail=f"{self._folder.path}: {', '.join(wrote) or 'unchanged'}")


def newest(archive: Archive, count: int) -> list[Digest]:
    """Return the newest digests that can be read, newest first."""
    found: list[Digest] = []
    for day in reversed(archive.days()):
        digest = archive.load(day)
        if digest is not None:
            found.append(digest)
        if len(found) == count:
            break
    return found


def public_url(options: Options, name: str) -> str:
    """Return the option ``url`` with a slash at its end; raises ``ConfigError`` for what is no http(s) address."""
    url = options.text("url")
    if url and not url.startswith(("http://", "https://")):
        raise ConfigError(
            "cannot use an option",
            thing=f"{name}.url = {url}",
            cause="it must begin with https:// or http://",
            hint="write the address at which the folder is served, or nothing",
        )
    return url if not url or url.endswith("/") else f"{url}/"


def open_feed(target: Target) -> FeedChannel:
    """Return the channel ``feed``; needs ``folder``; has ``archive``, ``url``, ``title``, ``language``, ``entries``."""
    options = Options(target)
    folder = Folder(options.text("folder", required=True), disk=PublicDisk())
    archive = Archive(options.text("archive", target.archive, required=True))
    title, language = options.text("title", "News digest"), options.text("language", "en")
    heading = Heading(title, public_url(options, target.name), language)
    entries = options.number("entries", ENTRIES, least=1, most=_MOST_ENTRIES)
    options.done()
    return FeedChannel(archive, folder, heading, entries=entries, name=target.name, clock=target.clock)
