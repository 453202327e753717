"""Draft and brief become a digest."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.digests import DRAFT, STORIES, TICKET, WRITTEN, brief, digest, story

from news_digest.digest import compose, items_of, lost, word_count
from news_digest.model import Claim, Counts, Draft, Item, Section


def test_the_counts_add_up() -> None:
    made = compose(brief(), DRAFT, TICKET, WRITTEN, on_topic=lambda story: "city" not in story.source.lower())
    assert made.counts == Counts(read=412, new=380, on_topic=4, told=3, noted=2, above_cap=375)
    assert lost(made) == 0


def test_without_a_judge_every_story_is_on_topic() -> None:
    assert digest().counts.on_topic == len(STORIES)


def test_what_a_draft_leaves_out_is_noted_under_its_own_title() -> None:
    made = digest()
    assert made.draft.headlines[-1] == Item("A *bold* claim <b>", (), (5,))


def test_a_story_without_a_title_is_noted_as_untitled() -> None:
    made = digest(Draft(), brief(story(1, title=" ")))
    assert made.draft.headlines == (Item("Untitled", (), (1,)),)


def test_a_story_that_only_the_lead_names_is_noted_too() -> None:
    made = digest(Draft(lead=(Claim("Something.", (2,)),)), brief(story(1), story(2)))
    assert (made.counts.told, made.counts.noted) == (0, 2)


def test_numbers_of_no_story_are_dropped_with_what_rests_on_them_alone() -> None:
    draft = Draft(
        lead=(Claim("A.", (0, 1, 9)), Claim("  ", (1,))),
        sections=(
            Section("x", (Item("h", (), (9, -1)), Item("", (), (1,)))),
            Section("y", (Item("h", (), (1, 1, 7)),)),
        ),
    )
    made = digest(draft, brief(story(1)))
    assert made.draft.lead == (Claim("A.", (1,)),)
    assert made.draft.sections == (Section("y", (Item("h", (), (1,)),)),)


def test_a_story_that_is_told_and_noted_counts_as_told() -> None:
    draft = Draft(sections=(Section("x", (Item("h", (), (1,)),)),), headlines=(Item("h", (), (1,)),))
    assert digest(draft, brief(story(1))).counts.noted == 0


def test_headlines_do_not_count_against_the_length() -> None:
    assert word_count(Draft(lead=(Claim("one two", (1,)),), headlines=(Item("three four", (), (1,)),))) == 2


NUMBERS = st.lists(st.integers(-2, 9), max_size=4).map(tuple)
ITEMS = st.lists(st.builds(Item, st.sampled_from(["h", ""]), st.just(()), NUMBERS), max_size=4).map(tuple)
DRAFTS = st.builds(
    Draft,
    lead=st.lists(st.builds(Claim, st.just("x"), NUMBERS), max_size=2).map(tuple),
    sections=st.lists(st.builds(Section, st.just("t"), ITEMS), max_size=3).map(tuple),
    headlines=ITEMS,
)


@given(DRAFTS, st.integers(0, 6))
@settings(max_examples=150, deadline=None)
def test_nothing_offered_is_ever_lost(draft: Draft, count: int) -> None:
    made = compose(brief(*map(story, range(1, count + 1))) if count else brief(stories=()), draft, TICKET, WRITTEN)
    shown = {number for item in items_of(made.draft) for number in item.stories}
    assert shown == set(range(1, len(made.stories) + 1))
    assert lost(made) == 0
    assert all(section.items for section in made.draft.sections)


@pytest.mark.parametrize("field", ["findings", "notices"])
def test_what_the_caller_adds_is_kept(field: str) -> None:
    assert getattr(compose(brief(), DRAFT, TICKET, WRITTEN, **{field: ["x"]}), field) == ("x",)  # type: ignore[arg-type]


def test_without_stories_the_words_stay_and_nothing_is_cited() -> None:
    from news_digest.render import markdown, terminal_text  # noqa: PLC0415
    from news_digest.render_html import html  # noqa: PLC0415

    draft = Draft(sections=(Section("x", (Item("Something happened", ("It did.",), (1,)),)),))
    made = digest(draft, brief(stories=()))
    assert made.draft.sections[0].items[0].stories == ()
    for form in (markdown, terminal_text, html):
        assert "Something happened" in form(made)


def test_an_address_in_a_title_is_left_out_when_code_notes_it() -> None:
    made = digest(Draft(), brief(story(1, title="See https://evil.example/x now")))
    assert made.draft.headlines[0].headline == "See now"
