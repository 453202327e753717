"""Read a folder of feeds with every reader in turn, side by side in one run.

::

    python benchmarks/feeds_parse.py DIR [--reference PATH] [--rounds N]

The bytes are in memory; what is timed is bytes to entries. Each reader is timed as it is; ours and the reference's once
more with the fingerprints by which entries are told apart, which other readers have not. Readers take turns within a
round, so that other load falls on all of them; each figure is the best of its rounds. Without DIR a feed is made up.
feedparser and fastfeedparser are measured where they are installed, the reference where its script is given.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

from news_digest.errors import NotAFeed
from news_digest.feeds.parse import parse_feed, read_items
from news_digest.feeds.text import stories

URL = "https://feed.example/dir/feed.xml"
Reader = Callable[[bytes], int]


def _ours(body: bytes) -> int:
    return len(read_items(body, URL).items)


def _ours_with_identities(body: bytes) -> int:
    return len(parse_feed(body, URL).entries)


def _ours_with_text(body: bytes) -> int:
    return len(stories([[entry] for entry in parse_feed(body, URL).entries]))


def _floor(body: bytes) -> int:
    return sum(str(element.tag).endswith(("item", "entry")) for element in ET.fromstring(body).iter())


def _oracles() -> dict[str, Reader]:
    readers: dict[str, Reader] = {}
    if importlib.util.find_spec("feedparser"):
        import feedparser  # noqa: PLC0415 - optional

        readers["feedparser"] = lambda body: len(feedparser.parse(body).entries)
    if importlib.util.find_spec("fastfeedparser"):
        import fastfeedparser  # noqa: PLC0415 - optional

        readers["fastfeedparser"] = lambda body: len(fastfeedparser.parse(body).entries)
    return readers


def _reference(path: str) -> dict[str, Reader]:
    """Return the reference's reader, and the same with its keys, which it computes later."""
    module = _imported(path)

    def with_keys(body: bytes) -> int:
        _, entries = module.parse_feed(body, URL)
        return len([module.entry_keys(entry) for entry in entries])

    return {
        "the reference": lambda body: len(module.parse_feed(body, URL)[1]),
        "the reference, with its keys": with_keys,
    }


def _imported(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference_main", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    os.environ.setdefault("WORKSPACE_BASE", "/nonexistent/automation-runs/none")
    spec.loader.exec_module(module)
    return module


def _measured(reader: Reader, documents: list[bytes]) -> tuple[float, int, int]:
    """Return CPU seconds, documents that could not be read, and entries."""
    failed = entries = 0
    _forget()
    start = time.process_time()
    for body in documents:
        try:
            entries += reader(body)
        except (NotAFeed, ET.ParseError, ValueError, LookupError, KeyError, TypeError, AttributeError):
            failed += 1
    return time.process_time() - start, failed, entries


def _forget() -> None:
    """Empty our caches: documents that come again in the next round would find their own dates and links there."""
    for name, module in list(sys.modules.items()):
        for each in vars(module).values() if name.startswith("news_digest.") else ():
            if hasattr(each, "cache_clear"):
                each.cache_clear()


def _made_up(entries: int = 100) -> bytes:
    items = "".join(
        f"<item><title>Story {n}</title><link>https://news.example/{n}?utm_source=rss</link>"
        f"<guid>https://news.example/?p={n}</guid>"
        f"<pubDate>Tue, 01 Dec 2026 0{n % 10}:00:00 GMT</pubDate>"
        f"<description>&lt;p&gt;{'Words of the story. ' * 40}&lt;/p&gt;</description></item>"
        for n in range(entries)
    )
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>Made up</title>{items}</channel></rss>'.encode()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", nargs="?", metavar="DIR")
    arguments.add_argument("--reference", metavar="PATH")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--without", action="append", default=[], metavar="READER")
    given = arguments.parse_args()
    files = sorted(file for file in Path(given.folder).iterdir() if file.suffix != ".tsv") if given.folder else []
    documents = [file.read_bytes() for file in files if file.is_file()] or [_made_up()] * 20
    readers: dict[str, Reader] = {
        "ElementTree, nothing read": _floor,
        "ours": _ours,
        "ours, with identities": _ours_with_identities,
        "ours, with all text": _ours_with_text,
    }
    readers |= _reference(given.reference) if given.reference else {}
    readers |= _oracles()
    readers = {name: reader for name, reader in readers.items() if name not in given.without}
    best: dict[str, tuple[float, int, int]] = {}
    for _ in range(given.rounds):
        for name, reader in readers.items():
            result = _measured(reader, documents)
            best[name] = min(best.get(name, result), result)
    megabytes = sum(map(len, documents)) / 1e6
    print(f"{len(documents)} documents, {megabytes:.1f} MB; CPU time, best of {given.rounds} rounds")
    print(f"{'reader':32} {'feeds/s':>8} {'MB/s':>7} {'ours is':>9} {'failed':>7} {'entries':>8}")
    for name, (seconds, failed, entries) in best.items():
        print(
            f"{name:32} {len(documents) / seconds:8.0f} {megabytes / seconds:7.1f} {seconds / best['ours'][0]:8.2f}x"
            f" {failed:7} {entries:8}"
        )


if __name__ == "__main__":
    main()
