"""Lists of feeds go out and come back as OPML, and a page leads to its feeds."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.errors import ConfigError
from news_digest.feeds.discover import Candidate, candidates
from news_digest.feeds.opml import merged, read_opml, write_opml
from news_digest.model import FeedSource

PAGE = "https://news.example/about/"


def opml(body: str) -> bytes:
    return f'<?xml version="1.0"?><opml version="2.0"><head/><body>{body}</body></opml>'.encode()


# --- OPML ----------------------------------------------------------------------------------------------------------


def test_nested_folders_become_tags() -> None:
    text = opml(
        '<outline text="Tech"><outline title="Linux &amp; BSD"><outline type="rss" text="LWN" xmlUrl="https://lwn.test/rss"/>'
        '</outline><outline text="A" xmlUrl="http://a.test/feed"/></outline><outline text="B" xmlUrl="https://b.test/feed"/>'
    )
    assert read_opml(text) == (
        FeedSource("https://lwn.test/rss", "LWN", ("Tech", "Linux & BSD")),
        FeedSource("http://a.test/feed", "A", ("Tech",)),
        FeedSource("https://b.test/feed", "B"),
    )


@pytest.mark.parametrize(
    ("outline", "source"),
    [
        ('<outline XMLURL="https://a.test/f" TITLE="A"/>', FeedSource("https://a.test/f", "A")),
        ('<outline type="rss" url="https://a.test/f"/>', FeedSource("https://a.test/f")),
        ('<outline xmlUrl="feed://a.test/f"/>', FeedSource("https://a.test/f")),
        ('<outline xmlUrl="feed:http://a.test/f"/>', FeedSource("http://a.test/f")),
        ('<outline xmlUrl=" https://a.test/f&#10;"/>', FeedSource("https://a.test/f")),
        (
            '<outline xmlUrl="https://a.test/f" category="/News/World,Daily"/>',
            FeedSource("https://a.test/f", "", ("News", "World", "Daily")),
        ),
        ('<outline xmlUrl="https://a.test/?a=1&b=2" text="R&D"/>', FeedSource("https://a.test/?a=1&b=2", "R&D")),
        ('<outline xmlUrl="https://a.test/f" text="Red \x1b[31m"/>', FeedSource("https://a.test/f", "Red")),
    ],
)
def test_what_other_readers_write_is_read(outline: str, source: FeedSource) -> None:
    assert read_opml(opml(outline)) == (source,)


@pytest.mark.parametrize(
    "outline", ['<outline xmlUrl="file:///etc/passwd"/>', '<outline xmlUrl="javascript:1"/>', '<outline text="x"/>']
)
def test_what_is_no_address_of_a_feed_is_left_out(outline: str) -> None:
    assert read_opml(opml(outline)) == ()


@pytest.mark.parametrize(
    "body", [b"", b"<html/>", b"no list", b"\xff\xfe\x00", b"<rss><channel/></rss>", b"x" * (16 * 1024 * 1024 + 1)]
)
def test_what_is_no_opml_is_an_error(body: bytes) -> None:
    with pytest.raises(ConfigError, match="cannot import") as caught:
        read_opml(body)
    assert caught.value.hint


def test_hostile_opml_neither_grows_nor_reads_nor_recurses() -> None:
    bomb = b'<!DOCTYPE opml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>' + opml(
        '<outline text="&b;" xmlUrl="https://a.test/"/>'
    )
    assert len(read_opml(bomb)[0].name) < 50
    deep = opml('<outline text="d">' * 5000 + '<outline xmlUrl="https://a.test/"/>' + "</outline>" * 5000)
    assert read_opml(deep)[0].tags == ("d",)


def test_importing_twice_adds_nothing() -> None:
    once = merged((), read_opml(opml('<outline xmlUrl="https://a.test/f" text="A"/>')))
    again = read_opml(
        opml('<outline xmlUrl="http://www.a.test/f/" text="A again"/><outline xmlUrl="https://b.test/f"/>')
    )
    assert merged(once, again) == (*once, FeedSource("https://b.test/f"))
    assert merged(merged(once, again), again) == merged(once, again)


TAGS = st.lists(st.sampled_from(["Tech", "News & Co", "Ä <b>", '"Q"']), max_size=3, unique=True).map(tuple)
SOURCES = st.lists(
    st.builds(
        FeedSource,
        st.integers(0, 50).map(lambda n: f"https://a.test/{n}?x=1&y=2"),
        st.sampled_from(["A", "B & <C>"]),
        TAGS,
    ),
    unique_by=lambda source: source.url,
    max_size=8,
)


@given(SOURCES)
def test_what_is_written_is_read_back(sources: list[FeedSource]) -> None:
    text = write_opml(sources, "My <feeds>")
    assert ET.fromstring(text).findtext("head/title") == "My <feeds>"
    assert set(read_opml(text.encode())) == set(sources)


# --- discovery -----------------------------------------------------------------------------------------------------


def found(page: str, url: str = PAGE) -> list[Candidate]:
    return [each for each in candidates(page.encode(), url) if each.found != "guessed"]


@pytest.mark.parametrize(
    ("page", "address"),
    [
        ('<link rel="alternate" type="application/rss+xml" href="/feed">', "https://news.example/feed"),
        (
            "<LINK HREF=feed.atom TYPE=application/atom+xml REL='alternate home'>",
            "https://news.example/about/feed.atom",
        ),
        (
            '<link rel="alternate" type="application/feed+json" href="//cdn.example/f.json">',
            "https://cdn.example/f.json",
        ),
        ('<link rel="feed" href="/f">', "https://news.example/f"),
        (
            '<base href="https://b.example/x/"><link rel="alternate" type="application/rss+xml" href="f">',
            "https://b.example/x/f",
        ),
        ('<link rel="alternate" type="application/rss+xml" href="feed:https://a.example/f">', "https://a.example/f"),
        ('<link rel="alternate" type="application/rss+xml" href="/f?a=1&amp;b=2">', "https://news.example/f?a=1&b=2"),
        ('<a href="/rss.xml">RSS</a>', "https://news.example/rss.xml"),
        ('<a href="https://blog.news.example/feed/">RSS</a>', "https://blog.news.example/feed/"),
    ],
)
def test_a_page_leads_to_its_feed(page: str, address: str) -> None:
    assert [each.url for each in found(page)] == [address]


@pytest.mark.parametrize(
    "page",
    [
        '<link rel="stylesheet" type="text/css" href="/feed.css">',
        '<link rel="alternate" hreflang="de" href="/de">',
        '<link rel="alternate" type="application/json" href="/wp-json/x">',
        '<link rel="alternate" type="application/rss+xml" href="javascript:1">',
        '<!-- <link rel="alternate" type="application/rss+xml" href="/old"> -->',
        '<script>"<link rel=alternate type=application/rss+xml href=/js>"</script>',
        '<a href="https://elsewhere.example/feed">x</a>',
        '<a href="/feedback">x</a>',
        '<a href="/rss.png">x</a>',
    ],
)
def test_what_is_no_feed_is_no_candidate(page: str) -> None:
    assert found(page) == []


def test_what_a_page_declares_comes_first_and_comments_last_of_it() -> None:
    page = (
        '<a href="/rss">x</a><link rel="alternate" type="application/rss+xml" title="Comments" href="/comments/feed">'
        '<link rel="alternate" type="application/rss+xml" title="News" href="/feed"><link rel="alternate" '
        'type="application/rss+xml" title="News" href="/feed#x">'
    )
    assert [(each.url, each.title, each.found) for each in found(page)] == [
        ("https://news.example/feed", "News", "declared"),
        ("https://news.example/comments/feed", "Comments", "declared"),
        ("https://news.example/rss", "", "linked"),
    ]


def test_the_usual_places_are_guessed_below_the_page_and_below_the_site() -> None:
    guessed = [each.url for each in candidates(b"", PAGE)]
    assert guessed[0] == "https://news.example/about/feed"
    assert "https://news.example/atom.xml" in guessed
    assert candidates(b"", "http://[broken") == ()


@given(st.binary(max_size=400), st.text(max_size=30))
def test_any_page_is_read(body: bytes, url: str) -> None:
    assert all(
        each.url for each in candidates(b"<link rel=alternate type=application/rss+xml href=" + body, "https://" + url)
    )
