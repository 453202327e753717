"""One libcurl handle: a request goes in, the answer comes out."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pycurl

from news_digest.errors import HttpError
from news_digest.http import failures
from news_digest.http.chain import Chain
from news_digest.http.coding import decode
from news_digest.http.guard import host_refusal, refusal
from news_digest.http.proxies import Proxies
from news_digest.ports import Request, Response

__all__ = ["Exchange", "Settings"]

_CONNECT_SECONDS = 10
"""A host that does not answer a connection by then is down; waiting longer only holds a place."""
_LEAST_MILLISECONDS = 1
"""Zero would mean no limit to libcurl."""
_ANSWERED_WITHOUT_BODY = 300
"""From this status on the head says what there is to know: a body that breaks off or cannot be decoded is no matter."""
_JOINTS = {"set-cookie": "\n"}
_ONCE = frozenset({"date", "etag", "last-modified", "location", "retry-after"})
"""Headers that have one value; some proxies add theirs, and the first one is the site's."""
_BLANK = (b"\r\n", b"\n")


_Socket: TypeAlias = Any
"""A socket, or libcurl's number for none."""

Pairs: TypeAlias = tuple[tuple[str, str], ...]
"""Header names and values."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What all requests of a client have in common."""

    user_agent: str
    codings: str
    proxies: Proxies
    ca_file: str
    resolve: tuple[str, ...]


class Exchange:
    """A handle with its options set once; chunks and header lines are appended by C code, which halves the cost.

    With ``keeps_names`` what names resolve to is kept as long as the handles live: right for a batch. Otherwise libcurl
    goes over all that it keeps at each request, and every feed costs more than the one before.
    """

    def __init__(self, settings: Settings, *, guarded: bool, keeps_names: bool = False) -> None:
        self._settings = settings
        self._guarded = guarded
        self._keeps_names = keeps_names
        self._defaults = {
            "user-agent": ("User-Agent", settings.user_agent),
            "accept": ("Accept", "*/*"),
            "accept-encoding": ("Accept-Encoding", settings.codings),
        }
        self._chunks: list[bytes] = []
        self._lines: list[bytes] = []
        self._refusal: tuple[str, str] | None = None
        self._proxy: str
        self._pairs: Pairs | None
        """The headers that the handle has; most requests of a batch have the same."""
        self._plain: bool
        """Whether the handle is left as for a GET without a body."""
        self._socket: Any = None
        self.curl: Any = pycurl.Curl()
        self._set_up()

    def _set_up(self) -> None:
        curl, settings = self.curl, self._settings
        self._plain = True
        self._proxy = ""
        self._pairs = None
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        curl.setopt(pycurl.FOLLOWLOCATION, 0)
        curl.setopt(pycurl.CONNECTTIMEOUT, _CONNECT_SECONDS)
        curl.setopt(pycurl.PROXY, "")  # libcurl would read the environment for it,
        curl.setopt(pycurl.NOPROXY, "")  # and for this even where a proxy is set
        curl.setopt(pycurl.WRITEFUNCTION, self._chunks.append)
        curl.setopt(pycurl.HEADERFUNCTION, self._lines.append)
        if self._keeps_names:
            curl.setopt(pycurl.DNS_CACHE_TIMEOUT, -1)
        if settings.ca_file:
            curl.setopt(pycurl.CAINFO, settings.ca_file)
        else:
            curl.setopt(pycurl.SSL_OPTIONS, pycurl.SSLOPT_NATIVE_CA)
        if settings.resolve:
            curl.setopt(pycurl.RESOLVE, list(settings.resolve))
        if self._guarded:
            curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)

    def prepare(self, request: Request, chain: Chain, seconds_left: float) -> None:
        """Load the next request of a chain; raises ``AddressRefused``."""
        curl, target = self.curl, chain.target
        if self._guarded:
            kind = host_refusal(target.host)
            if kind:
                raise failures.refused(target.url, target.host, kind)
        if not self._plain:
            curl.reset()
            self._set_up()
        self._refusal = None
        proxy = self._settings.proxies.choose(target.scheme, target.host, target.port)
        if proxy != self._proxy:
            curl.setopt(pycurl.PROXY, proxy)
            self._proxy = proxy
        curl.setopt(pycurl.URL, target.url)
        pairs = chain.headers()
        if chain.method != "GET" or chain.body is not None:
            self._set_method(chain.method, chain.body, pairs)
        elif pairs != self._pairs:
            curl.setopt(pycurl.HTTPHEADER, self._header_lines(pairs))
            self._pairs = pairs
        curl.setopt(pycurl.TIMEOUT_MS, max(_LEAST_MILLISECONDS, int(seconds_left * 1000)))
        curl.setopt(pycurl.MAXFILESIZE_LARGE, max(1, request.max_bytes))

    def finish(self, request: Request, chain: Chain, code: int, text: str) -> Response | None:
        """Return the answer that has landed, None where the chain goes on; raises :class:`HttpError`."""
        body, headers = b"".join(self._chunks), _read_head(self._lines)
        status = self.curl.getinfo(pycurl.RESPONSE_CODE)
        answered = status >= _ANSWERED_WITHOUT_BODY and bool(self._lines) and self._lines[-1] in _BLANK
        self._chunks.clear()
        self._lines.clear()
        self._drop_socket()
        url = chain.target.url
        if code and not answered:
            if self._refusal and code == pycurl.E_COULDNT_CONNECT:
                raise failures.refused(url, *self._refusal)
            fault = failures.Fault(code, text, self.curl.getinfo(pycurl.OS_ERRNO))
            raise failures.failure(fault, url=url, deadline=request.deadline, cap=request.max_bytes)
        if chain.follow(status, headers.get("location", ""), headers.get("set-cookie", "").split("\n")):
            return None
        label = headers.get("content-encoding", "")
        if body and (label or request.guarded):
            try:
                body = decode(body, label, cap=request.max_bytes, url=url, sniff=request.guarded)
            except HttpError:
                if not answered:
                    raise
                body = b""
        return Response(status, url, headers, body, chain.moved_to, chain.hops)

    def close(self) -> None:
        """Close the handle, whatever it is doing."""
        self.curl.close()
        self._drop_socket()

    def _drop_socket(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _open_socket(self, _purpose: int, address: tuple[int, int, int, tuple[Any, ...]]) -> _Socket:
        """Judge the address that libcurl is about to connect to; the operator's own proxy is exempt."""
        family, kind, protocol, endpoint = address
        if not self._proxy:
            found = refusal(str(endpoint[0]))
            if found:
                self._refusal = str(endpoint[0]), found
                return pycurl.SOCKET_BAD
        try:
            # libcurl works on a duplicate; the plain C type spares the half of what socket.socket costs.
            opened = socket.SocketType(family, kind, protocol)
        except OSError:
            return pycurl.SOCKET_BAD
        self._drop_socket()
        self._socket = opened
        return opened

    def _header_lines(self, pairs: Pairs) -> list[bytes]:
        named = self._defaults | {name.lower(): (name, value) for name, value in pairs}
        return [_encode(f"{name}: {value}" if value else f"{name};") for name, value in named.values()]

    def _set_method(self, method: str, body: bytes | None, pairs: Pairs) -> None:
        """Set another method than a plain GET, and header lines that keep libcurl from adding its own."""
        self._plain = False
        lines = self._header_lines(pairs)
        if method == "HEAD":
            self.curl.setopt(pycurl.NOBODY, 1)
        else:
            # What changes something is not sent over a connection that may be dead: libcurl would send it twice.
            self.curl.setopt(pycurl.FRESH_CONNECT, 1)
            self.curl.setopt(pycurl.CUSTOMREQUEST, method)
            if body is not None or method in {"POST", "PUT", "PATCH"}:
                self.curl.setopt(pycurl.POSTFIELDS, body or b"")
                lines.append(b"Expect:")
                if not any(name.lower() == "content-type" for name, _ in pairs):
                    lines.append(b"Content-Type:")
        self.curl.setopt(pycurl.HTTPHEADER, lines)


def _read_head(lines: Sequence[bytes]) -> dict[str, str]:
    """Return the headers of the last answer (a proxy's and interim ones stand before it), names in lower case.

    Repeated headers are joined by a comma, ``Set-Cookie`` by a line feed; of what may come once the first counts.
    Latin-1 keeps every byte, so that a validator goes back exactly as it came.
    """
    begins = 1
    if sum(map(lines.count, _BLANK)) > 1:
        heads = (n for n in range(1, len(lines)) if lines[n - 1] in _BLANK and lines[n][:5].upper() == b"HTTP/")
        begins += max(heads, default=0)
    headers: dict[str, str] = {}
    for line in b"".join(lines[begins:]).decode("latin-1").split("\n"):
        name, colon, value = line.partition(":")
        if not colon and not line.strip():
            break  # what follows stood after the body
        if colon:
            name, value = name.strip().lower(), value.strip()
            if name in _ONCE and name in headers:
                continue
            headers[name] = f"{headers[name]}{_JOINTS.get(name, ', ')}{value}" if name in headers else value
    return headers


def _encode(line: str) -> bytes:
    try:
        return line.encode("latin-1")
    except UnicodeEncodeError:
        return line.encode(errors="surrogateescape")  # a variable's bytes that are no UTF-8, as they are
