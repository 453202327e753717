"""The labels of the benchmarks: two parts that never mix, enough of them, and no text of anybody's."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path

import pytest

LABELS = Path(__file__).parents[1] / "benchmarks" / "labels"
PARTS = ("calibration", "scoring")
TOPICS = ("artificial_intelligence", "open_source", "developer_tools")


def rows(name: str) -> list[dict[str, str]]:
    with (LABELS / f"{name}.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def days_of(part: str) -> set[str]:
    return {row[end] for row in rows("days") if row["part"] == part for end in ("first", "second")}


def test_no_day_is_in_both_parts_and_none_is_one_that_was_chosen_on() -> None:
    assert {row["part"] for row in rows("days")} == set(PARTS)
    assert days_of("calibration").isdisjoint(days_of("scoring"))
    assert not (days_of("calibration") | days_of("scoring")) & {"2025-10-14", "2025-10-15", "2026-08-19", "2026-08-20"}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", ["events", "topics"])
def test_every_label_is_of_a_day_of_its_part(part: str, kind: str) -> None:
    assert {row["day"] for row in rows(f"{kind}-{part}")} <= days_of(part)


def test_there_are_more_than_a_hundred_new_pairs() -> None:
    total = 0
    for part in PARTS:
        events: dict[str, set[str]] = defaultdict(set)
        for row in rows(f"events-{part}"):
            if row["event"] != "-":
                events[row["event"]].add(row["link"])
        total += sum(len(links) * (len(links) - 1) // 2 for links in events.values())
    assert total >= 100


@pytest.mark.parametrize("topic", TOPICS)
def test_there_are_more_than_sixty_new_stories_on_each_topic(topic: str) -> None:
    marks = Counter(row[topic] for part in PARTS for row in rows(f"topics-{part}"))
    assert marks["2"] >= 60
    assert set(marks) <= {"0", "1", "2", "-"}


@pytest.mark.parametrize("name", [f"{kind}-{part}" for kind in ("events", "topics") for part in PARTS])
def test_labels_are_links_and_numbers_without_keys_of_readers(name: str) -> None:
    for row in rows(name):
        assert " " not in row["link"]
        assert "." in row["link"].partition("/")[0]
        assert "utm_" not in row["link"].lower()
        assert "token" not in row["link"].partition("?")[2].lower()
