"""A digest as HTML and as an Atom entry.

Every text passes ``html.escape``; links are those of the stories. The page has no script, no style attribute and loads
nothing, so it works under the strictest Content-Security-Policy.
"""

from __future__ import annotations

import uuid
from html import escape

from news_digest.model import Digest, Item
from news_digest.render import EMPTY_DAY, foot_lines, parts_of
from news_digest.shown import (
    Source,
    figures_line,
    lead_text,
    shown,
    title_line,
    visible,
    writer_line,
)
from news_digest.wire import to_json

__all__ = ["atom_entry", "html", "html_body", "identifier"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'none'; base-uri 'none'; form-action 'none'"

STYLE = """\
:root{color-scheme:light dark}
body{font:1.05rem/1.5 system-ui,sans-serif;max-width:42rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;line-height:1.2}h2{font-size:1.15rem;margin-top:2rem}
li{margin:.6rem 0}.figures,.sources,.foot{color:GrayText;font-size:.875rem}
.sources a{color:LinkText}"""


def html(digest: Digest, *, language: str = "en") -> str:
    """Return the digest as a whole HTML document that needs nothing else."""
    return (
        f'<!DOCTYPE html>\n<html lang="{_text(language)}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{_text(title_line(digest))}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n<main>\n"
        f"{html_body(digest)}</main>\n</body>\n</html>\n"
    )


def html_body(digest: Digest) -> str:
    """Return the digest as an HTML fragment: headings, paragraphs, lists and links, nothing else."""
    lines = [f"<h1>{_text(title_line(digest))}</h1>", f'<p class="figures">{_text(figures_line(digest))}</p>']
    lead = lead_text(digest) or ("" if digest.stories else EMPTY_DAY)
    if lead:
        lines.append(f'<p class="lead">{_text(lead)}</p>')
    for heading, items in parts_of(digest):
        lines.append(f"<section>\n<h2>{_text(heading)}</h2>\n<ul>")
        lines += [_item(digest, item) for item in items]
        lines.append("</ul>\n</section>")
    lines.append('<footer class="foot">')
    lines += [f"<p>{_text(line)}</p>" for line in foot_lines(digest)]
    lines.append("</footer>")
    return "\n".join(lines) + "\n"


def _item(digest: Digest, item: Item) -> str:
    seen = shown(digest, item)
    headline = _text(seen.headline)
    words = [f"<strong>{headline}</strong>" if item.sentences else headline]
    words += [_text(text) for text in (seen.text, seen.caution) if text]
    if not seen.sources:
        return f"<li>{' '.join(words)}</li>"
    first, *others = (_source(source) for source in seen.sources)
    also = f"; also: {', '.join(others)}" if others else ""
    return f'<li>{" ".join(words)} <span class="sources">({first}{also})</span></li>'


def _source(source: Source) -> str:
    if not source.link:
        return _text(source.label)
    return f'<a href="{escape(source.link)}" rel="noopener noreferrer nofollow">{_text(source.label)}</a>'


def _text(text: str) -> str:
    return escape(visible(text))


def identifier(digest: Digest) -> str:
    """Return the digest's stable id, ``urn:uuid:...``: its ticket, or a UUID made from it."""
    try:
        return uuid.UUID(digest.ticket).urn
    except ValueError:
        return uuid.uuid5(uuid.NAMESPACE_URL, f"news-digest:{digest.period}:{digest.ticket}").urn


def atom_entry(digest: Digest, *, link: str = "") -> str:
    """Return the digest as an Atom 1.0 entry (RFC 4287), its HTML escaped inside; ``link`` is where it stands."""
    lines = [
        "<entry>",
        f"<id>{_text(identifier(digest))}</id>",
        f"<title>{_text(title_line(digest))}</title>",
        f"<updated>{to_json(digest.written_at)}</updated>",
        f"<published>{to_json(digest.written_at)}</published>",
        f"<author><name>news-digest, {_text(digest.draft.writer) or 'unknown writer'}</name></author>",
    ]
    if link:
        lines.append(f'<link rel="alternate" type="text/html" href="{escape(link)}"/>')
    lines += [
        f"<summary>{_text(lead_text(digest) or writer_line(digest))}</summary>",
        f'<content type="html">{escape(html_body(digest))}</content>',
        "</entry>",
    ]
    return "\n".join(lines) + "\n"
