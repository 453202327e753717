"""Lists of feeds go out and come back as OPML, and a page leads to its feeds."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.errors import ConfigError
from news_digest.feeds.discover import Candidate, by_service, candidates, is_of_comments, onward
from news_digest.feeds.opml import FEEDS_MOST, read_opml, write_opml
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
    assert read_opml(text).feeds == (
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
        ('<outline xmlUrl="https://a.test/two words"/>', FeedSource("https://a.test/two%20words")),
        ('<outline xmlUrl="www.a.test/f"/>', FeedSource("https://www.a.test/f")),
        ('<outline xmlUrl="http://a.test/f" text="http://a.test/f"/>', FeedSource("http://a.test/f")),
        ('<outline xmlUrl="https://a.test/f" frss:priority="feed"/>', FeedSource("https://a.test/f")),
        (
            '<outline xmlUrl="https://a.test/f" category="/News/World,Daily"/>',
            FeedSource("https://a.test/f", "", ("News", "World", "Daily")),
        ),
        ('<outline xmlUrl="https://a.test/?a=1&b=2" text="R&D"/>', FeedSource("https://a.test/?a=1&b=2", "R&D")),
        ('<outline xmlUrl="https://a.test/f" text="Red \x1b[31m"/>', FeedSource("https://a.test/f", "Red")),
    ],
)
def test_what_other_readers_write_is_read(outline: str, source: FeedSource) -> None:
    assert read_opml(opml(outline)).feeds == (source,)


@pytest.mark.parametrize(
    ("outline", "left_out"),
    [
        ('<outline text="x"/>', ()),
        ('<outline type="include" url="https://a.test/more.opml"/>', ()),
        ('<outline xmlUrl="file:///etc/passwd"/>', ("file:///etc/passwd",)),
        ('<outline xmlUrl="javascript:1"/>', ("javascript:1",)),
        ('<outline xmlUrl="https://"/>', ("https://",)),
        ('<outline xmlUrl="http://[::1"/>', ("http://[::1",)),
        ('<outline xmlUrl="https://a.test:99999/f"/>', ("https://a.test:99999/f",)),
        ('<outline xmlUrl="https://a.test/page" type="HTML+XPath"/>', ("https://a.test/page (HTML+XPath)",)),
    ],
)
def test_what_is_no_address_of_a_feed_is_left_out_and_named(outline: str, left_out: tuple[str, ...]) -> None:
    good = '<outline xmlUrl="https://good.test/f"/>'
    assert read_opml(opml(outline + good)) == ((FeedSource("https://good.test/f"),), left_out)


def test_a_plain_list_of_addresses_is_read() -> None:
    text = (
        b'# mine\r\nhttps://a.test/f\r\n\r\nfeed://b.test/f news "two words" "#3" "~The B" !hidden # a note\n'
        b'https://a.test/f\n"query:unread:unread = 1"\nexec:~/bin/x.sh'
    )
    assert read_opml(text) == (
        (FeedSource("https://a.test/f"), FeedSource("https://b.test/f", "The B", ("news", "two words", "#3"))),
        ('"query:unread:unread = 1"', "exec:~/bin/x.sh"),
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_a_list_in_another_charset_is_read(encoding: str) -> None:
    declared = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{declared}"?><opml><body><outline text="Caf\u00e9" xmlUrl="http://a.test/"/>'
    assert read_opml(f"{text}</body></opml>".encode(encoding)).feeds == (FeedSource("http://a.test/", "Caf\u00e9"),)


def test_a_list_that_is_longer_than_any_is_refused_and_not_cut() -> None:
    with pytest.raises(ConfigError, match="more than 20000 feeds"):
        read_opml("\n".join(f"https://a.test/{number}" for number in range(FEEDS_MOST + 1)).encode())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html/>",
        b"no list",
        b"read.me first",
        b"https://a.test/f\nand more words",
        b"# nothing",
        b"\xff\xfe\x00",
        b"<rss><channel/></rss>",
        b"x" * (16 * 1024 * 1024 + 1),
    ],
)
def test_what_is_no_opml_is_an_error(body: bytes) -> None:
    with pytest.raises(ConfigError, match="cannot import") as caught:
        read_opml(body)
    assert caught.value.hint


def test_hostile_opml_neither_grows_nor_reads_nor_recurses() -> None:
    bomb = b'<!DOCTYPE opml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>' + opml(
        '<outline text="&b;" xmlUrl="https://a.test/"/>'
    )
    assert len(read_opml(bomb).feeds[0].name) < 50
    deep = opml('<outline text="d">' * 5000 + '<outline xmlUrl="https://a.test/"/>' + "</outline>" * 5000)
    assert read_opml(deep).feeds[0].tags == ("d",)


def test_a_feed_that_stands_in_two_folders_is_one_with_both_tags() -> None:
    text = opml(
        '<outline text="X"><outline xmlUrl="https://a.test/f"/></outline><outline xmlUrl="https://b.test/f"/>'
        '<outline text="Y"><outline xmlUrl="http://www.a.test/f/" text="A"/></outline>'
    )
    assert read_opml(text).feeds == (FeedSource("https://a.test/f", "A", ("X", "Y")), FeedSource("https://b.test/f"))


TAGS = st.lists(st.sampled_from(["Tech", "News & Co", "Ä <b>", '"Q"']), max_size=3, unique=True).map(tuple)
SOURCES = st.lists(
    st.builds(
        FeedSource,
        st.integers(0, 50).map(lambda n: f"https://a.test/{n}?x=1&y=2"),
        st.sampled_from(["A", "B & <C>", ""]),
        TAGS,
    ),
    unique_by=lambda source: source.url,
    max_size=8,
)


@given(SOURCES)
def test_what_is_written_is_read_back(sources: list[FeedSource]) -> None:
    text = write_opml(sources, "My <feeds>")
    assert ET.fromstring(text).findtext("head/title") == "My <feeds>"
    assert set(read_opml(text.encode()).feeds) == set(sources)


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
        ('<link rel="alternate" type="application/x-rss+xml" href="/f">', "https://news.example/f"),
        ('<link rel="service.feed" type="application/atom+xml" href="/f">', "https://news.example/f"),
        ('<link rel="alternate" title="RSS" href="/rss.xml">', "https://news.example/rss.xml"),
        ('<a href="/x.php?id=3">Our <b>RSS</b> feed</a>', "https://news.example/x.php?id=3"),
        ('<a href="/x/3"><img src="i.png" alt="Atom feed"></a>', "https://news.example/x/3"),
        ('<a href="/x/3" aria-label="RSS"></a>', "https://news.example/x/3"),
        ('<a href="/?feed=rss2">x</a>', "https://news.example/?feed=rss2"),
        ('<a href="https://feeds.host.example/news">RSS</a>', "https://feeds.host.example/news"),
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
        '<a href="https://goodnews.example/feed">x</a>',
        '<a href="/feedback">x</a>',
        '<a href="/rss.png">x</a>',
        '<a href="/a">x</a> <p>Our RSS feed</p>',
        "<a>RSS</a>",
        '<link rel="alternate" type="application/json+oembed" href="/feed/oembed">',
    ],
)
def test_what_is_no_feed_is_no_candidate(page: str) -> None:
    assert found(page) == []


@pytest.mark.parametrize(
    ("url", "title", "of_comments"),
    [
        ("https://news.example/comments/feed/", "", True),
        ("https://news.example/?feed=comments-rss2", "", True),
        ("https://news.example/comments_feed.xml", "", True),
        ("https://news.example/1/feed", "Comments on: One", True),
        ("https://news.example/1/feed", "News » Commentaires", True),
        ("https://news.example/commentary/feed", "", False),
        ("https://news.example/feed", "The Commentary", False),
        ("https://comment.example/feed", "Quarterly", False),
    ],
)
def test_a_feed_of_comments_says_so_in_a_word(url: str, title: str, *, of_comments: bool) -> None:
    assert is_of_comments(Candidate(url, title)) == of_comments


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
    assert guessed.count("https://news.example/about/feed") == 1
    assert candidates(b"", "http://[broken") == ()
    assert candidates(b"", "https://social.example/@name")[0].url == "https://social.example/@name.rss"


def test_the_usual_places_are_kept_whatever_a_page_links_to() -> None:
    page = "".join(
        f"<link rel=alternate type=application/rss+xml href=/{n}/rss><a href=/{n}/feed>x</a>" for n in range(99)
    )
    kinds = [each.found for each in candidates(page.encode(), PAGE)]
    assert (kinds.count("declared"), kinds.count("linked")) == (12, 12)
    assert kinds.count("guessed") == len([each for each in candidates(b"", PAGE) if each.found == "guessed"])


@pytest.mark.parametrize(
    ("page", "feed"),
    [
        (
            "https://www.youtube.com/channel/UC_x-9/videos",
            "https://www.youtube.com/feeds/videos.xml?channel_id=UC_x-9",
        ),
        ("https://youtube.com/playlist?list=PL1&x=2", "https://www.youtube.com/feeds/videos.xml?playlist_id=PL1"),
        ("https://old.reddit.com/r/rust/", "https://www.reddit.com/r/rust/.rss"),
        ("https://github.com/a/b.c", "https://github.com/a/b.c/releases.atom"),
        ("https://medium.com/@name", "https://medium.com/feed/@name"),
        ("https://bsky.app/profile/a.example", "https://bsky.app/profile/a.example/rss"),
        ("https://stackoverflow.com/questions/tagged/c%23?tab=New", "https://stackoverflow.com/feeds/tag/c%23"),
        ("https://reddit.com.example/r/rust", ""),
        ("https://github.com/a", ""),
    ],
)
def test_a_page_of_a_service_that_names_no_feed_leads_to_it(page: str, feed: str) -> None:
    assert [each.url for each in by_service(page)] == ([feed] if feed else [])
    assert not feed or candidates(b"", page)[0].url == feed


@pytest.mark.parametrize(
    ("page", "addresses"),
    [
        ('<meta http-equiv="Refresh" content="0; URL=\'/home\'">', ["https://news.example/home"]),
        ('<meta content="3;url=home" http-equiv=refresh>', ["https://news.example/about/home"]),
        ('<meta http-equiv="refresh" content="300">', []),
        (f'<meta http-equiv="refresh" content="0;url={PAGE}">', []),
        (
            '<frameset><frame src="a"><FRAME SRC=/b></frameset>',
            ["https://news.example/about/a", "https://news.example/b"],
        ),
        ('<iframe src="/ad"></iframe>', []),
    ],
)
def test_an_empty_page_says_where_it_leads(page: str, addresses: list[str]) -> None:
    assert list(onward(page.encode(), PAGE)) == addresses


@pytest.mark.parametrize(
    "repeated", ["<!--", "<script>", "<style ", '<a href="/feed">', "<a ", '<a href="', "<base href=x>"]
)
def test_a_page_of_one_megabyte_takes_seconds_and_not_hours(repeated: str) -> None:
    page = repeated * (500_000 // len(repeated))
    assert len(candidates(page.encode(), PAGE)) < 50


def test_a_script_without_content_hides_nothing() -> None:
    assert found('<script src="x.js"/><link rel="alternate" type="application/rss+xml" href="/feed">')


@given(st.binary(max_size=400), st.text(max_size=30))
def test_any_page_is_read(body: bytes, url: str) -> None:
    assert all(
        each.url for each in candidates(b"<link rel=alternate type=application/rss+xml href=" + body, "https://" + url)
    )
