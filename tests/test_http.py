"""The HTTP client against real servers on loopback."""

from __future__ import annotations

import gzip
import itertools
import shutil
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.servers import Asked, Drip, Part, reply, serving

from news_digest.errors import AddressRefused, DeadlineExceeded, HttpError, TooLarge, TooManyRedirects
from news_digest.http import CurlHttp, Proxies
from news_digest.http.coding import accepted_codings
from news_digest.ports import Request, Response

AGENT = "news-digest-test/1 (+https://project.example/)"
SECOND = timedelta(seconds=1)


def client(**options: Any) -> CurlHttp:
    return CurlHttp(AGENT, **{"allow_private_hosts": True, **options})


def ok(_asked: Asked) -> bytes:
    return reply("200 OK", body=b"fine")


# --- one request ---------------------------------------------------------------------------------------------------


def test_an_answer_comes_back_whole_with_lower_case_header_names() -> None:
    with serving(lambda _: reply("200 OK", 'ETag: W/"5f-a\xe9"', "X-Two: a", "x-two: b", body=b"fine")) as server:
        response = client().send(Request("GET", server.url("/feed")))
    assert (response.status, response.url, response.body) == (200, server.url("/feed"), b"fine")
    assert response.headers["etag"] == 'W/"5f-a\xe9"'
    assert response.headers["x-two"] == "a, b"
    assert (response.moved_to, response.hops) == ("", ())


def test_the_request_is_honest_about_who_asks_and_every_header_can_be_changed() -> None:
    with serving(ok) as server:
        client().send(Request("GET", server.url()))
        client().send(Request("GET", server.url(), (("user-agent", "other"), ("X-Empty", ""), ("X-Key", "a: b"))))
    first, second = (asked.headers for asked in server.asked)
    assert first["user-agent"] == AGENT
    assert first["accept-encoding"] == accepted_codings()
    assert (second["user-agent"], second["x-empty"], second["x-key"]) == ("other", "", "a: b")


@pytest.mark.parametrize("status", ["404 Not Found", "500 Oops", "304 Not Modified", "418 Teapot"])
def test_errors_of_the_server_are_answers(status: str) -> None:
    with serving(lambda _: reply(status, body=b"" if status.startswith("304") else b"no")) as server:
        assert client().send(Request("GET", server.url())).status == int(status[:3])


def test_a_body_and_any_method_are_sent_as_they_are() -> None:
    with serving(ok) as server, client() as http:
        for method, body in (("POST", b"\0\xff{}"), ("PUT", b""), ("PATCH", b"x"), ("DELETE", None), ("POST", None)):
            http.send(Request(method, server.url(), (("Content-Type", "application/json"),), body))
        http.send(Request("POST", server.url(), (), b"x"))
        head = http.send(Request("HEAD", server.url()))
        http.send(Request("GET", server.url()))
    assert [(asked.method, asked.body) for asked in server.asked] == [
        ("POST", b"\0\xff{}"),
        ("PUT", b""),
        ("PATCH", b"x"),
        ("DELETE", b""),
        ("POST", b""),
        ("POST", b"x"),
        ("HEAD", b""),
        ("GET", b""),
    ]
    assert server.asked[0].headers["content-type"] == "application/json"
    assert "content-type" not in server.asked[5].headers
    assert "expect" not in server.asked[0].headers
    assert head.body == b""


@pytest.mark.parametrize(
    ("value", "sent"),
    [("\xfc", "\xfc"), ("\u20ac", "\xe2\x82\xac"), ("a\udcfcb", "a\xfcb"), ("\u20ac\udcff", "\xe2\x82\xac\xff")],
)
def test_a_header_of_any_bytes_is_sent_as_they_are(value: str, sent: str) -> None:
    with serving(ok) as server:
        client().send(Request("GET", server.url(), (("X-Key", value),)))
    assert server.asked[0].headers["x-key"] == sent


def test_a_header_that_comes_twice_in_other_letters_is_sent_once() -> None:
    with serving(ok) as server:
        client().send(Request("GET", server.url(), (("ACCEPT", "text/xml"),)))
    assert server.asked[0].headers["accept"] == "text/xml"


@pytest.mark.parametrize("guarded", [True, False])
def test_a_compressed_answer_is_decoded_and_an_unlabelled_one_only_if_strangers_named_it(guarded: bool) -> None:
    packed = gzip.compress(b"<rss/>")
    with serving(
        lambda asked: reply("200 OK", *(["Content-Encoding: gzip"] * (asked.path == "/a")), body=packed)
    ) as server:
        labelled = client().send(Request("GET", server.url("/a"), guarded=guarded)).body
        bare = client().send(Request("GET", server.url("/b"), guarded=guarded)).body
    assert labelled == b"<rss/>"
    assert bare == (b"<rss/>" if guarded else packed)


def test_the_headers_of_interim_answers_and_those_after_the_body_do_not_count() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nETag: early\r\nLink: </a>\r\n\r\n"
    last = b"HTTP/1.1 200 OK\nETag: late\nTransfer-Encoding: chunked\n\n4\r\nfine\r\n0\r\nETag: after\r\n\r\n"
    with serving(lambda _: early + last) as server:
        response = client().send(Request("GET", server.url()))
    assert (response.headers["etag"], "link" in response.headers, response.body) == ("late", False, b"fine")


# --- deadlines, sizes, cut answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer", [[2.0], [b"HTTP/1.1 200 OK\r\n\r\n", Drip(b"x" * 90, 1, 0.05)]], ids=["silent", "drip"]
)
def test_the_deadline_is_for_the_whole_answer(answer: list[Part]) -> None:
    began = time.monotonic()
    with serving(lambda _: answer) as server, pytest.raises(DeadlineExceeded, match=r"0\.3 seconds") as caught:
        client().send(Request("GET", server.url(), deadline=timedelta(seconds=0.3)))
    assert time.monotonic() - began < 1.5
    assert caught.value.sent


def test_redirects_share_one_deadline() -> None:
    with (
        serving(lambda _: [0.2, reply("302 Found", "Location: /again")]) as server,
        pytest.raises((DeadlineExceeded, TooManyRedirects)) as caught,
    ):
        client().send(Request("GET", server.url(), deadline=timedelta(seconds=0.5), redirects=50))
    assert isinstance(caught.value, DeadlineExceeded)
    assert len(server.asked) < 5


def test_a_body_of_exactly_the_cap_is_read_and_one_byte_more_is_not() -> None:
    with serving(lambda asked: reply("200 OK", body=b"x" * 5000, length=asked.path == "/known")) as server:
        for path in ("/known", "/unknown"):
            assert len(client().send(Request("GET", server.url(path), max_bytes=5000)).body) == 5000
            with pytest.raises(TooLarge, match="4,999"):
                client().send(Request("GET", server.url(path), max_bytes=4999))


def test_a_body_that_grows_above_the_cap_when_decoded_is_refused() -> None:
    bomb = gzip.compress(b"\0" * 5_000_000)
    with serving(lambda _: reply("200 OK", "Content-Encoding: gzip", body=bomb)) as server, pytest.raises(TooLarge):
        client().send(Request("GET", server.url(), max_bytes=1_000_000))


CUT = {
    "shorter than announced": [b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf"],
    "chunks without an end": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"],
    "no answer": [],
    "cut compressed body": [reply("200 OK", "Content-Encoding: gzip", body=gzip.compress(bytes(range(256)) * 9)[:-20])],
}


@pytest.mark.parametrize("case", list(CUT))
def test_an_answer_that_was_cut_is_an_error_that_may_pass(case: str) -> None:
    with serving(lambda _: CUT[case]) as server, pytest.raises(HttpError) as caught:
        client().send(Request("GET", server.url(), guarded=True))
    assert caught.value.transient
    assert caught.value.sent


@pytest.mark.parametrize(
    "after_the_head",
    [b"half", Drip(b"x" * 90, 1, 0.05), b"x" * 9999],
    ids=["cut", "drip", "too large"],
)
def test_an_error_of_the_server_counts_although_its_body_is_of_no_use(after_the_head: Part) -> None:
    head = b"HTTP/1.1 429 Slow\r\nRetry-After: 600\r\nTransfer-Encoding: chunked\r\n\r\n2706\r\n"
    request = partial(Request, "GET", deadline=timedelta(seconds=0.3), max_bytes=5000)
    with serving(lambda _: [head, after_the_head]) as server:
        response = client().send(request(server.url()))
    assert (response.status, response.headers["retry-after"]) == (429, "600")


def test_an_error_whose_body_cannot_be_decoded_is_the_error_without_a_body() -> None:
    with serving(lambda _: reply("404 Not Found", "Content-Encoding: gzip", body=b"\x1f\x8b\x08\0\xff\xff")) as server:
        response = client().send(Request("GET", server.url(), guarded=True))
    assert (response.status, response.body) == (404, b"")


def test_a_redirect_is_followed_although_its_body_was_cut() -> None:
    cut = b"HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 99\r\n\r\nmoved"
    with serving(lambda asked: ok(asked) if asked.path == "/ok" else cut) as server:
        assert client().send(Request("GET", server.url())).body == b"fine"


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ([b"HTTP/1.1 200 OK\r\n", *[b"X-A: " + b"b" * 1000 + b"\r\n"] * 400], "head of the answer does not end"),
        ([b"HTTP/1.1 200 OK\r\nX-A: ", b"b" * 400_000], "head of the answer does not end"),
        ([b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" * 9000], "head of the answer does not end"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", r"rules of HTTP \(Invalid Content-Length"),
        (b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", r"rules of HTTP \(Header without colon"),
        (b"HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\n\r\n", r"rules of HTTP \(Multiple Location"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "chunks"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx", "transfer coding"),
    ],
)
def test_an_answer_that_breaks_the_rules_is_said_so(answer: bytes | list[Part], cause: str) -> None:
    with serving(lambda _: answer) as server, pytest.raises(HttpError, match=cause) as caught:
        client().send(Request("GET", server.url()))
    assert caught.value.hint
    assert caught.value.sent


def test_of_a_header_that_has_one_value_the_first_counts() -> None:
    twice = ('ETag: "a"', 'ETag: "b"', "Retry-After: 5", "Retry-After: 5", "Vary: a", "Vary: b")
    with serving(lambda _: reply("200 OK", *twice)) as server:
        headers = client().send(Request("GET", server.url())).headers
    assert (headers["etag"], headers["retry-after"], headers["vary"]) == ('"a"', "5", "a, b")


def test_a_header_that_looks_like_a_status_line_is_none() -> None:
    early, last = b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n", b"HTTP/1.1 200 OK\r\nETag: late\r\nHTTP/9: x\r\n\r\n"
    with serving(lambda _: early + last) as server:
        assert client().send(Request("GET", server.url())).headers["etag"] == "late"


def test_nothing_that_speaks_http_is_said_so() -> None:
    with serving(lambda _: [b"SSH-2.0-OpenSSH_9\r\n"]) as server, pytest.raises(HttpError, match="does not speak HTTP"):
        client().send(Request("GET", server.url()))


def test_a_closed_port_is_an_error_of_which_nothing_was_sent() -> None:
    with serving(ok) as server:
        url = server.url()
    with pytest.raises(HttpError, match="nothing listens") as caught:
        client().send(Request("GET", url))
    assert (caught.value.sent, caught.value.transient) == (False, True)


def test_a_name_that_does_not_exist_is_said_so() -> None:
    with pytest.raises(HttpError, match="host name cannot be found") as caught:
        client().send(Request("GET", "http://no-such-host.invalid/"))
    assert "DNS" in caught.value.hint


# --- redirects -----------------------------------------------------------------------------------------------------


def test_redirects_are_followed_counted_and_permanent_ones_reported() -> None:
    hops = {"/old": "301 Moved\n/mid", "/mid": "308 Permanent\n/new", "/tmp": "302 Found\n/new"}

    def answer(asked: Asked) -> bytes:
        status, _, target = hops.get(asked.path, "200 OK").partition("\n")
        return reply(status, f"Location: {target}") if target else reply(status, body=b"fine")

    with serving(answer) as server:
        moved = client().send(Request("GET", server.url("/old")))
        elsewhere = client().send(Request("GET", server.url("/tmp")))
    assert (moved.body, moved.url, moved.moved_to) == (b"fine", server.url("/new"), server.url("/new"))
    assert moved.hops == (server.url("/mid"), server.url("/new"))
    assert (elsewhere.url, elsewhere.moved_to) == (server.url("/new"), "")


def test_an_endless_chain_ends() -> None:
    with (
        serving(lambda asked: reply("302 Found", f"Location: {asked.path}x")) as server,
        pytest.raises(TooManyRedirects),
    ):
        client().send(Request("GET", server.url(), redirects=3))
    assert len(server.asked) == 4


def test_no_header_that_may_be_a_secret_follows_a_redirect_to_another_host() -> None:
    with (
        serving(ok) as stranger,
        serving(lambda _: reply("302 Found", f"Location: {stranger.url('/', 'other.example')}")) as server,
    ):
        http = client(resolve=[*server.pin("news.example"), *stranger.pin("other.example")])
        headers = (("Authorization", "Bearer s3cret"), ("X-Token", "s3cret"), ("Cookie", "s3cret=1"))
        http.send(Request("GET", server.url("/", "user:s3cret@news.example"), headers))
    assert "s3cret" in str(server.asked[0].headers)
    assert "s3cret" not in str(stranger.asked[0].headers)
    assert stranger.asked[0].headers["user-agent"] == AGENT


def test_credentials_of_an_address_are_sent_and_never_shown() -> None:
    with serving(lambda _: []) as server, pytest.raises(HttpError) as caught:
        client().send(Request("GET", server.url("/", "user:s3cret@127.0.0.1")))
    assert server.asked[0].headers["authorization"].startswith("Basic ")
    assert "s3cret" not in f"{caught.value} {caught.value.hint} {caught.value.thing}"


# --- the address guard ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]"])
def test_a_private_target_is_refused_before_a_connection(host: str) -> None:
    with serving(ok) as server, pytest.raises(AddressRefused) as caught:
        CurlHttp(AGENT).send(Request("GET", server.url("/", host), guarded=True))
    assert server.asked == []
    assert "allow_private_hosts" in caught.value.hint


def test_a_name_is_judged_by_the_address_that_it_is_connected_to() -> None:
    with serving(ok) as server:
        http = CurlHttp(AGENT, resolve=server.pin("rebound.example"))
        with pytest.raises(AddressRefused, match=r"127\.0\.0\.1, which is loopback") as caught:
            http.send(Request("GET", server.url("/", "rebound.example"), guarded=True))
        assert http.send(Request("GET", server.url("/", "rebound.example"))).status == 200
    assert len(server.asked) == 1
    assert not caught.value.sent


def test_a_connection_that_an_unguarded_request_left_open_is_not_used_by_a_guarded_one() -> None:
    def keep_alive(_asked: Asked) -> list[bytes | float]:
        return [b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0.5]

    with serving(keep_alive) as server, CurlHttp(AGENT, resolve=server.pin("internal.example")) as http:
        url = server.url("/", "internal.example")
        assert http.send(Request("GET", url)).status == 200
        with pytest.raises(AddressRefused):
            http.send(Request("GET", url, guarded=True))


def test_every_hop_is_judged() -> None:
    # Nothing on loopback counts as public; a proxy is what a guarded first hop may reach.
    with (
        serving(ok) as inside,
        serving(lambda _: reply("302 Found", f"Location: {inside.url('/', 'inside.example')}")) as outside,
    ):
        proxies = Proxies(http=outside.url(), exempt=("inside.example",))
        http = CurlHttp(AGENT, proxies=proxies, resolve=inside.pin("inside.example"))
        with pytest.raises(AddressRefused, match=r"inside\.example"):
            http.send(Request("GET", "http://news.example/feed", guarded=True))
    assert (len(outside.asked), len(inside.asked)) == (1, 0)


def test_the_operator_can_open_the_guard() -> None:
    with serving(ok) as server:
        assert client().send(Request("GET", server.url(), guarded=True)).body == b"fine"


# --- proxies -------------------------------------------------------------------------------------------------------


def test_a_guarded_request_goes_through_the_operators_proxy_wherever_that_stands() -> None:
    with serving(ok) as proxy:
        http = CurlHttp(AGENT, proxies=Proxies.of({"http_proxy": proxy.url()}))
        assert http.send(Request("GET", "http://news.example/feed", guarded=True)).body == b"fine"
        with pytest.raises(AddressRefused):
            http.send(Request("GET", "http://169.254.169.254/latest", guarded=True))
    assert [asked.path for asked in proxy.asked] == ["http://news.example/feed"]


def test_the_environment_is_not_read_behind_our_back(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(ok) as proxy, serving(ok) as server:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        assert client(resolve=server.pin("a.example")).send(Request("GET", server.url("/", "a.example"))).status == 200
        monkeypatch.setenv("no_proxy", "*")
        http = client(proxies=Proxies(http=proxy.url()))
        assert http.send(Request("GET", "http://news.example/")).status == 200
    assert len(proxy.asked) == 1


@pytest.mark.parametrize(
    ("proxy", "cause"),
    [
        ("http://user:s3cret@127.0.0.1:1", "the proxy does not answer"),
        ("socks5://user:s3cret@127.0.0.1:1", "the proxy does not answer"),
        ("http://user:s3cret@nowhere.invalid", "the proxy's host name cannot be found"),
        ("http://user:s3cret@127.0.0.1:port", "the proxy's address is none"),
        ("ftp://user:s3cret@127.0.0.1", "the proxy's address is none"),
    ],
)
def test_a_proxy_that_is_down_is_said_so_without_its_password(proxy: str, cause: str) -> None:
    with pytest.raises(HttpError, match=cause) as caught:
        client(proxies=Proxies(http=proxy)).send(Request("GET", "http://news.example/"))
    assert "http_proxy" in caught.value.hint
    assert "s3cret" not in f"{caught.value} {caught.value.hint}"


def test_a_proxy_that_opens_no_tunnel_is_said_so() -> None:
    with serving(lambda _: reply("407 Proxy Authentication Required")) as proxy:
        http = client(proxies=Proxies(https=proxy.url()))
        with pytest.raises(HttpError, match="the proxy refuses the connection"):
            http.send(Request("GET", "https://news.example/"))


# --- TLS -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for news.example that nobody trusts."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    pem = folder / "server.pem"
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=news.example", "-addext", "subjectAltName=DNS:news.example"]
    subprocess.run(
        [*command, *names, "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True
    )
    pem.write_bytes((folder / "key.pem").read_bytes() + (folder / "cert.pem").read_bytes())
    return pem


@pytest.mark.parametrize(
    ("host", "trusted", "cause"),
    [
        ("news.example", True, ""),
        ("news.example", False, "signed by nobody known"),
        ("other.example", True, "for another host"),
    ],
)
def test_a_certificate_is_verified_and_its_fault_named(certificate: Path, host: str, trusted: bool, cause: str) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    with serving(ok, tls=context) as server:
        http = client(resolve=server.pin(host), **({"ca_file": str(certificate)} if trusted else {}))
        url = server.url("/", host).replace("http:", "https:")
        if not cause:
            assert http.send(Request("GET", url)).body == b"fine"
            return
        with pytest.raises(HttpError, match=cause) as caught:
            http.send(Request("GET", url))
    assert (caught.value.sent, caught.value.transient, len(server.asked)) == (False, False, 0)


# --- many requests -------------------------------------------------------------------------------------------------


def names(count: int) -> list[str]:
    return [f"host{number}.example" for number in range(count)]


def body_of(answer: Response | HttpError) -> bytes:
    assert isinstance(answer, Response), answer
    return answer.body


def test_many_requests_are_answered_each_under_its_position() -> None:
    with serving(lambda asked: reply("200 OK", body=asked.path.encode())) as server:
        http = client(resolve=server.pin(*names(20)))
        requests = [Request("GET", server.url(f"/{n}", host)) for n, host in enumerate(names(20))]
        answers = dict(http.send_many(requests))
    assert {position: body_of(answer) for position, answer in answers.items()} == {n: b"/%d" % n for n in range(20)}


def test_different_hosts_are_asked_at_once_but_never_more_than_allowed() -> None:
    with serving(lambda _: [0.1, reply("200 OK")]) as server:
        http = client(resolve=server.pin(*names(12)))
        began = time.monotonic()
        answers = list(http.send_many([Request("GET", server.url("/", host)) for host in names(12)], parallel=4))
        took = time.monotonic() - began
    assert len(answers) == 12
    assert server.most_open == 4
    assert took < 1.0


def test_a_host_is_asked_in_order_one_at_a_time_with_a_pause_and_holds_up_nobody() -> None:
    with serving(lambda _: reply("200 OK")) as server:
        http = client(resolve=server.pin("slow.example", "fast.example"))
        hosts = ["slow.example"] * 3 + ["fast.example"]
        requests = [Request("GET", server.url(f"/{n}", host)) for n, host in enumerate(hosts)]
        order = [n for n, _ in http.send_many(requests, pause=timedelta(seconds=0.2), jitter=lambda: 0.5)]
    assert order in ([0, 3, 1, 2], [3, 0, 1, 2])
    times = [asked.at for asked in server.asked if "slow" in asked.headers["host"]]
    assert all(later - earlier >= 0.19 for earlier, later in itertools.pairwise(times))


def test_a_caller_who_takes_long_over_an_answer_does_not_hold_the_next_requests_up() -> None:
    with serving(lambda _: [0.05, reply("200 OK")]) as server:
        http = client(resolve=server.pin(*names(6)))
        requests = [Request("GET", server.url("/", host)) for host in names(6)]
        handled = []
        for _ in http.send_many(requests, parallel=3):
            time.sleep(0.08)
            handled.append(time.monotonic())
    assert server.asked[3].at < handled[2]


def test_the_caller_sees_an_answer_before_the_next_request_to_its_host_starts() -> None:
    with serving(ok) as server:
        seen: list[int] = []
        requests = [Request("GET", server.url(f"/{n}")) for n in range(3)]
        for position, _ in client().send_many(requests, veto=lambda _: HttpError("Stopped") if seen else None):
            seen.append(position)
    assert (len(server.asked), seen) == (1, [0, 1, 2])


def test_one_hanging_server_holds_up_nobody_and_the_batch_ends_on_time() -> None:
    with serving(lambda asked: [5.0] if "host0" in asked.headers["host"] else reply("200 OK")) as server:
        http = client(resolve=server.pin(*names(5)))
        requests = [Request("GET", server.url("/", host)) for host in (*names(5), "host0.example")]
        began = time.monotonic()
        answers = dict(http.send_many(requests, deadline=timedelta(seconds=0.5)))
        took = time.monotonic() - began
    assert [body_of(answers[n]) for n in range(1, 5)] == [b""] * 4
    assert isinstance(answers[0], DeadlineExceeded)
    assert isinstance(answers[5], DeadlineExceeded)
    assert "before its turn" in str(answers[5])
    assert took < 1.5


def test_errors_are_values_among_the_answers() -> None:
    with serving(ok) as server:
        urls = [server.url(), "http://127.0.0.1:1/", "file:///etc/passwd", server.url("/x")]
        answers = dict(client().send_many([Request("GET", url) for url in urls]))
    assert [type(answers[n]).__name__ for n in range(4)] == ["Response", "HttpError", "AddressRefused", "Response"]


def test_a_request_can_be_stopped_right_before_its_turn() -> None:
    stop = HttpError("Not asked", cause="its host asked us to wait")
    with serving(ok) as server:
        requests = [Request("GET", server.url(f"/{n}")) for n in range(3)]
        answers = dict(client().send_many(requests, veto=lambda request: stop if request.url.endswith("1") else None))
    assert answers[1] is stop
    assert [asked.path for asked in server.asked] == ["/0", "/2"]


def test_a_batch_that_is_given_up_leaves_nothing_behind() -> None:
    with serving(lambda asked: ok(asked) if asked.path == "/0" else [3.0]) as server:
        http = client(resolve=server.pin(*names(4)))
        requests = [Request("GET", server.url(f"/{n}", host)) for n, host in enumerate(names(4))]
        batch = http.send_many(requests)
        assert next(batch)[0] == 0
        assert isinstance(batch, Generator)
        batch.close()
        assert http.send(Request("GET", server.url("/0", "host1.example"))).status == 200


def test_a_program_that_ends_in_the_middle_of_a_batch_ends() -> None:
    program = (
        "import sys\nfrom news_digest.http import CurlHttp\nfrom news_digest.ports import Request\n"
        "http = CurlHttp('x', allow_private_hosts=True)\n"
        "batch = http.send_many([Request('GET', url) for url in sys.argv[1:]])\nnext(batch)\n"
    )
    with serving(lambda asked: ok(asked) if asked.path == "/0" else [3.0]) as server:
        urls = [server.url("/0"), server.url("/1", "localhost")]
        ended = subprocess.run([sys.executable, "-c", program, *urls], timeout=20, check=False, capture_output=True)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_an_empty_batch_is_over_at_once() -> None:
    assert list(client().send_many([])) == []


def test_one_client_serves_many_threads() -> None:
    with serving(lambda asked: reply("200 OK", body=asked.path.encode())) as server, client() as http:
        bodies: list[bytes] = []

        def ask(number: int) -> None:
            bodies.extend(http.send(Request("GET", server.url(f"/{number}-{turn}"))).body for turn in range(5))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(bodies) == sorted(b"/%d-%d" % (number, turn) for number in range(8) for turn in range(5))


def test_a_closed_client_can_be_used_again() -> None:
    with serving(ok) as server:
        http = client()
        http.send(Request("GET", server.url()))
        http.close()
        assert http.send(Request("GET", server.url())).status == 200
