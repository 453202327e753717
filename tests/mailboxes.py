"""A real SMTP server on loopback that keeps what it takes, and refuses what it is told to."""

from __future__ import annotations

import email
import email.policy
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope


@dataclass
class Mailbox:
    """What arrived, and what to answer instead of taking it."""

    port: int = 0
    letters: list[bytes] = field(default_factory=list)
    to: list[list[str]] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    """By ``RCPT`` address, or under ``DATA``: the reply with which it is refused."""
    logins: list[tuple[str, str]] = field(default_factory=list)
    password: str = ""

    async def handle_RCPT(self, server: Any, session: Any, envelope: Envelope, address: str, options: list[str]) -> str:  # noqa: N802
        """Take a recipient, or refuse it."""
        if address in self.answers:
            return self.answers[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:  # noqa: N802
        """Take a mail, or refuse it."""
        if "DATA" in self.answers:
            return self.answers["DATA"]
        self.letters.append(cast("bytes", envelope.content))
        self.to.append(list(envelope.rcpt_tos))
        return "250 OK"

    def log_in(self, server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        """Compare the password."""
        self.logins.append((data.login.decode(), data.password.decode()))
        right = data.password.decode() == self.password
        return AuthResult(success=right, handled=right)

    def messages(self) -> list[EmailMessage]:
        """Return what arrived, read by the standard library."""
        return [email.message_from_bytes(each, policy=email.policy.default) for each in self.letters]


class _AnyPort(Controller):
    """A controller on whichever port is free."""

    def _trigger_server(self) -> None:
        """Learn the port before the first connection is made."""
        server: Any = self.server
        self.port = server.sockets[0].getsockname()[1]
        super()._trigger_server()  # type: ignore[no-untyped-call]  # aiosmtpd's own hook


@contextmanager
def mailbox(
    *, password: str = "", tls: ssl.SSLContext | None = None, starttls: ssl.SSLContext | None = None
) -> Iterator[Mailbox]:
    """Run a server on a free port of loopback."""
    box = Mailbox(password=password)
    controller = _AnyPort(
        box,
        hostname="127.0.0.1",
        port=0,
        ssl_context=tls,
        tls_context=starttls,
        authenticator=box.log_in if password else None,
        auth_require_tls=starttls is not None,
    )
    controller.start()
    try:
        box.port = controller.port
        yield box
    finally:
        controller.stop()
