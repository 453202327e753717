"""Whatever bytes come: a document or :class:`NotAFeed`, within bounds of time."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from news_digest.errors import NotAFeed
from news_digest.feeds.parse import Document, parse_feed
from news_digest.feeds.repair import repaired, retouched
from news_digest.feeds.text import stories

URL = "https://feed.example/rss"
RSS = (
    b'<?xml version="1.0" encoding="utf-8"?><rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>'
    b"<title>Wire</title><item><title>A &amp;amp; B</title><link>https://a.test/1?x=1&amp;y=2</link><guid>1</guid>"
    b"<pubDate>Tue, 01 Dec 2026 09:30:00 GMT</pubDate><description><![CDATA[<p>Text <b>bold</b></p>]]></description></item>"
    b"<item><title>C</title><media:group><media:description>x</media:description></media:group></item></channel></rss>"
)
ATOM = (
    b'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://a.test/"><title type="html">W</title><entry><id>1</id>'
    b'<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">x</div></title><link rel="alternate" href="x"/>'
    b"<updated>2026-12-01T09:30:00Z</updated></entry></feed>"
)
JSON = b'{"version": "https://jsonfeed.org/version/1.1", "title": "J", "items": [{"id": 1, "url": "/x", "content_html": "<p>"}]}'
JAPANESE = (
    '<?xml version="1.0" encoding="Shift_JIS"?><rss><channel><item><title>新聞</title></item></channel></rss>'.encode(
        "cp932"
    )
)
SEEDS: Sequence[bytes] = (RSS, ATOM, JSON, JAPANESE)
PIECES: Sequence[bytes] = (
    *(
        b"<",
        b">",
        b"&",
        b"&#27;",
        b"&#xD800;",
        b"&lt",
        b"]]>",
        b"<![CDATA[",
        b"<!--",
        b"-->",
        b"<?",
        b"?>",
        b"</",
        b"/>",
    ),
    *(
        b"<item>",
        b"</item>",
        b"<entry>",
        b"<rss>",
        b"<channel>",
        b"</channel>",
        b"<link>",
        b"<a:b>",
        b' xmlns:a=""',
        b' a:b="',
    ),
    *(
        b'<!DOCTYPE x [<!ENTITY y "z">]>',
        b"&y;",
        b"\x00",
        b"\x1b[31m",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b'"',
        b"'",
    ),
    *(
        b"0001-01-01",
        b"xmlns='http://www.w3.org/XML/1998/namespace'",
        b"xml:",
        b"xmlns:xmlns='x'",
        b"{",
        b"[",
        b"\x1f\x8b",
    ),
)


def read(body: bytes) -> None:
    """Read a body and the text of all its entries."""
    start = time.process_time()
    try:
        document = parse_feed(body, URL, {"content-type": "text/xml"})
    except NotAFeed as error:
        reason = error.cause, error.hint
        assert all(reason)
    else:
        assert isinstance(document, Document)
        assert all(entry.identity.stored for entry in document.entries)
        assert len(stories([[entry] for entry in document.entries[:50]])) == len(document.entries[:50])
    assert time.process_time() - start < 5


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Return a feed that was cut, spliced and strewn with what breaks parsers."""
    body = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 6))):
        at, length = draw(st.integers(0, len(body))), draw(st.integers(0, 30))
        body[at : at + length] = draw(st.sampled_from(PIECES) | st.binary(max_size=6) | st.just(bytes(body[:length])))
    return bytes(body)


@given(st.binary(max_size=500))
def test_any_bytes(body: bytes) -> None:
    read(body)


@settings(max_examples=150)
@given(mutated())
def test_any_damaged_feed(body: bytes) -> None:
    read(body)


@settings(max_examples=100)
@given(st.lists(st.sampled_from([piece.decode("latin-1") for piece in PIECES]) | st.text(max_size=5), max_size=40))
def test_whatever_is_repaired_is_well_formed(pieces: list[str]) -> None:
    ET.fromstring(repaired("".join(pieces)))


CHARACTERS = (
    "&",
    "&amp;",
    "&eacute;",
    "&bogus;",
    "&#146;",
    "&#x1b;",
    "&#xD800;",
    "&y;",
    "\x00",
    "\x1b[31m",
    "\ufffe",
    "é",
    "]",
)


DECLARED = '<!DOCTYPE rss [<!ENTITY y "z">]>' + RSS.decode()[RSS.index(b"<rss") :]
BETWEEN = [match.end() for match in re.finditer(">", DECLARED)]


@given(st.lists(st.sampled_from(CHARACTERS), max_size=8), st.sampled_from(BETWEEN), st.sampled_from(["", "<!-- x -->"]))
def test_what_needs_few_repairs_is_read_as_if_it_were_written_anew(pieces: list[str], at: int, before: str) -> None:
    text = before + DECLARED[:at] + "".join(pieces) + DECLARED[at:]
    try:
        light = ET.fromstring(retouched(text))
    except ET.ParseError:
        return
    assert seen(light) == seen(ET.fromstring(repaired(text)))


def seen(root: ET.Element) -> list[tuple[str, dict[str, str], str]]:
    return [(each.tag, dict(each.attrib), (each.text or "").strip()) for each in root.iter() if each is not root]


@given(
    st.text(max_size=80), st.text(max_size=80), st.dictionaries(st.text(max_size=12), st.text(max_size=20), max_size=3)
)
def test_any_address_and_any_header(url: str, feed_url: str, headers: dict[str, str]) -> None:
    headers = {**headers, "content-type": url, "content-location": feed_url}
    assert len(parse_feed(SEEDS[0], url, headers, feed_url).entries) == 2


LARGE = 400_000
BOMBS = {
    "open tags": b"<rss><channel><item>" + b"<a>" * 100_000,
    "open sections": b"<rss><channel><item><title>" + b"<![CDATA[" * (LARGE // 9),
    "open comments": b"<rss><channel><item>" + b"<!--" * 100_000,
    "open instructions": b"<rss><channel><item>" + b"<?x " * 100_000,
    "end tags": b"<rss><channel><item>" + b"</b>" * 100_000,
    "items within items": b"<rss><channel>" + b"<item>" * 15_000,
    "ampersands": b"<rss><channel><item><title>" + b"&" * LARGE,
    "entities": b'<!DOCTYPE x [<!ENTITY y "' + b"z" * 100 + b'">]><rss><channel><item><title>' + b"&y;" * (LARGE // 3),
    "document types": b"<rss>" + b"<!DOCTYPE x [" * (LARGE // 13),
    "attributes": b"<rss><channel><item " + b"a='1' " * (LARGE // 6) + b"/>",
    "quotes": b"<rss><channel><item " + b"a='\"" * (LARGE // 4),
    "prefixes": b"<rss>" + b"".join(b"<p%d:x/>" % n for n in range(20_000)),
    "surrogates": b"<rss><channel><item><title>" + b"\xed\xa0\x80" * (LARGE // 3),
    "JSON": b'{"items": ' + b"[" * LARGE,
    "links": b"<rss><channel><item>" + b"<link>x</link>" * 60_000 + b"</item></channel></rss>",
    "bases": b"<rss><channel>" + b"<item xml:base='x/'><link>y</link></item>" * 2_000 + b"</channel></rss>",
}


@pytest.mark.parametrize("body", BOMBS.values(), ids=BOMBS)
def test_a_large_attack_ends_soon(body: bytes) -> None:
    read(body)
