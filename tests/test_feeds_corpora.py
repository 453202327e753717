"""Public corpora of feeds and two other readers, beside ours; they skip where the shared material is missing."""

from __future__ import annotations

import html
import json
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import fastfeedparser
import feedparser
import pytest

from news_digest.cli.feeds_parse import describe
from news_digest.errors import NotAFeed
from news_digest.feeds.parse import parse_feed
from news_digest.feeds.text import title_of

URL = "https://feed.example/dir/feed.xml"


# --- scores --------------------------------------------------------------------------------------------------------


def in_process(command: Sequence[str], **_: Any) -> subprocess.CompletedProcess[str]:
    """Answer as the command would, without a process for each of a hundred calls."""
    arguments, url = list(command)[1:], ""
    headers: dict[str, str] = {}
    files: list[str] = []
    while arguments:
        argument = arguments.pop(0)
        if argument == "--url":
            url = arguments.pop(0)
        elif argument == "--header":
            name, value = arguments.pop(0).split(":", 1)
            headers[name.strip().lower()] = value.strip()
        else:
            files.append(argument)
    return subprocess.CompletedProcess(command, 0, "\n".join(map(json.dumps, describe(files, url, headers))), "")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the scorer leaves its index open
@pytest.mark.parametrize(("name", "least"), [("feeds", 130), ("feedparser", 417), ("bugreports", 48)])
@pytest.mark.slow
def test_the_scorer_finds_ours_right(
    shared: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, least: int
) -> None:
    monkeypatch.setattr(sys, "argv", ["score.py", "--set", name, "-v", "ours"])
    monkeypatch.setattr(subprocess, "run", in_process)
    runpy.run_path(str(shared / "corpus" / "score.py"), run_name="__main__")
    output = capsys.readouterr().out
    assert json.loads(output.splitlines()[0])["right"] >= least, output


# --- oracles -------------------------------------------------------------------------------------------------------

Oracle = Callable[[bytes], Sequence[Any]]

REVIEWED = {
    ("10-shift-jis.xml", "fastfeedparser"): "its title is cut at the first character that libxml2 does not know",
    ("16-entity-bomb.xml", "fastfeedparser"): "its title is empty there; ours has the text unexpanded",
}
"""Stories that another reader has and ours has not, each with the reason why that is right."""


def words(title: str) -> str:
    """Return a title as it is compared: letters and digits, whatever was decoded how often."""
    for _ in range(2):
        title = html.unescape(re.sub(r"<[^>]+>", "", title or ""))
    return re.sub(r"\W+", "", title.lower())[:60]


def missing(body: bytes, oracle: Oracle) -> list[tuple[str, str, str]]:
    """Return the stories that an oracle finds and ours does not know by link, identifier or title."""
    try:
        ours = parse_feed(body, URL).entries
    except NotAFeed:
        ours = ()
    known = {e.link for e in ours} | {e.identifier.strip() for e in ours} | {words(title_of(e)) for e in ours}
    theirs = [(words(e.get("title", "")), e.get("link", ""), e.get("id", "")) for e in oracle(body)]
    assert len(theirs) <= len(ours)
    return [each for each in theirs if any(each) and not set(each) & (known - {""})]


def by_feedparser(body: bytes) -> Sequence[Any]:
    found: Sequence[Any] = feedparser.parse(body, sanitize_html=False, resolve_relative_uris=False).entries
    return found


def by_fastfeedparser(body: bytes) -> Sequence[Any]:
    try:
        found: Sequence[Any] = fastfeedparser.parse(body).entries
    except (ValueError, KeyError, TypeError, AttributeError):  # it says so about what is no feed to it
        return ()
    return found


def compare(shared: Path, name: str, oracle: Oracle, most_bytes: int) -> None:
    folder = shared / "corpus"
    files = [*(folder / "feeds").iterdir(), *(folder / "bugreports").glob("*.xml")]
    files = [file for file in files if file.suffix != ".tsv" and file.stat().st_size <= most_bytes]
    assert len(files) > 100
    lost = {(file.name, name): gone for file in sorted(files) if (gone := missing(file.read_bytes(), oracle))}
    assert {key: gone for key, gone in lost.items() if key not in REVIEWED} == {}


@pytest.mark.slow
def test_fastfeedparser_finds_no_story_that_ours_does_not(shared: Path) -> None:
    compare(shared, "fastfeedparser", by_fastfeedparser, 10_000_000)


@pytest.mark.slow
def test_feedparser_finds_no_story_that_ours_does_not(shared: Path) -> None:
    compare(shared, "feedparser", by_feedparser, 20_000)


@pytest.mark.prove
def test_feedparser_finds_no_story_that_ours_does_not_in_large_feeds_either(shared: Path) -> None:
    compare(shared, "feedparser", by_feedparser, 10_000_000)


# --- identity ------------------------------------------------------------------------------------------------------


def test_within_one_document_only_true_duplicates_are_one_story(shared: Path) -> None:
    joined, entries = [], 0
    for file in sorted((shared / "corpus" / "feeds").iterdir()):
        try:
            found = parse_feed(file.read_bytes(), URL).entries if file.suffix != ".tsv" else ()
        except NotAFeed:
            continue
        known: dict[str, tuple[object, ...]] = {}
        for entry in found:
            entries += 1
            shown = (entry.link, str(entry.raw.title.value), str(entry.raw.teaser.value)[:500])
            same = next((known[key] for key in entry.identity.lookup if key in known), shown)
            joined += [(file.name, shown, same)] if same != shown else []
            known |= dict.fromkeys((*entry.identity.stored, *entry.identity.wide), shown)
    assert entries > 2800
    assert joined == []


# --- the command ---------------------------------------------------------------------------------------------------

FEED = (
    "<rss><channel><title>Wire</title><item><title>Bridge opens</title><link>/1</link><guid>1234</guid>"
    "<pubDate>Tue, 01 Dec 2026 09:30:00 GMT</pubDate></item></channel></rss>"
)


def test_a_description_has_what_the_scorers_ask_for(tmp_path: Path) -> None:
    file = tmp_path / "feed.xml"
    file.write_text(FEED, encoding="utf-8")
    document = next(iter(describe([str(file)], "https://news.example/feed", {})))
    (entry,) = document["entries"]
    assert (document["file"], document["title"]) == (str(file), "Wire")
    assert (entry["title"], entry["link"], entry["id"]) == ("Bridge opens", "https://news.example/1", "1234")
    assert entry["published"] == "2026-12-01T09:30:00Z"
    assert set(entry["stored"]) - set(entry["keys"]), "a weak identifier is stored, but matches nothing"
    assert not set(entry["keys"]) & set(entry["aliases"])


def test_without_an_address_relative_links_stay_relative(tmp_path: Path) -> None:
    file = tmp_path / "feed.xml"
    file.write_text(FEED, encoding="utf-8")
    assert next(iter(describe([str(file)], "", {})))["entries"][0]["link"] == "/1"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "news_digest.cli.feeds_parse", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, encoding="utf-8")


def test_the_command_prints_lines_of_json_or_a_table(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.xml", tmp_path / "bad.html"
    good.write_text(FEED, encoding="utf-8")
    bad.write_text("<html></html>", encoding="utf-8")
    as_json = run("--json", "--url", URL, "--header", "Content-Type: text/xml; charset=utf-8", str(good), str(bad))
    assert as_json.returncode == 3
    rows = [json.loads(line) for line in as_json.stdout.splitlines()]
    assert [sorted(row) for row in rows] == [["entries", "file", "title"], ["error", "file", "hint"]]
    table = run(str(good))
    assert table.returncode == 0
    assert "2026-12-01 09:30  Bridge opens" in table.stdout
    assert run(str(tmp_path / "nowhere.xml")).returncode == 3
