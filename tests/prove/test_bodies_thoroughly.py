"""Compressed bodies, damaged in every way: never a crash, never more than the cap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.test_http_coding import CODERS

from news_digest.errors import HttpError
from news_digest.http.coding import decode

CAP = 50_000
LABELS = ["", *CODERS, "gzip, gzip", "br, gzip", "identity", "nonsense"]
PLAIN = [b"", b"<rss>" * 40, bytes(range(256)) * 4, b"\0" * (CAP + 1)]


@pytest.mark.prove
@given(
    plain=st.sampled_from(PLAIN),
    coders=st.lists(st.sampled_from(list(CODERS)), max_size=4),
    changes=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=6),
    cut=st.integers(0, 60),
    label=st.sampled_from(LABELS),
    sniff=st.booleans(),
)
def test_a_damaged_body_is_read_below_the_cap_or_refused_with_a_cause(
    plain: bytes, coders: list[str], changes: list[tuple[int, int]], cut: int, label: str, *, sniff: bool
) -> None:
    body = plain
    for name in coders:
        body = CODERS[name](body)
    damaged = bytearray(body)
    for position, value in changes:
        if position < len(damaged):
            damaged[position] = value
    whole = bytes(damaged[: len(damaged) - cut])
    try:
        read = decode(whole, label, cap=CAP, url="https://news.example/", sniff=sniff)
    except HttpError as error:
        read = error.cause.encode()
    assert len(read) <= max(CAP, len(whole))
