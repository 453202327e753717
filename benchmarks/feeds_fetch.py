"""Fetching alone: our client beside bare libcurl and the standard library, from loopback, each feed its own address.

    python benchmarks/feeds_fetch.py [--rounds 5] [--feeds 500] [--latency 0.3]

One server process answers on every address of 127.0.0.0/8, at once or after a latency; every client runs in a process
of its own, one after the other and round by round, so that a busy machine slows all of them alike. CPU time is that of
the client's process (user and system); figures are medians over the rounds, ratios medians of the rounds' ratios. The
limit with latency is what concurrency sets: connections / latency.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import io
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from statistics import median

import pycurl

from news_digest.http import CurlHttp, exchange, guard
from news_digest.ports import Request, Response

CONNECTIONS = 50
ITEM = "<item><title>Story {n}</title><link>https://feed.example/{n}</link><guid>{n}</guid><description>{text}"
TEXT = "One sentence of a made-up story, as long as most of them are. " * 7


# --- the server ----------------------------------------------------------------------------------------------------


def feed() -> bytes:
    """Return a feed of 17.8 kB, the mean of 500 small real ones."""
    items = "".join(f"{ITEM.format(n=n, text=TEXT)}</description></item>" for n in range(32))
    head = '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>Feed</title>'
    return f"{head}{items}</channel></rss>".encode()


async def serve(latency: float) -> None:
    """Answer every request with a feed, ``latency`` seconds after it came; the port is printed."""
    body = feed()
    head = (
        "HTTP/1.1 200 OK\r\nServer: bench\r\nDate: Thu, 20 Aug 2026 08:00:00 GMT\r\n"
        "Content-Type: application/rss+xml; charset=utf-8\r\nLast-Modified: Thu, 20 Aug 2026 07:00:00 GMT\r\n"
        'ETag: "bench"\r\nCache-Control: no-cache\r\n'
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    answer = head.encode() + body
    loop = asyncio.get_running_loop()

    class Answering(asyncio.Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            self.transport = transport

        def data_received(self, data: bytes) -> None:
            if not data.endswith(b"\r\n\r\n"):
                return
            if latency:
                loop.call_later(latency, self.answer)
            else:
                self.answer()

        def answer(self) -> None:
            if not self.transport.is_closing():
                self.transport.write(answer)
                self.transport.close()

    server = await loop.create_server(Answering, "0.0.0.0", 0, backlog=1000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def serving(latency: float) -> Iterator[int]:
    """Run the server in a process of its own until the block ends; give its port."""
    command = [sys.executable, __file__, "--serve", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


# --- the clients: each reads all addresses and returns how many bytes came -----------------------------------------


def ours(urls: list[str], *, judged: bool = False) -> int:
    """Fetch with the project's client; with ``judged`` every socket is judged, and loopback let through."""
    if judged:
        vars(exchange).update(host_refusal=lambda _host: "", refusal=lambda address: guard.refusal(address)[:0])
    client = CurlHttp("news-digest-benchmark", allow_private_hosts=not judged)
    requests = [Request("GET", url, guarded=True) for url in urls]
    answers = client.send_many(requests, parallel=CONNECTIONS)
    return sum(len(answer.body) for _, answer in answers if isinstance(answer, Response))


def guarded(urls: list[str]) -> int:
    """Fetch with the project's client and its address guard."""
    return ours(urls, judged=True)


def bare(urls: list[str]) -> int:
    """Fetch with libcurl and nothing around it: no redirects, no decoding, no rule but the number of connections."""
    multi, waiting, size = pycurl.CurlMulti(), iter(urls), 0
    free = [pycurl.Curl() for _ in range(CONNECTIONS)]
    bodies: dict[pycurl.Curl, io.BytesIO] = {}
    for curl in free:
        curl.setopt(pycurl.NOSIGNAL, 1)
    while True:
        while free and (url := next(waiting, None)):
            curl = free.pop()
            bodies[curl] = io.BytesIO()
            curl.setopt(pycurl.URL, url)
            curl.setopt(pycurl.WRITEDATA, bodies[curl])
            multi.add_handle(curl)
        if not bodies:
            return size
        multi.perform()
        _, arrived, failed = multi.info_read()
        assert not failed, failed
        for curl in arrived:
            assert curl.getinfo(pycurl.RESPONSE_CODE) == 200
            size += len(bodies.pop(curl).getvalue())
            multi.remove_handle(curl)
            free.append(curl)
        if not arrived:
            multi.select(1.0)


def stdlib(urls: list[str]) -> int:
    """Fetch with http.client in threads, as the best client without a dependency would."""

    def fetch(url: str) -> int:
        host, _, path = url.removeprefix("http://").partition("/")
        connection = http.client.HTTPConnection(host, timeout=30)
        try:
            connection.request("GET", f"/{path}")
            return len(connection.getresponse().read())
        finally:
            connection.close()

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return sum(pool.map(fetch, urls))


CLIENTS: dict[str, Callable[[list[str]], int]] = {"bare": bare, "ours": ours, "guarded": guarded, "stdlib": stdlib}


# --- measuring -----------------------------------------------------------------------------------------------------


def measure(name: str, port: int, feeds: int) -> dict[str, float]:
    """Run a client in a process of its own."""
    command = [sys.executable, __file__, "--client", name, "--port", str(port), "--feeds", str(feeds)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def run_client(name: str, port: int, feeds: int) -> None:
    """Fetch all feeds once and print what it took; a few requests before warm the imports up."""
    urls = [f"http://127.{1 + n // 62500}.{n // 250 % 250}.{1 + n % 250}:{port}/feed-{n}.xml" for n in range(feeds)]
    CLIENTS[name](urls[:5])
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    size = CLIENTS[name](urls)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
    assert size == feeds * len(feed()), size
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"wall": took, "cpu_us": cpu / feeds * 1e6, "rss_mb": after.ru_maxrss / 1024}))


def main() -> None:
    """Measure everything and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--feeds", type=int, default=500)
    parser.add_argument("--latency", type=float, default=0.3)
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--client", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        asyncio.run(serve(options.serve))
    elif options.client:
        run_client(options.client, options.port, options.feeds)
    else:
        report(options.rounds, options.feeds, options.latency)


def report(rounds: int, feeds: int, latency: float) -> None:
    """Print three tables: without latency, with it, and ten times as many feeds."""
    with serving(0) as port:
        runs = [{name: measure(name, port, feeds) for name in CLIENTS} for _ in range(rounds)]
        sizes = [(name, count) for name in ("bare", "ours") for count in (feeds, feeds * 10)]
        many = [{size: measure(size[0], port, size[1]) for size in sizes} for _ in range(min(rounds, 3))]
    print(f"no latency, {feeds} feeds, {CONNECTIONS} connections, {rounds} rounds")
    print(f"{'client':10}{'feeds/s':>10}{'CPU us/feed':>13}{'x bare':>8}{'peak MB':>9}")
    for name in CLIENTS:
        ratio = median(run[name]["cpu_us"] / run["bare"]["cpu_us"] for run in runs)
        wall, cpu, rss = (median(run[name][key] for run in runs) for key in ("wall", "cpu_us", "rss_mb"))
        print(f"{name:10}{feeds / wall:>10.0f}{cpu:>13.0f}{ratio:>8.2f}{rss:>9.1f}")

    limit = CONNECTIONS / latency
    with serving(latency) as port:
        slow = [{name: measure(name, port, feeds) for name in CLIENTS} for _ in range(min(rounds, 3))]
    print(f"\n{latency * 1000:.0f} ms of latency: the limit is {limit:.1f} feeds/s")
    print(f"{'client':10}{'feeds/s':>10}{'of limit':>10}")
    for name in CLIENTS:
        speed = feeds / median(run[name]["wall"] for run in slow)
        print(f"{name:10}{speed:>10.1f}{speed / limit:>10.1%}")

    print("\nten times as many feeds, no latency")
    print(f"{'client':10}{'feeds':>7}{'us/feed wall':>14}{'CPU us/feed':>13}{'peak MB':>9}")
    for name, count in sizes:
        wall, cpu, rss = (median(run[name, count][key] for run in many) for key in ("wall", "cpu_us", "rss_mb"))
        print(f"{name:10}{count:>7}{wall / count * 1e6:>14.0f}{cpu:>13.0f}{rss:>9.1f}")


if __name__ == "__main__":
    main()
