"""Real servers on loopback for tests: one that sends exactly the bytes it is told to, and a replayer of exchanges."""

from __future__ import annotations

import base64
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

LEGAL_HEAD = re.compile(r"^([A-Z]+) (\S+) HTTP/1\.[01]$")


@dataclass(frozen=True)
class Asked:
    """A request as a server saw it; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float


@dataclass(frozen=True)
class Drip:
    """Bytes that are sent a few at a time."""

    data: bytes
    size: int
    pause: float


Part = bytes | Drip | float
"""What a server does next: send, drip, or wait so many seconds."""


def reply(status: str, *headers: str, body: bytes = b"", length: bool = True) -> bytes:
    """Return the bytes of an answer."""
    lines = [f"HTTP/1.1 {status}", *headers, *([f"Content-Length: {len(body)}"] if length else []), "Connection: close"]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


@dataclass
class Server:
    """A server that answers with what a function returns; it remembers what it was asked."""

    answer: Callable[[Asked], bytes | Iterable[Part]]
    port: int = 0
    tls: ssl.SSLContext | None = None
    asked: list[Asked] = field(default_factory=list)
    open_now: int = 0
    most_open: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """Return the address of a path."""
        return f"http://{host}:{self.port}{path}"

    def pin(self, *names: str) -> list[str]:
        """Return what makes names resolve to this server, for ``CurlHttp(resolve=...)``."""
        return [f"{name}:{self.port}:127.0.0.1" for name in names]

    def serve(self, connection: socket.socket) -> None:
        """Answer one connection."""
        if self.tls:
            try:
                connection = self.tls.wrap_socket(connection, server_side=True)
            except OSError:
                connection.close()
                return
        with connection, suppress(OSError):  # a client may have seen enough
            with self._counted():
                asked = _read_request(connection)
                if asked is None:
                    return
                self.asked.append(asked)
                parts = self.answer(asked)
                *first, last = (parts,) if isinstance(parts, bytes) else parts or (b"",)
                for part in first:
                    _perform(connection, part)
            _perform(connection, last)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a connection until its last part: whoever has that may ask again before this thread goes on."""
        with self.lock:
            self.open_now += 1
            self.most_open = max(self.most_open, self.open_now)
        try:
            yield
        finally:
            with self.lock:
                self.open_now -= 1


@contextmanager
def serving(
    answer: Callable[[Asked], bytes | Iterable[Part]], *, tls: ssl.SSLContext | None = None
) -> Iterator[Server]:
    """Serve on a free port of 127.0.0.1 until the block ends."""
    server = Server(answer, tls=tls)
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        server.port = listener.getsockname()[1]
        thread = threading.Thread(target=_accept, args=(listener, server), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(2)


def _accept(listener: socket.socket, server: Server) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=server.serve, args=(connection,), daemon=True).start()


def _read_request(connection: socket.socket) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        try:
            chunk = connection.recv(65536)
        except OSError:
            return None
        if not chunk:
            return None
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    match = LEGAL_HEAD.match(first)
    assert match, first
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    return Asked(match[1], match[2], headers, body, time.monotonic())


def _perform(connection: socket.socket, part: Part) -> None:
    if isinstance(part, Drip):
        for start in range(0, len(part.data), part.size):
            connection.sendall(part.data[start : start + part.size])
            time.sleep(part.pause)
    elif isinstance(part, float):
        time.sleep(part)
    else:
        connection.sendall(part)


# --- recorded exchanges --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exchange:
    """One recorded answer and what the request must have for it."""

    path: str
    demands: dict[str, str]
    head: str
    body: bytes

    def suits(self, asked: Asked) -> bool:
        """Return whether the answer is meant for a request."""
        cookie = self.demands.get("requires_cookie")
        validator = self.demands.get("if_none_match")
        return (
            self.path == asked.path
            and (cookie is None or cookie in asked.headers.get("cookie", ""))
            and (validator is None or validator == asked.headers.get("if-none-match"))
        )

    def parts(self, port: int) -> Iterator[Part]:
        """Return what the server does; addresses of other hosts in the head lead to the same server."""
        head = re.sub(r"https?://([a-z.]+\.example)(?=[/\s])", rf"http://\1:{port}", self.head)
        if "content-length" not in head.lower() and "304" not in head.split("\n")[0]:
            head += f"\nContent-Length: {len(self.body)}"
        head += "\nConnection: close"
        yield float(self.demands.get("delay_ms", "0")) / 1000
        yield head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n"
        if "drip_bytes" in self.demands:
            yield Drip(self.body, int(self.demands["drip_bytes"]), float(self.demands["drip_ms"]) / 1000)
        else:
            yield self.body


def read_exchanges(file: Path) -> list[Exchange]:
    """Read a ``.http`` file of the corpus."""
    blocks = re.split(rb"^#! exchange ", file.read_bytes(), flags=re.MULTILINE)[1:]
    return [_read_exchange(block) for block in blocks]


def _read_exchange(block: bytes) -> Exchange:
    opening, _, rest = block.partition(b"\n")
    demands = dict(part.split("=", 1) for part in opening.decode().split())
    head, _, body = rest.partition(b"\n\n")
    marker = b"#! body-base64\n"
    if body.startswith(marker):
        body = base64.b64decode(body[len(marker) :])
    return Exchange(demands.pop("path"), demands, head.decode("latin-1"), body)


def replayer(exchanges: list[Exchange]) -> Callable[[Asked], Iterable[Part]]:
    """Return an answering function: of the exchanges that suit, the one that was used least, in their order.

    Those that demand something of the request are preferred when it has it.
    """
    uses = dict.fromkeys(range(len(exchanges)), 0)

    def answer(asked: Asked) -> Iterable[Part]:
        suiting = [number for number, exchange in enumerate(exchanges) if exchange.suits(asked)]
        if not suiting:
            return [reply("404 Not Found")]
        best = min(suiting, key=lambda n: (not _is_special(exchanges[n]), uses[n], n))
        uses[best] += 1
        return exchanges[best].parts(int(asked.headers["host"].rpartition(":")[2]))

    return answer


def _is_special(exchange: Exchange) -> bool:
    return "requires_cookie" in exchange.demands or "if_none_match" in exchange.demands
