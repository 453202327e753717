"""Same-event groups, and what the last digest told."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.digests import story

from news_digest.echoes import Echo, echoes
from news_digest.grouping import dot, same_events, story_text
from news_digest.likeness import RARE, alike_by_words, cosine, same_title, term_counts, weigh
from news_digest.model import Fingerprint, Identity, Story


def told(title: str, excerpt: str = "", link: str = "", **changes: object) -> Story:
    return story(1, title=title, excerpt=excerpt, link=link, identity=Identity(()), **changes)


QUAKE = told(
    "Strong earthquake shakes northern Chile",
    "A magnitude 7.1 earthquake struck the coast near Iquique on Monday, and thousands left their homes.",
)
QUAKE_TOO = told(
    "Thousands leave homes after 7.1 earthquake in Chile",
    "The quake struck off Iquique in northern Chile on Monday; a tsunami warning was lifted.",
)
STRIKE = told("Train drivers in Denmark end their strike", "The union and the railway agreed on pay on Monday.")
FEED = told("Danish railway reports record year", "Passenger numbers rose by nine per cent.")


def test_reports_of_one_event_meet_and_others_stand_alone() -> None:
    assert same_events((QUAKE, STRIKE, QUAKE_TOO, FEED)) == ((0, 2), (1,), (3,))


def test_nothing_and_a_single_story_are_groups_of_their_own() -> None:
    assert same_events(()) == ()
    assert same_events((QUAKE,)) == ((0,),)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (told("One", link="https://a.example/x"), told("Other", link="https://a.example/x")),
        (told("One", link="https://a.example/x"), told("Other", also=(("B", "https://a.example/x"),))),
        (
            replace(told("One"), identity=Identity((), (), (Fingerprint("0" * 16),))),
            replace(told("Other"), identity=Identity((), (), (Fingerprint("0" * 16),))),
        ),
    ],
    ids=["link", "also", "fingerprint"],
)
def test_the_same_link_or_identifier_is_the_same_story_whatever_it_says(first: Story, second: Story) -> None:
    assert same_events((first, STRIKE, second)) == ((0, 2), (1,))


def test_stories_that_are_the_same_in_two_ways_are_one_group() -> None:
    here, there = ("B", "https://a.example/x"), ("C", "https://c.example/y")
    three = (told("One", link=here[1]), told("Two", also=(here, there)), told("Three", also=(here, there)))
    assert same_events(three) == ((0, 1, 2),)


def test_stories_without_a_link_are_not_the_same_for_that() -> None:
    assert same_events((told("Apples are red"), told("Pears are green"))) == ((0,), (1,))


def test_one_article_under_two_addresses_is_one_story() -> None:
    first = told("The great flattening", "Every firm in town loses a layer of managers.", "https://a.example/1")
    second = told("The Great Flattening", "Why layers go, says a consultant from town.", "https://b.example/2")
    assert same_title(first, second)
    assert same_events((first, second)) == ((0, 1),)


def test_a_rubric_is_no_title() -> None:
    first = told("Weekly news", "Cheese from the valley wins a prize in Bern.")
    second = told("Weekly news", "Parliament votes on the pension fund again.")
    assert not same_title(first, second)
    assert same_events((first, second)) == ((0,), (1,))


def test_a_hub_bridges_nothing() -> None:
    bill = told("Senate passes water bill", "The water bill passes the Senate with sixty votes.")
    hub = told("Senate passes water bill as mayor of Lund resigns", "The water bill passes; the mayor of Lund resigns.")
    mayor = told("Mayor of Lund resigns", "The mayor of Lund resigns over a land deal.")
    groups = same_events((bill, hub, mayor))
    assert not any({0, 2} <= set(group) for group in groups)


def test_meaning_joins_what_words_alone_do_not_and_parts_what_they_would() -> None:
    first = told("Firm opens plant in Lund", "Battery maker Volta opens its plant in Lund.")
    second = told("Volta starts production", "Volta, which makes batteries, has begun work in Lund.")

    def close(texts: object) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]  # type: ignore[attr-defined]

    def apart(texts: object) -> list[list[float]]:
        return [[1.0, 0.0] if "plant" in text else [0.0, 1.0] for text in texts]  # type: ignore[attr-defined]

    assert same_events((first, second)) == ((0,), (1,))
    assert same_events((first, second), close) == ((0, 1),)
    assert same_events(
        (QUAKE, QUAKE_TOO), lambda texts: [[float(n == 0), float(n == 1)] for n in range(len(texts))]
    ) == (
        (0,),
        (1,),
    )
    assert same_events((first, second), apart) == ((0,), (1,))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("大阪で大きな地震、津波の心配なし", "大阪で地震、津波の心配はなし 気象庁"),
        ("Schweres Erdbeben erschüttert Norden Chiles", "Erdbeben erschüttert Chiles Norden: Tausende fliehen"),
        ("В Чили произошло сильное землетрясение", "Сильное землетрясение произошло на севере Чили"),
    ],
)
def test_other_languages_group_too(first: str, second: str) -> None:
    other = told("首相が辞任を発表") if first.startswith("大") else told("Bundestag beschließt den Haushalt")
    assert same_events((told(first), other, told(second))) == ((0, 2), (1,))


def test_a_word_that_many_stories_have_proposes_no_pair() -> None:
    same = [told(f"Budget item{n}") for n in range(RARE + 1)]
    assert alike_by_words(weigh([term_counts(each) for each in same]), 0.01) == {}
    assert alike_by_words(weigh([term_counts(each) for each in same[:3]]), 0.01) != {}


def test_weights_have_length_one_and_empty_texts_none() -> None:
    full, empty = weigh([{"a": 1, "b": 3}, {}])
    assert math.isclose(sum(value * value for value in full.values()), 1)
    assert empty == {}
    assert math.isclose(cosine([full, full], (0, 1)), 1)
    assert dot([0.6, 0.8], [0.6, 0.8]) == pytest.approx(1)


def test_a_story_without_excerpt_is_its_title() -> None:
    assert story_text(told("Title")) == "Title"
    assert story_text(told("Title", "Text.")) == "Title. Text."


WORDS = st.sampled_from("bank river storm mayor vote train port court fish glass 東京 地震".split())  # noqa: SIM905
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)
STORIES = st.lists(
    st.tuples(TEXTS, TEXTS, st.sampled_from(["", "https://a.example/1", "https://a.example/2"])), max_size=12
)


@given(STORIES)
def test_every_story_stands_in_exactly_one_group_in_order(given_stories: list[tuple[str, str, str]]) -> None:
    stories = [told(*each) for each in given_stories]
    groups = same_events(stories)
    assert sorted(position for group in groups for position in group) == list(range(len(stories)))
    assert all(list(group) == sorted(group) for group in groups)
    assert all(first[0] < second[0] for first, second in pairwise(groups))
    assert groups == same_events(stories)
    for first, one in enumerate(stories):
        for second, other in enumerate(stories):
            if one.link and one.link == other.link:
                assert any({first, second} <= set(group) for group in groups)


# --- the last digest -------------------------------------------------------------------------------------------------

PREVIOUS = """\
# News digest, Monday

## World

- **Strong earthquake shakes northern Chile.** A magnitude 7.1 earthquake struck the coast near Iquique on Monday, and
  thousands left their homes. ([Gazette](https://gazette.example/volcano-erupts-iceland))
- Train drivers in Denmark end their strike. ([Planet](https://planet.example/2))
"""


@pytest.mark.parametrize(
    ("story", "echo"),
    [
        (QUAKE, Echo.REPEAT),
        (replace(QUAKE, excerpt="Rescuers found forty bodies; the port stays closed."), Echo.UPDATE),
        (told(QUAKE.title), Echo.REPEAT),
        (told("Strong earthquake shakes northern Chile", "The earthquake struck on Monday."), Echo.REPEAT),
        (told("Chile counts its dead after strong northern earthquake", "Rescuers found 40 bodies."), Echo.UPDATE),
        (told(STRIKE.title), Echo.REPEAT),
        (told("Danish railway reports record year"), Echo.NEW),
        (told("Chile"), Echo.NEW),
        (told("Volcano erupts Iceland"), Echo.NEW),
    ],
)
def test_a_story_is_new_or_an_update_or_a_repeat(story: Story, echo: Echo) -> None:
    assert echoes([story], PREVIOUS) == (echo,)


def test_without_a_last_digest_all_is_new() -> None:
    assert echoes([QUAKE, STRIKE], "") == (Echo.NEW, Echo.NEW)
    assert echoes([QUAKE], "\n \n# A\n") == (Echo.NEW,)
