"""Fuzz the feed reader: an input is a document or ``NotAFeed``; see ``fuzzing`` for how to run it."""

from __future__ import annotations

from tests.prove.fuzzing import fuzz, instrumented

from news_digest.errors import NotAFeed

with instrumented():
    from news_digest.feeds.parse import parse_feed
    from news_digest.feeds.text import stories

PIECES = (
    *(
        b"<rss><channel>",
        b"<item>",
        b"</item>",
        b"<title>",
        b"</title>",
        b"<link>",
        b'<feed xmlns="http://www.w3.org/2005/Atom">',
    ),
    *(
        b"<entry>",
        b"<guid>",
        b"<description>",
        b"<![CDATA[",
        b"]]>",
        b"<!--",
        b"-->",
        b"<?xml ",
        b'encoding="gb2312"',
        b"?>",
    ),
    *(
        b"&",
        b"&amp;",
        b"&eacute;",
        b"&#27;",
        b"<!DOCTYPE x [<!ENTITY y 'z'>]>",
        b"&y;",
        b' xml:base="x"',
        b' xmlns:a="b"',
        b"<a:b",
    ),
    *(
        b"\x1b[31m",
        b"\x00",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\x1f\x8b\x08",
        b'{"items": [',
        b'{"id": 1,',
        b'"url": "x"',
        b"<",
        b">",
        b'"',
    ),
    *(
        b"Tue, 01 Dec 2026 09:30:00 GMT",
        b"2026-12-01T09:30:00Z",
        b"text",
        b" ",
        b"\n",
        b"<p style='display:none'>",
        b"</p>",
        b"/>",
    ),
)


def one_input(data: bytes) -> None:
    """Read one input; raises what no input may raise."""
    try:
        entries = parse_feed(data, "https://feed.example/rss", {"content-type": "text/xml; charset=utf-8"}).entries
    except NotAFeed:
        entries = ()
    stories([[entry] for entry in entries[:20]])


if __name__ == "__main__":
    fuzz(one_input, PIECES)
