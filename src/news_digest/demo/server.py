"""Serve the sample feeds over real HTTP on this machine, and one address where a feed is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from news_digest.demo.dialects import OUTLETS
from news_digest.model import FeedSource

__all__ = ["DemoFeeds", "serve"]

MISSING = "/quiet-gazette.xml"
"""A feed that is configured and answers 404, so that a demonstration shows how a failure is named."""


@dataclass(frozen=True, slots=True)
class DemoFeeds:
    """The sample feeds while they are served; the last source answers 404. They need ``allow_private_hosts``."""

    sources: tuple[FeedSource, ...]

    @property
    def urls(self) -> tuple[str, ...]:
        """Return the feeds' addresses."""
        return tuple(source.url for source in self.sources)


@contextmanager
def serve(now: datetime) -> Iterator[DemoFeeds]:
    """Serve the feeds on this machine until the block ends; their stories are dated relative to ``now``.

    Each outlet has a host of its own, as in life: feeds of one host are asked one after the other, with a pause.
    """
    bodies = {outlet.path: (outlet.content_type, outlet.write(now).encode()) for outlet in OUTLETS}

    class Handler(_FeedHandler):
        feeds = bodies

    with ExitStack() as servers:
        missing, *hosts = [servers.enter_context(_serving(number, Handler)) for number in range(1, len(OUTLETS) + 2)]
        sources = [FeedSource(host + outlet.path, outlet.name) for host, outlet in zip(hosts, OUTLETS, strict=True)]
        yield DemoFeeds((*sources, FeedSource(missing + MISSING, "The Quiet Gazette")))


@contextmanager
def _serving(number: int, handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve on a free port of a loopback address, and yield where."""
    with _bound(number, handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://{server.server_address[0]!s}:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def _bound(number: int, handler: type[BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    """Return a server at 127.0.0.NUMBER; systems other than Linux have but the first of these addresses."""
    try:
        return ThreadingHTTPServer((f"127.0.0.{number}", 0), handler)
    except OSError:
        return ThreadingHTTPServer(("127.0.0.1", 0), handler)


class _FeedHandler(BaseHTTPRequestHandler):
    """Answers with a feed, or 404; says nothing on stderr."""

    feeds: dict[str, tuple[str, bytes]]

    def do_GET(self) -> None:
        content_type, body = self.feeds.get(self.path, ("text/plain", b"no feed here\n"))
        self.send_response(200 if self.path in self.feeds else 404)
        self.send_header("Content-Type", f"{content_type}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - the standard library's signature
        """Keep quiet: progress is shown by whoever runs the demonstration."""
