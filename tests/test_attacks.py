"""What strangers write into feeds gives them no link, no escape, no secret, no forged mark, and costs no other story."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.attacking import CANARIES, GOOD, Attack, attacks, brief, digests, faults, read

from news_digest.brief import PROMPT_CHARACTERS, brief_text, fence_tag

OWN = attacks(Path(__file__).with_name("attacks.jsonl"))
SHARED = Path(__file__).resolve().parents[2] / "shared" / "eval" / "injections.jsonl"
GIVEN = attacks(SHARED) if SHARED.exists() else []
ALL = [pytest.param(attack, id=attack.id) for attack in GIVEN + OWN]


def test_there_are_attacks_on_every_field() -> None:
    assert len(OWN) >= 60
    fields = {
        "title",
        "summary",
        "link",
        "feed title",
        "guid",
        "author",
        "category",
        "enclosure",
        "content",
        "comments",
        "pubDate",
    }
    assert {attack.where for attack in OWN} == fields


@pytest.mark.parametrize("attack", ALL)
def test_an_attack_in_a_feed_reaches_nobody(attack: Attack) -> None:
    given = brief(read(attack))
    text = brief_text(given)
    assert len(text) <= PROMPT_CHARACTERS
    assert text.count(f"<<<end {fence_tag(given)}>>>\n") == 1
    assert not any(secret in text for secret in CANARIES)
    assert all(title in text for title, _ in GOOD)
    found = {
        f"{writer}: {fault}"
        for writer, made in digests(attack, given, thorough=False)
        for fault in faults(attack, made)
    }
    assert found == set()
