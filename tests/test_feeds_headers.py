"""What headers say about time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.feeds.headers import fresh_until, http_date, retry_after

NOW = datetime(2026, 8, 20, 8, 0, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        (" 5 ", 5),
        ("86400", 86400),
        ("86401", 86400),
        ("999999999999999999", 86400),
        ("Thu, 20 Aug 2026 08:10:00 GMT", 600),
        ("Thursday, 20-Aug-26 08:10:00 GMT", 600),
        ("Thu, 20 Aug 2026 07:00:00 GMT", 0),
        ("Sun, 20 Aug 2046 08:00:00 GMT", 86400),
    ],
)
def test_the_wait_is_read_in_both_forms_and_bounded(value: str, seconds: int) -> None:
    assert retry_after({"retry-after": value}, NOW) == NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize("value", ["", "soon", "-5", "1.5", "²", "Thu, 99 Foo 2026"])
def test_what_says_nothing_about_a_wait_is_none(value: str) -> None:
    assert retry_after({"retry-after": value}, NOW) is None


def test_a_server_with_a_wrong_clock_is_understood() -> None:
    headers = {"retry-after": "Tue, 01 Jan 2030 00:02:00 GMT", "date": "Tue, 01 Jan 2030 00:00:00 GMT"}
    assert retry_after(headers, NOW) == NOW + timedelta(minutes=2)


def test_a_date_without_a_zone_is_in_utc() -> None:
    assert http_date("Thu, 20 Aug 2026 08:10:00") == datetime(2026, 8, 20, 8, 10, tzinfo=UTC)


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_no_header_fails_and_no_wait_is_beyond_its_bound(wait: str, date: str, control: str) -> None:
    headers = {"retry-after": wait, "date": date, "cache-control": f"max-age={control}"}
    for until in (retry_after(headers, NOW), fresh_until(headers, NOW)):
        assert until is None or NOW <= until <= NOW + DAY
