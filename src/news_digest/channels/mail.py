"""A digest as a mail: text and HTML, styles inside the tags, small enough that no mail program cuts it. Pure."""

from __future__ import annotations

import binascii
from dataclasses import dataclass, replace
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from html import escape
from typing import Final

from news_digest.model import Digest, Draft, Section
from news_digest.render import terminal_text
from news_digest.render_html import html_body, identifier
from news_digest.shown import title_line

__all__ = ["LARGEST_BYTES", "Letter", "mail"]

LARGEST_BYTES: Final = 100_000
"""Gmail hides what is beyond 102 KB of a message."""
_HEADERS_BYTES: Final = 2_000
"""Room for the headers and what stands between the parts: some 900 bytes."""
_TEXT_WIDTH: Final = 72

_SANS: Final = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
_INLINE: Final = {
    "<h1>": '<h1 style="font-size:22px;line-height:1.25;margin:0 0 6px">',
    "<h2>": '<h2 style="font-size:17px;line-height:1.3;margin:28px 0 8px">',
    '<p class="figures">': '<p class="figures" style="font-size:13px;color:#5b616e;margin:0 0 16px">',
    '<p class="lead">': '<p class="lead" style="font-size:17px;margin:0 0 16px">',
    "<ul>": '<ul style="margin:0;padding:0;list-style:none">',
    "<li>": '<li style="margin:0 0 14px">',
    '<span class="sources">': '<span class="sources" style="font-size:13px;color:#5b616e">',
    '<footer class="foot">': '<footer class="foot" style="font-size:13px;color:#5b616e;margin-top:32px">',
    "<a href=": '<a style="color:#0b57d0" href=',
}
"""Tags as the renderer writes them, and the same with their styles; no text in between can be one, all are escaped."""

_DARK: Final = """\
@media (prefers-color-scheme:dark){
body,.page{background:#16181d!important;color:#e8eaed!important}
.figures,.sources,.foot{color:#a8adb8!important}
a{color:#8ab4f8!important}
}"""


@dataclass(frozen=True, slots=True)
class Letter:
    """Who writes to whom."""

    sender: Address
    to: tuple[Address, ...]
    unsubscribe: str = ""
    """Where readers say that they want no more: an ``https:`` or ``mailto:`` address; else they write to the sender."""
    language: str = "en"


def mail(digest: Digest, letter: Letter) -> EmailMessage:
    """Return the message; the same digest gives the same Message-ID and Date, so that a second copy is seen as one.

    What would make it larger than :data:`LARGEST_BYTES` is left out from the end, and the mail says how much that is.
    """
    if _size(digest, letter) <= LARGEST_BYTES:
        return _message(digest, letter)
    least, most = 0, _item_count(digest.draft)
    while least < most:
        middle = (least + most + 1) // 2
        if _size(_cut(digest, middle), letter) <= LARGEST_BYTES:
            least = middle
        else:
            most = middle - 1
    return _message(_cut(digest, least), letter)


def _size(digest: Digest, letter: Letter) -> int:
    """Return about how many bytes the message will have, rather more than less; building it takes 50 times as long."""
    bodies = (terminal_text(digest, width=_TEXT_WIDTH), _html(digest, letter.language))
    encoded = [binascii.b2a_qp(body.encode()) for body in bodies]
    recipients = sum(len(str(address)) + 3 for address in letter.to)
    return sum(len(body) + body.count(b"\n") for body in encoded) + recipients + _HEADERS_BYTES


def _message(digest: Digest, letter: Letter) -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    unsubscribe = letter.unsubscribe or f"mailto:{letter.sender.addr_spec}?subject=unsubscribe"
    message["Subject"] = title_line(digest)
    message["From"] = letter.sender
    message["To"] = letter.to
    message["Date"] = digest.written_at
    message["Message-ID"] = f"<{identifier(digest).rpartition(':')[2]}.{digest.period}@{letter.sender.domain}>"
    message["List-Id"] = f"news-digest <news-digest.{letter.sender.domain}>"
    message["List-Unsubscribe"] = f"<{unsubscribe}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(terminal_text(digest, width=_TEXT_WIDTH), cte="quoted-printable")
    message.add_alternative(_html(digest, letter.language), subtype="html", cte="quoted-printable")
    _fix_boundary(message, digest)
    return message


def _fix_boundary(message: EmailMessage, digest: Digest) -> None:
    """Name the boundary after the digest: a random one would make equal digests unequal mails."""
    message.set_boundary(f"=_news-digest_{identifier(digest).rpartition(':')[2]}")


def _html(digest: Digest, language: str) -> str:
    body = html_body(digest)
    for plain, styled in _INLINE.items():
        body = body.replace(plain, styled)
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="supported-color-schemes" content="light dark">\n'
        f"<title>{escape(title_line(digest))}</title>\n"
        f"<style>\n:root{{color-scheme:light dark}}\n{_DARK}\n</style>\n</head>\n"
        f'<body style="margin:0;padding:0;background:#ffffff;color:#1b1d21;{_SANS};font-size:16px;line-height:1.5">\n'
        f'<div class="page" style="max-width:640px;margin:0 auto;padding:24px 20px">\n{body}</div>\n</body>\n</html>\n'
    )


def _item_count(draft: Draft) -> int:
    return sum(len(section.items) for section in draft.sections) + len(draft.headlines)


def _cut(digest: Digest, count: int) -> Digest:
    """Return the digest with its first ``count`` items, and a sentence that says how many are missing."""
    left, sections = count, []
    for section in digest.draft.sections:
        sections.append(Section(section.title, section.items[:left]))
        left -= len(sections[-1].items)
    missing = _item_count(digest.draft) - count
    are = "item is" if missing == 1 else "items are"
    notice = f"{missing} further {are} left out of this mail for its size; the archive has them"
    draft = replace(digest.draft, sections=tuple(sections), headlines=digest.draft.headlines[:left])
    return replace(digest, draft=draft, notices=(notice, *digest.notices))
