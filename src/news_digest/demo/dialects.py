"""Write the sample stories as feeds: RSS 2.0, Atom, JSON Feed and RSS 1.0 (RDF), one outlet in each dialect."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import format_datetime
from xml.sax.saxutils import escape

from news_digest.demo.stories import HARBOUR, MERIDIAN, OPENBENCH, SIGNAL, SampleStory

__all__ = ["OUTLETS", "Outlet"]


@dataclass(frozen=True, slots=True)
class Outlet:
    """A made-up publisher; ``write`` returns its feed as text, dated relative to an instant."""

    path: str
    name: str
    home: str
    content_type: str
    stories: Sequence[SampleStory]
    dialect: Callable[[Outlet, datetime], str]

    def write(self, now: datetime) -> str:
        """Return the feed as it stands at an aware instant."""
        return self.dialect(self, now)


def _published(story: SampleStory, now: datetime) -> datetime | None:
    return None if story.hours_ago is None else (now - timedelta(hours=story.hours_ago)).replace(microsecond=0)


def _rss(outlet: Outlet, now: datetime) -> str:
    items = "".join(_rss_item(story, now) for story in outlet.stories)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel>\n'
        f"<title>{escape(outlet.name)}</title><link>{outlet.home}</link>"
        f"<description>Made-up news, for demonstration</description>\n{items}</channel></rss>\n"
    )


def _rss_item(story: SampleStory, now: datetime) -> str:
    published = _published(story, now)
    date = f"<pubDate>{format_datetime(published)}</pubDate>" if published else ""
    return (
        f"<item><title>{escape(story.title)}</title><link>{escape(story.link)}</link>"
        f'<guid isPermaLink="true">{escape(story.link)}</guid>{date}'
        f"<description>{escape(story.text)}</description></item>\n"
    )


def _atom(outlet: Outlet, now: datetime) -> str:
    entries = "".join(_atom_entry(story, now) for story in outlet.stories)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<title>{escape(outlet.name)}</title><id>{outlet.home}</id><updated>{now.isoformat()}</updated>"
        f'<link href="{outlet.home}"/>\n{entries}</feed>\n'
    )


def _atom_entry(story: SampleStory, now: datetime) -> str:
    published = (_published(story, now) or now).isoformat()
    summary = f'<summary type="text">{escape(story.text)}</summary>' if story.text else ""
    return (
        f'<entry><title>{escape(story.title)}</title><link rel="alternate" href="{escape(story.link)}"/>'
        f"<id>tag:openbench.example.org,2026:{story.link.rpartition('/')[2]}</id>"
        f"<published>{published}</published><updated>{published}</updated>{summary}</entry>\n"
    )


def _json_feed(outlet: Outlet, now: datetime) -> str:
    items = []
    for story in outlet.stories:
        published = _published(story, now)
        item = {"id": story.link, "url": story.link, "title": story.title, "content_html": story.text}
        items.append(item | ({"date_published": published.isoformat()} if published else {}))
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": outlet.name,
        "home_page_url": outlet.home,
        "items": items,
    }
    return json.dumps(feed, ensure_ascii=False, indent=1)


def _rdf(outlet: Outlet, now: datetime) -> str:
    items = "".join(_rdf_item(story, now) for story in outlet.stories)
    listed = "".join(f'<rdf:li rdf:resource="{escape(story.link)}"/>' for story in outlet.stories)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">\n'
        f'<channel rdf:about="{outlet.home}"><title>{escape(outlet.name)}</title><link>{outlet.home}</link>'
        f"<description>Made-up news, for demonstration</description>"
        f"<items><rdf:Seq>{listed}</rdf:Seq></items></channel>\n{items}</rdf:RDF>\n"
    )


def _rdf_item(story: SampleStory, now: datetime) -> str:
    published = _published(story, now)
    date = f"<dc:date>{published.isoformat()}</dc:date>" if published else ""
    return (
        f'<item rdf:about="{escape(story.link)}"><title>{escape(story.title)}</title><link>{escape(story.link)}</link>'
        f"<description>{escape(story.text)}</description>{date}</item>\n"
    )


OUTLETS = (
    Outlet("/meridian.xml", "The Meridian", "https://meridian.example.com/", "application/rss+xml", MERIDIAN, _rss),
    Outlet("/openbench.atom", "Openbench", "https://openbench.example.org/", "application/atom+xml", OPENBENCH, _atom),
    Outlet("/signal.json", "Signal & Loom", "https://signal.example.net/", "application/feed+json", SIGNAL, _json_feed),
    Outlet("/harbour.rdf", "Harbour Ledger", "https://harbour.example.org/", "application/rdf+xml", HARBOUR, _rdf),
)
