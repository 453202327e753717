"""Words, stems, sentences: what grouping, topics and quotations are made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.sentences import ends_whole, sentences, word_total
from news_digest.words import fold, stem, terms, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("OpenAI's GPT-5.3 costs 1,200 dollars", ["openai", "gpt", "5.3", "costs", "1,200", "dollars"]),
        ("It’s the café’s naïve Straße", ["it", "the", "cafe", "naive", "strasse"]),
        ("東京で地震", ["東京", "京で", "で地", "地震"]),
        ("中", ["中"]),
        ("GPT発表 now", ["gpt", "発表", "now"]),
        ("한국어 뉴스", ["한국", "국어", "뉴스"]),
        ("รัฐบาล", ["รั", "ัฐ", "ฐบ", "บา", "าล"]),
        ("Привет, мир!", ["привет", "мир"]),
        ("", []),
        ("?!…", []),
    ],
)
def test_words_are_folded_and_unspaced_scripts_give_pairs(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_terms_leave_out_what_carries_no_subject() -> None:
    assert terms("They said that the company was releasing new models") == ["compani", "releas", "model"]


@pytest.mark.parametrize(
    "family",
    [
        ("release", "releases", "released", "releasing"),
        ("acquire", "acquires", "acquired", "acquiring"),
        ("company", "companies"),
        ("launch", "launches", "launched", "launching"),
        ("stop", "stopped", "stopping", "stops"),
        ("box", "boxes"),
    ],
)
def test_inflections_meet(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize("word", ["ios", "news2", "été", "bus", "glass", "2026", "ring", "red", "gas"])
def test_short_foreign_and_numbered_words_stay(word: str) -> None:
    assert stem(word) == word


@given(st.text(max_size=80))
def test_folding_is_idempotent_and_no_text_breaks_the_words(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert all(words(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Mr. Smith of the U.S. Army met J. Doe. He left.", ["Mr. Smith of the U.S. Army met J. Doe.", "He left."]),
        (
            "It costs $4.2 million. “Too much,” he said. 12 agreed.",
            ["It costs $4.2 million.", "“Too much,” he said.", "12 agreed."],
        ),
        ("He said “No.” She said yes.", ["He said “No.”", "She said yes."]),
        ("今日は晴れ。明日は雨！本当？", ["今日は晴れ。", "明日は雨！", "本当？"]),
        ("यह एक है। यह दो है।", ["यह एक है।", "यह दो है।"]),
        ("It is out. 🎁", ["It is out.", "🎁"]),
        ("version 2.0 of node.js is here", ["version 2.0 of node.js is here"]),
        ("cut off in the mid", ["cut off in the mid"]),
        ("  white \n\n space.  And   more. ", ["white space.", "And more."]),
        ("", []),
        ("." * 20_000 + "x", ["." * 20_000 + "x"]),
        ("." + ")" * 20_000 + "x", ["." + ")" * 20_000 + "x"]),
    ],
    ids=lambda case: repr(case)[:20],
)
def test_texts_fall_into_sentences(text: str, found: list[str]) -> None:
    assert sentences(text) == found


@given(st.text(alphabet="ab AB.!?。“” 12…\n", max_size=80))
def test_sentences_lose_no_word(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
    assert all(sentence in " ".join(text.split()) for sentence in sentences(text))


@pytest.mark.parametrize(
    ("sentence", "whole"),
    [
        ("It is.", True),
        ("“It is.”", True),
        ("Is it?", True),
        ("晴れ。", True),
        ("It is", False),
        ("It is…", False),
        ("It is...", False),
    ],
)
def test_a_cut_sentence_is_told_from_a_whole_one(sentence: str, whole: bool) -> None:
    assert ends_whole(sentence) is whole


@pytest.mark.parametrize(
    ("text", "total"), [("two words", 2), ("", 0), ("東京で地震", 3), ("GPT 発表 now", 3), ("中 文", 2)]
)
def test_two_characters_of_an_unspaced_script_are_a_word(text: str, total: int) -> None:
    assert word_total(text) == total


@given(st.text(max_size=60))
def test_no_text_has_fewer_words_than_its_spaces_say(text: str) -> None:
    assert word_total(text) >= len(text.split())
