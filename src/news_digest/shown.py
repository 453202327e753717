"""A digest as it is shown: lines of plain text and sources, before any markup.

What stands here comes from the stories and the run alone; a draft has no say in links, names of sources, dates and
counts. Every text is cleaned once more, because a writer's words were never at the edge where feeds are cleaned.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from news_digest.brief import feed_name
from news_digest.claims.markup import plain
from news_digest.digest import lost, word_count
from news_digest.fingerprint import canonical_link
from news_digest.model import Digest, Item

__all__ = [
    "Shown",
    "Source",
    "figures_line",
    "host_alone",
    "hosts_alone",
    "lead_text",
    "numbers_line",
    "reading_minutes",
    "shown",
    "source_label",
    "sources",
    "title_line",
    "unread_line",
    "visible",
    "window_line",
    "writer_line",
]

ADDRESS = re.compile(r"https?://[^\s]+?(?=[:;,.]?(?:\s|$))")

WORDS_PER_MINUTE = 220
"""Silent reading of English non-fiction: 238 words a minute on average (Brysbaert 2019); a little less for a screen."""

FORMATTING = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode categories without a glyph: controls, bidi and zero-width marks, tags, halves, line separators."""

PLANE_OF_TAGS = range(0xE0000, 0xF0000)
"""Tags and supplementary variation selectors: invisible, and able to carry a whole hidden message."""

FIRST_TAG = chr(PLANE_OF_TAGS.start)

NONCHARACTERS = range(0xFDD0, 0xFDF0)
"""Never assigned, like the last two of each plane; XML allows some of them nowhere."""

JOINERS = frozenset("\u200c\u200d")
"""Between letters they change how Persian, Hindi and emoji look; beside anything ASCII they only hide something."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a story stands: what is shown, and the link; the link is empty where the feed gave no safe one."""

    label: str
    link: str


@dataclass(frozen=True, slots=True)
class Shown:
    """An item as it is read: plain text, and where its stories stand, the first source first."""

    headline: str
    text: str
    sources: tuple[Source, ...]
    caution: str = ""


def shown(digest: Digest, item: Item) -> Shown:
    """Return an item as it is read; an update says so, neutralised text is mentioned.

    A headline that words follow ends with a mark.
    """
    headline = visible(item.headline)
    found = dict.fromkeys(
        visible(what) for number in item.stories for what in digest.stories[number - 1].suspicious if what.strip()
    )
    if headline and (item.sentences or found) and headline[-1] not in '.?!…:"”»':
        headline += "."
    return Shown(
        headline=f"Update: {headline}" if item.update else headline,
        text=" ".join(filter(None, (visible(sentence) for sentence in item.sentences))),
        sources=sources(digest, item),
        caution=f"Caution, neutralised in the source: {', '.join(found)}." if found else "",
    )


def lead_text(digest: Digest) -> str:
    """Return the lead as one paragraph."""
    return " ".join(filter(None, (visible(claim.text) for claim in digest.draft.lead)))


# --- sources -------------------------------------------------------------------------------------------------------


def sources(digest: Digest, item: Item) -> tuple[Source, ...]:
    """Return where the stories of an item stand, the item's first story first, no page twice."""
    places = [
        place
        for number in item.stories
        for story in (digest.stories[number - 1],)
        for place in ((story.source, story.link), *story.also)
    ]
    found: dict[tuple[str, str], Source] = {}
    for name, link in places:
        shown = Source(source_label(name, link), _http(link))
        found.setdefault(("link", canonical_link(shown.link)) if shown.link else ("name", shown.label), shown)
    return tuple(found.values())


def source_label(name: str, link: str) -> str:
    """Return the name of a source as shown: with the link's host behind it, unless the name says whose host it is.

    A feed names itself, so one that calls itself after somebody else must not hide where its links lead.
    """
    shown, host = visible(plain(name)), _host(link)
    if not host:
        return shown or "unknown source"
    if not shown:
        return host
    return shown if _names(shown, host) else f"{shown}, {host}"


GENERIC_LABELS = frozenset({"ac", "co", "com", "edu", "go", "gov", "ne", "net", "or", "org"})
"""Second-level labels below which the names of owners stand."""

SHORTEST_OWNER = 2


def _names(name: str, host: str) -> bool:
    labels = host.split(".")[:-1]
    if len(labels) > 1 and labels[-1] in GENERIC_LABELS:
        labels.pop()
    owner = re.sub(r"[^a-z0-9]", "", labels[-1]) if labels else ""
    folded = re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", name).lower())
    return len(owner) >= SHORTEST_OWNER and (owner in folded or (len(folded) > SHORTEST_OWNER and folded in owner))


def _http(link: str) -> str:
    """Return the link if it is a plain http(s) one, what could end it percent-encoded; else nothing.

    Stories hold no other links, so this is the last guard.
    """
    clean = link.strip()
    if not _host(clean) or visible(clean) != clean:
        return ""
    return re.sub(r"[ <>\"\\^`{|}()\[\]]", lambda found: f"%{ord(found.group()):02X}", clean)


def _host(link: str) -> str:
    try:
        parts = urlsplit(link)
        usable = parts.scheme in ("http", "https") and "@" not in parts.netloc
        host = (parts.hostname or "") if usable else ""
        return host.removeprefix("www.").encode("idna").decode("ascii") if host else ""
    except (ValueError, UnicodeError):
        return ""


# --- sentences about the digest --------------------------------------------------------------------------------------


def title_line(digest: Digest) -> str:
    """Return the title of a digest: ``News digest, Tuesday 1 December 2026``."""
    day = digest.period.day
    return f"News digest, {_WEEKDAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]} {day.year}"


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def window_line(digest: Digest) -> str:
    """Return from when to when the stories are, in UTC."""
    return f"Stories from {_minute(digest.since)} to {_minute(digest.until)}"


def numbers_line(digest: Digest) -> str:
    """Return the digest's numbers: ``412 read, 380 new, 57 on topic, 18 told, 39 noted, 0 lost``."""
    counts = digest.counts
    line = (
        f"{counts.read} read, {counts.new} new, {counts.on_topic} on topic, {counts.told} told, {counts.noted} noted, "
        f"{lost(digest)} lost"
    )
    return f"{line}, {counts.above_cap} waiting for the next digest" if counts.above_cap else line


def reading_minutes(digest: Digest) -> int:
    """Return the minutes that reading takes, headlines included, at least one."""
    words = word_count(digest.draft) + sum(len(item.headline.split()) for item in digest.draft.headlines)
    return max(1, round(words / WORDS_PER_MINUTE))


def figures_line(digest: Digest) -> str:
    """Return window, numbers and reading time as one line."""
    return f"{window_line(digest)}. {numbers_line(digest)}. Reading time: {reading_minutes(digest)} min."


def host_alone(url: str) -> str:
    """Return the host of an address: what follows it may hold a key."""
    try:
        return visible(urlsplit(url).hostname or "unknown host")
    except ValueError:
        return "unknown host"


def hosts_alone(text: str) -> str:
    """Return a sentence with the hosts of its addresses alone."""
    return ADDRESS.sub(lambda found: host_alone(found.group()), visible(text))


def unread_line(digest: Digest) -> str:
    """Return which feeds could not be read, by host, or nothing."""
    names = list(dict.fromkeys(feed_name(failure) for failure in digest.failures))
    return f"Not readable this time: {', '.join(names)}" if names else ""


def writer_line(digest: Digest) -> str:
    """Return who wrote the digest and when, and what the checker did."""
    who = visible(digest.draft.writer) or "unknown"
    line = f"Written by {who} on {_minute(digest.written_at)}"
    if not digest.findings:
        return line
    count = len(digest.findings)
    return f"{line}; the checker found {count} {'thing' if count == 1 else 'things'}"


def _minute(instant: datetime) -> str:
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def visible(text: str) -> str:
    """Return text on one line without anything that has no glyph: the last guard before a page, mail or terminal."""
    if text.isprintable() and (text.isascii() or max(text, default="") < FIRST_TAG):
        return " ".join(text.split())
    shown = [
        " " if character.isspace() else character
        for index, character in enumerate(text)
        if character.isspace() or _has_glyph(character, text, index)
    ]
    return " ".join("".join(shown).split())


def _has_glyph(character: str, text: str, index: int) -> bool:
    if character in JOINERS:
        around = text[max(index - 1, 0) : index] + text[index + 1 : index + 2]
        return all(not neighbour.isascii() for neighbour in around)
    code = ord(character)
    nothing = code in PLANE_OF_TAGS or code & 0xFFFE == 0xFFFE or code in NONCHARACTERS  # noqa: PLR2004 - U+xxFFFE/F
    return not nothing and unicodedata.category(character) not in FORMATTING
