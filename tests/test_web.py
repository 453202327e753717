"""The page served on loopback: what it shows, what it offers, and whom it refuses."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from tests.archives import LAST_DAY, fill, made
from tests.digests import STORIES, brief, digest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("uvicorn", reason="the extra web is not installed")

from tests.serving_web import NOW, Site, desk, lived_in, serving_page

from news_digest.channels.archive import Archive
from news_digest.cli.serve import gate_of
from news_digest.errors import ConfigError, StoreUnavailable
from news_digest.model import Claim, Draft, FeedSource, Funnel, Item, Limits, Section, State
from news_digest.ports import Step, Tell
from news_digest.web.gate import Gate, is_loopback
from news_digest.web.jobs import Jobs, Line
from news_digest.web.state import FeedPast, activity_of, state_view

TOKEN = "open sesame & more"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("web")
    fill(Archive(folder / "archive"), 12)
    with serving_page(desk(folder)) as served:
        yield served


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


# --- reading ---------------------------------------------------------------------------------------------------------


def test_the_first_page_is_the_newest_digest(site: Site) -> None:
    answer = site.ask("/")
    assert answer.status == 200
    assert "Tuesday, 1\N{NO-BREAK SPACE}December 2026" in answer.text
    assert site.ask("/index.html").text == answer.text


@pytest.mark.parametrize(
    "path", ["/2026-11-25.html", "/archive.html", "/archive-2026.html", "/search.html", "/state.html"]
)
def test_every_page_has_the_strict_headers_and_is_kept_by_nobody(site: Site, path: str) -> None:
    answer = site.ask(path)
    assert answer.status == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "private, no-store"


@pytest.mark.parametrize(
    "path", ["/2026-01-01.html", "/2026-13-01.html", "/20261201.html", "/archive-1999.html", "/x", "/static/../x"]
)
def test_what_is_not_there_is_said_with_the_same_headers(site: Site, path: str) -> None:
    answer = site.ask(path)
    assert answer.status == 404
    assert "content-security-policy" in answer.headers


def test_the_search_finds_across_days_and_links_to_the_item(site: Site) -> None:
    answer = site.ask("/search.html?q=telescope")
    day, item = re.findall(r'href="(\d{4}-\d\d-\d\d)\.html#i(\d+)"', answer.text)[0]
    assert "telescope" in site.ask(f"/{day}.html").text.split(f'id="i{item}"')[1][:300]


def test_the_search_shows_its_question_as_text(site: Site) -> None:
    answer = site.ask("/search.html?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;alert(1)" in answer.text


def test_a_day_that_comes_while_serving_is_shown_and_found(tmp_path: Path) -> None:
    shown = desk(tmp_path)
    with serving_page(shown) as served:
        assert "No digest yet" in served.ask("/").text
        shown.archive.put(made(LAST_DAY))
        assert "1\N{NO-BREAK SPACE}December" in served.ask("/").text
        assert (
            "#i" in served.ask("/search.html?q=telescope+seeds").text or "found" in served.ask("/search.html?q=te").text
        )
        shown.archive.put(digest())
        assert "Ferrous 2.0" in served.ask("/search.html?q=ferrous").text


@pytest.mark.parametrize(
    ("path", "kind"), [("/atom.xml", "application/atom+xml"), ("/feed.json", "application/feed+json")]
)
def test_the_feeds_are_served(site: Site, path: str, kind: str) -> None:
    answer = site.ask(path)
    assert answer.headers["content-type"].startswith(kind)
    assert "2026" in answer.text


# --- the state -------------------------------------------------------------------------------------------------------


def test_the_state_tells_days_funnel_feeds_and_size(site: Site) -> None:
    text = words(site.ask("/state.html").text)
    assert "the model answered with an error" in text
    assert "still owed to email" in text
    assert "412 entries read" in text
    assert "14 above the cap" in text
    assert "failing since 2026-11-27 09:00 UTC, 9 times in a row" in text
    assert "of 65,536 bytes" in text
    assert "nothing known yet" in text


def test_no_key_in_a_feeds_address_is_shown(site: Site) -> None:
    assert "sesame" not in site.ask("/state.html").text


def test_a_state_that_cannot_be_read_is_told_with_what_to_do(tmp_path: Path) -> None:
    def broken() -> State:
        raise StoreUnavailable("cannot read the state", thing="state.json", cause="no space", hint="look at the disk")

    with serving_page(desk(tmp_path, state=broken)) as served:
        answer = served.ask("/state.html")
        assert answer.status == 500
        assert "cannot read the state: state.json: no space" in answer.text
        assert "look at the disk" in answer.text
        assert served.ask("/").status == 200


def test_the_funnels_stages_say_what_each_left_out() -> None:
    view = state_view(State(last_funnel=Funnel(100, 40, 40, 10)), NOW, Limits(), [], [], {}, lambda _url: FeedPast())
    assert [(bar.count, bar.lost) for bar in view.funnel] == [
        (100, ""),
        (40, "60 told or noted before, or being written about"),
        (40, ""),
        (10, "30 above the cap; they compete again"),
    ]


def test_a_feeds_weeks_count_its_stories_and_the_days_that_it_failed() -> None:
    source = FeedSource("https://quiet.example/rss?key=sesame")
    gazette = FeedSource("https://gazette.example/feed.xml?key=sesame", "The Gazette")
    days = [LAST_DAY - timedelta(days=back) for back in range(10)]
    activity = {day: activity_of(made(day)) for day in days}
    view = state_view(State(), NOW, Limits(), days, [source, gazette], activity, lambda _url: FeedPast())
    quiet, told = view.feeds
    assert (len(quiet.bars), sum(quiet.missed)) == (28, 2)
    assert sum(told.bars) == sum(story.feed == gazette.url for day in days for story in made(day).stories)
    assert told.sum == f"{sum(told.bars)} stories offered"
    assert quiet.sum == "0 stories offered, not readable on 2 days"


@pytest.mark.parametrize(
    ("given", "mood", "said"),
    [
        (FeedPast(), "wait", "nothing known yet"),
        (FeedPast(read_at=NOW), "good", "read 2026-12-01 09:00 UTC"),
        (FeedPast(failing_since=NOW, failures=1), "bad", "failing since 2026-12-01 09:00 UTC"),
        (
            FeedPast(read_at=NOW, failing_since=NOW, failures=3),
            "bad",
            "failing since 2026-12-01 09:00 UTC, 3 times in a row",
        ),
    ],
)
def test_a_feeds_health_is_said_in_words(given: FeedPast, mood: str, said: str) -> None:
    view = state_view(State(), NOW, Limits(), [], [FeedSource("https://a.example/")], {}, lambda _url: given)
    assert [(row.mood, row.words) for row in view.feeds] == [(mood, said)]


def test_the_calendar_has_every_status_and_links_what_has_a_digest() -> None:
    archived = [LAST_DAY - timedelta(days=back) for back in (20, 3, 1)]
    view = state_view(lived_in(), NOW, Limits(), archived, [], {}, lambda _url: FeedPast())
    links = {link.day: link for month in view.months for week in month.weeks for link in week if link}
    assert links[LAST_DAY].status == "failed"
    assert links[LAST_DAY - timedelta(days=1)].status == "owed to a channel"
    assert links[LAST_DAY - timedelta(days=20)].file == "2026-11-11.html"
    assert links[date(2026, 11, 18)].status == "unreadable"
    assert view.can_retry


# --- doing -----------------------------------------------------------------------------------------------------------


def events(text: str) -> list[dict[str, object]]:
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith('data: {"')]


def test_a_run_by_hand_streams_its_steps_to_the_end(tmp_path: Path) -> None:
    with serving_page(desk(tmp_path)) as served:
        started = served.post("/do/run", origin=served.url.rstrip("/"))
        assert (started.status, started.headers["location"]) == (303, "/state.html#now")
        stream = served.ask("/events")
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert "event: end" in stream.text
        told = events(stream.text)
        assert any((each.get("stage"), each.get("done")) == ("feeds", 3) for each in told)
        assert [each["text"] for each in told if each.get("stage") == "end"] == [
            "2026-12-01: wrote",
            "note: nothing else",
        ]
        page = served.ask("/state.html").text
        assert "note: nothing else" in page
        assert "<b>embedded" not in page


def test_a_second_start_while_one_runs_starts_nothing(tmp_path: Path) -> None:
    gate, starts = threading.Event(), []

    def slow(tell: Tell) -> Sequence[str]:
        starts.append(1)
        tell(Step("feeds", "reading"))
        gate.wait(5)
        return ["done"]

    with serving_page(desk(tmp_path, jobs=Jobs({"run": slow}))) as served:
        served.post("/do/run")
        served.post("/do/run")
        assert "disabled" in served.ask("/state.html").text
        gate.set()
        served.ask("/events")
    assert starts == [1]


def test_what_a_run_raises_on_purpose_is_told_and_a_fault_frees_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _args: None)

    def refused(_tell: Tell) -> Sequence[str]:
        raise ConfigError("wrong value", thing="feeds", cause="none", hint="add one")

    def faulty(_tell: Tell) -> Sequence[str]:
        raise ZeroDivisionError

    with serving_page(desk(tmp_path, jobs=Jobs({"run": refused, "retry": faulty}))) as served:
        served.post("/do/run")
        assert [each["text"] for each in events(served.ask("/events").text)] == [
            "wrong value: feeds: none",
            "Next: add one",
        ]
        served.post("/do/retry")
        assert "broke off by a fault" in served.ask("/events").text


def test_the_same_step_again_only_moves_its_count() -> None:
    jobs = Jobs({"run": lambda _tell: []})
    for done in (1, 2, 3):
        jobs._tell(Step("feeds", "reading 3 feeds", done, 3))
    assert jobs.seen()[2] == (Line("feeds", "reading 3 feeds", 3, 3),)


def test_a_page_that_offers_no_runs_takes_none(tmp_path: Path) -> None:
    with serving_page(desk(tmp_path, jobs=Jobs({}))) as served:
        assert "<form" not in served.ask("/state.html").text
        assert served.post("/do/run").status == 404


# --- whom it refuses -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"key": ""},
        {"key": "guessed"},
        {"key": "gu%00essed%ff"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
def test_a_form_from_elsewhere_starts_nothing(site: Site, headers: dict[str, str]) -> None:
    assert site.post("/do/run", **headers).status == 403
    assert 'data-running="no"' in site.ask("/state.html").text


def test_a_run_is_not_started_by_a_link_nor_by_a_body_that_is_too_large(site: Site) -> None:
    assert site.ask("/do/run").status == 405
    body = f"key={site.gate.seal('form')}&x=" + "a" * 10_000
    assert site.ask("/do/run", method="POST", body=body).status == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[", "localhost@evil.example"])
def test_a_name_that_is_not_ours_gets_nothing(site: Site, host: str) -> None:
    answer = site.ask("/", host=host)
    assert answer.status in (400, 421)
    assert "digest" not in answer.text


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8425", "127.0.0.1:1", "[::1]:8425"])
def test_the_names_of_this_machine_are_ours(site: Site, host: str) -> None:
    assert site.ask("/", host=host).status == 200


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Site]:
    fill(Archive(tmp_path / "archive"), 1)
    with serving_page(desk(tmp_path), Gate(b"1" * 32, TOKEN, ("reading.example",))) as served:
        yield served


@pytest.mark.parametrize("path", ["/", "/2026-12-01.html", "/search.html?q=x", "/state.html"])
def test_without_the_token_every_page_leads_to_the_door(locked: Site, path: str) -> None:
    answer = locked.ask(path, host="reading.example")
    assert (answer.status, answer.headers["location"]) == (303, "/login")
    assert locked.ask("/atom.xml").status == 401
    assert locked.post("/do/run").status == 401


@pytest.mark.parametrize(
    ("header", "status"), [(f"Bearer {TOKEN}", 200), ("Bearer wrong", 303), (TOKEN, 303), ("Basic x", 303)]
)
def test_a_program_brings_the_token_in_a_header(locked: Site, header: str, status: int) -> None:
    assert locked.ask("/", authorization=header).status == status


def test_a_person_gives_the_token_once(locked: Site) -> None:
    assert "token" in locked.ask("/login").text
    key = locked.gate.seal("form")
    wrong = locked.ask("/login", method="POST", body=f"key={key}&token=wrong")
    assert (wrong.status, "set-cookie" in wrong.headers) == (403, False)
    right = locked.ask("/login", method="POST", body=f"key={key}&token=open+sesame+%26+more")
    assert right.status == 303
    cookie = right.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert TOKEN not in cookie
    assert locked.ask("/", cookie=cookie.partition(";")[0]).status == 200
    assert locked.ask("/", cookie="news_digest=" + "0" * 64).status == 303


def test_the_token_is_not_shown() -> None:
    assert TOKEN not in repr(Gate(b"1", TOKEN))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "reading.example", ""])
def test_beyond_this_machine_it_wants_a_token(host: str) -> None:
    with pytest.raises(ConfigError) as raised:
        gate_of(host, "", ())
    assert "token" in raised.value.hint
    assert gate_of(host, TOKEN, ("Reading.Example",)).knows_host("reading.example:8425")


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.8.0.1", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("a", False),
    ],
)
def test_what_counts_as_this_machine(host: str, here: bool) -> None:
    assert is_loopback(host) is here


def test_the_attacks_stay_text_on_the_served_page(tmp_path: Path) -> None:
    attack = '"><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}'
    story = replace(STORIES[0], title=attack, excerpt=attack, source=attack)
    item = Item(attack, (attack,), (1,))
    draft = Draft(lead=(Claim(attack, (1,)),), sections=(Section(attack, (item,)),), writer=attack)
    shown = desk(tmp_path)
    shown.archive.put(digest(draft, brief(story), conversation_url="javascript:alert(1)"))
    with serving_page(shown) as served:
        for path in ("/", "/search.html?q=script", "/archive.html"):
            text = served.ask(path).text
            assert "<script>alert" not in text
            assert "<img" not in text
            assert "javascript:" not in text
            assert "49" not in text or "{{ 7*7 }}" in text
