"""What strangers hide in characters is gone, and what people read is still there."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.hygiene import clean, inspect


@pytest.mark.parametrize(
    ("text", "cleaned", "names"),
    [
        ("a\x1b[31mb\x1b[0m", "ab", {"terminal sequences"}),
        ("a\x1b]8;;https://evil.example/\x07b\x1b]8;;\x1b\\c", "abc", {"terminal sequences"}),
        ("a\x1b]52;c;cm0=\x07b", "ab", {"terminal sequences"}),
        ("a\x9b2Jb\x90q\x9cc", "abc", {"terminal sequences"}),
        ("a\x1bPq#0\x1b\\b\x1b_G\x1b\\c", "abc", {"terminal sequences"}),
        ("a\x1b", "a", {"control characters"}),
        ("a\x00\x08\x7f\x9db", "ab", {"control characters"}),
        ("Se\u200bcu\u2060ri\ufeffty\u00ad", "Security", {"invisible characters"}),
        ("x\u202egnp.exe\u202c\u2066y\u2069", "xgnp.exey", {"direction marks"}),
        ("x\U000e0069\U000e0067y\U000e0100", "xy", {"tag characters"}),
        ("a\ud83db", "ab", {"lone surrogates"}),
        ("a\ufffe\U0001ffffb\ue000", "ab", {"no characters"}),
        ("z" + "\u0335" * 50, "z" + "\u0335" * 4, {"stacked marks"}),
        ("a\u200db", "ab", {"invisible characters"}),
    ],
)
def test_what_is_hidden_is_taken_out_and_named(text: str, cleaned: str, names: set[str]) -> None:
    assert clean(text) == cleaned
    assert names <= set(inspect(text))
    assert inspect(cleaned) == ()


@pytest.mark.parametrize(
    "text",
    [
        "plain text, 100 %",
        "two\nlines\tand a tab",
        "Zażółć gęślą jaźń",
        "می\u200cخواهم",
        "क्\u200dष",
        "👨\u200d👩\u200d👧 ❤\ufe0f",
        "שָׁלוֹם",
        "Việt Nam",
        "新聞を読む",
    ],
)
def test_what_people_read_stays(text: str) -> None:
    assert clean(text) == unicodedata.normalize("NFC", text)
    assert inspect(text) == ()


def test_line_ends_become_newlines_and_letters_are_composed() -> None:
    assert clean("a\r\nb\rc\u2028d\x85e") == "a\nb\nc\nd\ne"
    assert clean("a\x0bb\x0cc\u00e4") == "a b cä"
    assert clean("e\u0301\u00e4") == "éä"


@given(st.text(st.characters(codec=None)))
def test_cleaning_is_final_and_leaves_nothing_to_name(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert inspect(cleaned) == ()
    assert all(ord(each) >= 0x20 or each in "\n\t" for each in cleaned)
    cleaned.encode("utf-8")


@pytest.mark.parametrize(
    "text", ["\x1b]" * 50_000, "\x1b[" * 50_000, "a\u0301" * 50_000, "\u200d" * 100_000, "\x90a" * 50_000]
)
def test_long_attacks_take_no_long_time(text: str) -> None:
    assert len(clean(text)) <= len(text)
