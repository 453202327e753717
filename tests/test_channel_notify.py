"""Chat messages: cut at the ends of items, safe from what services make of bare text, sent by Apprise to loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.digests import STORIES, brief, digest, story
from tests.servers import Asked, Server, reply, serving

from news_digest.channels import Target, open_channel
from news_digest.channels.chat import characters, messages, octets, safe_text
from news_digest.errors import ConfigError, DeliveryError
from news_digest.model import Claim, Digest, Draft, Item, Json, Section
from news_digest.testing import FakeClock

pytest.importorskip("apprise", reason="the extra notify is not installed")
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

KEY = "s3cr3t-Key+1"


def many(count: int, words: str = "A headline of an ordinary length, as feeds have them") -> Digest:
    stories = tuple(story(n, title=f"{words} {n}", link=f"https://outlet.example/{n}") for n in range(1, count + 1))
    items = tuple(Item(each.title, (), (number,)) for number, each in enumerate(stories, start=1))
    return digest(Draft(sections=(Section("News", items),), writer="embedded"), brief(*stories))


def channel(server: Server, url: str = "", options: dict[str, Json] | None = None) -> Any:
    environment = {"HOOK": url or f"json://user:{KEY}@127.0.0.1:{server.port}/{KEY}?method=POST"}
    return open_channel("notify", Target("chat", FakeClock(), {"url_env": "HOOK"} | (options or {}), environment))


def texts(server: Server) -> list[str]:
    return [json.loads(asked.body)["message"] for asked in server.asked]


# --- cutting ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [300, 2000, 4096])
@pytest.mark.parametrize("size", [characters, octets])
@pytest.mark.parametrize("words", ["A headline as feeds have them", "東京で新しい発表がありました", "x" * 3000])
def test_no_message_is_longer_than_the_limit_and_none_of_the_digest_is_lost(
    limit: int, size: Callable[[str], int], words: str
) -> None:
    parts = messages(many(40, words), limit, size)
    assert all(size(part) <= limit for part in parts)
    together = "".join(part.partition("\n")[2].replace("\n", "").replace(" ", "") for part in parts)
    assert all(f"https://outlet.example/{number}" in together for number in range(1, 41))
    assert together.count("x") >= (3000 * 40 if words.startswith("x") else 0)


def test_messages_are_cut_between_items_and_numbered() -> None:
    parts = messages(many(40), 2000)
    assert [part.partition("\n")[0] for part in parts] == [f"({n}/{len(parts)})" for n in range(1, len(parts) + 1)]
    for part in parts[1:]:
        assert part.partition("\n")[2].startswith(("• ", "Written by", "Not readable"))
    for part in parts[:-1]:
        assert part.rstrip().splitlines()[-1].startswith("  Outlet: https://")


def test_a_digest_that_fits_is_one_message_without_a_number() -> None:
    (text,) = messages(digest(), 4096)
    assert text.startswith("News digest, Tuesday 1 December 2026\n")


@given(st.text(max_size=2000), st.integers(min_value=200, max_value=500))
def test_any_text_is_cut_to_any_limit(words: str, limit: int) -> None:
    for part in messages(many(2, words), limit):
        assert characters(part) <= limit


# --- what services make of bare text ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("@everyone look", "@"),
        ("<!channel> look", "<!"),
        ("[github.com](https://evil.example)", "]("),
        ("see https://evil.example/x", "://"),
        ("see www.evil.example", "www."),
        ("tg://resolve?domain=evil", "tg:/"),
        ("||hidden|| text", "||"),
        ("```code``` and `more`", "`"),
        ("**bold** ~~struck~~ __under__", "**"),
        ("two\nlines\r\n===== end =====", "\n"),
    ],
)
def test_no_text_of_a_feed_becomes_a_link_a_mention_or_formatting(text: str, gone: str) -> None:
    assert gone not in safe_text(text)


@pytest.mark.parametrize("text", ["/start the bot", "# heading", "- list", "-# small"])
def test_no_text_of_a_feed_begins_a_message_as_a_command_or_heading(text: str) -> None:
    assert safe_text(text).startswith("· ")


def test_a_storys_own_link_stays_one_and_mentions_nobody() -> None:
    stories = (story(1, link="https://social.example/@someone/1"), *STORIES[1:])
    text = "".join(messages(digest(of=brief(*stories)), 4096))
    assert "https://social.example/%40someone/1" in text
    assert "https://ferrous.example/2.0" in text


def test_the_attacks_in_every_field_bring_no_address_but_the_stories_own() -> None:
    attack = "@here [a](https://evil.example) https://evil.example www.evil.example"
    stories = (replace(STORIES[0], title=attack, excerpt=attack, source=attack, suspicious=(attack,)), *STORIES[1:4])
    draft = Draft(
        lead=(Claim(attack, (1,)),), sections=(Section(attack, (Item(attack, (attack,), (1,)),)),), writer=attack
    )
    text = "".join(messages(digest(draft, brief(*stories), notices=(attack,)), 4096))
    assert "evil.example" in text
    assert "://evil" not in text
    assert "www.evil" not in text
    assert "@" not in text


# --- sending ---------------------------------------------------------------------------------------------------------


def test_a_long_digest_arrives_in_order_and_whole() -> None:
    with serving(lambda _asked: reply("200 OK")) as server:
        receipt = channel(server, options={"limit": 1000}).deliver(many(40))
        got = texts(server)
    assert got == messages(many(40), 1000, title=False)
    assert receipt.detail == f"{len(got)} to json"


def test_what_was_sent_is_not_sent_again_after_a_later_part_failed() -> None:
    answers = iter(["200 OK", "503 Busy", *["200 OK"] * 20])
    with serving(lambda _asked: reply(next(answers))) as server:
        sender = channel(server, options={"limit": 1000})
        with pytest.raises(DeliveryError) as raised:
            sender.deliver(many(40))
        assert "message 2 of" in str(raised.value)
        sender.deliver(many(40))
        first, second, *rest = texts(server)
    assert [first, *rest] == messages(many(40), 1000, title=False)
    assert second == rest[0]


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        ("401 No", "key is refused"),
        ("404 No", "leads nowhere"),
        ("413 No", "limit"),
        ("429 Slow", "tries again"),
        ("500 Oops", "tries again"),
        ("302 Found", "tries again"),
    ],
)
def test_a_failure_says_what_to_do_and_repeats_no_key(status: str, hint: str) -> None:
    def answer(asked: Asked) -> bytes:
        return reply(
            status, f"Location: http://127.0.0.1:{server.port}/elsewhere", body=f"no {KEY} {asked.path}".encode()
        )

    with serving(answer) as server, pytest.raises(DeliveryError) as raised:
        channel(server).deliver(digest())
    assert hint in raised.value.hint
    assert KEY not in f"{raised.value} {raised.value.hint}"
    assert not [asked for asked in server.asked if asked.path == "/elsewhere"]


def test_a_service_that_is_not_there_is_tried_again_later() -> None:
    with serving(lambda _asked: reply("200 OK")) as server:
        sender = channel(server)
    with pytest.raises(DeliveryError) as raised:
        sender.deliver(digest())
    assert "next run" in raised.value.hint
    assert KEY not in str(raised.value)


def test_ntfy_gets_its_own_limit_counted_in_bytes() -> None:
    with serving(lambda _asked: reply("200 OK", body=b"{}")) as server:
        sender = channel(server, f"ntfy://127.0.0.1:{server.port}/topic")
        sender._service.request_rate_per_sec = 0  # five seconds between messages are its manners, not this test's
        sender.deliver(many(60, "東京で新しい発表がありました"))
        sent = [json.loads(asked.body)["message"] for asked in server.asked]
    assert len(sent) > 1
    assert all(len(text.encode()) <= 4000 for text in sent)


@pytest.mark.parametrize("url", ["nothing", "gopher://x", "http://", "json://"])
def test_an_address_that_apprise_does_not_know_is_an_error_that_does_not_repeat_it(url: str) -> None:
    with pytest.raises(ConfigError) as raised:
        channel(Server(lambda _asked: b""), f"{url}{KEY}" if url == "gopher://x" else url)
    assert "chat.url_env" in str(raised.value)
    assert KEY not in str(raised.value)


def test_a_limit_that_no_item_fits_into_is_refused() -> None:
    with pytest.raises(ConfigError):
        channel(Server(lambda _asked: b"", port=9), options={"limit": 100})


def test_the_channel_shows_no_key(tmp_path: Path) -> None:
    del tmp_path
    target = Target("chat", FakeClock(), {"url_env": "HOOK"}, {"HOOK": KEY})
    assert KEY not in repr(target)
