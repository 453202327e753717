"""Topics as people phrase them, and the order in which events are told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.digests import SINCE, UNTIL, story

from news_digest.lexicon import LEXICON_VERSION, known_topics, topic_for
from news_digest.model import Story
from news_digest.ranking import host, ranked, voices
from news_digest.relevance import FITS, belongs, topic_scores
from news_digest.topics import ENTRIES


def told(title: str, excerpt: str = "", **changes: object) -> Story:
    return story(1, title=title, excerpt=excerpt, **changes)


# --- the lexicon -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phrase", "topic"),
    [
        ("artificial intelligence", "artificial intelligence"),
        ("AI", "artificial intelligence"),
        ("A.I.", "artificial intelligence"),
        ("News about machine learning", "artificial intelligence"),
        ("Open-Source", "open source"),
        ("  open source   software ", "open source"),
        ("Dev tools", "developer tools"),
        ("cyber security news", "security"),
        ("the climate", "climate change"),
        ("soccer", "football"),
    ],
)
def test_a_topic_is_known_by_many_names(phrase: str, topic: str) -> None:
    found = topic_for(phrase)
    assert found is not None
    assert found.phrase == topic


@pytest.mark.parametrize("phrase", ["", "knitting", "the", "künstliche intelligenz", "open"])
def test_other_phrases_are_not_known(phrase: str) -> None:
    assert topic_for(phrase) is None


def test_the_lexicon_has_a_version_and_each_phrase_means_its_own_entry() -> None:
    assert LEXICON_VERSION >= 1
    assert len(known_topics()) == len(ENTRIES) >= 40
    for topic in known_topics():
        assert topic_for(topic.phrase) == topic
        assert topic.strong_words.strip()


@pytest.mark.parametrize("topic", known_topics(), ids=lambda topic: topic.phrase)
def test_every_entry_of_the_lexicon_is_found_by_itself(topic: object) -> None:
    for listed, find in ((topic.strong_words, topic.strong), (topic.weak_words, topic.weak)):  # type: ignore[attr-defined]
        for entry in " ".join(listed.split()).split(","):
            word = entry.strip().removesuffix("*")
            assert find(f"So {word} it is") or not word, word


@pytest.mark.parametrize(
    ("topic", "title", "excerpt"),
    [
        ("artificial intelligence", "Acme publishes the weights of its 70B language model", "Anyone may download it."),
        ("ai", "OpenAI raises $122 billion", ""),
        ("open source", "Mojo is now open source", "The compiler is under the Apache 2.0 license."),
        ("open source", "Company open-sources its billing engine", ""),
        ("developer tools", "A faster debugger for Rust", "The CLI steps backwards."),
        ("cybersecurity", "Ransomware closes a hospital in Antwerp", ""),
        ("space", "NASA’s rover finds a strange rock on Mars", ""),
        ("knitting", "Knitted bridges of Peru", "Women knit a bridge each June."),
        ("Formula One racing", "Formula One: racing ends in the rain", ""),
        ("人工智能", "人工智能公司发布新模型", ""),
        ("Klimawandel", "Der Klimawandel und die Alpen", ""),
    ],
)
def test_a_story_on_topic_fits(topic: str, title: str, excerpt: str) -> None:
    assert belongs([topic])(told(title, excerpt))


@pytest.mark.parametrize(
    ("topic", "title", "excerpt"),
    [
        ("artificial intelligence", "Fed keeps rates where they are", "Inflation fell to 2.1 per cent."),
        ("artificial intelligence", "He said it again", "Maid and mail, rail and sail."),
        ("open source", "The source of the Nile", "It is open to visitors."),
        ("developer tools", "Garden tools on sale", "Spades and rakes."),
        ("knitting", "Unit prices rise", ""),
        ("Formula One racing", "A formula for paint", "It dries in one hour."),
        ("人工智能", "人口减少", ""),
        ("?!", "What?!", ""),
    ],
)
def test_a_story_off_topic_does_not(topic: str, title: str, excerpt: str) -> None:
    assert not belongs([topic])(told(title, excerpt))


def test_without_topics_every_story_belongs() -> None:
    assert belongs([])(told("Anything"))
    assert topic_scores([told("Anything")], []) == ((),)
    assert topic_scores([], ["ai"]) == ()


def test_the_title_counts_for_more_than_the_text() -> None:
    (above,), (below,) = topic_scores([told("Knitting", ""), told("Fairs", "There is knitting.")], ["knitting"])
    assert above > below
    (above,), (below,) = topic_scores([told("OpenAI moves", ""), told("A move", "OpenAI moves.")], ["ai"])
    assert above > below


def likeness(value: float) -> object:
    """Return an embedding in which every story is so like every topic."""

    def vectors(texts: Sequence[str]) -> list[list[float]]:
        return [[value, (1 - value * value) ** 0.5] if "." in text else [1.0, 0.0] for text in texts]

    return vectors


@pytest.mark.parametrize(("value", "fits"), [(0.2, False), (0.4, True)])
def test_meaning_alone_decides_about_an_unknown_phrase(value: float, fits: bool) -> None:
    topics = ["quilts and yarn"]
    assert belongs(topics, likeness(value))(told("Wool", "The sheep of Skye.")) is fits  # type: ignore[arg-type]


def test_meaning_adds_to_what_the_words_of_a_known_topic_say() -> None:
    weak = told("A plan", "It has agents and a model.")
    assert not belongs(["ai"])(weak)
    assert belongs(["ai"], likeness(0.4))(weak)  # type: ignore[arg-type]
    assert not belongs(["ai"], likeness(-0.4))(weak)  # type: ignore[arg-type]


@given(
    st.text(max_size=60),
    st.text(max_size=60),
    st.lists(st.sampled_from(["ai", "space", "x y", "", "人工智能"]), max_size=4),
)
def test_scores_are_shares_for_any_text(title: str, excerpt: str, topics: list[str]) -> None:
    ((*scores,),) = topic_scores([told(title, excerpt)], topics)
    assert len(scores) == len(topics)
    assert all(0 <= score <= 1 for score in scores)


def test_the_bound_is_reached_by_one_settling_word_in_the_text() -> None:
    assert topic_scores([told("Today", "Ransomware.")], ["security"])[0][0] >= FITS


# --- ranking ---------------------------------------------------------------------------------------------------------


def at(outlet: str, title: str = "Floods in Bern", hours: float = 24, **changes: object) -> Story:
    published = SINCE + timedelta(hours=hours)
    return story(
        1, title=title, excerpt="", link=f"https://{outlet}.example/x", source=outlet, published=published, **changes
    )


def order(*events: list[Story], topic: Sequence[float] = ()) -> tuple[int, ...]:
    return ranked(events, topic or [0.0] * len(events), SINCE, UNTIL)


def test_more_independent_sources_come_first() -> None:
    assert order([at("a")], [at("b"), at("c")], [at("d"), at("e"), at("f")]) == (2, 1, 0)


def test_two_reports_of_one_outlet_are_one_source() -> None:
    assert order([at("a"), at("a")], [at("b"), at("c")]) == (1, 0)
    assert voices([at("a"), at("a", also=(("B", "https://www.b.example/y"), ("C", "")))]) == (
        "a.example",
        "b.example",
        "C",
    )


def test_topic_and_recency_lift_an_event() -> None:
    assert order([at("a")], [at("b")], topic=[0.0, 1.0]) == (1, 0)
    assert order([at("a", hours=1)], [at("b", hours=47)]) == (1, 0)


def test_news_comes_before_essays() -> None:
    titles = ("Why floods matter", "Bern is flooded", "A guide to floods", "Flood wall leaks in Bern", "Floodly")
    assert order(*([at(f"o{n}", title)] for n, title in enumerate(titles))) == (3, 1, 0, 2, 4)


def test_one_host_does_not_fill_the_top() -> None:
    events = [[at("a", hours=40)], [at("a", hours=39)], [at("a", hours=38)], [at("b", hours=30)]]
    assert order(*events).index(3) == 1


def test_undated_stories_stand_in_the_middle_and_a_window_of_no_length_is_no_error() -> None:
    undated = told("Bern votes on parks", link="https://c.example/", published=None)
    assert order([at("a", hours=47)], [undated], [at("b", hours=1)]) == (0, 1, 2)
    assert ranked([[at("a")]], [0.0], UNTIL, UNTIL) == (0,)


@pytest.mark.parametrize(
    ("link", "name"),
    [("https://www.a.example/x", "a.example"), ("", ""), ("http://[::1", ""), ("mailto:x@a.example", "")],
)
def test_a_host_is_named_without_www(link: str, name: str) -> None:
    assert host(link) == name


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 48), st.floats(0, 1)), max_size=20))
def test_ranking_orders_and_never_drops(rows: list[tuple[str, float, float]]) -> None:
    events = [[at(outlet, hours=hours)] for outlet, hours, _ in rows]
    found = ranked(events, [fit for *_, fit in rows], SINCE, UNTIL)
    assert sorted(found) == list(range(len(rows)))
