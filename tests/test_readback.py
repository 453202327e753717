"""Markdown that an agent wrote, read back into a draft."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.digests import DRAFT, STORIES, brief, digest, story

from news_digest.model import Claim, Item, Section
from news_digest.readback import TEXT_CHARACTERS, read_back
from news_digest.render import markdown
from news_digest.repair import checked

FERROUS = "Ferrous 2.0 drops its build daemon"


def items(text: str) -> list[Item]:
    draft = read_back(text, brief()).draft
    return [item for section in draft.sections for item in section.items] + list(draft.headlines)


def test_the_shape_that_the_rules_ask_for_is_read_whole() -> None:
    text = f"""# News digest 2026-12-01

Northwind released Gale. [1][2] Ferrous needs no daemon. [3]

## artificial intelligence

- **Northwind publishes weights.** Training cost $4.2 million. It did. [1][2]

## developer tools

- **Update: {FERROUS}.** Builds are faster. [3]

## Headlines

- Harbour bridge closed until Friday [4]
"""
    back = read_back(text, brief(), writer="agent")
    assert back.notes == ()
    assert back.draft.lead == (Claim("Northwind released Gale.", (1, 2)), Claim("Ferrous needs no daemon.", (3,)))
    assert back.draft.sections == (
        Section(
            "artificial intelligence",
            (Item("Northwind publishes weights", ("Training cost $4.2 million.", "It did."), (1, 2)),),
        ),
        Section("developer tools", (Item(FERROUS, ("Builds are faster.",), (3,), update=True),)),
    )
    assert back.draft.headlines == (Item("Harbour bridge closed until Friday", (), (4,)),)
    assert back.draft.writer == "agent"


ITEMS = [
    ("- Builds are faster. [3]", "Builds are faster.", (), (3,)),
    ("* **Faster builds** – They take 41 seconds [3, 1]", "Faster builds", ("They take 41 seconds",), (3, 1)),
    ("1. __Faster builds__: They do [3][^1]", "Faster builds", ("They do",), (3, 1)),
    (f"- {FERROUS}: Builds are faster.", FERROUS, ("Builds are faster.",), (3,)),
    (f"- [{FERROUS}](https://ferrous.example/2.0)", FERROUS, (), (3,)),
    (f"- {FERROUS} ([Ferrous blog](https://ferrous.example/2.0?utm_source=x))", FERROUS, (), (3,)),
    (f"- {FERROUS} (<https://ferrous.example/2.0>)", FERROUS, (), (3,)),
    (f"- {FERROUS} https://ferrous.example/2.0/", FERROUS, (), (3,)),
    (f"- {FERROUS} (Ferrous blog)", FERROUS, (), (3,)),
    (f"- {FERROUS} (no link)", FERROUS, (), (3,)),
    (
        "- Gale is out ([Planet](https://planet.example/gale); also: [The Courier](https://courier.example/gale))",
        "Gale is out",
        (),
        (1, 2),
    ),
    ("- **Gale**\n  It is out. [1]\n  - It runs at home.", "Gale", ("It is out.", "It runs at home."), (1,)),
    ("- _Gale_ is `out` \\[really\\] &amp; free [1]", "Gale is out [really] & free", (), (1,)),
    ("- [ ] Gale is out [1]", "Gale is out", (), (1,)),
    ("### Gale is out\n\nIt runs at home. [1]", "Gale is out", ("It runs at home.",), (1,)),
]


@pytest.mark.parametrize(("text", "headline", "said", "numbers"), ITEMS)
def test_items_are_read_in_the_forms_that_agents_use(
    text: str, headline: str, said: tuple[str, ...], numbers: tuple[int, ...]
) -> None:
    (item,) = items(f"## News\n\n{text}\n")
    assert (item.headline, item.sentences, item.stories) == (headline, said, numbers)


NOTES = [
    ("- Gale is out [1] [x](https://evil.example/q?SECRET)", "a link that no story has was left out: evil.example"),
    ("- Gale is out [1] ![x](https://evil.example/p.png)", "an image was left out"),
    ("- Gale is out [1][77]", "there is no story 77"),
    ("- Something else", "no story was named for: Something else"),
    ("- Gale is out [1] https://[broken/", "a link that no story has was left out: no host"),
]


@pytest.mark.parametrize(("text", "note"), NOTES)
def test_what_is_left_out_is_reported_and_no_address_stays(text: str, note: str) -> None:
    back = read_back(f"## News\n\n{text}\n", brief())
    assert note in back.notes
    assert "evil.example" not in str(back.draft)


def test_items_before_any_heading_are_told_or_noted() -> None:
    draft = read_back(f"Today.\n\n- {FERROUS}\n- **Gale is out.** It runs at home. [1]\n", brief()).draft
    assert [item.headline for item in draft.headlines] == [FERROUS]
    assert draft.sections[0].title == "Other news"


def test_a_lead_without_numbers_rests_on_the_story_it_tells() -> None:
    draft = read_back("Ferrous 2.0 no longer needs a daemon. Bananas are yellow.", brief()).draft
    assert draft.lead == (Claim("Ferrous 2.0 no longer needs a daemon.", (3,)), Claim("Bananas are yellow.", ()))


def test_front_matter_fences_rules_and_underlined_headings_are_understood() -> None:
    text = f"---\ntitle: x\n---\n```markdown\nDigest\n======\n\nNews\n----\n\n- {FERROUS}\n\n---\n\nA footer.\n```\n"
    back = read_back(text, brief())
    assert back.draft.sections == (Section("News", (Item(FERROUS, (), (3,)),)),)
    assert back.draft.lead == ()
    assert back.notes == ("no story was named for: A footer.",)


def test_without_a_brief_the_words_are_kept_and_nothing_is_cited() -> None:
    draft = read_back("Lead. [1]\n\n## News\n\n- **Gale is out.** It runs. [1] https://x.example/\n", None).draft
    assert draft.lead == (Claim("Lead.", ()),)
    assert draft.sections[0].items == (Item("Gale is out", ("It runs.",), ()),)


def test_our_own_markdown_is_read_back() -> None:
    draft = read_back(markdown(digest(of=brief(*STORIES[:4]))), brief(*STORIES[:4])).draft
    assert draft.sections == DRAFT.sections
    assert [item.stories for item in draft.headlines] == [(4,)]


def test_long_texts_are_read_to_their_limit() -> None:
    text = "## News\n\n" + "- x [1]\n" * 5 + " " * TEXT_CHARACTERS + "\n- late [2]\n"
    assert len(items(text)) == 5


MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# ",
            "## ",
            "- ",
            "**",
            "[1]",
            "[9](",
            "](https://evil.example/)",
            "![",
            "\n",
            "\n\n",
            "```",
            "---\n",
            "|",
            "<b>",
            "  ",
            "\ue001",
            "\u2060",
            "Gale is out. ",
            "https://ferrous.example/2.0",
        ]
    )
    | st.text(max_size=8),
    max_size=30,
).map("".join)


@given(MARKDOWN)
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_and_comes_out_clean(text: str) -> None:
    back = read_back(text, brief())
    right = checked(back.draft, brief()).draft
    shown = markdown(digest(right))
    assert set(re.findall(r"(?<!\\)\]\(([^)]*)\)", shown)) <= {
        link for s in STORIES for link in (s.link, *(link for _, link in s.also))
    } | {"https://odd.example/a%29%5D%28https://evil.example/x"}


def test_a_link_of_two_stories_means_the_first() -> None:
    of = brief(story(1, link="https://a.example/"), story(2, link="https://a.example/"))
    draft = read_back("## News\n\n- It is [here](https://a.example/)\n", of).draft
    assert draft.sections[0].items[0].stories == (1,)


@pytest.mark.parametrize("link", ["http://[", "https://[::1", "http://a.test:99999999/x", "https://a\u2100.test/"])
def test_a_link_that_is_none_leads_to_no_story(link: str) -> None:
    back = read_back(f"## News\n\n- [Gale is out]({link}) [1]\n- Gale {link} [1]\n", brief())
    assert {number for section in back.draft.sections for item in section.items for number in item.stories} == {1}
