"""The digest in every form that people read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.digests import DRAFT, STORIES, brief, digest, story

from news_digest.model import Digest, Draft, FeedFailure, Item, Section, Ticket
from news_digest.render import escape_markdown, json_value, markdown, terminal_text
from news_digest.render_html import atom_entry, html, identifier
from news_digest.shown import numbers_line, reading_minutes, source_label, sources, unread_line, visible, writer_line

GOLDEN = Path(__file__).parent / "golden"

FORMS: dict[str, Callable[[Digest], str]] = {
    "digest.md": markdown,
    "digest-archive.md": lambda made: markdown(made, matter=True),
    "digest.txt": terminal_text,
    "digest-60.txt": lambda made: terminal_text(made, width=60),
    "digest.html": html,
    "digest.json": lambda made: json.dumps(json_value(made), indent=2, ensure_ascii=False) + "\n",
    "digest.atom": lambda made: atom_entry(made, link="https://me.example/2026-12-01.html"),
    "quiet.md": lambda _: markdown(digest(Draft(writer="embedded"), brief(stories=(), failures=()))),
}


@pytest.mark.parametrize("name", sorted(FORMS))
def test_each_form_is_as_it_was_approved(name: str) -> None:
    """Run with NEWS_DIGEST_APPROVE=1 to approve what has changed; then read the diff."""
    made = FORMS[name](digest())
    file = GOLDEN / name
    if os.environ.get("NEWS_DIGEST_APPROVE"):
        file.write_text(made, encoding="utf-8", newline="\n")
    assert made == file.read_text(encoding="utf-8")


MARKDOWN_CASES = [
    ("# heading", r"\# heading"),
    ("1. list", r"1\. list"),
    ("2) list", r"2\) list"),
    ("- item", r"\- item"),
    ("+ item", r"\+ item"),
    ("=====", r"\====="),
    ("a - b", "a - b"),
    ("![x](https://evil.example)", r"\!\[x\]\(https\://evil.example\)"),
    ("<script>", r"\<script\>"),
    ("| a | b |", r"\| a \| b \|"),
    ("`code` ~~gone~~ *b* _i_", r"\`code\` \~\~gone\~\~ \*b\* \_i\_"),
    ("&lt;", r"\&lt;"),
    ("$x$", r"\$x\$"),
    ("for $4.2 million, not $5", "for $4.2 million, not $5"),
    ("www.evil.example me@evil.example", r"www\.evil.example me\@evil.example"),
    ("two\n\n# lines", r"two \# lines"),
    ("back\\slash", r"back\\slash"),
]


@pytest.mark.parametrize(("text", "escaped"), MARKDOWN_CASES)
def test_markdown_is_shown_and_not_obeyed(text: str, escaped: str) -> None:
    assert escape_markdown(text) == escaped


VISIBLE_CASES = [
    ("\x1b[31mred\x1b[0m", "[31mred[0m"),
    ("a\u200bb\u202ec\u2066d", "abcd"),
    ("tag\U000e0041\U000e0100", "tag"),
    ("x\ufffe\ufdd0\x9b\x00y", "xy"),
    ("one\r\ntwo\u2028three\tfour", "one two three four"),
    ("می\u200cخواهم", "می\u200cخواهم"),
    ("👩\u200d💻", "👩\u200d💻"),
    ("ig\u200dnore", "ignore"),
]


@pytest.mark.parametrize(("text", "seen"), VISIBLE_CASES)
def test_what_has_no_glyph_is_not_shown(text: str, seen: str) -> None:
    assert visible(text) == seen


LABELS = [
    ("Ars Technica", "https://arstechnica.com/x", "Ars Technica"),
    ("BBC News", "https://www.bbc.co.uk/x", "BBC News"),
    ("The Verge", "https://www.theverge.com/x", "The Verge"),
    ("Hacker News", "https://blog.example.com/x", "Hacker News, blog.example.com"),
    ("Reuters", "https://reuters.evil.example/x", "Reuters, reuters.evil.example"),
    ("Reuters", "https://www.reuters.com@evil.example/", "Reuters"),
    ("", "https://www.plain.example/x", "plain.example"),
    ("", "", "unknown source"),
    ("Apple", "https://аpple.com/x", "Apple, xn--pple-43d.com"),
    ("X", "javascript:alert(1)", "X"),
    ("Broken", "https://[::1/", "Broken"),
]


@pytest.mark.parametrize(("name", "link", "label"), LABELS)
def test_a_source_cannot_pass_for_another(name: str, link: str, label: str) -> None:
    assert source_label(name, link) == label


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("https://a.example/x", "https://a.example/x"),
        ("https://a.example/x(1)", "https://a.example/x%281%29"),
        ("https://a.example/a)](https://evil.example/x", "https://a.example/a%29%5D%28https://evil.example/x"),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("https://u:p@evil.example/", ""),
        ("file:///etc/passwd", ""),
        ("https://a.example/\x1b]8;;", ""),
        ("//a.example/x", ""),
    ],
)
def test_only_plain_web_links_are_shown(link: str, shown: str) -> None:
    made = digest(Draft(), brief(story(1, link=link)))
    assert sources(made, made.draft.headlines[0])[0].link == shown


def test_a_link_stands_once_however_many_stories_bring_it() -> None:
    made = digest(
        Draft(headlines=(Item("h", (), (1, 2)),)),
        brief(
            story(1, link="https://a.example/"),
            story(2, link="https://a.example/?utm_source=x", also=(("B", ""), ("B", ""))),
        ),
    )
    assert [source.label for source in sources(made, made.draft.headlines[0])] == ["Outlet, a.example", "B"]


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]


HOSTILE = st.text(st.characters() | st.sampled_from("<>[]()!`*_#|&\"'\\\n\x1b\u202e:/@"), max_size=30)


@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
@settings(max_examples=150, deadline=None)
def test_no_text_becomes_markup_in_any_form(title: str, text: str, source: str, heading: str) -> None:
    of = brief(story(1, title=title, source=source))
    made = digest(Draft(sections=(Section(heading, (Item(title, (text,), (1,)),)),), writer=source), of)
    page = Links()
    page.feed(html(made))
    assert set(page.links) <= {"https://outlet.example/1"}
    assert page.tags <= {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "h1",
        "p",
        "section",
        "h2",
        "ul",
        "li",
        "strong",
        "span",
        "a",
        "footer",
    }
    plain = terminal_text(made)
    assert all(visible(line) == line.strip() or line.startswith("    ") for line in plain.split("\n"))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", plain + markdown(made))
    assert re.findall(r"(?<!\\)\]\(([^)]*)\)", markdown(made)) in [[], ["https://outlet.example/1"]]
    ET.fromstring(atom_entry(made))


def test_the_numbers_line_says_what_waits() -> None:
    assert numbers_line(digest()) == (
        "412 read, 380 new, 5 on topic, 3 told, 2 noted, 0 lost, 375 waiting for the next digest"
    )


def test_the_writer_and_the_findings_are_said() -> None:
    assert writer_line(digest()) == "Written by embedded on 2026-12-01 06:31 UTC"
    assert writer_line(digest(findings=("x",))).endswith("; the checker found 1 thing")
    assert writer_line(digest(findings=("x", "y"))).endswith("; the checker found 2 things")
    assert writer_line(digest(replace(DRAFT, writer=""))).startswith("Written by unknown")


def test_failed_feeds_are_named_once_by_host() -> None:
    failed = (FeedFailure("https://a.example/1?key=sesame", ""), FeedFailure("https://a.example/2", ""))
    assert unread_line(digest(failures=failed)) == "Not readable this time: a.example"
    assert unread_line(digest(failures=())) == ""


def test_reading_takes_at_least_a_minute() -> None:
    assert reading_minutes(digest()) == 1
    long = Draft(sections=(Section("x", (Item("h", ("word " * 660,), (1,)),)),))
    assert reading_minutes(digest(long)) == 3


def test_a_neutralised_text_is_told_as_such_in_every_form() -> None:
    for form in (markdown, terminal_text, html):
        assert "Caution, neutralised in the source: hidden text" in form(digest())


def test_wrapped_text_keeps_to_its_width_except_for_addresses() -> None:
    lines = terminal_text(digest(), width=60).splitlines()
    assert all(len(line) <= 60 or "https://" in line for line in lines)


@pytest.mark.parametrize("ticket", ["5f0c6a52-90f2-5f8e-9c7d-3d7f60a9d0a1", "no uuid"])
def test_the_identifier_is_a_stable_uuid(ticket: str) -> None:
    made = digest(ticket=Ticket(ticket))
    assert identifier(made) == identifier(made)
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", identifier(made))


def test_every_story_stands_in_every_form() -> None:
    made = digest()
    for one in STORIES:
        if one.link and "evil" not in one.link:
            for form in (markdown, terminal_text, html):
                assert one.link in form(made)
