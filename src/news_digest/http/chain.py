"""One request on its way through redirects: what is asked next, and which headers may go along.

Secrets stay with the origin that they were given for: after a redirect elsewhere only headers that say nothing about
the asker remain. The one step that counts as the same origin although it is not is from http to https on the same host.
Cookies live for one chain only, because some hosts redirect through a cookie check and back.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote, urljoin, urlsplit

from news_digest.errors import AddressRefused, HttpError, TooManyRedirects
from news_digest.ports import Request

__all__ = ["HARMLESS", "Chain", "Cookie", "Target", "read_target", "same_origin"]

_DEFAULT_PORTS = {"http": 80, "https": 443}
_PERMANENT = frozenset({301, 308})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SEE_OTHER = 303
_USUAL_URL = re.compile(r"(https?)://([a-z0-9.-]+)(?::([1-9][0-9]{0,3}|[1-5][0-9]{4}))?/[!\x24-~]*\Z")
"""An address that needs nothing done (small letters, no credentials, no fragment): most are, and it spares parsing."""
_PLAIN_URL = re.compile(r"[!-~]+\Z")
_URL_CHARACTERS = "%/:=&?~#+!$,;'@()*[]"
"""What stays as it is when an address with other characters is quoted."""
HARMLESS = frozenset(
    {"accept", "accept-encoding", "accept-language", "if-modified-since", "if-none-match", "range", "user-agent"}
)
"""Request headers that may follow a redirect to another origin."""
_BODY_HEADERS = frozenset({"content-type", "content-length", "content-encoding"})
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_HEADER_VALUE = re.compile(r"[^\0\r\n\ud800-\udc7f\udd00-\udfff]*\Z")
"""Of the surrogates only those by which Python keeps the bytes of a variable that is no UTF-8."""


@dataclass(frozen=True, slots=True)
class Target:
    """An address taken apart; ``url`` has neither credentials nor fragment."""

    url: str
    scheme: str
    host: str
    port: int
    credentials: str = ""
    """``user:password`` where the address had them."""


def read_target(url: str) -> Target:
    """Take an address apart; raises ``AddressRefused`` where it is no http(s), ``HttpError`` where it is broken."""
    usual = _USUAL_URL.match(url)
    if usual:
        scheme, host, port = usual.groups()
        return Target(url, scheme, host, int(port) if port else _DEFAULT_PORTS[scheme])
    url = url.strip()
    try:
        url = url if _PLAIN_URL.match(url) else _ascii_url(url)
        parts = urlsplit(url)
        host, own_port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _bad_address(url, str(error)) from error
    if parts.scheme not in _DEFAULT_PORTS:
        raise AddressRefused(
            "Refused to ask",
            thing=url[:200],
            cause="only http and https addresses are asked",
            hint="Give the address that a browser shows for the feed.",
            sent=False,
        )
    if not host:
        raise _bad_address(url, "it has no host")
    userinfo, at, netloc = parts.netloc.rpartition("@")
    clean = parts._replace(netloc=netloc, path=parts.path or "/", fragment="").geturl() if at or parts.fragment else url
    return Target(clean, parts.scheme, host, own_port or _DEFAULT_PORTS[parts.scheme], unquote(userinfo))


class Chain:
    """A request and where its redirects have led it; ``follow`` takes the next step."""

    __slots__ = (
        "_cookies",
        "_headers",
        "_permanent",
        "_request",
        "_visited",
        "body",
        "hops",
        "method",
        "moved_to",
        "target",
    )

    def __init__(self, request: Request) -> None:
        self._request = request
        self._headers = request.headers
        self._cookies: list[Cookie] = []
        self._permanent = True
        self.method = request.method.upper()
        self.body = request.body
        self.target = read_target(request.url)
        self._visited = [self.target]
        self.hops: tuple[str, ...] = ()
        self.moved_to = ""
        for name, value in request.headers:
            if not (_HEADER_NAME.match(name) and _HEADER_VALUE.match(value)):
                raise HttpError(
                    "Cannot ask",
                    thing=self.target.url,
                    cause=f"the request header {name[:40]!r} has a character that is not allowed",
                    hint="Check the header's name and the variable that its value comes from.",
                    sent=False,
                )

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Return the headers of the next request, with the chain's cookies and the address's credentials."""
        if not self._cookies and not self.target.credentials:
            return self._headers
        pairs = list(self._headers)
        if self.target.credentials and not any(name.lower() == "authorization" for name, _ in pairs):
            token = b64encode(self.target.credentials.encode()).decode("ascii")
            pairs.append(("Authorization", f"Basic {token}"))
        cookies = [cookie.pair for cookie in self._cookies if cookie.goes_to(self.target)]
        if cookies:
            own = [value for name, value in pairs if name.lower() == "cookie"]
            pairs = [pair for pair in pairs if pair[0].lower() != "cookie"]
            pairs.append(("Cookie", "; ".join(own + cookies)))
        return tuple(pairs)

    def follow(self, status: int, location: str, set_cookies: Iterable[str]) -> bool:
        """Go where an answer points; False where it is the final one.

        Raises ``TooManyRedirects``, ``AddressRefused`` (no http or https) or ``HttpError`` (no address).
        """
        if status not in _REDIRECTS or not location or not self._request.redirects:
            return False
        here = self.target
        for line in set_cookies:
            self._keep_cookie(line)
        there = self._aim(location)
        self.hops = (*self.hops, there.url)
        if len(self.hops) > self._request.redirects:
            raise self._too_many()
        self._permanent = self._permanent and status in _PERMANENT
        if self._permanent:
            self.moved_to = there.url
        if _becomes_get(self.method, status):
            self.method, self.body = "GET", None
            self._headers = tuple(pair for pair in self._headers if pair[0].lower() not in _BODY_HEADERS)
        if not same_origin(here, there):
            self._headers = tuple(pair for pair in self._headers if pair[0].lower() in HARMLESS)
        self.target = there
        self._visited.append(there)
        return True

    def _aim(self, location: str) -> Target:
        here = self.target
        try:
            url = urljoin(here.url, _text(location).strip())
        except ValueError as error:
            raise _bad_address(location, str(error)) from error
        there = read_target(url)
        if not there.credentials and same_origin(here, there):
            there = Target(there.url, there.scheme, there.host, there.port, here.credentials)
        return there

    def _keep_cookie(self, line: str) -> None:
        cookie = Cookie.read(line, self.target, [target.host for target in self._visited])
        if cookie:
            self._cookies = [kept for kept in self._cookies if kept.key != cookie.key]
            self._cookies.append(cookie)

    def _too_many(self) -> TooManyRedirects:
        loop = self.hops[-1] in [target.url for target in self._visited]
        return TooManyRedirects(
            "Gave up following redirects",
            thing=self._visited[0].url,
            cause="its redirects lead in a circle"
            if loop
            else f"it redirects more than {self._request.redirects} times",
            hint="Open the address in a browser and give the address that it ends at.",
        )


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie that a hop has set; ``domain`` covers its subdomains unless ``host_only``."""

    pair: str
    domain: str
    host_only: bool
    secure: bool

    @property
    def key(self) -> tuple[str, str]:
        """Return what a later cookie must share to take this one's place."""
        return self.pair.partition("=")[0], self.domain

    @classmethod
    def read(cls, line: str, target: Target, visited: Iterable[str]) -> Cookie | None:
        """Read a ``Set-Cookie`` line; None where the host may not set it.

        A host sets cookies for itself and for the domains above it, as in RFC 6265, and for hosts that the same chain
        has visited: gates that send the client back with a cookie for the site rely on it, and nothing of ours leaks.
        """
        pair, *attributes = (part.strip() for part in line.split(";"))
        named = {name.strip().lower(): value.strip() for name, _, value in (a.partition("=") for a in attributes)}
        domain = named.get("domain", "").lstrip(".").lower()
        if "=" not in pair or (domain and "." not in domain):
            return None
        cookie = cls(pair, domain or target.host, host_only=not domain, secure="secure" in named)
        allowed = any(_is_below(host, cookie.domain) for host in (target.host, *visited))
        return cookie if allowed else None

    def goes_to(self, target: Target) -> bool:
        """Return whether the cookie goes along to a target."""
        if self.secure and target.scheme != "https":
            return False
        return target.host == self.domain if self.host_only else _is_below(target.host, self.domain)


def _is_below(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def same_origin(here: Target, there: Target) -> bool:
    """Return whether what is secret to one address may be sent to the other: also where it went over to TLS."""
    if here.host != there.host:
        return False
    upgraded = (here.scheme, here.port, there.scheme, there.port) == ("http", 80, "https", 443)
    return upgraded or (here.scheme, here.port) == (there.scheme, there.port)


def _becomes_get(method: str, status: int) -> bool:
    """Whether browsers, and so servers, expect a GET after a redirect: 303 for every method, 301 and 302 for POST."""
    if method in {"GET", "HEAD"}:
        return False
    return status == _SEE_OTHER or (method == "POST" and status in {301, 302})


def _text(value: str) -> str:
    """Return a header's value as text: its bytes are UTF-8 where they can be, as browsers read an address there."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def _ascii_url(url: str) -> str:
    """Return an address in letters that a request may have; raises ``ValueError``."""
    parts = urlsplit(url)
    userinfo, at, netloc = parts.netloc.rpartition("@")
    host = netloc if netloc.isascii() else netloc.encode("idna").decode("ascii")
    rest = parts._replace(scheme="", netloc="").geturl()
    return f"{parts.scheme}://{quote(f'{userinfo}{at}{host}{rest}', safe=_URL_CHARACTERS)}"


def _bad_address(url: str, cause: str) -> HttpError:
    without_credentials = re.sub(r"//[^/@]*@", "//", url)
    return HttpError(
        "Cannot ask",
        thing=without_credentials[:200],
        cause=f"it is no web address ({cause})",
        hint="Give the full address, with https:// in front.",
        sent=False,
    )
