"""Mail, read back from a real SMTP server."""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from email.headerregistry import Address
from email.message import EmailMessage
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.digests import STORIES, brief, digest, story
from tests.mailboxes import Mailbox, mailbox

from news_digest.channels import Target, open_channel
from news_digest.channels.mail import LARGEST_BYTES, Letter, mail
from news_digest.errors import ConfigError, DeliveryError
from news_digest.model import Claim, Draft, Item, Json, Section
from news_digest.ports import Channel
from news_digest.testing import FakeClock

LETTER = Letter(Address("News", addr_spec="digest@mail.example"), (Address("", addr_spec="reader@mail.example"),))
PASSWORD = "correct horse/battery+staple"


def channel(
    box: Mailbox, options: Mapping[str, Json] | None = None, environment: Mapping[str, str] | None = None
) -> Channel:
    base = {"host": "127.0.0.1", "port": box.port, "security": "none", "from": "News <digest@mail.example>"}
    given = base | {"to": ["reader@mail.example"], "timeout_seconds": 5} | dict(options or {})
    return open_channel("email", Target("mail", FakeClock(), given, environment or {}))


def html_of(message: EmailMessage) -> str:
    part = message.get_body(("html",))
    assert part is not None
    return str(part.get_content())


# --- what arrives ----------------------------------------------------------------------------------------------------


def test_the_mail_arrives_with_text_and_html_that_name_every_story_and_link() -> None:
    with mailbox() as box:
        channel(box).deliver(digest())
        (message,) = box.messages()
        text = message.get_body(("plain",))
        assert text is not None
        for part in (text.get_content(), html_of(message)):
            assert "Harbour bridge closed until Friday" in part
            assert "https://planet.example/gale" in part


def test_the_headers_are_those_that_mail_programs_and_lists_know() -> None:
    with mailbox() as box:
        channel(box, {"unsubscribe": "https://mail.example/bye?u=1"}).deliver(digest())
        (message,) = box.messages()
    assert message["Subject"] == "News digest, Tuesday 1 December 2026"
    assert message["From"] == "News <digest@mail.example>"
    assert message["To"] == "reader@mail.example"
    assert message["Message-ID"] == "<5f0c6a52-90f2-5f8e-9c7d-3d7f60a9d0a1.2026-12-01@mail.example>"
    assert message["List-Unsubscribe"] == "<https://mail.example/bye?u=1>"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Date"].datetime == digest().written_at


def test_without_an_address_to_unsubscribe_at_one_writes_to_the_sender() -> None:
    assert mail(digest(), LETTER)["List-Unsubscribe"] == "<mailto:digest@mail.example?subject=unsubscribe>"


def test_a_second_delivery_is_the_same_mail_byte_for_byte() -> None:
    with mailbox() as box:
        sender = channel(box)
        sender.deliver(digest())
        sender.deliver(digest())
        assert box.letters[0] == box.letters[1]


def test_no_line_is_longer_than_mail_allows_and_all_of_it_is_ascii() -> None:
    stories = (story(1, title="Überraschung 東京 " * 40, link="https://outlet.example/" + "a" * 900), *STORIES[1:])
    raw = mail(digest(of=brief(*stories)), LETTER).as_bytes()
    assert raw.isascii()
    assert max(map(len, raw.splitlines())) <= 998


def test_the_styles_stand_in_the_tags_and_the_dark_ones_in_the_head() -> None:
    html = html_of(mail(digest(), LETTER))
    for tag in ("h1", "h2", "ul", "li", "body"):
        assert re.search(rf"<{tag} style=", html), tag
    assert 'name="color-scheme" content="light dark"' in html
    assert "prefers-color-scheme:dark" in html


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]


def test_the_html_loads_nothing_runs_nothing_and_links_to_stories_only() -> None:
    attack = '"><img src=x onerror=alert(1)><script>alert(1)</script><li><a href="https://evil.example">'
    stories = (replace(STORIES[0], title=attack, excerpt=attack, source=attack), *STORIES[1:])
    draft = Draft(
        lead=(Claim(attack, (1,)),), sections=(Section(attack, (Item(attack, (attack,), (1,)),)),), writer=attack
    )
    tags = Tags()
    tags.feed(html_of(mail(digest(draft, brief(*stories)), LETTER)))
    assert not tags.names & {"img", "script", "iframe", "link", "object", "form", "svg"}
    assert not [name for name in tags.attributes if name.startswith("on") or name in {"src", "background", "srcset"}]
    allowed = {each.link for each in stories} | {link for each in stories for _, link in each.also}
    assert {link for link in tags.links if "odd.example" not in link} <= allowed


# --- how large -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "count", "link"),
    [
        ("Überraschung in 東京 und Zürich", 50, 80),
        ("東京" * 90, 400, 80),
        ("plain words", 60, 2000),
        ("x" * 5000, 50, 30),
    ],
)
def test_a_mail_is_never_larger_than_mail_programs_show(words: str, count: int, link: int) -> None:
    stories = tuple(
        story(n, title=f"{n} {words}", link=f"https://outlet.example/{n}/" + "a" * link) for n in range(1, count + 1)
    )
    items = tuple(Item(each.title, (), (number,)) for number, each in enumerate(stories, start=1))
    made = digest(
        Draft(sections=(Section("News", items[:20]),), headlines=items[20:], writer="embedded"), brief(*stories)
    )
    message = mail(made, LETTER)
    assert len(message.as_bytes()) <= LARGEST_BYTES
    left = html_of(message).count("<li ")
    if left < count:
        assert f"{count - left} further item" in html_of(message)


def test_a_mail_that_fits_says_nothing_of_missing_items() -> None:
    assert "left out" not in mail(digest(), LETTER).as_string()


def test_one_item_that_is_too_large_by_itself_is_left_out() -> None:
    stories = (story(1, title="x" * 200_000),)
    made = digest(Draft(headlines=(Item("x" * 200_000, (), (1,)),)), brief(*stories))
    message = mail(made, LETTER)
    assert len(message.as_bytes()) <= LARGEST_BYTES
    assert "1 further item is left out" in html_of(message)


# --- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "cause", "hint"),
    [
        ({"DATA": "451 4.3.0 greylisted"}, "451 4.3.0 greylisted", "next run tries again"),
        ({"DATA": "554 5.7.1 looks like spam"}, "554 5.7.1 looks like spam", "will not change by itself"),
        ({"reader@mail.example": "550 no such user"}, "550 no such user", "correct `to`"),
        ({"reader@mail.example": "450 try later"}, "450 try later", "next run tries again"),
    ],
)
def test_a_refusal_is_told_with_the_servers_words_and_what_to_do(
    answers: dict[str, str], cause: str, hint: str
) -> None:
    with mailbox() as box:
        box.answers = answers
        with pytest.raises(DeliveryError) as raised:
            channel(box).deliver(digest())
        assert not box.letters
    assert cause in str(raised.value)
    assert hint in raised.value.hint


def test_a_recipient_that_is_refused_while_others_are_taken_is_named_in_the_receipt() -> None:
    with mailbox() as box:
        box.answers = {"gone@mail.example": "550 no such user"}
        receipt = channel(box, {"to": ["reader@mail.example", "gone@mail.example"]}).deliver(digest())
        assert box.to == [["reader@mail.example"]]
    assert "to 1 of 2; refused: gone@mail.example" in receipt.detail


def test_a_server_that_is_not_there_is_told_with_its_address() -> None:
    with mailbox() as box:
        sender = channel(box)
    with pytest.raises(DeliveryError) as raised:
        sender.deliver(digest())
    assert f"127.0.0.1:{box.port}" in str(raised.value)


def test_a_password_is_not_sent_to_a_server_without_tls() -> None:
    options = {"security": "starttls", "user": "digest", "password_env": "MAIL_PASSWORD"}
    with mailbox(password=PASSWORD) as box, pytest.raises(DeliveryError) as raised:
        channel(box, options, {"MAIL_PASSWORD": PASSWORD}).deliver(digest())
    assert "STARTTLS" in str(raised.value)
    assert "security" in raised.value.hint
    assert not box.logins


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("mail-tls")
    key, certificate = folder / "key.pem", folder / "cert.pem"
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    return context, certificate


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_the_mail_goes_out_encrypted_after_a_login(tls: tuple[ssl.SSLContext, Path], security: str) -> None:
    context, certificate = tls
    encrypted = {"starttls" if security == "starttls" else "tls": context}
    with mailbox(password=PASSWORD, **encrypted) as box:
        options = {"security": security, "user": "digest", "password_env": "MAIL_PASSWORD", "ca_file": str(certificate)}
        channel(box, options, {"MAIL_PASSWORD": PASSWORD}).deliver(digest())
        assert box.logins == [("digest", PASSWORD)]
        assert len(box.letters) == 1


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_certificate_that_nobody_trusts_ends_it_before_the_login(
    tls: tuple[ssl.SSLContext, Path], security: str
) -> None:
    encrypted = {"starttls" if security == "starttls" else "tls": tls[0]}
    options = {"security": security, "user": "digest", "password_env": "MAIL_PASSWORD"}
    with mailbox(password=PASSWORD, **encrypted) as box, pytest.raises(DeliveryError) as raised:
        channel(box, options, {"MAIL_PASSWORD": PASSWORD}).deliver(digest())
    assert "certificate not trusted" in str(raised.value)
    assert "ca_file" in raised.value.hint
    assert not box.logins


def test_a_wrong_password_is_told_and_occurs_nowhere(tls: tuple[ssl.SSLContext, Path]) -> None:
    context, certificate = tls
    options = {"security": "starttls", "user": "digest", "password_env": "MAIL_PASSWORD", "ca_file": str(certificate)}
    with mailbox(password="another", starttls=context) as box:
        sender = channel(box, options, {"MAIL_PASSWORD": PASSWORD})
        with pytest.raises(DeliveryError) as raised:
            sender.deliver(digest())
    assert PASSWORD not in repr(vars(sender))
    assert "refused" in str(raised.value)
    assert PASSWORD not in f"{raised.value!r} {raised.value.hint} {vars(raised.value)}"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"security": "ssl"}, "security"),
        ({"port": 0}, "port"),
        ({"to": []}, "to"),
        ({"to": ["nobody"]}, "to"),
        ({"from": "a@b.example\r\nBcc: c@d.example"}, "from"),
        ({"unsubscribe": "javascript:alert(1)"}, "unsubscribe"),
        ({"unsubscribe": "https://mail.example/>\r\nX: y"}, "unsubscribe"),
        ({"password_env": "NOT_SET"}, "password_env"),
        ({"password_env": "MAIL_PASSWORD", "host": "mail.example"}, "security"),
    ],
)
def test_a_configuration_that_cannot_work_is_refused_before_anything_is_sent(
    options: dict[str, Json], named: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        channel(Mailbox(port=9), options, {"MAIL_PASSWORD": PASSWORD})
    assert f"mail.{named}" in str(raised.value)


def test_a_password_that_stands_where_its_variables_name_belongs_is_not_repeated() -> None:
    with pytest.raises(ConfigError) as raised:
        channel(Mailbox(port=9), {"password_env": PASSWORD})
    assert PASSWORD not in f"{raised.value} {raised.value.hint}"
