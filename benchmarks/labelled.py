"""The labelled windows that ``quality.py`` measures on: general news, and technology days of two labellings.

Texts are read from DIR, which is not part of the project; see ``labels/README.md``. A window holds each link once, as
the feed reader would leave it, and no advertisements of the newsletters for themselves.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from news_digest.model import Identity, Story

LABELS = Path(__file__).parent / "labels"

TOPICS = ("artificial intelligence", "open source", "developer tools")

TAIL = re.compile(r"\s*##.*$", re.DOTALL)
"""The newsletter's own end, which the feed reader strips as what all entries of a feed share."""

ADVERTISEMENT = re.compile(r"^(?:TLDR is hiring|Be TLDR|GTM Engineer, Applied AI at TLDR)")

PERSONAL = frozenset({"accesstoken", "gift", "unlocked_article_code", "st", "reflink", "mod"})
"""Parameters that name the reader, not the article."""


@dataclass(frozen=True)
class Row:
    """A story and what was said of it: ``event`` None is left out of scores, ``topics`` None was not labelled."""

    story: Story
    event: str | None
    topics: tuple[int | None, ...] = (None,) * len(TOPICS)


Window = Sequence[Row]


def link_key(link: str) -> str:
    """Return a link as the label files have it."""
    parts = urlsplit(link)
    kept = [
        (name, value)
        for name, value in parse_qsl(parts.query)
        if not name.startswith("utm_") and len(value) <= 40 and name.lower() not in PERSONAL
    ]
    return parts.netloc.removeprefix("www.") + parts.path.rstrip("/") + (f"?{urlencode(kept)}" if kept else "")


def _story(row: Mapping[str, str], source: str) -> Story:
    published = datetime.fromisoformat(row["date"])
    aware = published if published.tzinfo else published.replace(tzinfo=UTC)
    excerpt = TAIL.sub("", row["excerpt"])
    return Story(row["title"], f"https://{link_key(row['link'])}", source, source, aware, excerpt, Identity(()))


# --- general news --------------------------------------------------------------------------------------------------


def general(data: Path) -> list[Window]:
    """Return general news of summer 2021, three outlets an event, in windows of 48 hours from the first story on."""
    lines = (data / "allsides_events.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    rows = sorted(rows, key=lambda row: (datetime.fromisoformat(row["date"]).astimezone(UTC), row["id"]))
    windows: list[list[Row]] = []
    start = datetime.min.replace(tzinfo=UTC)
    for row in rows:
        story = _story(row, row["source"])
        assert story.published is not None
        if story.published - start >= timedelta(hours=48):
            windows.append([])
            start = story.published
        windows[-1].append(Row(story, str(row["event"])))
    return [list(_once(window)) for window in windows]


# --- technology ----------------------------------------------------------------------------------------------------


def older(data: Path) -> list[Window]:
    """Return the 212 technology stories that came with the task, one window per batch."""
    batches: dict[int, list[Row]] = defaultdict(list)
    for line in (data / "tldr_topics_events.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        topics = tuple(None if row["topics"][topic] == 1 else row["topics"][topic] for topic in TOPICS)
        event = None if row["event_ignore"] else row["event"]
        batches[row["batch"]].append(Row(_story(row, f"TLDR {row['newsletter']}"), event, topics))
    return list(batches.values())


def recorded(data: Path, part: str, *, each_link_once: bool = True) -> list[Window]:
    """Return the labelled windows of a part, ``calibration`` or ``scoring``."""
    archive = _archive(data)
    events = {_place(row): row["event"] for row in _table(f"events-{part}")}
    topics = {_place(row): row for row in _table(f"topics-{part}")}
    windows = []
    for window in _table("days"):
        if window["part"] == part:
            stories = [row for day in (window["first"], window["second"]) for row in archive[day]]
            read_all = window["topics_read"] == "all"
            rows = list(_labelled(stories, events, topics, read_all=read_all))
            windows.append(list(_once(rows)) if each_link_once else rows)
    return list(windows)


def _labelled(
    rows: Iterable[Mapping[str, str]],
    events: Mapping[tuple[str, str, str], str],
    topics: Mapping[tuple[str, str, str], Mapping[str, str]],
    *,
    read_all: bool,
) -> Iterator[Row]:
    for number, row in enumerate(rows):
        if not ADVERTISEMENT.match(row["title"]):
            place = (row["date"], row["newsletter"], link_key(row["link"]))
            event = events.get(place, f"alone {number}")
            said = topics.get(place, dict.fromkeys(map(_column, TOPICS), "0" if read_all else "-"))
            marks = tuple(int(mark) if (mark := said[_column(topic)]) in "02" else None for topic in TOPICS)
            yield Row(_story(row, f"TLDR {row['newsletter']}"), None if event == "-" else event, marks)


def _once(rows: Iterable[Row]) -> Iterator[Row]:
    seen: set[str] = set()
    for row in rows:
        if row.story.link not in seen:
            seen.add(row.story.link)
            yield row


def _archive(data: Path) -> Mapping[str, list[dict[str, str]]]:
    days: dict[str, list[dict[str, str]]] = defaultdict(list)
    with gzip.open(data / "tldr_archive.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            days[row["date"]].append(row)
    return days


def _table(name: str) -> list[dict[str, str]]:
    with (LABELS / f"{name}.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def _place(row: Mapping[str, str]) -> tuple[str, str, str]:
    return row["day"], row["newsletter"], row["link"]


def _column(topic: str) -> str:
    return topic.replace(" ", "_")
