"""A digest as Markdown, plain text and JSON; as HTML and as an Atom entry see :mod:`news_digest.render_html`.

Texts are escaped so that none of them can become markup, and links are built from the stories alone. Equal digests give
equal bytes.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable

from news_digest.digest import word_count
from news_digest.model import Digest, Item, Json
from news_digest.rules import HEADLINES
from news_digest.shown import (
    Shown,
    Source,
    figures_line,
    lead_text,
    numbers_line,
    reading_minutes,
    shown,
    sources,
    title_line,
    unread_line,
    visible,
    writer_line,
)
from news_digest.wire import to_json

__all__ = [
    "EMPTY_DAY",
    "escape_markdown",
    "foot_lines",
    "front_matter",
    "json_value",
    "markdown",
    "parts_of",
    "terminal_text",
]

MARKUP = re.compile(r"([\\`*_\[\]()<>!|#~&]|\$(?!\d))")
"""What can begin or end markup inside a line, in CommonMark, in GitHub's dialect, or in one that knows formulas.

A dollar sign before a digit is a price: it may open a formula but not close one, and every other one is escaped.
"""

LINE_START = re.compile(r"^([-+=:])|^(\d{1,9})([.)])")
"""What makes a list, a heading, a rule or a definition of a line that begins with it."""

AUTOLINK = re.compile(r":(?=//)|(?<=www)\.|@", re.IGNORECASE)
"""What turns bare text into a link where a dialect does so."""

EMPTY_DAY = "Nothing new to tell."


def escape_markdown(text: str) -> str:
    """Return text on one line that every Markdown dialect shows as it is: no markup, no link, no HTML, no list."""
    escaped = AUTOLINK.sub(lambda found: "\\" + found.group(), MARKUP.sub(r"\\\1", visible(text)))
    return LINE_START.sub(lambda found: f"{found[2] or ''}\\{found[3] or found[1]}", escaped)


def markdown(digest: Digest, *, matter: bool = False) -> str:
    """Return the digest as Markdown (CommonMark); with ``matter`` it begins with YAML front matter."""
    blocks = [f"# {escape_markdown(title_line(digest))}", escape_markdown(figures_line(digest))]
    blocks.append(escape_markdown(lead_text(digest)) or ("" if digest.stories else EMPTY_DAY))
    for heading, items in parts_of(digest):
        blocks.append(f"## {escape_markdown(heading)}")
        blocks.append("\n".join(f"- {_markdown_item(digest, item)}" for item in items))
    blocks.append("---")
    blocks += [escape_markdown(line) for line in foot_lines(digest)]
    body = "\n\n".join(block for block in blocks if block) + "\n"
    return front_matter(digest) + "\n" + body if matter else body


def parts_of(digest: Digest) -> list[tuple[str, tuple[Item, ...]]]:
    """Return the parts below the lead, headlines last, as (heading, items); none is empty."""
    parts = [(section.title, section.items) for section in digest.draft.sections]
    if digest.draft.headlines:
        parts.append((HEADLINES, digest.draft.headlines))
    return [(heading, items) for heading, items in parts if items]


def foot_lines(digest: Digest) -> list[str]:
    """Return the lines below the items: failed feeds, what the operator should know, who wrote it."""
    lines = [unread_line(digest), *(visible(notice) for notice in digest.notices), writer_line(digest)]
    return [line if line[-1] in ".?!" else f"{line}." for line in lines if line]


def _markdown_item(digest: Digest, item: Item) -> str:
    seen = shown(digest, item)
    headline = escape_markdown(seen.headline)
    words = [f"**{headline}**" if item.sentences else headline]
    words += [escape_markdown(text) for text in (seen.text, seen.caution) if text]
    return " ".join(filter(None, [*words, _joined(seen, _markdown_source)]))


def _joined(seen: Shown, source: Callable[[Source], str]) -> str:
    """Return ``(A; also: B, C)``, nothing without a source."""
    if not seen.sources:
        return ""
    first, *others = (source(each) for each in seen.sources)
    return f"({first}; also: {', '.join(others)})" if others else f"({first})"


def _markdown_source(source: Source) -> str:
    label = escape_markdown(source.label)
    return f"[{label}]({source.link})" if source.link else label


def front_matter(digest: Digest) -> str:
    """Return the digest's facts as YAML front matter; each value is also JSON, so any YAML reader agrees on it."""
    counts = digest.counts
    facts: dict[str, Json] = {
        "title": title_line(digest),
        "date": str(digest.period),
        "id": str(digest.ticket),
        "written_at": to_json(digest.written_at),
        "since": to_json(digest.since),
        "until": to_json(digest.until),
        "writer": visible(digest.draft.writer),
        "topics": [visible(section.title) for section in digest.draft.sections],
        "read": counts.read,
        "new": counts.new,
        "on_topic": counts.on_topic,
        "told": counts.told,
        "noted": counts.noted,
        "reading_minutes": reading_minutes(digest),
    }
    plain = {key: json.dumps(value).replace("<", "\\u003c") for key, value in facts.items()}
    lines = [f"{key}: {value}" for key, value in plain.items()]
    return "\n".join(["---", *lines, "---", ""])


def terminal_text(digest: Digest, *, width: int = 0) -> str:
    """Return the digest as plain text, addresses written out; with a width, wrapped to it, addresses whole.

    It holds no control character but the line feed, whatever the stories hold.
    """
    title = title_line(digest)
    lines = [title, "=" * len(title), "", *_wrapped(figures_line(digest), width), ""]
    lead = lead_text(digest) or ("" if digest.stories else EMPTY_DAY)
    if lead:
        lines += [*_wrapped(lead, width), ""]
    for heading, items in parts_of(digest):
        heading_text = visible(heading)
        lines += [heading_text, "-" * len(heading_text), ""]
        for item in items:
            lines += _terminal_item(digest, item, width)
        lines.append("")
    for line in foot_lines(digest):
        lines += _wrapped(line, width)
    return "\n".join(lines) + "\n"


def _terminal_item(digest: Digest, item: Item, width: int) -> list[str]:
    seen = shown(digest, item)
    text = " ".join(filter(None, (seen.headline, seen.text, seen.caution)))
    places = [f"{source.label}: {source.link}" if source.link else source.label for source in seen.sources]
    return [*_wrapped(text, width, "* ", "  "), *(f"    {place}" for place in places)]


def _wrapped(text: str, width: int, first: str = "", later: str = "") -> list[str]:
    if width <= 0:
        return [first + text]
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
    )


def json_value(digest: Digest) -> dict[str, Json]:
    """Return everything about the digest as JSON: its record, and what the renderers make of it."""
    return {
        **to_json(digest),
        "title": title_line(digest),
        "numbers": numbers_line(digest),
        "words": word_count(digest.draft),
        "reading_minutes": reading_minutes(digest),
        "parts": [
            {"title": visible(heading), "items": [_json_item(digest, item) for item in items]}
            for heading, items in parts_of(digest)
        ],
    }


def _json_item(digest: Digest, item: Item) -> dict[str, Json]:
    seen = shown(digest, item)
    return {
        "headline": seen.headline,
        "text": seen.text,
        "caution": seen.caution,
        "stories": list(item.stories),
        "sources": [{"name": source.label, "link": source.link} for source in sources(digest, item)],
    }
