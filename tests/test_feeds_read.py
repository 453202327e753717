"""Reading feeds from real servers: what is asked, what is kept, and what is said about each failure."""

from __future__ import annotations

import gzip
import json
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.servers import Asked, Drip, Server, read_exchanges, replayer, reply, serving

from news_digest.errors import HttpError
from news_digest.feeds.cache import FeedCache
from news_digest.feeds.manners import Manners
from news_digest.feeds.parse import Document
from news_digest.feeds.read import FeedReader
from news_digest.http import CurlHttp
from news_digest.http.failures import not_begun
from news_digest.model import FeedFailure, FeedResult, FeedSource, Json
from news_digest.ports import Request, Response
from news_digest.testing import FakeClock, FakeHttp

NOW = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
RUN = timedelta(seconds=20)

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "bugreports"
CASES = sorted(CORPUS.glob("*.http"))


def rss(*names: str, dated: datetime = NOW, host: str = "news.example") -> bytes:
    items = "".join(
        f"<item><title>Story {name}</title><link>https://{host}/{name}</link><guid isPermaLink='false'>id-{name}</guid>"
        f"<pubDate>{format_datetime(dated - number * HOUR)}</pubDate></item>"
        for number, name in enumerate(names)
    )
    return f"<rss version='2.0'><channel><title>Example News</title>{items}</channel></rss>".encode()


class Newsroom:
    """A reader with its clock, cache and client, for tests."""

    def __init__(self, folder: Path, server: Server, *names: str, **manners: Any) -> None:
        self.clock = FakeClock(NOW)
        self.slept: list[timedelta] = []
        self.cache = FeedCache(folder / "feeds")
        self.steps: list[tuple[int, int]] = []
        self.reader = FeedReader(
            CurlHttp("news-digest-test", allow_private_hosts=True, resolve=server.pin("news.example", *names)),
            self.cache,
            self.clock,
            self.sleep,
            tell=lambda step: self.steps.append((step.done, step.total)),
            manners=Manners(**{"feed_deadline": timedelta(seconds=5), "pause": timedelta(0), **manners}),
        )
        self.server = server

    def sleep(self, span: timedelta) -> None:
        self.slept.append(span)
        self.clock.sleep(span)

    def source(self, path: str = "/feed.xml", host: str = "news.example", **details: Any) -> FeedSource:
        return FeedSource(self.server.url(path, host), **details)

    def read(self, *paths: str) -> list[FeedResult]:
        return list(self.reader.read([self.source(path) for path in paths or ("/feed.xml",)], RUN))

    def read_one(self) -> FeedResult:
        [result] = self.read()
        return result


OpenNewsroom = Callable[..., Newsroom]


@pytest.fixture
def newsroom(tmp_path: Path) -> OpenNewsroom:
    """Return a function that opens a newsroom for a server."""
    return partial(Newsroom, tmp_path)


def failure_of(result: FeedResult) -> FeedFailure:
    assert result.failure is not None
    return result.failure


def titles(result: FeedResult) -> list[str]:
    return [entry.identifier for entry in result.entries]


# --- the recorded exchanges ----------------------------------------------------------------------------------------


@pytest.mark.skipif(not CASES, reason="the corpus is not beside this checkout")
@pytest.mark.parametrize("case", CASES, ids=lambda file: file.stem)
def test_a_recorded_exchange_ends_as_it_should(case: Path, newsroom: OpenNewsroom) -> None:
    expected = json.loads(case.with_suffix(".expected.json").read_text())["expect"]
    with serving(replayer(read_exchanges(case))) as server:
        room = newsroom(
            server, "gate.example", "maint.example", feed_deadline=timedelta(seconds=0.8), backoff=timedelta(0)
        )
        began = time.monotonic()
        result = room.read_one()
        assert time.monotonic() - began < 5
        record = room.cache.load(room.source().url)
        kept = bool(record.etag or record.last_modified)
        _check_outcome(expected, result)
        if "store_validators" in expected:
            assert kept is expected["store_validators"]
        if "store_last_modified" in expected:
            assert bool(record.last_modified) is expected["store_last_modified"]
        if "new_url" in expected:
            new = expected["new_url"]
            assert result.moved_to == (
                new.replace("https://news.example", server.url("", "news.example")) if new else ""
            )
        if "next_fetch_min_s" in expected:
            _check_pause(room, expected["next_fetch_min_s"])
        if "second" in expected or "second_entries" in expected:
            room.clock.sleep(HOUR)
            again = room.read_one()
            assert again.cached is (expected.get("second") == "not_modified")
            assert len(again.entries) == expected.get("second_entries", len(result.entries))
            assert (titles(again) != titles(result)) is expected.get("second_is_new", False)


def _check_outcome(expected: Json, result: FeedResult) -> None:
    match expected["outcome"]:
        case "ok":
            assert result.failure is None
            assert len(result.entries) == expected["entries"]
            [item] = expected["items"]
            [entry] = result.entries
            assert (entry.link, entry.identifier) == (item["link"], item["guid"])
            assert entry.published == datetime.fromisoformat(item["published_utc"])
        case "retry_later":
            assert failure_of(result).retry_after == NOW + timedelta(seconds=expected["retry_after_s"])
            assert "next try after" in failure_of(result).reason
        case "gone":
            assert "closed this feed for good" in failure_of(result).reason
        case "error" | "error_or_partial":
            words = {
                "timeout": "seconds",
                "too_large": "larger than",
                "bad_encoding": "br",
                "bad_redirect": "only http and https",
                "unsolicited_304": "was not asked for changes",
            }
            assert words.get(expected.get("reason"), "") in failure_of(result).reason
            assert failure_of(result).hint
        case other:
            pytest.fail(f"no check for {other}")


def _check_pause(room: Newsroom, seconds: int) -> None:
    asked = len(room.server.asked)
    room.clock.sleep(timedelta(seconds=seconds - 1))
    assert room.read_one().cached
    assert len(room.server.asked) == asked
    room.clock.sleep(timedelta(seconds=1))
    room.read_one()
    assert len(room.server.asked) == asked + 1


# --- results -------------------------------------------------------------------------------------------------------


def test_feeds_are_read_at_once_and_answered_in_their_order(newsroom: OpenNewsroom) -> None:
    def answer(asked: Asked) -> list[bytes | float]:
        return [0.3, reply("200 OK", body=rss(asked.headers["host"][0]))]

    hosts = [f"{letter}.example" for letter in "abcdefghij"]
    with serving(answer) as server:
        room = newsroom(server, *hosts)
        began = time.monotonic()
        results = room.reader.read([room.source(host=host) for host in hosts], RUN)
        took = time.monotonic() - began
    assert [titles(result) for result in results] == [[f"id-{letter}"] for letter in "abcdefghij"]
    assert results[0].title == "Example News"
    assert took < 1.5
    assert room.steps == [(done, 10) for done in range(1, 11)]


def test_feeds_of_one_host_are_asked_one_after_the_other(newsroom: OpenNewsroom) -> None:
    with serving(lambda asked: [0.05, reply("200 OK", body=rss(asked.path[1:]))]) as server:
        room = newsroom(server, pause=timedelta(seconds=0.1))
        results = room.read("/a", "/b", "/c")
    assert [titles(result) for result in results] == [["id-a"], ["id-b"], ["id-c"]]
    assert server.most_open == 1
    assert server.asked[2].at - server.asked[0].at >= 0.2


def test_the_feed_that_was_read_longest_ago_is_asked_first(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: reply("200 OK", body=rss("a"))) as server:
        room = newsroom(server)
        room.read("/c")
        room.clock.sleep(HOUR)
        room.read("/a", "/b", "/c")
        room.clock.sleep(HOUR)
        room.read("/b")
        room.clock.sleep(HOUR)
        server.asked.clear()
        results = room.read("/b", "/a", "/new")
    assert [asked.path for asked in server.asked] == ["/new", "/a", "/b"]
    assert [result.source.url[-2:] for result in results] == ["/b", "/a", "ew"]


def test_no_feeds_is_no_result(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: []) as server:
        assert list(newsroom(server).reader.read([], RUN)) == []


def test_the_run_ends_on_time_and_says_who_was_not_asked(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: [b"HTTP/1.1 200 OK\r\n\r\n", Drip(rss("a") * 9, 1, 0.05)]) as server:
        room = newsroom(server)
        began = time.monotonic()
        first, second = room.reader.read([room.source("/1"), room.source("/2")], timedelta(seconds=0.5))
        took = time.monotonic() - began
    assert took < 1.5
    assert "0.5 seconds" in failure_of(first).reason
    assert "before its turn" in failure_of(second).reason
    assert room.cache.load(second.source.url).failures == 0


def test_a_second_try_that_had_no_turn_does_not_hide_what_came_of_the_first(tmp_path: Path) -> None:
    tried: list[str] = []

    def answer(request: Request) -> Response:
        tried.append(request.url)
        if len(tried) > 1:
            raise not_begun(request.url)
        return Response(500, request.url, {}, b"")

    reader = FeedReader(FakeHttp(answer), FeedCache(tmp_path), FakeClock(NOW), lambda _span: None)
    [result] = reader.read([FeedSource("https://news.example/a")], RUN)
    assert len(tried) == 2
    assert failure_of(result).reason == "the server failed (HTTP 500)"
    assert reader.cache.load("https://news.example/a").failures == 1


def test_a_client_that_sends_one_request_at_a_time_does_as_well(tmp_path: Path) -> None:
    http = FakeHttp(lambda request: Response(200, request.url, {}, rss(request.url[-1])))
    reader = FeedReader(http, FeedCache(tmp_path), FakeClock(NOW), lambda _span: None)
    results = reader.read([FeedSource("https://news.example/a"), FeedSource("https://news.example/b")], RUN)
    assert [titles(result) for result in results] == [["id-a"], ["id-b"]]
    assert all(request.guarded for request in http.requests)


def test_its_errors_are_failures_as_well(tmp_path: Path) -> None:
    def fail(_request: Request) -> Response:
        raise HttpError("Cannot ask", cause="no connection comes about", hint="Check the network.")

    reader = FeedReader(FakeHttp(fail), FeedCache(tmp_path), FakeClock(NOW), lambda _span: None)
    [result] = reader.read([FeedSource("http://[broken")], RUN)
    assert failure_of(result).reason == "no connection comes about"


def test_a_fault_of_ours_in_one_feed_costs_that_feed_only(newsroom: OpenNewsroom) -> None:
    with serving(lambda asked: reply("200 OK", body=rss(asked.path[1:]))) as server:
        room = newsroom(server)
        parse = room.reader.parse

        def faulty(body: bytes, url: str, headers: Mapping[str, str], feed_url: str) -> Document:
            if url.endswith("bad"):
                raise RecursionError
            return parse(body, url, headers, feed_url)

        room.reader = replace(room.reader, parse=faulty)
        bad, good = room.read("/bad", "/good")
    assert "inside news-digest (RecursionError)" in failure_of(bad).reason
    assert titles(good) == ["id-good"]


# --- failures ------------------------------------------------------------------------------------------------------

BOT_CHECK = b"<!DOCTYPE html><html><title>Just a moment...</title></html>"


@pytest.mark.parametrize(
    ("answer", "reason", "hint"),
    [
        (reply("401 Unauthorized"), "asks for a login (HTTP 401)", "environment variable"),
        (reply("403 Forbidden"), "refuses access (HTTP 403)", "headers in the configuration"),
        (reply("403 Forbidden", body=BOT_CHECK), "checks for robots (HTTP 403)", "keeps programs out"),
        (reply("503 Busy", "CF-Mitigated: challenge"), "checks for robots (HTTP 503)", "keeps programs out"),
        (reply("404 Not Found"), "nothing at this address (HTTP 404)", "feeds add"),
        (reply("410 Gone"), "closed this feed for good (HTTP 410)", "feeds remove"),
        (
            reply("429 Slow down", "Retry-After: 3600"),
            "too often (HTTP 429); next try after 13:00 UTC",
            "Ask less often",
        ),
        (reply("429 Slow", "Retry-After: 86000"), "next try after 2026-11-04 11:53 UTC", "Ask less often"),
        (reply("503 Busy", "Retry-After: 99999999999"), "next try after 2026-11-04 12:00 UTC", "asks again"),
        (reply("418 Teapot"), "refuses the request (HTTP 418)", "keeps programs out"),
        (reply("599 Odd"), "the server failed (HTTP 599)", "asks again"),
        (reply("302 Found"), "redirects without saying where to (HTTP 302)", "browser"),
        (reply("200 OK"), "answered with nothing (HTTP 200)", "asks again"),
        (reply("204 No Content"), "answered with nothing (HTTP 204)", "asks again"),
        (reply("200 OK", body=b" \n "), "answered with nothing (HTTP 200)", "asks again"),
        (reply("200 OK", body=BOT_CHECK), "checks for robots in place of the feed", "keeps programs out"),
        (reply("200 OK", body=b"<html><title>Hello</title></html>"), "", "feeds add"),
        (reply("302 Found", "Location: http://nowhere.invalid/"), "host name cannot be found", "DNS"),
        (reply("302 Found", "Location: /feed.xml"), "lead in a circle", "browser"),
        (b"garbage\r\n\r\n", "does not speak HTTP", "no web server"),
    ],
)
def test_each_failure_says_what_happened_and_what_to_do(
    newsroom: OpenNewsroom, answer: bytes, reason: str, hint: str
) -> None:
    with serving(lambda _: answer) as server:
        failure = failure_of(newsroom(server).read_one())
    assert reason in failure.reason
    assert hint in failure.hint
    assert "\n" not in failure.reason
    assert failure.reason[-1] != "."


def test_a_page_that_a_redirect_leads_to_is_named(newsroom: OpenNewsroom) -> None:
    def answer(asked: Asked) -> bytes:
        return (
            reply("301 Moved", "Location: /soon")
            if asked.path == "/feed.xml"
            else reply("200 OK", body=b"<html></html>")
        )

    with serving(answer) as server:
        result = newsroom(server).read_one()
    assert server.url("/soon", "news.example") in failure_of(result).reason
    assert result.moved_to == ""


def test_a_feed_in_a_private_network_is_refused_unless_that_is_allowed(newsroom: OpenNewsroom, tmp_path: Path) -> None:
    with serving(lambda _: reply("200 OK", body=rss("a"))) as server:
        room = newsroom(server)
        room.reader = replace(room.reader, http=CurlHttp("test", resolve=server.pin("news.example")))
        failure = failure_of(room.read_one())
    assert "127.0.0.1, which is loopback" in failure.reason
    assert "allow_private_hosts" in failure.hint
    assert server.asked == []


@pytest.mark.parametrize("encode", [bytes, gzip.compress])
def test_a_feed_above_the_cap_is_named_with_the_key_that_raises_it(
    newsroom: OpenNewsroom, encode: Callable[[bytes], bytes]
) -> None:
    with serving(lambda _: reply("200 OK", body=encode(rss("a") + b" " * 5000))) as server:
        failure = failure_of(newsroom(server, max_bytes=5000).read_one())
    assert "larger than 5,000 bytes" in failure.reason
    assert "feed_megabytes" in failure.hint


def test_an_empty_channel_is_no_failure(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: reply("200 OK", body=rss())) as server:
        result = newsroom(server).read_one()
    assert (result.failure, result.entries) == (None, ())


def test_the_headers_of_a_feed_are_sent_with_it_and_appear_nowhere(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: reply("403 Forbidden")) as server:
        room = newsroom(server)
        secret = (("Authorization", "Bearer s3cret"), ("Accept", "text/xml"))
        [result] = room.reader.read([room.source(headers=secret)], RUN)
    assert server.asked[0].headers["authorization"] == "Bearer s3cret"
    assert server.asked[0].headers["accept"] == "text/xml"
    assert "s3cret" not in f"{result.failure} {failure_of(result).hint} {result.notices}"
    assert all(b"s3cret" not in file.read_bytes() for file in (room.cache._folder).iterdir())


@pytest.mark.parametrize("status", ["200 OK", "404 Not Found"])
def test_the_password_in_an_address_is_sent_and_appears_nowhere(newsroom: OpenNewsroom, status: str) -> None:
    shown: list[str] = []
    with serving(lambda _: reply(status, body=rss("a"))) as server:
        room = newsroom(server)
        room.reader = replace(room.reader, tell=lambda step: shown.append(str(step)))
        [result] = room.reader.read([room.source(host="me:s3c%40ret@news.example")], RUN)
    assert server.asked[0].headers["authorization"] == "Basic " + b64encode(b"me:s3c@ret").decode()
    assert result.source.url == room.source().url
    assert all(entry.feed == result.source.url for entry in result.entries)
    seen = f"{result.title} {result.entries} {result.failure} {result.notices} {result.moved_to} {shown}"
    kept = "".join(file.read_text() for file in room.cache._folder.iterdir())
    assert "ret" not in seen.replace("retry", "") + kept


def test_a_feed_that_names_its_own_login_keeps_it(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: reply("200 OK", body=rss("a"))) as server:
        room = newsroom(server)
        room.reader.read([room.source(host="me:no@news.example", headers=(("authorization", "Bearer yes"),))], RUN)
    assert server.asked[0].headers["authorization"] == "Bearer yes"


# --- asking again --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [reply("503 Busy"), reply("500 Oops"), reply("522 CDN"), reply("429 Slow"), [], b""])
def test_what_fails_for_a_moment_is_asked_again_in_the_same_run(
    newsroom: OpenNewsroom, first: bytes | list[bytes]
) -> None:
    answers = [first, reply("200 OK", body=rss("a"))]
    with serving(lambda _: answers.pop(0)) as server:
        room = newsroom(server)
        result = room.read_one()
    assert titles(result) == ["id-a"]
    assert room.slept[0] in {timedelta(seconds=1), timedelta(seconds=5)}
    assert room.cache.load(result.source.url).failures == 0


@pytest.mark.parametrize("status", ["400 Bad", "401 No", "403 No", "404 No", "410 Gone"])
def test_what_will_not_pass_is_asked_once(newsroom: OpenNewsroom, status: str) -> None:
    with serving(lambda _: reply(status)) as server:
        newsroom(server).read_one()
    assert len(server.asked) == 1


def test_after_three_attempts_with_growing_pauses_a_feed_has_failed(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: reply("503 Busy")) as server:
        room = newsroom(server)
        failure = failure_of(room.read_one())
    assert len(server.asked) == 3
    assert room.slept == [timedelta(seconds=1), timedelta(seconds=2)]
    assert "overloaded" in failure.reason


def test_pauses_are_spread_so_that_failing_feeds_do_not_come_back_together(newsroom: OpenNewsroom) -> None:
    slept = set()
    for jitter in (0.0, 0.999):
        with serving(lambda _: reply("503 Busy")) as server:
            room = newsroom(server)
            room.reader = replace(room.reader, jitter=partial(float, jitter))
            room.read_one()
        slept.add(room.slept[0])
    assert slept == {timedelta(seconds=0.5), timedelta(seconds=1.499)}


def test_a_short_wait_that_the_server_asks_for_is_kept_within_the_run(newsroom: OpenNewsroom) -> None:
    answers = [reply("503 Busy", "Retry-After: 7"), reply("200 OK", body=rss("a"))]
    with serving(lambda _: answers.pop(0)) as server:
        room = newsroom(server)
        assert room.read_one().failure is None
    assert room.slept == [timedelta(seconds=7)]


def test_a_wait_beyond_the_run_is_not_slept_through(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: reply("503 Busy", "Retry-After: 9")) as server:
        room = newsroom(server)
        [result] = room.reader.read([room.source()], timedelta(seconds=8))
    assert (room.slept, len(server.asked)) == ([], 1)
    assert failure_of(result).retry_after == NOW + timedelta(seconds=9)


@pytest.mark.parametrize("header", ["120", format_datetime(NOW + 2 * MINUTE, usegmt=True)])
def test_a_server_that_asks_to_be_left_alone_is_left_alone_by_later_runs(
    newsroom: OpenNewsroom, header: tuple[str, str]
) -> None:
    answers = [reply("429 Slow", f"Retry-After: {header}"), reply("200 OK", body=rss("a"))]
    with serving(lambda _: answers.pop(0)) as server:
        room = newsroom(server)
        assert "next try after 12:02 UTC" in failure_of(room.read_one()).reason
        room.clock.sleep(timedelta(seconds=119))
        waiting = room.read_one()
        assert "stay away for a while; next try after 12:02 UTC" in failure_of(waiting).reason
        assert len(server.asked) == 1
        room.clock.sleep(timedelta(seconds=1))
        assert room.read_one().failure is None


def test_a_clock_set_back_does_not_keep_a_feed_away(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: reply("429 Slow", "Retry-After: 3600")) as server:
        room = newsroom(server)
        room.read_one()
        room.clock.now = NOW - 30 * DAY
        room.read_one()
    assert len(server.asked) == 2


def test_a_host_that_says_too_often_is_not_asked_for_its_other_feeds(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: reply("429 Slow", "Retry-After: 600")) as server:
        room = newsroom(server)
        results = room.read("/a", "/b", "/c")
    assert len(server.asked) == 1
    assert all("next try after 12:10 UTC" in failure_of(result).reason for result in results)
    assert room.cache.load(results[2].source.url).failures == 0


def test_a_host_that_needs_a_short_rest_still_gives_all_its_feeds(newsroom: OpenNewsroom) -> None:
    answers = [reply("200 OK", body=rss("a")), reply("429 Slow")] + [reply("200 OK", body=rss(name)) for name in "bc"]
    with serving(lambda _: answers.pop(0)) as server:
        room = newsroom(server)
        results = room.read("/a", "/b", "/c")
    assert [titles(result) for result in results] == [["id-a"], ["id-b"], ["id-c"]]
    assert room.slept == [timedelta(seconds=5)]


def test_a_host_that_answers_every_second_request_gives_all_its_feeds_in_time(newsroom: OpenNewsroom) -> None:
    def answer(asked: Asked) -> bytes:
        return reply("429 Slow") if len(server.asked) % 2 == 0 else reply("200 OK", body=rss(asked.path[1:]))

    with serving(answer) as server:
        room = newsroom(server)
        paths = [f"/{number}" for number in range(8)]
        results = room.reader.read([room.source(path) for path in paths], 2 * MINUTE)
    assert [titles(result) for result in results] == [[f"id-{number}"] for number in range(8)]


def test_a_closed_feed_is_asked_once_a_week(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: reply("410 Gone")) as server:
        room = newsroom(server)
        for day in range(9):
            assert "for good" in failure_of(room.read_one()).reason, day
            room.clock.sleep(DAY)
        assert len(server.asked) == 2
        assert "2026-11-03" in failure_of(room.read_one()).reason


# --- conditional requests ------------------------------------------------------------------------------------------

VALIDATORS = ('ETag: W/"5f-a\xe9--gzip"', "Last-Modified: Mon, 02 Nov 2026 10:00:00 GMT")


def not_modified_when_asked(asked: Asked) -> bytes:
    conditional = asked.headers.get("if-none-match") == 'W/"5f-a\xe9--gzip"'
    return reply("304 Not Modified", length=False) if conditional else reply("200 OK", *VALIDATORS, body=rss("a", "b"))


def test_an_unchanged_feed_is_answered_from_the_cache(newsroom: OpenNewsroom) -> None:
    with serving(not_modified_when_asked) as server:
        room = newsroom(server)
        first = room.read_one()
        room.clock.sleep(HOUR)
        second = room.read_one()
    assert server.asked[1].headers["if-modified-since"] == "Mon, 02 Nov 2026 10:00:00 GMT"
    assert (first.cached, second.cached) == (False, True)
    assert titles(second) == titles(first) == ["id-a", "id-b"]


def test_a_feed_is_fetched_in_full_once_a_day(newsroom: OpenNewsroom) -> None:
    with serving(not_modified_when_asked) as server:
        room = newsroom(server)
        kinds = []
        for _ in range(25):
            kinds.append(room.read_one().cached)
            room.clock.sleep(HOUR)
    assert [hour for hour, cached in enumerate(kinds) if not cached] == [0, 23]


def test_without_its_body_nothing_is_asked_conditionally(newsroom: OpenNewsroom) -> None:
    with serving(not_modified_when_asked) as server:
        room = newsroom(server)
        room.read_one()
        for file in room.cache._folder.iterdir():
            file.write_bytes(file.read_bytes()[:-3])
        room.clock.sleep(HOUR)
        assert titles(room.read_one()) == ["id-a", "id-b"]
    assert "if-none-match" not in server.asked[1].headers


def test_a_body_that_cannot_be_read_any_more_is_fetched_again_at_once(newsroom: OpenNewsroom) -> None:
    with serving(not_modified_when_asked) as server:
        room = newsroom(server)
        room.read_one()
        record = room.cache.load(room.source().url)
        room.cache.save(record, b"not a feed at all")
        room.clock.sleep(HOUR)
        result = room.read_one()
    assert (titles(result), result.cached) == (["id-a", "id-b"], False)
    assert ["if-none-match" in asked.headers for asked in server.asked] == [False, True, False]
    assert room.slept == []


def test_what_is_no_feed_replaces_neither_body_nor_validators(newsroom: OpenNewsroom) -> None:
    def answer(asked: Asked) -> bytes:
        challenge = reply("200 OK", 'ETag: "challenge"', body=BOT_CHECK)
        return challenge if len(server.asked) == 2 else not_modified_when_asked(asked)

    with serving(answer) as server:
        room = newsroom(server)
        room.read_one()
        room.clock.sleep(HOUR)
        assert room.read_one().failure
        room.clock.sleep(HOUR)
        assert titles(room.read_one()) == ["id-a", "id-b"]
    assert server.asked[2].headers["if-none-match"] == 'W/"5f-a\xe9--gzip"'


def test_the_validators_of_a_part_are_not_those_of_the_feed(newsroom: OpenNewsroom) -> None:
    part = reply("206 Partial Content", 'ETag: "whole"', "Content-Range: bytes 0-99/5000", body=rss("a")[:-20])
    with serving(lambda _: part) as server:
        room = newsroom(server)
        assert titles(room.read_one()) == ["id-a"]
        room.read_one()
    assert "if-none-match" not in server.asked[1].headers


def test_the_charset_of_the_answer_is_remembered_with_its_body(newsroom: OpenNewsroom) -> None:
    body = rss("a").replace(b"Example News", b"Caf\xe9")

    def answer(asked: Asked) -> bytes:
        kind = "Content-Type: application/rss+xml; charset=iso-8859-1"
        return (
            reply("304 Not Modified", length=False)
            if "if-none-match" in asked.headers
            else reply("200 OK", kind, 'ETag: "1"', body=body)
        )

    with serving(answer) as server:
        room = newsroom(server)
        assert room.read_one().title == "Café"
        room.clock.sleep(HOUR)
        again = room.read_one()
    assert (again.title, again.cached) == ("Café", True)


@pytest.mark.parametrize(
    ("control", "hours"),
    [
        ("max-age=3600", 1),
        ("public, MAX-AGE=7200", 2),
        ("max-age=99999999", 12),
        ("max-age=3600, no-store", 0),
        ("max-age=soon", 0),
    ],
)
def test_a_publisher_who_asks_for_fewer_requests_gets_fewer_within_bounds(
    newsroom: OpenNewsroom, control: str, hours: int
) -> None:
    with serving(lambda _: reply("200 OK", f"Cache-Control: {control}", body=rss("a"))) as server:
        room = newsroom(server)
        room.read_one()
        for _ in range(13):
            room.clock.sleep(HOUR)
            asked = len(server.asked)
            room.read_one()
            if len(server.asked) > asked:
                break
    assert room.clock.now - NOW == max(hours, 1) * HOUR


def test_a_check_that_somebody_asked_for_asks_whatever_the_publisher_said(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: reply("200 OK", "Cache-Control: max-age=3600", body=rss("a"))) as server:
        room = newsroom(server, always_ask=True)
        room.read_one()
        room.read_one()
    assert len(server.asked) == 2


def test_a_cache_that_cannot_be_written_costs_no_story_and_is_said_once(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: reply("200 OK", body=rss("a"))) as server:
        room = newsroom(server)
        room.cache._folder.write_text("a file stands where the folder should be")
        first, second = room.read("/1", "/2")
    assert titles(first) == titles(second) == ["id-a"]
    assert "cache cannot be written" in first.notices[0]
    assert second.notices == ()


# --- anything at all -----------------------------------------------------------------------------------------------

STATUSES = st.sampled_from(["200 OK", "200 OK", "200 OK", "304 Same", "301 Moved", "429 Slow", "999 Odd", ""])
HEADERS = st.lists(
    st.sampled_from(
        [
            "Content-Encoding: gzip",
            "Content-Encoding: deflate, br",
            "Content-Encoding: zstd",
            "Content-Length: 10",
            "Content-Length: 99999",
            "Content-Type: text/xml; charset=utf-16",
            "Transfer-Encoding: chunked",
            "Location: http://[/",
            "Location: //\xff\xff:0/",
            "Retry-After: never",
            "Cache-Control: max-age=-1, max-age=",
            "Set-Cookie: =;;Domain=",
            "ETag: \x01",
            ": nameless",
            "no colon",
        ]
    ),
    max_size=4,
)
BODIES = st.sampled_from(
    [rss("a", "b"), gzip.compress(rss("a")), rss("a").decode().encode("utf-16"), b"", b"5\r\n<rss>\r\n0\r\n\r\n"]
)


@given(
    status=STATUSES,
    headers=HEADERS,
    body=BODIES,
    noise=st.binary(max_size=40),
    at=st.integers(0, 900),
    cut=st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_a_server_sends_ends_as_entries_or_as_a_failure_with_a_reason(
    newsroom: OpenNewsroom, status: str, headers: list[str], body: bytes, noise: bytes, at: int, cut: bool
) -> None:
    head = "\r\n".join([f"HTTP/1.1 {status}", *headers]).encode("latin-1") + b"\r\n\r\n"
    whole = head + body
    sent = whole[:at] + noise + (b"" if cut else whole[at:])
    with serving(lambda _: [sent[: at // 2], sent[at // 2 :]]) as server:
        room = newsroom(server, attempts=1)
        result = room.read_one()
    failure = result.failure
    assert (failure is None) or (failure.reason and failure.hint and "inside news-digest" not in failure.reason)


# --- health --------------------------------------------------------------------------------------------------------


def daily(room: Newsroom, days: int) -> list[tuple[str, ...]]:
    told = []
    for _ in range(days):
        told.append(room.read_one().notices)
        room.clock.sleep(DAY)
    return told


def test_a_feed_that_fails_for_days_is_named(newsroom: OpenNewsroom) -> None:
    with serving(lambda _: reply("404 Not Found")) as server:
        told = daily(newsroom(server), 5)
    assert told[:3] == [(), (), ()]
    assert "has failed for 3 days, since 2026-11-03" in told[3][0]
    assert "4 days" in told[4][0]


def test_a_feed_that_recovers_starts_over(newsroom: OpenNewsroom) -> None:
    answers = [reply("404 Not Found")] * 4 + [reply("200 OK", body=rss("a"))] + [reply("404 Not Found")] * 2
    with serving(lambda _: answers.pop(0)) as server:
        told = daily(newsroom(server), 7)
    assert [bool(notices) for notices in told] == [False, False, False, True, False, False, False]


def test_a_feed_that_moved_for_good_is_named_with_its_new_address(newsroom: OpenNewsroom) -> None:
    def answer(asked: Asked) -> bytes:
        return reply("301 Moved", "Location: /new.xml") if asked.path == "/feed.xml" else reply("200 OK", body=rss("a"))

    with serving(answer) as server:
        result = newsroom(server).read_one()
    assert result.moved_to == server.url("/new.xml", "news.example")
    assert "feeds fix" in result.notices[0]


@pytest.mark.parametrize("headers", [['ETag: "1"'], ["Cache-Control: max-age=7200"]], ids=["304", "fresh"])
def test_a_move_is_told_as_long_as_the_feed_is_asked_at_its_old_address(
    newsroom: OpenNewsroom, headers: list[str]
) -> None:
    def answer(asked: Asked) -> bytes:
        if asked.path == "/feed.xml":
            return reply("301 Moved", "Location: /new.xml")
        return (
            reply("304 Same", length=False)
            if "if-none-match" in asked.headers
            else reply("200 OK", *headers, body=rss("a"))
        )

    with serving(answer) as server:
        room = newsroom(server)
        room.read_one()
        room.clock.sleep(HOUR)
        again = room.read_one()
    assert again.cached
    assert again.moved_to == server.url("/new.xml", "news.example")
    assert "feeds fix" in again.notices[0]


@pytest.mark.parametrize(("gap", "silent_after"), [(DAY, 31), (20 * DAY, 101)])
def test_a_feed_that_went_silent_is_named_but_one_that_is_always_slow_is_not(
    newsroom: OpenNewsroom, gap: timedelta, silent_after: int
) -> None:
    items = "".join(
        f"<item><title>{n}</title><guid>g{n}</guid><pubDate>{format_datetime(NOW - n * gap)}</pubDate></item>"
        for n in range(5)
    )
    body = f"<rss version='2.0'><channel><title>x</title>{items}</channel></rss>".encode()
    with serving(lambda _: reply("200 OK", body=body)) as server:
        told = daily(newsroom(server), silent_after + 1)
    assert [bool(notices) for notices in told].index(True) == silent_after
    assert "nothing new since 2026-11-03" in told[-1][0]


def test_a_feed_that_turned_all_its_identifiers_new_is_named(newsroom: OpenNewsroom) -> None:
    old = rss("a", "b", "c", "d")
    answers = [
        old,
        old,
        old.replace(b"id-", b"https://news.example/?p="),
        old.replace(b"id-", b"https://news.example/?p="),
    ]
    with serving(lambda _: reply("200 OK", body=answers.pop(0))) as server:
        told = daily(newsroom(server), 4)
    assert [len(notices) for notices in told] == [0, 0, 1, 0]
    assert "new identifiers" in told[2][0]


def test_a_busy_feed_that_only_holds_new_stories_each_day_is_not_named(newsroom: OpenNewsroom) -> None:
    answers = [rss(*(f"{day}-{n}" for n in range(10)), dated=NOW + day * DAY) for day in range(3)]
    with serving(lambda _: reply("200 OK", body=answers.pop(0))) as server:
        told = daily(newsroom(server), 3)
    assert told == [(), (), ()]


def test_a_compressed_feed_is_kept_as_it_is_read(newsroom: OpenNewsroom) -> None:
    def answer(asked: Asked) -> bytes:
        if "if-none-match" in asked.headers:
            return reply("304 Not Modified", length=False)
        return reply("200 OK", "Content-Encoding: gzip", 'ETag: "1"', body=gzip.compress(rss("a")))

    with serving(answer) as server:
        room = newsroom(server)
        room.read_one()
        room.clock.sleep(HOUR)
        assert titles(room.read_one()) == ["id-a"]
