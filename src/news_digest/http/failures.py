"""What libcurl's errors mean for people: one sentence, what to do, and whether asking again may help."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from errno import ECONNREFUSED

import pycurl

from news_digest.errors import AddressRefused, DeadlineExceeded, HttpError, TooLarge

__all__ = ["Fault", "deadline_passed", "failure", "not_begun", "refused"]

_AGAIN = "Usually passes; the next run asks again."
_CHECK_HOST = (
    "Check the address for a typing mistake; if other addresses fail too, check this machine's network and DNS."
)
_PROXY = "Check the variables http_proxy and https_proxy, and the proxy itself."
_BROKEN_RULES = "The server is at fault; tell the site, or try again later."
_TLS = "The site's certificate or encryption is at fault; open it in a browser, and tell the site."


@dataclass(frozen=True, slots=True)
class _Meaning:
    cause: str
    hint: str = _AGAIN
    transient: bool = False
    sent: bool = True


_WEIRD_REPLY = 8
"""libcurl's E_WEIRD_SERVER_REPLY, which pycurl has no name for."""
_MEANINGS: dict[int, _Meaning] = {
    pycurl.E_COULDNT_RESOLVE_HOST: _Meaning("its host name cannot be found", _CHECK_HOST, transient=True, sent=False),
    pycurl.E_COULDNT_RESOLVE_PROXY: _Meaning("the proxy's host name cannot be found", _PROXY, sent=False),
    pycurl.E_COULDNT_CONNECT: _Meaning("no connection comes about", _CHECK_HOST, transient=True, sent=False),
    pycurl.E_PARTIAL_FILE: _Meaning("the answer was cut off before its end", transient=True),
    pycurl.E_GOT_NOTHING: _Meaning("the server closed the connection without an answer", transient=True),
    pycurl.E_RECV_ERROR: _Meaning("the connection broke while the answer was read", transient=True),
    pycurl.E_SEND_ERROR: _Meaning("the connection broke while the request was sent", transient=True),
    pycurl.E_HTTP2: _Meaning("the connection broke (HTTP/2)", transient=True),
    92: _Meaning("the connection broke (HTTP/2 stream)", transient=True),
    97: _Meaning("the proxy refused or failed", "Check the proxy and its credentials.", transient=True, sent=False),
    pycurl.E_SSL_CONNECT_ERROR: _Meaning("no encrypted connection comes about", _TLS, sent=False),
    pycurl.E_SSL_CIPHER: _Meaning("no encrypted connection comes about", _TLS, sent=False),
    pycurl.E_SSL_CACERT_BADFILE: _Meaning(
        "the list of trusted certificates cannot be read",
        "Install the system's CA certificates, or name the file in SSL_CERT_FILE.",
        sent=False,
    ),
    pycurl.E_URL_MALFORMAT: _Meaning(
        "it is no web address", "Give the full address, with https:// in front.", sent=False
    ),
    pycurl.E_UNSUPPORTED_PROTOCOL: _Meaning(
        "what answers does not speak HTTP", "Check the address and its port; this is no web server."
    ),
    pycurl.E_BAD_CONTENT_ENCODING: _Meaning(
        "the answer comes in a form that was not asked for (transfer coding)", _BROKEN_RULES
    ),
    100: _Meaning("the head of the answer does not end", _BROKEN_RULES),
    pycurl.E_TOO_MANY_REDIRECTS: _Meaning("too many redirects"),
}

# What libcurl has only words for: beside the code that it shares with others.
_WORDED = (
    ("CONNECT tunnel failed", _Meaning("the proxy refuses the connection", _PROXY, transient=True, sent=False)),
    ("over proxy", _Meaning("the proxy does not answer", _PROXY, transient=True, sent=False)),
    ("Unsupported proxy", _Meaning("the proxy's address is none", _PROXY, sent=False)),
    ("Too large response headers", _Meaning("the head of the answer does not end", _BROKEN_RULES)),
    ("chunk hex-length", _Meaning("the answer's parts (chunks) are marked wrongly", _BROKEN_RULES, transient=True)),
)

# libcurl's words for what is wrong with a certificate, in its error 60, and ours.
_CERTIFICATE_FAULTS = (
    ("expired", "its certificate has expired", _TLS),
    ("not yet valid", "its certificate is not valid yet", "Check this machine's clock."),
    ("self-signed", "its certificate is signed by nobody known", _TLS),
    ("self signed", "its certificate is signed by nobody known", _TLS),
    ("subject name", "its certificate is for another host", _TLS),
    ("subjectaltname", "its certificate is for another host", _TLS),
    (
        "issuer certificate",
        "its certificate is signed by nobody known",
        "If you trust the signer (a company's proxy, say), name its certificate file in SSL_CERT_FILE.",
    ),
)


@dataclass(frozen=True, slots=True)
class Fault:
    """What libcurl says about a request that failed: its error code, its words, and the system's error number."""

    code: int
    text: str
    errno: int = 0


def failure(fault: Fault, *, url: str, deadline: timedelta, cap: int) -> HttpError:
    """Return the error for a fault; ``url`` has no credentials."""
    code, text = fault.code, fault.text
    match code:
        case pycurl.E_OPERATION_TIMEDOUT:
            # libcurl says "Connection timed out" before a connection, "Operation timed out" after one.
            return deadline_passed(url, deadline, sent=not text.startswith(("Connection", "Resolving", "Failed")))
        case pycurl.E_FILESIZE_EXCEEDED:
            return TooLarge(
                "Cannot read the answer",
                thing=url,
                cause=f"it is larger than {cap:,} bytes",
                hint="Check the address; a feed of that size is rarely one.",
            )
        case pycurl.E_PEER_FAILED_VERIFICATION:
            cause, hint = _certificate_fault(text)
            return HttpError("Cannot ask", thing=url, cause=cause, hint=hint, sent=False)
        case _:
            found = _meaning(fault)
            return HttpError(
                "Cannot ask", thing=url, cause=found.cause, hint=found.hint, transient=found.transient, sent=found.sent
            )


def _meaning(fault: Fault) -> _Meaning:
    code, text = fault.code, fault.text
    worded = next((meaning for words, meaning in _WORDED if words in text), None)
    if worded:
        return worded
    if code == _WEIRD_REPLY:
        return _Meaning(f"the answer breaks the rules of HTTP ({text})", _BROKEN_RULES)
    if code == pycurl.E_COULDNT_CONNECT and fault.errno == ECONNREFUSED:
        return _Meaning("nothing listens there (connection refused)", _CHECK_HOST, transient=True, sent=False)
    return _MEANINGS.get(code) or _Meaning(f"{text or 'unknown fault'} (libcurl error {code})", transient=True)


def deadline_passed(url: str, deadline: timedelta, *, sent: bool = True) -> DeadlineExceeded:
    """Return the error for an answer that was not complete in time."""
    return DeadlineExceeded(
        "Gave up waiting",
        thing=url,
        cause=f"no complete answer within {deadline.total_seconds():.3g} seconds",
        hint="The server is slow or hangs; the next run asks again.",
        transient=False,
        sent=sent,
    )


def not_begun(url: str) -> DeadlineExceeded:
    """Return the error for a request whose turn did not come before the batch's deadline."""
    return DeadlineExceeded(
        "Not asked",
        thing=re.sub(r"//[^/@]*@", "//", url),
        cause="the time for all requests was up before its turn came",
        hint="Allow more time, or ask for fewer addresses of one host.",
        sent=False,
    )


def refused(url: str, address: str, kind: str) -> AddressRefused:
    """Return the error for an address that the guard does not let through."""
    return AddressRefused(
        "Refused to connect",
        thing=url,
        cause=f"it leads to {address}, which is {kind}",
        hint="If this feed really is in your own network, set allow_private_hosts (NEWS_DIGEST_ALLOW_PRIVATE_HOSTS=1).",
        sent=False,
    )


def _certificate_fault(text: str) -> tuple[str, str]:
    low = text.lower()
    for words, cause, hint in _CERTIFICATE_FAULTS:
        if words in low:
            return cause, hint
    return "its certificate cannot be verified", _TLS
