"""Items of JSON Feed 1.0 and 1.1, and of RSS written as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from news_digest.feeds.dates import read_date
from news_digest.feeds.items import Addresses, Found, Item
from news_digest.feeds.text import Passage, untyped
from news_digest.model import Json

__all__ = ["find_items"]

_READER: Final = json.JSONDecoder(strict=False)
"""Line breaks within strings are as common as bare ampersands in XML; what follows the document does not matter."""
_VERSION: Final = "https://jsonfeed.org/version/"
_INNER: Final = ("#value", "#text", "_", "$t")
"""Where programs that turn XML into JSON leave the text of an element with attributes."""


def find_items(text: str, url: str) -> Found | None:
    """Return what a JSON document holds as a feed, None where it is none.

    Raises ``ValueError`` for what is no JSON, a document that ends too early for one.
    """
    try:
        document, _ = _READER.raw_decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(document, dict):
        return None
    channel, items = _channel(document)
    if not isinstance(items, list):
        return None
    home = _text(channel.get("home_page_url") or channel.get("link"))
    addresses = Addresses(url, home)
    found = (_item(each, addresses) for each in items if isinstance(each, dict))
    return Found(untyped(_text(channel.get("title"))), [each for each in found if each is not None])


def _channel(document: dict[str, Json]) -> tuple[dict[str, Json], Json]:
    """Return what describes the feed, and its items, which RSS as JSON has in several places."""
    rss = document.get("rss")
    channel = rss.get("channel") if isinstance(rss, dict) else None
    if isinstance(channel, dict):
        places: tuple[Json, ...] = (
            channel.get("item"),
            channel.get("items"),
            document.get("item"),
            document.get("items"),
            [],
        )
        items = next(each for each in places if each is not None)
        return channel, [items] if isinstance(items, dict) else items
    items = document.get("items")
    items = document.get("entries") if items is None else items
    if items is None and _text(document.get("version")).startswith(_VERSION):
        items = []
    return document, items


def _item(value: dict[str, Json], addresses: Addresses) -> Item | None:
    html = _text(value.get("content_html") or value.get("content") or value.get("description"))
    text, teaser = _text(value.get("content_text")), _text(value.get("summary"))
    link = _text(value.get("url")) or _text(value.get("link")) or _text(value.get("external_url"))
    item = Item(
        _text(value.get("id") if value.get("id") is not None else value.get("guid")),
        addresses.absolute(link) if link else "",
        "",
        _first_date(
            [value.get(name) for name in ("date_published", "published", "pubDate", "date_modified", "updated")]
        ),
        untyped(_text(value.get("title"))),
        untyped(teaser),
        Passage("html", html) if html else Passage("text", text),
    )
    if not item.link and item.identifier.startswith(("http://", "https://")):
        item.link = item.identifier
    if not item.link:
        item.enclosure = addresses.absolute(_attached(value.get("attachments") or [value.get("enclosure")]))
    return item or None


def _attached(attachments: Json) -> str:
    found = attachments if isinstance(attachments, list) else []
    return next((url for each in found if isinstance(each, dict) and (url := _text(each.get("url")))), "")


def _first_date(values: Sequence[Json]) -> Json:
    return next((found for value in values if value and (found := read_date(_text(value)))), None)


def _text(value: Json) -> str:
    """Return a value as text; numbers stand for identifiers in feeds of JSON Feed 1.0."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return next((inner for name in _INNER if isinstance(inner := value.get(name), str)), "")
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
