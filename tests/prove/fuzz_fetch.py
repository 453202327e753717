"""Fuzz what becomes of an answer: a feed or a failure with a reason; see ``fuzzing`` for how to run it.

Everything runs as in life, libcurl and the cache included, but for the network: a connection is a socket that holds the
answer already, one packet for each chunk. An input is the answers to the requests of two runs, and what stands in the
cache before the second. Of an answer that does not begin with a status line the header lines are its head, wherever they
stand, so that most inputs get as far as a body.
"""

from __future__ import annotations

import gzip
import re
import socket
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pycurl
from tests.prove.fuzzing import fuzz, instrumented

with instrumented():
    from news_digest.feeds.cache import FeedCache
    from news_digest.feeds.manners import Manners
    from news_digest.feeds.read import FeedReader
    from news_digest.http.chain import Chain
    from news_digest.http.coding import accepted_codings
    from news_digest.http.exchange import Exchange, Settings
    from news_digest.http.proxies import Proxies

from news_digest.model import FeedSource
from news_digest.ports import Request, Response
from news_digest.testing import FakeClock

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
CAP = 100_000
PACKET = 8_000
"""Bytes of one packet at most: libcurl reads that many at once, and a socket holds some."""
NEXT_CHUNK, NEXT_ANSWER, CACHE = b"\0chunk\0", b"\0answer\0", b"\0cache\0"
SOURCE = FeedSource("http://news.example/feed", headers=(("Authorization", "s3cret"),))
FEED = b'<rss version="2.0"><channel><title>Wire</title><item><title>A</title><guid>1</guid></item></channel></rss>'
BOMB = b"<" * 5_000_000
GZIP, DEFLATE = gzip.compress(FEED), zlib.compress(FEED)
HEADER_LINE = re.compile(rb"([!-9;-~]{1,30}: [^\r\n]*\r\n)")
STATUS = re.compile(rb"Status: ([0-9]+)")
HEADERS = (
    *("Content-Encoding: gzip", "Content-Encoding: deflate, gzip", "Content-Encoding: br", "Content-Encoding: zstd"),
    *("Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked", "Content-Length: 103", "Content-Length: -1"),
    *("Content-Type: text/xml; charset=utf-16", "Content-Type: text/html", "Content-Type: x; charset=idna"),
    *('ETag: W/"a\xe9"', "Last-Modified: Tue, 01 Dec 2026 10:00:00 GMT", "Last-Modified: Tue, 99 Foo 9999"),
    *("Cache-Control: max-age=600", "Cache-Control: max-age=-1", "Retry-After: 5", "Retry-After: 1e9", "Date: x"),
    *("Retry-After: Fri, 31 Dec 9999 23:59:59 -2359", "Date: Mon, 01 Jan 0001 00:00:00 +2359"),
    *("Location: /a", "Location: //[/", "Location: http://\xff\xfe:0/", "Location: file:///etc/passwd", "Location: ?"),
    *("Location: http://user:pw@other.example/", "Location: https://x.example/", "Location: http://xn--/"),
    *("Set-Cookie: a=b; Domain=.example", "Set-Cookie: =;;", "CF-Mitigated: challenge", " folded: yes", "no colon"),
)
STATUSES = (206, 301, 302, 304, 308, 403, 410, 429, 503)
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(FEED), FEED)
PIECES = (
    *(NEXT_CHUNK, NEXT_ANSWER, CACHE, b"\r\n\r\n", b"\r\n", b"\n", b"\0", b"\xff", b" ", b":"),
    *(b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 302\r\n", b"HTTP/2 999 \r\n", b"HTTP/1.1 103 Early\r\n\r\n"),
    *(b"Status: %d\r\n" % status for status in STATUSES),
    *(f"{header}\r\n".encode("latin-1") for header in HEADERS),
    *(FEED, FEED.decode().encode("utf-16"), b"<html><title>Just a moment...", GZIP, DEFLATE, DEFLATE[2:-4], GZIP[:50]),
    *(gzip.compress(GZIP), gzip.compress(BOMB), zlib.compress(BOMB), gzip.compress(gzip.compress(BOMB))),
    *(b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\x8b\x02\x80", CHUNKED, b"0\r\n\r\n", b"ffffffffffffffff\r\n"),
    *(b'{"version": 1, "url": "http://news.example/feed"', b', "etag": "a\\ud800"', b', "full_at": 1796126400', b"}\n"),
    *(b', "not_before": 1e300', b', "fresh_until": 253402300799', b', "failures": -1', b', "known": null', b"[" * 3000),
)


class Recorded:
    """The port ``Http`` over answers that are there already."""

    def __init__(self) -> None:
        self.answers: Iterator[bytes] = iter(())
        self._open: list[socket.socket] = []
        self._exchange = Exchange(Settings("fuzz", accepted_codings(), Proxies(), "", ()), guarded=False)
        curl = self._exchange.curl
        curl.setopt(pycurl.OPENSOCKETFUNCTION, self._connect)
        curl.setopt(pycurl.SOCKOPTFUNCTION, lambda *_: pycurl.SOCKOPT_ALREADY_CONNECTED)
        curl.setopt(pycurl.RESOLVE, ["*:80:192.0.2.1", "*:443:192.0.2.1"])
        curl.setopt(pycurl.FORBID_REUSE, 1)

    def _connect(self, _purpose: int, _address: Any) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._open += ours, theirs
        theirs.setblocking(False)
        with suppress(BlockingIOError):  # what no longer fits is a connection that breaks off
            for chunk in whole(next(self.answers, b"")).split(NEXT_CHUNK):
                for start in range(0, len(chunk), PACKET):
                    theirs.send(chunk[start : start + PACKET])
        theirs.shutdown(socket.SHUT_WR)
        return ours

    def send(self, request: Request) -> Response:
        """Return the answer of a chain; raises ``HttpError``."""
        chain = Chain(request)
        while True:
            self._exchange.prepare(request, chain, 5.0)
            code, text = 0, ""
            try:
                self._exchange.curl.perform()
            except pycurl.error as error:
                code, text = error.args
            response = self._exchange.finish(request, chain, code, text)
            while self._open:
                self._open.pop().close()
            if response is not None:
                assert len(response.body) <= CAP
                return response


def whole(answer: bytes) -> bytes:
    """Return an answer with a head."""
    if not answer or answer.startswith(b"HTTP/"):
        return answer
    parts = HEADER_LINE.split(answer)
    head = b"".join(parts[1::2])
    status = STATUS.search(head)
    return b"HTTP/1.1 %s X\r\n%s\r\n%s" % (status[1] if status else b"200", head, b"".join(parts[::2]))


FOLDER = Path(mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
HTTP = Recorded()
CLOCK = FakeClock(NOW)
READER = FeedReader(HTTP, FeedCache(FOLDER), CLOCK, CLOCK.sleep, manners=Manners(max_bytes=CAP, attempts=2))


def one_input(data: bytes) -> None:
    """Read a feed in two runs; raises what no input may raise."""
    CLOCK.now = NOW
    for file in FOLDER.iterdir():
        file.unlink()
    answers, damaged, kept = data.partition(CACHE)
    HTTP.answers = iter(answers.split(NEXT_ANSWER))
    for _ in range(2):
        [result] = READER.read([SOURCE], timedelta(seconds=60))
        failure = result.failure
        if failure:
            assert failure.reason.isprintable()
            assert failure.hint
            assert "inside news-digest" not in failure.reason
        assert "s3cret" not in f"{result.failure} {result.notices} {result.moved_to}"
        for file in FOLDER.iterdir() if damaged else ():
            file.write_bytes(kept)
        CLOCK.now += timedelta(hours=1)


if __name__ == "__main__":
    fuzz(one_input, PIECES)
