"""Mail by SMTP (RFC 5321), with STARTTLS or TLS from the first byte.

At least once: when the connection breaks between sending and the server's answer, nobody knows whether the mail went
out; the next run sends it again, with the same Message-ID. Recipients that a server refuses while it takes the mail for
others are named in the receipt; whoever needs more is a channel of their own.
"""

from __future__ import annotations

import re
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.utils import parseaddr
from typing import Final

from news_digest.channels import Target
from news_digest.channels.mail import Letter, mail
from news_digest.channels.options import Options
from news_digest.channels.redact import redact
from news_digest.errors import ConfigError, DeliveryError
from news_digest.model import Digest, Receipt
from news_digest.ports import Clock

__all__ = ["EmailChannel", "Server", "open_email"]

_PORTS: Final = {"starttls": 587, "tls": 465, "none": 25}
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_MOST_SECONDS: Final = 300
_FIRST_PERMANENT: Final = 500


@dataclass(frozen=True, slots=True)
class Server:
    """Where mail is handed over; ``security`` is ``starttls``, ``tls`` or ``none``."""

    host: str
    port: int
    security: str = "starttls"
    user: str = ""
    password: str = field(default="", repr=False)
    ca_file: str = ""
    """A file of certificates to trust instead of the system's."""
    timeout_seconds: int = 30


class EmailChannel:
    """Sends a digest as one mail to all recipients."""

    def __init__(self, server: Server, letter: Letter, *, name: str, clock: Clock) -> None:
        self.name = name
        self._server = server
        self._letter = letter
        self._clock = clock

    def deliver(self, digest: Digest) -> Receipt:
        """Send the mail; raises ``DeliveryError`` when no recipient's server took it."""
        message = mail(digest, self._letter)
        addresses = [address.addr_spec for address in self._letter.to]
        with self._connection() as smtp:
            refused = smtp.send_message(message, self._letter.sender.addr_spec, addresses)
        detail = f"{message['Message-ID']} to {len(addresses) - len(refused)} of {len(addresses)}"
        if refused:
            detail += f"; refused: {', '.join(sorted(refused))}"
        return Receipt(self.name, at=self._clock(), detail=detail)

    @contextmanager
    def _connection(self) -> Iterator[smtplib.SMTP]:
        """Give a connection that may send; its errors become one that says what to do."""
        server = self._server
        try:
            smtp = self._open()
            try:
                if server.user:
                    smtp.login(server.user, server.password)
                yield smtp
            finally:
                # The mail is taken or refused by now; a server that does not say goodbye changes nothing.
                with suppress(smtplib.SMTPException, OSError):
                    smtp.quit()
        except (smtplib.SMTPException, OSError) as error:
            raise _explained(error, server) from error

    def _open(self) -> smtplib.SMTP:
        server = self._server
        if server.security == "none":
            return smtplib.SMTP(server.host, server.port, timeout=server.timeout_seconds)
        context = ssl.create_default_context(cafile=server.ca_file or None)
        if server.security == "tls":
            return smtplib.SMTP_SSL(server.host, server.port, timeout=server.timeout_seconds, context=context)
        smtp = smtplib.SMTP(server.host, server.port, timeout=server.timeout_seconds)
        try:
            smtp.starttls(context=context)
        except (smtplib.SMTPException, OSError):
            smtp.close()
            raise
        return smtp


def _explained(error: smtplib.SMTPException | OSError, server: Server) -> DeliveryError:
    cause, hint = _why(error, server)
    # What the server answered is told, never what it was sent.
    return DeliveryError(
        "cannot send the mail",
        thing=f"{server.host}:{server.port}",
        cause=redact(cause, (server.password, server.user if "@" not in server.user else "")),
        hint=hint,
    )


def _why(error: smtplib.SMTPException | OSError, server: Server) -> tuple[str, str]:  # noqa: PLR0911 - one line per cause
    later = "it stays in the outbox; the next run tries again"
    match error:
        case smtplib.SMTPAuthenticationError():
            return f"user name or password refused ({_answer(error)})", "set the password's environment variable anew"
        case smtplib.SMTPRecipientsRefused():
            return f"all recipients refused ({_refusals(error)})", "correct `to`" if _is_final(error) else later
        case smtplib.SMTPSenderRefused():
            return f"sender refused ({_answer(error)})", "set `from` to an address that this server may send for"
        case smtplib.SMTPNotSupportedError():
            return str(error), "set `security` to what the server offers: starttls, tls or none"
        case smtplib.SMTPResponseException():
            final = error.smtp_code >= _FIRST_PERMANENT
            return (
                f"the server said {_answer(error)}",
                "read its answer: it will not change by itself" if final else later,
            )
        case smtplib.SMTPServerDisconnected():
            return str(error) or "the server closed the connection", later
        case ssl.SSLCertVerificationError():
            return (
                f"certificate not trusted: {error.verify_message}",
                "correct `host`, or name its authority in `ca_file`",
            )
        case ssl.SSLError():
            return (
                f"no TLS: {error.reason or error}",
                f"look whether port {server.port} wants `security` starttls or tls",
            )
        case TimeoutError():
            return f"no answer within {server.timeout_seconds} s", later
        case _:
            return str(error), f"look at `host` and `port`; {later}"


def _answer(error: smtplib.SMTPResponseException) -> str:
    text = error.smtp_error.decode("utf-8", "replace") if isinstance(error.smtp_error, bytes) else error.smtp_error
    return f"{error.smtp_code} {text}"


def _refusals(error: smtplib.SMTPRecipientsRefused) -> str:
    return "; ".join(f"{code} {text.decode('utf-8', 'replace')}" for code, text in error.recipients.values())


def _is_final(error: smtplib.SMTPRecipientsRefused) -> bool:
    return all(code >= _FIRST_PERMANENT for code, _ in error.recipients.values())


# --- the configuration -----------------------------------------------------------------------------------------------


def open_email(target: Target) -> EmailChannel:
    """Return the channel ``email``.

    Options ``host``, ``from``, ``to`` (needed); ``port``, ``security`` (``starttls``, ``tls``, ``none``), ``user``,
    ``password_env`` (the variable that holds the password), ``ca_file``, ``unsubscribe``, ``language``,
    ``timeout_seconds``.
    """
    options = Options(target)
    security = options.text("security", "starttls", choices=tuple(_PORTS))
    server = Server(
        host=options.text("host", required=True),
        port=options.number("port", _PORTS[security], least=1, most=65535),
        security=security,
        user=options.text("user"),
        password=options.secret("password_env"),
        ca_file=options.text("ca_file"),
        timeout_seconds=options.number("timeout_seconds", 30, least=1, most=_MOST_SECONDS),
    )
    letter = Letter(
        sender=_address(options.text("from", required=True), f"{target.name}.from"),
        to=tuple(_address(each, f"{target.name}.to") for each in options.texts("to")),
        unsubscribe=options.text("unsubscribe"),
        language=options.text("language", "en"),
    )
    options.done()
    _check(server, letter, target.name)
    return EmailChannel(server, letter, name=target.name, clock=target.clock)


def _address(text: str, thing: str) -> Address:
    name, spec = parseaddr(text)
    hint = "write `name@example.org` or `Name <name@example.org>`"
    if "@" not in spec or re.search(r"[\r\n]", text):
        raise ConfigError("cannot use an address", thing=f"{thing} = {text!r}", cause="no mail address", hint=hint)
    try:
        return Address(name, addr_spec=spec)
    except (ValueError, IndexError, HeaderParseError) as error:
        raise ConfigError(
            "cannot use an address", thing=f"{thing} = {text!r}", cause="no mail address", hint=hint
        ) from error


def _check(server: Server, letter: Letter, name: str) -> None:
    if not letter.to:
        raise ConfigError(
            "nobody to write to", thing=f"{name}.to", cause="it is empty", hint="name at least one address"
        )
    if server.password and server.security == "none" and server.host not in _LOOPBACK:
        raise ConfigError(
            "a password would go out unencrypted",
            thing=f"{name}.security = none",
            cause=f"{server.host} is another machine",
            hint="use starttls or tls",
        )
    if not re.fullmatch(r"((https:|mailto:)[^<>\s]+)?", letter.unsubscribe):
        raise ConfigError(
            "cannot use an option",
            thing=f"{name}.unsubscribe = {letter.unsubscribe}",
            cause="it must be an https: or mailto: address",
            hint="or leave it out: then readers write to the sender",
        )
