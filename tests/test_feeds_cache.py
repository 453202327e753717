"""What is kept about feeds between runs."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.feeds.cache import FeedCache, FeedRecord

NOW = datetime(2026, 8, 20, 8, 0, tzinfo=UTC)
URL = "https://news.example/feed.xml"
FULL = FeedRecord(
    URL,
    etag='W/"5f-a\xe9--gzip"',
    last_modified="Tue, 03 Nov 2026 10:00:00 GMT",
    content_type="application/rss+xml; charset=utf-8",
    address="https://www.news.example/feed.xml",
    moved_to="https://www.news.example/feed.xml",
    read_at=NOW,
    full_at=NOW - timedelta(hours=2),
    fresh_until=NOW + timedelta(hours=1),
    not_before=NOW + timedelta(minutes=2),
    gone_at=NOW - timedelta(days=1),
    failing_since=NOW - timedelta(days=4),
    failures=3,
    new_at=NOW - timedelta(hours=5),
    usual_gap_seconds=3600,
    known="0123456789abcdef fedcba9876543210",
)
BODY = b"<rss>\n\0\xff\n</rss>"


def only_file(folder: Path) -> Path:
    [file] = folder.iterdir()
    return file


def test_a_record_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    cache = FeedCache(tmp_path / "feeds")
    cache.save(FULL, BODY)
    record = cache.load(URL)
    assert replace(record, body_hash="") == FULL
    assert cache.body(record) == BODY


def test_a_new_feed_has_an_empty_record(tmp_path: Path) -> None:
    cache = FeedCache(tmp_path / "nothing here")
    assert cache.load(URL) == FeedRecord(URL)
    assert cache.body(FULL) is None
    cache.prune(NOW)


def test_a_record_can_change_while_its_body_stays(tmp_path: Path) -> None:
    cache = FeedCache(tmp_path)
    cache.save(FULL, BODY)
    cache.save(replace(cache.load(URL), failures=4))
    record = cache.load(URL)
    assert (record.failures, record.etag, cache.body(record)) == (4, FULL.etag, BODY)


def test_without_a_body_nothing_is_kept_that_a_conditional_request_needs(tmp_path: Path) -> None:
    cache = FeedCache(tmp_path)
    cache.save(FULL)
    record = cache.load(URL)
    assert (record.etag, record.last_modified, record.full_at, record.fresh_until) == ("", "", None, None)
    assert (record.failures, record.not_before) == (FULL.failures, FULL.not_before)


@pytest.mark.parametrize("cut", [1, 5, len(BODY)])
def test_a_body_that_is_not_the_one_that_was_saved_counts_as_none(tmp_path: Path, cut: int) -> None:
    cache = FeedCache(tmp_path)
    cache.save(FULL, BODY)
    file = only_file(tmp_path)
    file.write_bytes(file.read_bytes()[:-cut])
    record = cache.load(URL)
    assert (record.etag, record.body_hash) == ("", "")
    assert record.failures == FULL.failures
    assert cache.body(record) is None


DAMAGED = [
    b"",
    b"\n",
    b"garbage",
    b"[1]\n",
    b"{}\n",
    b'{"version": 2, "url": "https://news.example/feed.xml"}\n',
    b'{"version": 1}\n',
    b'{"version": 1, "url": "https://other.example/"}\n',
    b'{"version": 1, "url": "https://news.example/feed.xml", "read_at": "yesterday"}\n',
    b'{"version": 1, "url": "https://news.example/feed.xml", "read_at": 1e300}\n',
    b'{"version": 1, "url": "https://news.example/feed.xml", "etag": 5}\n',
    b'{"version": 1, "url": "https://news.example/feed.xml", "surprise": 5}\n',
    b"\xff\xfe\n",
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_is_no_cache(tmp_path: Path, content: bytes) -> None:
    cache = FeedCache(tmp_path)
    cache.save(FULL, BODY)
    only_file(tmp_path).write_bytes(content)
    assert cache.load(URL) == FeedRecord(URL)
    cache.save(FULL, BODY)
    assert cache.load(URL).etag == FULL.etag


@given(st.binary(max_size=200))
def test_any_bytes_load_as_some_record_of_the_feed(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp() / "any"
    cache = FeedCache(folder)
    cache.save(FULL, BODY)
    only_file(folder).write_bytes(content)
    assert cache.load(URL).url == URL


def test_two_feeds_have_two_files_that_only_their_owner_can_read(tmp_path: Path) -> None:
    cache = FeedCache(tmp_path / "feeds")
    cache.save(FULL, BODY)
    cache.save(FeedRecord("https://other.example/é"), b"x")
    files = list((tmp_path / "feeds").iterdir())
    assert len(files) == 2
    assert {file.stat().st_mode & 0o077 for file in files} == {0}


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = FeedCache(tmp_path)
    cache.save(FULL, BODY)

    def full_disk(_self: Path, _target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(OSError, match="No space"):
        cache.save(FULL, b"new")
    assert cache.body(cache.load(URL)) == BODY
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("head", [b"[" * 100_000, b'{"version": 1, "url": ' + b"[" * 100_000, b"9" * 5000])
def test_a_head_that_no_reader_of_json_bears_counts_as_none(tmp_path: Path, head: bytes) -> None:
    cache = FeedCache(tmp_path)
    cache.save(FULL, BODY)
    only_file(tmp_path).write_bytes(head + b"\n" + BODY)
    assert cache.load(URL) == FeedRecord(URL)


def test_files_that_nobody_wrote_for_a_month_are_removed(tmp_path: Path) -> None:
    cache = FeedCache(tmp_path)
    for age, url in ((29, "https://a.example/"), (31, "https://b.example/")):
        before = set(tmp_path.iterdir())
        cache.save(FeedRecord(url), b"x")
        [file] = set(tmp_path.iterdir()) - before
        stamp = (NOW - timedelta(days=age)).timestamp()
        os.utime(file, (stamp, stamp))
    (tmp_path / "notes.txt").write_text("not ours")
    cache.prune(NOW)
    assert cache.load("https://a.example/").body_hash
    assert not cache.load("https://b.example/").body_hash
    assert (tmp_path / "notes.txt").exists()
