"""Every attack, in whatever way a writer obeys it, and against texts that nobody has cleaned."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.attacking import Attack, attacks, brief, digests, faults, read, uncleaned

TESTS = Path(__file__).resolve().parents[1]
SHARED = TESTS.parents[1] / "shared" / "eval" / "injections.jsonl"
GIVEN = attacks(SHARED) if SHARED.exists() else []
ALL = [pytest.param(attack, id=attack.id) for attack in GIVEN + attacks(TESTS / "attacks.jsonl")]


@pytest.mark.prove
@pytest.mark.parametrize("attack", ALL)
def test_an_attack_in_a_feed_reaches_nobody_in_whatever_way_a_writer_obeys(attack: Attack) -> None:
    given = brief(read(attack))
    found = {f"{writer}: {fault}" for writer, made in digests(attack, given) for fault in faults(attack, made)}
    assert found == set()


@pytest.mark.prove
@pytest.mark.parametrize("attack", ALL)
def test_even_a_text_that_nobody_cleaned_gives_no_link_and_no_escape(attack: Attack) -> None:
    given = brief(uncleaned(attack))
    found = {
        f"{writer}: {fault}"
        for writer, made in digests(attack, given)
        for fault in faults(attack, made)
        if "forbidden" not in fault
    }
    assert found == set()
