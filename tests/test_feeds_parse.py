"""Feeds of every dialect are read, also damaged ones; what is no feed says what it is instead."""

from __future__ import annotations

import contextlib
import gzip
import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from news_digest.errors import NotAFeed
from news_digest.feeds.parse import DECODED_BYTES, ELEMENTS, Document, parse_feed
from news_digest.feeds.text import excerpts_of, title_of
from news_digest.model import Entry

URL = "https://news.example/dir/feed.xml"
AT = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
DATE = "<pubDate>Tue, 01 Dec 2026 09:30:00 GMT</pubDate>"
ITEM = f"<item><title>Bridge opens</title><link>https://news.example/1</link><guid>g-00001</guid>{DATE}</item>"


def rss(items: str = ITEM, channel: str = "<title>Wire</title>", attributes: str = 'version="2.0"') -> str:
    return f"<rss {attributes}><channel>{channel}{items}</channel></rss>"


def atom(entries: str, attributes: str = "") -> str:
    return f'<feed xmlns="http://www.w3.org/2005/Atom" {attributes}><title>Wire</title>{entries}</feed>'


def read(text: str | bytes, url: str = URL, headers: Mapping[str, str] | None = None) -> Document:
    return parse_feed(text.encode() if isinstance(text, str) else text, url, headers or {})


def excerpt(entry: Entry) -> str:
    return excerpts_of([entry])[0]


def only(text: str | bytes, url: str = URL, headers: Mapping[str, str] | None = None) -> Entry:
    entries = read(text, url, headers).entries
    assert len(entries) == 1
    return entries[0]


# --- dialects ------------------------------------------------------------------------------------------------------

RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="{space}" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Wire</title></channel>'
    '<item rdf:about="g-00001"><title>Bridge opens</title><link>https://news.example/1</link>'
    "<dc:date>2026-12-01T09:30:00Z</dc:date></item></rdf:RDF>"
)
ENTRY = (
    '<entry><title>Bridge opens</title><link href="https://news.example/1"/><id>g-00001</id>'
    "<published>2026-12-01T09:30:00Z</published></entry>"
)
JSON_ITEM = {
    "id": "g-00001",
    "url": "https://news.example/1",
    "title": "Bridge opens",
    "date_published": "2026-12-01T09:30:00Z",
}
DIALECTS = {
    "RSS 2.0": rss(),
    "RSS 0.91": rss(attributes='version="0.91"'),
    "RSS without a version": rss(attributes=""),
    "RSS with items beside the channel": f"<rss><channel><title>Wire</title></channel>{ITEM}</rss>",
    "RSS with items within items": f"<rss><channel><title>Wire</title><items>{ITEM}</items></channel></rss>",
    "RSS in a namespace of its own": rss(attributes='xmlns="https://made.up/ns" version="2.0"'),
    "RSS 1.0": RDF.format(space="http://purl.org/rss/1.0/"),
    "RSS 0.9": RDF.format(space="http://my.netscape.com/rdf/simple/0.9/"),
    "RSS in capitals": rss().replace("item>", "ITEM>").replace("pubDate", "PUBDATE"),
    "Atom 1.0": atom(ENTRY),
    "Atom with a prefix": atom(ENTRY).replace("<", "<a:").replace("<a:/", "</a:").replace("xmlns=", "xmlns:a="),
    "Atom 0.3": atom(ENTRY.replace("published", "issued")).replace(
        "http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#"
    ),
    "Atom without a namespace": f"<feed><title>Wire</title>{ENTRY}</feed>",
    "JSON Feed": json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "Wire", "items": [JSON_ITEM]}),
    "RSS as JSON": json.dumps(
        {"rss": {"channel": {"title": "Wire", "item": [JSON_ITEM | {"pubDate": "Tue, 01 Dec 2026 09:30:00 GMT"}]}}}
    ),
}


@pytest.mark.parametrize("text", DIALECTS.values(), ids=DIALECTS)
def test_every_dialect_gives_the_same_entry(text: str) -> None:
    document = read(text)
    entry = only(text)
    assert document.title == entry.source == "Wire"
    assert (entry.identifier, entry.link, entry.published) == ("g-00001", "https://news.example/1", AT)
    assert title_of(entry) == "Bridge opens"
    assert entry.identity.stored


def test_the_feed_is_named_as_configured_and_by_its_host_where_it_has_no_title() -> None:
    entry = parse_feed(rss(channel="").encode(), URL, {}, "https://www.configured.example/rss").entries[0]
    assert (entry.feed, entry.source) == ("https://www.configured.example/rss", "configured.example")
    assert only(rss()).feed == URL


def test_entries_keep_their_order_and_empty_ones_are_left_out() -> None:
    items = (
        "".join(f"<item><title>T{n}</title></item>" for n in range(5))
        + "<item></item><item><category>x</category></item>"
    )
    assert [title_of(each) for each in read(rss(items)).entries] == ["T0", "T1", "T2", "T3", "T4"]


# --- damage --------------------------------------------------------------------------------------------------------

HEAD = '<?xml version="1.0" encoding="utf-8"?>'
DAMAGED = {
    "blank lines before the declaration": "\n\n " + HEAD + rss(),
    "two byte order marks": "\ufeff\ufeff" + HEAD + rss(),
    "words before the declaration": "Warning: cache is stale\n" + HEAD + rss(),
    "a line break in the declaration": '<?xml version="1.0"\nencoding="utf-8"\n?>' + rss(),
    "junk after the end": HEAD + rss() + "<!-- served in 0.1 s --><script>track()</script> done",
    "an empty feed before the real one": "<feed/>" + rss(),
    "a feed within a page": f"<html><body><p>Feed:</p>{rss()}</body></html>",
    "a control character": rss().replace("Bridge", "Br\x0bid\x00ge"),
    "a reference to a control character": rss().replace("Bridge", "Br&#11;idge&#x1F;"),
    "a terminal sequence": rss().replace("Bridge", "\x1b]8;;https://evil.example/\x07Bridge\x1b]8;;\x07\x1b[31m"),
    "an undefined entity": rss().replace("<guid>", "<author>Caf&eacute;</author><guid>"),
    "a bare ampersand in a link": rss(ITEM + "")
    .replace("news.example/1<", "news.example/1<")
    .replace("Bridge", "Bridge"),
    "an undeclared prefix": rss(ITEM.replace("<guid>", "<foo:bar>x</foo:bar><guid>")),
    "a prefix declared to nothing": rss(attributes='version="2.0" xmlns:foo=""'),
    "an attribute twice": rss(attributes='version="2.0" version="2.0"'),
    "an attribute without quotes": rss(attributes="version=2.0"),
    "a stray end tag": rss(ITEM.replace("<guid>", "</b></font><guid>")),
    "an empty item within an item": rss(ITEM.replace("<guid>", "<item/><foo:bar>x</foo:bar><guid>")),
    "cut in the middle": rss()[: rss().index("</item>")],
    "an end tag in other letters": rss(ITEM.replace("</guid>", "</GUID>")),
    "a comment with two hyphens": rss("<!-- old -- items -->" + ITEM),
    "a comment that never ends": rss(ITEM) + "<!-- and",
    "a CDATA section that never ends": rss(ITEM.replace("Bridge opens", "<![CDATA[Bridge opens")),
    "a document type with entities": '<!DOCTYPE rss [<!ENTITY name "Bridge">]>' + rss().replace("Bridge", "&name;"),
    "a document type of a page": '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://x/">' + rss(),
    "a sign that is no tag": rss(ITEM.replace("<guid>", "<author>1 < 2 <3 < </author><guid>")),
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_damage_costs_nothing(text: str) -> None:
    entry = only(text)
    assert (entry.identifier, entry.link, entry.published) == ("g-00001", "https://news.example/1", AT)
    assert title_of(entry) == "Bridge opens"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("R&D budget", "R&D budget"),
        ("Caf&eacute;&nbsp;society", "Café society"),
        ("A &unknown; word", "A &unknown; word"),
        ("It&#146;s", "It’s"),
        ("a &#xZZ; b", "a &#xZZ; b"),
        ("5 < 6 & 7 > 6", "5 < 6 & 7 > 6"),
        ("&#8217 without its end", "’ without its end"),
    ],
)
def test_repair_keeps_every_word(written: str, meant: str) -> None:
    broken = rss(f"<item><title>{written}</title></item>") + "&"
    assert title_of(only(broken)) == meant


def test_a_bare_ampersand_in_a_link_stays_one() -> None:
    entry = only(rss("<item><link>https://news.example/?a=1&b=2&copy=3</link></item>"))
    assert entry.link == "https://news.example/?a=1&b=2&copy=3"


@pytest.mark.parametrize(
    "bad",
    [
        "<item><title>Never closed<link>https://news.example/bad</link>",
        "<item><description><![CDATA[never closed</description></item>",
        "<item><title>Odd & <b>bold</title></item>",
        "<item><title>\x1b[31m raw escape</title></item>",
        "<item <title>x</title></item>",
        '<item><link href="no end></link></item>',
    ],
)
def test_one_bad_item_costs_one_item_at_most(bad: str) -> None:
    good = "".join(f"<item><title>Good {n}</title><guid>good-{n}</guid></item>" for n in range(6))
    halves = good[: len(good) // 2], good[len(good) // 2 :]
    titles = [title_of(each) for each in read(rss(halves[0] + bad + halves[1])).entries]
    assert [title for title in titles if title.startswith("Good")] == [f"Good {n}" for n in range(6)]


def test_an_entity_of_its_own_never_reads_a_file_and_never_grows() -> None:
    external = '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + rss(ITEM.replace("Bridge opens", "A&x;B"))
    assert title_of(only(external)) == "A&x;B"
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<!DOCTYPE rss [<!ENTITY l0 "ha">{levels}]>' + rss(ITEM.replace("Bridge opens", "&l9;"))
    assert len(title_of(only(bomb))) < 100
    wide = f'<!DOCTYPE rss [<!ENTITY w "{"w" * 100}">]>' + rss(ITEM.replace("Bridge opens", "&w;" * 100_000))
    assert len(str(only(wide).raw.title.value)) <= 100_000


# --- charsets ------------------------------------------------------------------------------------------------------

JAPANESE, RUSSIAN, CHINESE = "新聞を読む人が増えています", "Кризис в городе продолжается", "前高管揭内幕配合北京开发"


def spoken(language: str, title: str) -> str:
    return rss(ITEM.replace("Bridge opens", title), f"<language>{language}</language>")


def declared(name: str, title: str, *, encoding: str = "") -> bytes:
    text = f'<?xml version="1.0" encoding="{name}"?>' + rss(ITEM.replace("Bridge opens", title))
    return text.encode(encoding or name)


@pytest.mark.parametrize(
    ("body", "content_type", "title"),
    [
        (declared("utf-8", JAPANESE), "", JAPANESE),
        (declared("Shift_JIS", JAPANESE), "", JAPANESE),
        (declared("EUC-JP", JAPANESE), "", JAPANESE),
        (declared("iso-2022-jp", JAPANESE), "", JAPANESE),
        (declared("gb2312", CHINESE + "镕", encoding="gb18030"), "", CHINESE + "镕"),
        (declared("Big5", "繁體中文新聞"), "", "繁體中文新聞"),
        (declared("EUC-KR", "한국어 뉴스"), "", "한국어 뉴스"),
        (declared("windows-1251", RUSSIAN), "", RUSSIAN),
        (declared("koi8-r", RUSSIAN), "", RUSSIAN),
        (declared("iso-8859-1", "It’s “ready”", encoding="cp1252"), "", "It’s “ready”"),
        (declared("utf-16", JAPANESE), "", JAPANESE),
        (declared("utf-16-le", JAPANESE), "", JAPANESE),
        (declared("utf-16", JAPANESE, encoding="utf-8"), "", JAPANESE),
        (declared("windows-1252", JAPANESE, encoding="utf-8"), "", JAPANESE),
        (declared("utf-8", RUSSIAN), "text/xml; charset=iso-8859-1", RUSSIAN),
        (rss(ITEM.replace("Bridge opens", RUSSIAN)).encode("cp1251"), "text/xml; charset=windows-1251", RUSSIAN),
        (declared("windows-1251", RUSSIAN), "text/xml; charset=ISO-8859-1", RUSSIAN),
        (declared("utf-8", "São Paulo", encoding="latin-1"), "", "São Paulo"),
        (rss(ITEM.replace("Bridge opens", RUSSIAN)).encode("cp1251"), "", RUSSIAN),
        (
            rss(ITEM.replace("Bridge opens", "Zażółć gęślą jaźń"), "<language>pl</language>").encode("cp1250"),
            "",
            "Zażółć gęślą jaźń",
        ),
        (declared("utf-8", RUSSIAN + "XX").replace(b"XX", b" \xe9"), "", RUSSIAN + " é"),
        (declared("no-such-charset", RUSSIAN, encoding="utf-8"), "", RUSSIAN),
        (spoken("ru", RUSSIAN).encode("koi8-r"), "", RUSSIAN),
        (spoken("ru", RUSSIAN).encode("cp1251"), "", RUSSIAN),
        (spoken("sk", "Zvýšili dane, ťažko žiť").encode("cp1250"), "", "Zvýšili dane, ťažko žiť"),
        (spoken("sk", "Zvýšili dane, ťažko žiť").encode("iso-8859-2"), "", "Zvýšili dane, ťažko žiť"),
        (rss(ITEM.replace("Bridge opens", CHINESE)).encode("gb2312"), "", CHINESE),
        (declared("windows-874", "ข่าววันนี้", encoding="cp874"), "", "ข่าววันนี้"),
        (declared("cp037", "Bridge opens"), "", "Bridge opens"),
        (declared("ebcdic-cp-be", "Où", encoding="cp500"), "", "Où"),
        (b"\xef\xbb\xbf\n" + declared("utf-8", "Où ça été à Noël".encode().decode("cp1252")), "", "Où ça été à Noël"),
        (declared("utf-8", "Où ça été à Noël".encode().decode("cp1252")), "", "Où ça été à Noël"),
    ],
)
def test_the_charset_is_found(body: bytes, content_type: str, title: str) -> None:
    assert title_of(only(body, headers={"content-type": content_type})) == title


# --- links ---------------------------------------------------------------------------------------------------------


def item(inner: str, *, attributes: str = "") -> str:
    return rss(f"<item {attributes}><title>T</title>{inner}</item>", attributes=_SPACES)


def entry(inner: str, attributes: str = "") -> str:
    return atom(f"<entry {attributes}><title>T</title>{inner}</entry>")


_SPACES = (
    'xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" '
    'xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0"'
)


@pytest.mark.parametrize(
    ("text", "link"),
    [
        (item("<link>\n https://a.test/x \n</link>"), "https://a.test/x"),
        (item("<link>/x</link>"), "https://news.example/x"),
        (item("<link>x.html</link>"), "https://news.example/dir/x.html"),
        (item("<link>//cdn.test/x</link>"), "https://cdn.test/x"),
        (item("<link>news.example/x</link>"), "https://news.example/x"),
        (item("<link>www.a.test/x</link>"), "https://www.a.test/x"),
        (item("<link><![CDATA[https://a.test/?a=1&amp;b=2]]></link>"), "https://a.test/?a=1&b=2"),
        (item("<guid>https://a.test/x</guid>"), "https://a.test/x"),
        (item('<guid isPermaLink="true">/x</guid>'), "https://news.example/x"),
        (item('<guid isPermaLink="false">https://a.test/x</guid>'), ""),
        (item("<guid>tag:a.test,2026:1</guid>"), ""),
        (item('<guid isPermaLink="true">urn:uuid:1</guid>'), ""),
        (item('<link/><atom:link href="https://a.test/x"/>'), "https://a.test/x"),
        (item('<atom:link rel="self" href="https://a.test/self"/><link>https://a.test/x</link>'), "https://a.test/x"),
        (item("<link>https://a.test/x</link>", attributes='xml:base="https://b.test/"'), "https://a.test/x"),
        (item("<link>x</link>", attributes='xml:base="https://b.test/y/"'), "https://b.test/y/x"),
        (item("<link/>https://a.test/x<guid>1</guid>"), "https://a.test/x"),
        (item("<link/>Read it<guid>1</guid>"), ""),
        (item("<link>x</link>", attributes='xml:base="http://["'), "https://news.example/dir/x"),
        (item("<link>//[x</link>"), "//[x"),
        (item("<link>\ufeffhttps://a.test/x\u200b</link>"), "https://a.test/x"),
        (item('<enclosure url="https://a.test/x.mp3"/>'), ""),
        (item("<image><link>https://a.test/image</link></image>"), ""),
        (
            entry('<link rel="edit" href="https://a.test/e"/><link rel="alternate" href="https://a.test/x"/>'),
            "https://a.test/x",
        ),
        (
            entry(
                '<link type="application/json" href="https://a.test/j"/><link type="text/html" href="https://a.test/x"/>'
            ),
            "https://a.test/x",
        ),
        (entry('<link rel="enclosure">https://a.test/e</link><link href="https://a.test/x"/>'), "https://a.test/x"),
        (entry('<link rel="related" href="https://a.test/r"/><id>https://a.test/x</id>'), "https://a.test/x"),
        (entry('<link xml:base="/y/" href="x"/>', 'xml:base="https://b.test/"'), "https://b.test/y/x"),
        (entry('<link rel="Alternate nofollow" href="https://a.test/x"/>'), "https://a.test/x"),
        (entry('<link rel="http://www.iana.org/x/alternate" href="https://a.test/x"/>'), "https://a.test/x"),
        (entry('<link rel=" " href="https://a.test/x"/>'), "https://a.test/x"),
        (entry('<content src="https://a.test/x"/>'), "https://a.test/x"),
        (entry("<id>HTTPS://a.test/x</id>"), "HTTPS://a.test/x"),
        (entry("<link>https://a.test/x</link>"), "https://a.test/x"),
    ],
)
def test_the_right_link_is_chosen_and_made_absolute(text: str, link: str) -> None:
    assert only(text).link == link


def test_bases_follow_the_scope_of_their_elements() -> None:
    text = (
        '<rss version="2.0"><channel xml:base="https://b.test/y/"><image xml:base="https://c.test/"><url>z</url></image>'
        "<item><link>x</link></item></channel></rss>"
    )
    assert only(text).link == "https://b.test/y/x"
    assert only(item("<link>x</link>"), headers={"content-location": "https://d.test/z/"}).link == "https://d.test/z/x"
    assert only(item("<link>/x</link>"), headers={"content-location": "javascript:1"}).link == "https://news.example/x"


def test_the_link_behind_a_distributor_identifies_the_story_and_is_shown() -> None:
    text = item("<link>https://proxy.test/1</link><feedburner:origLink>https://a.test/x</feedburner:origLink>")
    assert only(text).link == "https://proxy.test/1"
    assert only(text).raw.link == "https://a.test/x"
    assert set(only(text).identity.lookup) & set(only(item("<link>https://a.test/x</link>")).identity.stored)
    wrapped = item("<link>https://www.google.com/url?url=https%3A%2F%2Fa.test%2Fx</link>")
    assert only(wrapped).raw.link == "https://a.test/x"
    assert only(item('<enclosure url="https://a.test/x.mp3"/>')).raw.link == "https://a.test/x.mp3"


@pytest.mark.parametrize(
    "text",
    [
        item('<enclosure url=""/><enclosure url="https://a.test/x"/>'),
        item('<media:content url="https://a.test/x"/>'),
        item("<comments> https://a.test/x </comments>"),
        entry('<link rel="via" href="https://b.test/"/><link rel="related" href="https://a.test/x"/>'),
        json.dumps({"items": [{"id": "1", "title": "T", "attachments": [{}, {"url": "https://a.test/x"}]}]}),
        json.dumps({"rss": {"channel": {"items": [{"title": "T", "enclosure": {"url": "https://a.test/x"}}]}}}),
    ],
)
def test_a_story_without_a_link_leads_to_what_comes_along(text: str) -> None:
    assert (only(text).link, only(text).raw.link) == ("", "https://a.test/x")


# --- fields --------------------------------------------------------------------------------------------------------


def test_core_elements_are_not_shadowed() -> None:
    text = item(
        "<media:title>Media</media:title><itunes:title>iTunes</itunes:title><media:description>Media text</media:description>"
        "<description>Core text</description><image><title>Image</title></image><source>Source</source>"
    )
    assert title_of(only(text)) == "T"
    assert excerpt(only(text)) == "Core text"


def test_what_stands_in_other_vocabularies_is_used_where_the_core_is_missing() -> None:
    text = rss(
        "<item><dc:title>Title</dc:title><media:group><media:description>Text</media:description></media:group></item>",
        attributes=_SPACES,
    )
    assert (title_of(only(text)), excerpt(only(text))) == ("Title", "Text")


def test_a_media_title_or_a_title_of_another_vocabulary_names_what_has_no_title_of_its_own() -> None:
    text = rss("<item><media:title>Song</media:title></item>", "<dc:title>Wire</dc:title>", _SPACES)
    assert (title_of(only(text)), read(text).title) == ("Song", "Wire")
    assert read(rss(channel="<title/><title>Wire</title>")).title == "Wire"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (item("<itunes:subtitle>Short</itunes:subtitle><itunes:summary>Longer text</itunes:summary>"), "Longer text"),
        (item('<y:full-text xmlns:y="http://news.yandex.ru">Whole text</y:full-text>'), "Whole text"),
        (entry('<content type="image/png">iVBORw0KGgo=</content><summary>Words</summary>'), "Words"),
        (entry("<summary>It&amp;#8217;s careless</summary>"), "It’s careless"),
    ],
)
def test_the_text_of_a_story_is_found(text: str, shown: str) -> None:
    assert excerpt(only(text)) == shown


def test_the_title_of_a_group_of_media_names_what_has_no_title() -> None:
    text = rss("<item><media:group><media:title>Song</media:title></media:group></item>", attributes=_SPACES)
    assert title_of(only(text)) == "Song"


def test_json_as_programs_write_it_is_read() -> None:
    version = "https://jsonfeed.org/version/1"
    assert read(json.dumps({"version": version, "items": None})).entries == ()
    assert title_of(only('{"items": [{"id": "1", "title": "A\tline"}]} <!-- cached -->')) == "A line"
    one = {"rss": {"channel": {"item": {"guid": {"isPermaLink": "false", "#text": "g-00001"}, "title": {"x": 1}}}}}
    assert (only(json.dumps(one)).identifier, title_of(only(json.dumps(one)))) == ("g-00001", "")
    beside = {"rss": {"channel": {"title": "R&amp;D &#8211; x"}}, "items": [{"guid": {"#value": "g"}, "title": "T"}]}
    assert (only(json.dumps(beside)).identifier, only(json.dumps(beside)).source) == ("g", "R&D – x")


def test_the_fuller_of_teaser_and_content_is_read() -> None:
    long, short = "One long sentence of the story. " * 5, "Short."
    for teaser, content in ((long, short), (short, long), (long, ""), ("", long)):
        text = item(f"<description>{teaser}</description><content:encoded>{content}</content:encoded>")
        assert excerpt(only(text)) == long.strip()


def test_items_with_nothing_but_the_same_text_are_told_apart_by_what_comes_along() -> None:
    items = "".join(
        f'<item><description>Song</description><enclosure url="https://a.test/{n}.mp3"/></item>' for n in range(2)
    )
    one, other = read(rss(items)).entries
    assert not set(one.identity.lookup) & {*other.identity.stored, *other.identity.wide}


def test_the_identifier_is_kept_untouched() -> None:
    assert only(item('<guid isPermaLink="false">  /rel/22 </guid>')).identifier == "  /rel/22 "
    assert only(item("<guid/><guid>second</guid>")).identifier == "second"
    assert only(json.dumps({"items": [{"id": 22, "title": "T"}]})).identifier == "22"


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        (DATE, AT),
        ("<pubDate>nonsense</pubDate><dc:date>2026-12-01T09:30:00Z</dc:date>", AT),
        ("<atom:updated>2026-12-01T09:30:00Z</atom:updated>", AT),
        (f"<atom:updated>2027-01-01T00:00:00Z</atom:updated>{DATE}", AT),
        (f"<dc:date>2027-01-01</dc:date>{DATE}", AT),
        (
            '<p:publicationDate xmlns:p="http://prismstandard.org/namespaces/basic/2.0/">2026-12-01T09:30Z</p:publicationDate>',
            AT,
        ),
        (f"{DATE}<dc:date>2027-01-01</dc:date>", AT),
        (f"<pubDate>Fri, 01 Jan 2027 00:00:00 GMT</pubDate>{DATE}<pubDate/>", AT),
        ("<pubDate>Mon, 01 Jan 0001 00:00:00 +0000</pubDate>", None),
        ("<pubDate>2026-00-12</pubDate>", None),
        ("<pubDate>Sat, 01 Jan 2050 00:00:00 GMT</pubDate>", datetime(2050, 1, 1, tzinfo=UTC)),
        ("", None),
    ],
)
def test_the_date_is_the_first_that_can_be_read(inner: str, expected: datetime | None) -> None:
    assert only(item(inner)).published == expected


# --- what is no feed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (b"", "empty"),
        (b" \r\n\t ", "empty"),
        (b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>challenge</body></html>", "web page"),
        (b"<HTML><BODY><p>Maintenance<br></BODY></HTML>", "web page"),
        (b"<html><body>see <feed> and <channel> elements</body></html>", "web page"),
        (b'<opml version="2.0"><body/></opml>', "OPML"),
        (b'<?xml version="1.0"?><urlset><url/></urlset>', "sitemap"),
        (b"<svg/>", "image"),
        (b"<config/>", "XML, but not a feed"),
        (b"Not found", "no feed that we know"),
        (b'{"items": [{"id"', "damaged or incomplete"),
        (b'{"error": "no"}', "not a JSON Feed"),
        (b"[1, 2]", "not a JSON Feed"),
        (b"[" * 100_000, "damaged or incomplete"),
        (b'{"items": [' + b"[]," * ELEMENTS + b"1]}", "more than 300,000 parts"),
        (b"\x1f\x8b\x08broken", "damaged"),
        (b"\x00\xff\x00\xff" * 50, "no feed that we know"),
        (gzip.compress(b"<rss>" + b" " * DECODED_BYTES), "unfolds to more than 16 MB"),
        (b"<rss><channel>" + b"<a/>" * (ELEMENTS + 1), "more than 300,000 tags"),
    ],
)
def test_what_is_no_feed_says_what_it_is(body: bytes, cause: str) -> None:
    with pytest.raises(NotAFeed, match=cause) as caught:
        read(body)
    assert caught.value.thing == URL
    assert caught.value.hint


@pytest.mark.parametrize(
    "text", [rss(""), atom(""), '{"version": "https://jsonfeed.org/version/1", "items": []}', "<rss/>"]
)
def test_an_empty_channel_is_no_error(text: str) -> None:
    assert read(text).entries == ()


def test_a_body_that_is_still_compressed_is_unfolded_once_or_twice() -> None:
    once = gzip.compress(rss().encode())
    assert len(read(once).entries) == len(read(gzip.compress(once)).entries) == 1


def test_markup_within_cdata_does_not_count_as_tags() -> None:
    text = rss(
        f"<item><title>T</title><description><![CDATA[{'<b>x</b>' * (ELEMENTS // 2 + 10)}]]></description></item>"
    )
    assert len(read(text).entries) == 1


@pytest.mark.parametrize(
    ("piece", "times"),
    [("<![CDATA[", 320_000), ("<![CDATA[<![CDATA[a]]>", 100_000), ("<!--", 100_000), ("<a b='", 100_000)],
)
def test_what_is_opened_many_times_is_read_in_linear_time(piece: str, times: int) -> None:
    start = time.process_time()
    with contextlib.suppress(NotAFeed):
        read(rss(f"<item><title>{piece * times}"))
    assert time.process_time() - start < 10
