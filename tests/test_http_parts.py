"""What the HTTP client decides without a network: addresses, proxies, lanes, redirect chains."""

from __future__ import annotations

from base64 import b64encode
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from news_digest.errors import AddressRefused, HttpError, TooManyRedirects
from news_digest.http.chain import Chain, read_target
from news_digest.http.guard import host_refusal, refusal
from news_digest.http.lanes import Lanes
from news_digest.http.proxies import Proxies
from news_digest.ports import Request

# --- addresses -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("127.0.0.1", "loopback"),
        ("127.255.255.255", "loopback"),
        ("0.0.0.0", "unspecified"),
        ("10.0.0.0", "private"),
        ("10.255.255.255", "private"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "carrier-internal"),
        ("169.254.169.254", "link-local or cloud metadata"),
        ("168.63.129.16", "cloud metadata"),
        ("224.0.0.251", "multicast"),
        ("255.255.255.255", "reserved"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("fe80::1%eth0", "link-local"),
        ("fd00:ec2::254", "private"),
        ("ff02::1", "multicast"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:0:10.0.0.1", "private"),
        ("::127.0.0.1", "reserved"),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b::a9fe:a9fe", "link-local or cloud metadata"),
        ("64:ff9b:1::1", "reserved"),
        ("2002:7f00:1::", "loopback"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "reserved"),
        ("2001:db8::1", "reserved"),
        ("4000::1", "reserved"),
        ("nonsense", "unreadable"),
    ],
)
def test_an_address_that_strangers_must_not_reach_is_refused(address: str, kind: str) -> None:
    assert refusal(address) == kind


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "223.255.255.255",
        "168.63.129.17",
        "2606:4700::1111",
        "::ffff:1.1.1.1",
        "64:ff9b::101:101",
        "2002:101:101::",
    ],
)
def test_a_public_address_is_not_refused(address: str) -> None:
    assert refusal(address) == ""


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST.",
        "app.localhost",
        "printer.local",
        "metadata.google.internal",
        "127.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "[::1]",
        "10.1",
    ],
)
def test_a_host_that_means_this_network_is_refused_before_it_is_looked_up(host: str) -> None:
    assert host_refusal(host) != ""


@pytest.mark.parametrize(
    "host", ["example.org", "localhost.example.org", "1.1.1.1", "[2606:4700::1111]", "bücher.example"]
)
def test_other_hosts_are_judged_by_what_they_resolve_to(host: str) -> None:
    assert host_refusal(host) == ""


# --- proxies -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "scheme", "host", "expected"),
    [
        ({}, "http", "news.example", ""),
        ({"http_proxy": "http://p:1"}, "http", "news.example", "http://p:1"),
        ({"http_proxy": "http://p:1"}, "https", "news.example", ""),
        ({"HTTPS_PROXY": "http://p:1"}, "https", "news.example", "http://p:1"),
        ({"HTTP_PROXY": "http://big", "http_proxy": "http://small"}, "http", "news.example", "http://small"),
        ({"HTTP_PROXY": "http://forged", "REQUEST_METHOD": "GET"}, "http", "news.example", ""),
        ({"all_proxy": "socks5://p:1"}, "https", "news.example", "socks5://p:1"),
        ({"all_proxy": "http://p", "no_proxy": "*"}, "https", "news.example", ""),
        ({"all_proxy": "http://p", "no_proxy": "example"}, "https", "news.example", ""),
        ({"all_proxy": "http://p", "NO_PROXY": ".news.example"}, "https", "news.example", ""),
        ({"all_proxy": "http://p", "no_proxy": "ews.example"}, "https", "news.example", "http://p"),
        ({"all_proxy": "http://p", "no_proxy": "news.example:443"}, "https", "news.example", ""),
        ({"all_proxy": "http://p", "no_proxy": "news.example:8443"}, "https", "news.example", "http://p"),
        ({"all_proxy": "http://p", "no_proxy": "other, 10.0.0.0/8"}, "https", "10.2.3.4", ""),
        ({"all_proxy": "http://p", "no_proxy": "10.0.0.0/8"}, "https", "11.2.3.4", "http://p"),
        ({"all_proxy": "http://p", "no_proxy": "other  .News.Example\t10.0.0.0/8"}, "https", "news.example", ""),
        ({"all_proxy": "http://p"}, "https", "localhost", ""),
        ({"all_proxy": "http://p"}, "https", "127.0.0.1", ""),
    ],
)
def test_the_usual_variables_choose_the_proxy(
    environment: dict[str, str], scheme: str, host: str, expected: str
) -> None:
    assert Proxies.of(environment).choose(scheme, host, 443 if scheme == "https" else 80) == expected


# --- lanes ---------------------------------------------------------------------------------------------------------


def test_a_host_is_asked_one_request_at_a_time_and_rests_between_two() -> None:
    lanes = Lanes(["a", "a", "b"], pause=1.0, jitter=lambda: 0.5)
    assert [lanes.take(0.0), lanes.take(0.0), lanes.take(0.0)] == [0, 2, None]
    lanes.give_back(0, 10.0)
    assert lanes.take(10.0) is None
    assert lanes.rest(10.25) == 0.75
    assert lanes.take(10.999) is None
    assert lanes.take(11.0) == 1
    assert lanes.left == 0


def test_a_request_that_was_never_sent_makes_its_host_rest_for_nothing() -> None:
    lanes = Lanes(["a", "a"], pause=1.0, jitter=lambda: 0.0)
    assert lanes.take(0.0) == 0
    lanes.give_back(0, 0.0, asked=False)
    assert lanes.take(0.0) == 1


def test_what_was_not_handed_out_can_be_abandoned() -> None:
    lanes = Lanes(["a", "a", "b", "c"], pause=1.0, jitter=lambda: 0.0)
    assert lanes.take(0.0) == 0
    assert lanes.abandon() == [1, 2, 3]
    assert (lanes.left, lanes.take(99.0)) == (0, None)


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.randoms(use_true_random=False))
def test_every_position_is_handed_out_once_and_in_order_within_its_host(hosts: list[str], random: Random) -> None:
    lanes, now = Lanes(hosts, 1.0, random.random), 0.0
    busy: list[int] = []
    order: list[int] = []
    while lanes.left or busy:
        position = lanes.take(now)
        if position is not None:
            assert hosts[position] not in [hosts[other] for other in busy]
            busy.append(position)
            order.append(position)
        elif busy:
            lanes.give_back(busy.pop(random.randrange(len(busy))), now)
        else:
            now += lanes.rest(now) or 0.0
    assert sorted(order) == list(range(len(hosts)))
    for host in set(hosts):
        mine = [position for position in order if hosts[position] == host]
        assert mine == sorted(mine)


# --- chains --------------------------------------------------------------------------------------------------------

SECRET = (("Authorization", "Bearer s3cret"), ("X-Api-Key", "s3cret"), ("Cookie", "id=s3cret"), ("Accept", "text/xml"))


def chain(url: str = "http://a.example/feed", **changes: Any) -> Chain:
    return Chain(Request("GET", url, **{"headers": SECRET, **changes}))


@pytest.mark.parametrize(
    ("location", "kept"),
    [
        ("/new", True),
        ("https://a.example/feed", True),
        ("//a.example/other", True),
        ("http://a.example:8080/", False),
        ("http://b.example/", False),
        ("http://www.a.example/", False),
        ("https://a.example:8443/", False),
    ],
)
def test_secrets_stay_with_the_origin_that_they_were_given_for(location: str, kept: bool) -> None:
    walk = chain()
    assert walk.follow(302, location, [])
    assert ("s3cret" in str(walk.headers())) is kept
    assert ("Accept", "text/xml") in walk.headers()


@pytest.mark.parametrize("location", ["/caf\xc3\xa9", "/caf\xe9", "/caf%C3%A9"])
def test_an_address_in_a_header_may_have_letters_of_any_language(location: str) -> None:
    walk = chain()
    walk.follow(302, location, [])
    assert walk.target.url == "http://a.example/caf%C3%A9"


def test_secrets_do_not_come_back_when_the_chain_returns() -> None:
    walk = chain()
    walk.follow(302, "http://b.example/", [])
    walk.follow(302, "http://a.example/", [])
    assert "s3cret" not in str(walk.headers())


def test_a_secret_is_not_sent_in_the_clear_after_an_encrypted_request() -> None:
    walk = chain("https://a.example/")
    walk.follow(301, "http://a.example/", [])
    assert "s3cret" not in str(walk.headers())


def test_credentials_in_an_address_become_a_header_and_are_never_shown() -> None:
    walk = Chain(Request("GET", "http://me:p%40ss@a.example/feed#top"))
    assert walk.target.url == "http://a.example/feed"
    assert walk.headers() == (("Authorization", f"Basic {b64encode(b'me:p@ss').decode()}"),)
    walk.follow(302, "/other", [])
    assert len(walk.headers()) == 1
    walk.follow(302, "http://b.example/", [])
    assert walk.headers() == ()


def test_only_an_unbroken_chain_of_permanent_redirects_says_where_a_feed_moved() -> None:
    walk = chain()
    walk.follow(301, "https://a.example/1", [])
    walk.follow(308, "/2", [])
    walk.follow(302, "/3", [])
    walk.follow(301, "/4", [])
    assert walk.moved_to == "https://a.example/2"
    assert walk.hops[-1] == "https://a.example/4"


@pytest.mark.parametrize(("status", "location"), [(200, "/x"), (304, "/x"), (300, "/x"), (302, "")])
def test_other_answers_are_final(status: int, location: str) -> None:
    assert not chain().follow(status, location, [])


def test_a_request_that_follows_none_gets_the_redirect_itself() -> None:
    assert not chain(redirects=0).follow(302, "/x", [])


def test_one_redirect_more_than_allowed_is_an_error() -> None:
    walk = chain(redirects=2)
    walk.follow(302, "/1", [])
    walk.follow(302, "/2", [])
    with pytest.raises(TooManyRedirects, match="more than 2"):
        walk.follow(302, "/3", [])


def test_a_circle_is_called_one() -> None:
    walk = chain(redirects=1)
    walk.follow(302, "/1", [])
    with pytest.raises(TooManyRedirects, match="circle"):
        walk.follow(302, "/feed", [])


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://a.example/", "javascript:alert(1)", "gopher://a.example/"]
)
def test_a_redirect_to_anything_but_http_is_refused(location: str) -> None:
    with pytest.raises(AddressRefused):
        chain().follow(302, location, [])


@pytest.mark.parametrize(
    ("method", "status", "after"),
    [
        ("POST", 301, ("GET", None)),
        ("POST", 303, ("GET", None)),
        ("PUT", 303, ("GET", None)),
        ("PUT", 301, ("PUT", b"x")),
        ("POST", 307, ("POST", b"x")),
        ("POST", 308, ("POST", b"x")),
        ("HEAD", 303, ("HEAD", b"x")),
    ],
)
def test_the_method_after_a_redirect_is_what_browsers_send(
    method: str, status: int, after: tuple[str, bytes | None]
) -> None:
    walk = Chain(Request(method, "http://a.example/", (("Content-Type", "text/plain"),), b"x"))
    walk.follow(status, "/next", [])
    assert (walk.method, walk.body) == after
    assert bool(walk.headers()) is (after[1] is not None)


@pytest.mark.parametrize(
    ("line", "host", "sent"),
    [
        ("ok=1", "a.example", True),
        ("ok=1", "sub.a.example", False),
        ("ok=1; Domain=a.example", "sub.a.example", True),
        ("ok=1; Domain=.a.example; Path=/; HttpOnly", "a.example", True),
        ("ok=1; Domain=example", "a.example", False),
        ("ok=1; Domain=b.example", "b.example", False),
        ("ok=1; Secure", "a.example", False),
        ("no pair", "a.example", False),
    ],
)
def test_a_cookie_goes_where_its_host_may_send_it(line: str, host: str, sent: bool) -> None:
    walk = Chain(Request("GET", "http://a.example/"))
    walk.follow(302, f"http://{host}/next", [line])
    assert (("Cookie", "ok=1") in walk.headers()) is sent


def test_a_gate_may_set_a_cookie_for_the_host_that_sent_us_there() -> None:
    walk = Chain(Request("GET", "http://news.example/"))
    walk.follow(302, "http://gate.example/", [])
    walk.follow(302, "http://news.example/", ["ok=1; Domain=news.example", "ok=2; Domain=news.example"])
    assert walk.headers() == (("Cookie", "ok=2"),)


def test_a_cookie_of_the_operator_is_joined_with_those_of_the_chain() -> None:
    walk = chain()
    walk.follow(302, "/next", ["ok=1"])
    assert ("Cookie", "id=s3cret; ok=1") in walk.headers()


@pytest.mark.parametrize(
    ("given_url", "asked"),
    [
        (" http://a.example/x y?q=ü ", "http://a.example/x%20y?q=%C3%BC"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://a.example/100%25?a=[1]", "http://a.example/100%25?a=[1]"),
        ("http://a.example", "http://a.example"),
    ],
)
def test_an_address_is_made_fit_for_a_request(given_url: str, asked: str) -> None:
    assert read_target(given_url).url == asked


@pytest.mark.parametrize(
    "url", ["", "feed", "http://", "http:///x", "http://a.example:99999/", "http://[::1/", "ftp://a.example/"]
)
def test_what_is_no_web_address_is_refused_with_a_hint(url: str) -> None:
    with pytest.raises(HttpError) as caught:
        read_target(url)
    assert caught.value.hint
    assert not caught.value.sent


@pytest.mark.parametrize(
    "header", [("X", "a\r\nEvil: 1"), ("X", "a\0b"), ("X", "Evil\ud800"), ("Bad name", "x"), ("", "x")]
)
def test_a_header_that_would_break_out_of_its_line_is_refused_and_not_shown(header: tuple[str, str]) -> None:
    with pytest.raises(HttpError) as caught:
        Chain(Request("GET", "http://a.example/", (header,)))
    assert "Evil" not in str(caught.value)


@given(st.text(max_size=60), st.sampled_from(["", "http://", "http://a.example/", "//", "https://u:p@"]))
@example("[ü", "http://")
def test_any_address_is_read_or_refused_with_an_error_of_ours(text: str, before: str) -> None:
    url = ""
    with suppress(HttpError):
        url = read_target(before + text).url
    assert url.isascii()


@given(st.text(max_size=60))
@example("http://[/")
@example("//[::1")
@example("http://a.example:port/")
def test_any_location_is_followed_or_refused_with_an_error_of_ours(location: str) -> None:
    walk = chain()
    with suppress(HttpError):
        walk.follow(302, location, [location])
    assert walk.target.scheme in {"http", "https"}
    assert walk.headers()
