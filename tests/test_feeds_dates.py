"""Dates as feeds write them: read whole, in UTC, or not at all."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.feeds.dates import read_date


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("Tue, 01 Dec 2026 09:30:00 GMT", "2026-12-01T09:30:00"),
        ("Tue, 1 Dec 2026 09:30 +0200", "2026-12-01T07:30:00"),
        ("01 Dec 2026 09:30:00 Z", "2026-12-01T09:30:00"),
        ("Tue, 01 Dec 26 09:30:00 EST", "2026-12-01T14:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 EDT", "2026-12-01T13:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 PDT", "2026-12-01T16:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 CEST", "2026-12-01T07:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 MESZ", "2026-12-01T07:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 BST", "2026-12-01T08:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 IST", "2026-12-01T04:00:00"),
        ("Tue, 01 Dec 2026 09:30:00 UT", "2026-12-01T09:30:00"),
        ("Sat, Dec 16 2023 02:02:33 PM", "2023-12-16T14:02:33"),
        ("Sun, 15 Dec 2024 12:15 AM", "2024-12-15T00:15:00"),
        ("Friday, January 29, 2021 04:42 PM", "2021-01-29T16:42:00"),
        ("5 November 2025 - 09:01", "2025-11-05T09:01:00"),
        ("TUE,01 DEC 2026 09:30:00", "2026-12-01T09:30:00"),
        ("mer, 16 nov 2022", "2022-11-16T00:00:00"),
        ("Di, 01 Dez 2026 09:30:00 +0100", "2026-12-01T08:30:00"),
        ("mar. 01 déc. 2026 09:30:00", "2026-12-01T09:30:00"),
        ("mar, 03 mar 2026", "2026-03-03T00:00:00"),
        ("вт, 01 дек 2026 09:30:00 +0300", "2026-12-01T06:30:00"),
        ("Τρι, 01 Δεκ 2026 09:30:00 +0200", "2026-12-01T07:30:00"),
        ("Tue Dec 01 2026 09:30:00 GMT+0200 (Eastern European Standard Time)", "2026-12-01T07:30:00"),
        ("Tue Dec  1 09:30:00 2026", "2026-12-01T09:30:00"),
        ("2026-12-01T09:30:00Z", "2026-12-01T09:30:00"),
        ("2026-12-01T09:30:00.123456789+01:00", "2026-12-01T08:30:00"),
        ("2026-12-01 09:30:00 -0500", "2026-12-01T14:30:00"),
        ("2026-12-01T09:30:00", "2026-12-01T09:30:00"),
        ("2026-12-01T24:00:00Z", "2026-12-02T00:00:00"),
        ("2026-12-31T23:59:60Z", "2026-12-31T23:59:59"),
        ("2026-12-1T9:30Z", "2026-12-01T09:30:00"),
        ("2026-12-01", "2026-12-01T00:00:00"),
        ("2026-12", "2026-12-01T00:00:00"),
        ("20261201T093000Z", "2026-12-01T09:30:00"),
        ("2026/12/01 09:30", "2026-12-01T09:30:00"),
        ("01.12.2026 09:30", "2026-12-01T09:30:00"),
        ("12/01/2026 09:30", "2026-12-01T09:30:00"),
        ("31/12/2026", "2026-12-31T00:00:00"),
        ("3. 5. 2026 10:15", "2026-05-03T10:15:00"),
        ("Tue, 12/01/2026 - 09:30", "2026-12-01T09:30:00"),
        ("Mar, 01/12/2026 - 09:30", "2026-12-01T09:30:00"),
        ("di, 01/12/2026 - 09:30", "2026-12-01T09:30:00"),
        ("sábado, 05/12/2026 - 09:30", "2026-12-05T09:30:00"),
        ("May 3, 2026 at 10:15 AM ET", "2026-05-03T14:15:00"),
        ("Sun, 03 May 2026 10:15:00 PT", "2026-05-03T17:15:00"),
        ("Dec 1, 2026 9:30 AM ET", "2026-12-01T14:30:00"),
        ("2004년 05월 28일  01:31:15", "2004-05-27T16:31:15"),
        ("Wed, 19 Aug 2009 18:28:00 Europe/Berlin", "2009-08-19T16:28:00"),
        ("Thu, 01 Jan 70 00:00:00 GMT", "1970-01-01T00:00:00"),
        ("Thu, 01 Jan 69 00:00:00 GMT", "2069-01-01T00:00:00"),
        ("Mon, 01 Jan 2097 00:00:00 GMT", "2097-01-01T00:00:00"),
        # what stands between the parts
        ("01-Dec-2026 09:30:00", "2026-12-01T09:30:00"),
        ("Tuesday, 01-December-2026 09:30:00 GMT", "2026-12-01T09:30:00"),
        ("01/Dec/2026:09:30:00 +0100", "2026-12-01T08:30:00"),
        ("5 1 2027 9:30", "2027-05-01T09:30:00"),
        ("25-12-2026", "2026-12-25T00:00:00"),
        ("25.12.26 09:30", "2026-12-25T09:30:00"),
        ("12/25/26", "2026-12-25T00:00:00"),
        ("2026. 12. 1. 09:30", "2026-12-01T09:30:00"),
        ("Date: 1st of December, 2026", "2026-12-01T00:00:00"),
        ("Tue, 01 Dec 2026 09:30:00 <br>", "2026-12-01T09:30:00"),
        ("\u200e12\u200e/\u200e25\u200e/\u200e2026 9:30:00\u202fAM", "2026-12-25T09:30:00"),
        # the weekday says which number is the month
        ("Tue, 12/01/2026", "2026-12-01T00:00:00"),
        ("Tue, 01/12/2026", "2026-12-01T00:00:00"),
        ("Tue, 01 12 2026 09:30:00 +0100", "2026-12-01T08:30:00"),
        # times
        ("1 Dec 2026 9:5", "2026-12-01T09:05:00"),
        ("1 Dec 2026 9pm", "2026-12-01T21:00:00"),
        ("Dec. 1, 2026, 9:30 p.m.", "2026-12-01T21:30:00"),
        ("1 décembre 2026 à 9 h 30", "2026-12-01T09:30:00"),
        ("1. desember 2026 kl. 9.30", "2026-12-01T09:30:00"),
        ("Am 1. Dezember 2026 um 12:30 Uhr", "2026-12-01T12:30:00"),
        ("2026年12月1日 09時30分15秒", "2026-12-01T09:30:15"),
        ("2026. 12. 1. 오후 9:30", "2026-12-01T12:30:00"),
        ("20261201T09:30:00", "2026-12-01T09:30:00"),
        ("2026-12-01T093000Z", "2026-12-01T09:30:00"),
        ("1796117400", "2026-12-01T09:30:00"),
        ("1796117400123", "2026-12-01T09:30:00"),
        # zones
        ("Tue, 01 Dec 2026 09:30:00+0100", "2026-12-01T08:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 +01", "2026-12-01T08:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 +1", "2026-12-01T08:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 + 0100", "2026-12-01T08:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 --0500", "2026-12-01T14:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 EST-05:00", "2026-12-01T14:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 \u22120500", "2026-12-01T14:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 est", "2026-12-01T14:30:00"),
        ("Tue, 01 Dec 2026 09 -0500", "2026-12-01T14:00:00"),
        ("Tue, 01 Dec 2026 09:30:00 +0000GMT", "2026-12-01T09:30:00"),
        ("Thứ Ba, 1 tháng 12, 2026, 09:30 (GMT+7)", "2026-12-01T02:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 (EST)", "2026-12-01T14:30:00"),
        ("Tue, 01 Dec 2026 09:30:00 +0100 (a note)", "2026-12-01T08:30:00"),
        ("2026-12-01T09:30:00-05:00Z", "2026-12-01T14:30:00"),
        ("2026-12-01T09:30:00+01:00[Europe/Paris]", "2026-12-01T08:30:00"),
        ("2026-12-01T09:30:00Europe/Paris", "2026-12-01T08:30:00"),
        ("09:30 01.12.2026 -0500", "2026-12-01T14:30:00"),
        ("01.12.2026 +0100", "2026-11-30T23:00:00"),
        # languages
        ("1 май 2026", "2026-05-01T00:00:00"),
        ("1 декември 2026 г. 9:30", "2026-12-01T09:30:00"),
        ("2026 m. gruodžio 1 d.", "2026-12-01T00:00:00"),
        ("1 de desembre del 2026", "2026-12-01T00:00:00"),
        ("1 Desember 2026 09:30 WIB", "2026-12-01T02:30:00"),
        ("1 tháng 12, 2026 09:30", "2026-12-01T09:30:00"),
        ("1 ธ.ค. 2569", "2026-12-01T00:00:00"),
        ("1 ธันวาคม 2569 09:30", "2026-12-01T09:30:00"),
        ("1 दिसंबर 2026", "2026-12-01T00:00:00"),
        ("١ ديسمبر ٢٠٢٦ 9:30 م", "2026-12-01T21:30:00"),
        ("1 בדצמבר 2026", "2026-12-01T00:00:00"),
        ("1 Δεκεμβρίου 2026, 9:30 μ.μ.", "2026-12-01T21:30:00"),
    ],
)
def test_a_date_is_read(text: str, iso: str) -> None:
    assert read_date(text) == datetime.fromisoformat(iso).replace(tzinfo=UTC)
    assert read_date(f"\n  {text} ") == read_date(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "Mon, 01 Jan 0001 00:00:00 +0000",
        "0001-01-01T00:00:00Z",
        "1900-01-01",
        "2026-00-12",
        "2026-13-01",
        "Tue, 32 Dec 2026 09:30:00 GMT",
        "2026-12-01T25:00:00Z",
        "2026-12-01T09:61:00Z",
        "2026-12-01T09:30:00+99:99",
        "2026-12-01T09:xx:00Z",
        "Tue, 01 Dec 2026 1:2:3:4 GMT",
        "Tue, 01 Dec 2026 09:30:00 +zz:00",
        "9" * 200,
        "24/03/05",
        "1-2-03",
        "March 2026",
        "2 hours ago",
        "Tue, 01 Dec 2026 09:30:00 Nowhere/Land +99:99",
        "40/40/2026",
    ],
)
def test_what_is_no_date_or_impossible_is_undated(text: str) -> None:
    assert read_date(text) is None


def test_a_date_of_another_month_name_is_never_read_as_another_day() -> None:
    assert read_date("01 Dezember 2026") == read_date("1 décembre 2026") == read_date("1 grudnia 2026")
    assert read_date("01 Foo 2026") is None


DOUBTFUL = {"iso8601": "short forms that a program also prints by mistake"}
"""Kinds of date strings that we leave undated; and the year 100, which no feed is from."""


def test_the_shared_date_strings_are_read_alike(shared: Path) -> None:
    rows = [json.loads(line) for line in (shared / "corpus/feedparser/dates.jsonl").read_text("utf-8").splitlines()]
    wrong = []
    for row in rows:
        found = read_date(row["string"])
        text = f"{found:%Y-%m-%dT%H:%M:%SZ}" if found else None
        if text != row["utc"]:
            wrong.append(row)
    assert [row for row in wrong if row["kind"] not in DOUBTFUL and not str(row["utc"]).startswith("00")] == []
    assert len(rows) - len(wrong) >= 57


@given(st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(2100, 1, 1)), st.integers(-12, 14))  # noqa: DTZ001
def test_the_two_standard_forms_of_an_instant_are_read_alike(at: datetime, hours: int) -> None:
    at = at.replace(microsecond=0)
    sign = "-" if hours < 0 else "+"
    months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()  # noqa: SIM905
    zone = f"{sign}{abs(hours):02}00"
    mail = f"{at.day:02} {months[at.month - 1]} {at.year} {at:%H:%M:%S} {zone}"
    assert read_date(mail) == read_date(f"{at.isoformat()}{sign}{abs(hours):02}:00")


@given(st.text(max_size=60) | st.from_regex(r"[A-Za-z0-9 ,:+./-]{1,60}", fullmatch=True))
def test_any_text_is_an_instant_in_utc_or_nothing(text: str) -> None:
    found = read_date(text)
    assert found is None or (found.tzinfo is UTC and found.year >= 1970)
