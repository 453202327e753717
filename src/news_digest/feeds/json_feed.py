"""JSON Feed 1.0 and 1.1 (jsonfeed.org), and RSS written as JSON, as some services do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import urljoin

from news_digest.errors import NotAFeed
from news_digest.feeds.dates import read_date
from news_digest.feeds.elements import Fields
from news_digest.feeds.raw import Part, Raw
from news_digest.model import Json

__all__ = ["read_json_feed"]

_DEPTH: Final = 50


def read_json_feed(text: str, url: str) -> tuple[str, str, list[Fields]]:
    """Return title, site and items of a JSON document; raises ``NotAFeed`` for any other JSON."""
    start = text.find("{")
    try:
        document, _ = json.JSONDecoder(strict=False).raw_decode(text, max(start, 0))
    except (ValueError, RecursionError) as error:
        raise NotAFeed(
            "cannot read the feed", thing=url, cause=f"no valid JSON: {error}", hint="try again later"
        ) from error
    feed = _feed(document)
    if feed is None:
        raise NotAFeed(
            "cannot read the feed", thing=url, cause="it is JSON, but no feed", hint="look whether the address is the feed's"
        )
    home = _absolute(url, _text(feed.get("home_page_url") or feed.get("link")))
    return Raw(Part(_text(feed.get("title")), plain=True)).title(), home, list(_items(feed, url))


def _feed(document: Json) -> Mapping[str, Json] | None:
    if not isinstance(document, Mapping):
        return None
    if isinstance(document.get("items"), list):
        return document
    rss = document.get("rss")
    channel = rss.get("channel") if isinstance(rss, Mapping) else None
    if not isinstance(channel, Mapping):
        return None
    items = channel.get("item", [])
    return {**channel, "items": items if isinstance(items, list) else [items]}


def _items(feed: Mapping[str, Json], url: str) -> Iterator[Fields]:
    for item in feed["items"]:
        if isinstance(item, Mapping):
            yield _item(item, url)


def _item(item: Mapping[str, Json], url: str) -> Fields:
    guid = item.get("guid")
    identifier = item.get("id", guid.get("#text", guid.get("content")) if isinstance(guid, Mapping) else guid)
    link = item.get("url") or item.get("link") or item.get("external_url")
    known = _text(identifier)
    if not link and known.lower().startswith(("http://", "https://")):
        link = known
    published = next(
        (found for key in ("date_published", "pubDate", "date_modified") if (found := read_date(_text(item.get(key))))), None
    )
    bodies = (
        Part(_text(item.get("content_html") or item.get("description") or item.get("content:encoded"))),
        Part(_text(item.get("content_text")), plain=True),
        Part(_text(item.get("summary")), plain=True),
    )
    raw = Raw(Part(_text(item.get("title")), plain="id" in item), tuple(body for body in bodies if body.text))
    return Fields(known, _absolute(url, _text(link)), published, raw)


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _absolute(base: str, link: str) -> str:
    if not link:
        return ""
    try:
        return urljoin(base, link)
    except ValueError:
        return link
