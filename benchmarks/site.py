"""What a long archive costs a reader: pages and searches with 20 days against 2,000, and what a new day rewrites.

    python benchmarks/site.py [--days 20 2000] [--items 24] [--rounds 30] [--browser]

Both archives are measured in turn, round by round, so that both meet the same machine. A time is the median; "served"
is a whole request to the server on loopback, "in the browser" a search of the static site from the disk in Chromium.
"""

# ruff: noqa: E402 - the archives and the server of the tests are found by the path that is set first

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "src")]

from tests.archives import LAST_DAY, fill, made
from tests.serving_web import Site, desk, serving_page

from news_digest.channels.archive import Archive
from news_digest.channels.feed import Heading
from news_digest.channels.folder import Folder, PublicDisk, QuickDisk
from news_digest.channels.site.build import build

WORDS = (
    "telescope",
    "tide tables",
    "zürich",
    "compiler daemon",
    "sec",
    "nothingatall",
    "brightwater volunteers leaked",
)
"""Frequent and rare, one word and several, a beginning, and one that nothing has."""
HEADING = Heading("Morning digest", "https://news.example/")


class Measured:
    """One archive, its site and its server."""

    def __init__(self, folder: Path, days: int, items: int) -> None:
        self.days = days
        self.folder = folder
        self.archive = Archive(folder / "archive", disk=QuickDisk())
        fill(self.archive, days, items=items)
        started = time.perf_counter()
        self.files = len(build(self.archive, self.site, HEADING))
        self.first_build_seconds = time.perf_counter() - started

    @property
    def site(self) -> Folder:
        """Return the folder of the site, as a new process opens it."""
        return Folder(self.folder / "site", disk=PublicDisk())


def timed(action: Callable[[], object]) -> float:
    """Return the milliseconds that an action takes."""
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000


def rows(actions: dict[str, Sequence[Callable[[], object]]], rounds: int) -> None:
    """Print the median of each action for both archives, and their ratio."""
    for name, pair in actions.items():
        times: list[list[float]] = [[], []]
        for action in pair:
            action()
        for _ in range(rounds):
            for index, action in enumerate(pair):
                times[index].append(timed(action))
        few, many = (median(each) for each in times)
        print(f"{name:<52} {few:>9.2f} {many:>9.2f} {many / few:>7.2f}")


def served(sites: Sequence[Site], rounds: int) -> None:
    """Print what requests take."""
    day = LAST_DAY - timedelta(days=7)
    paths = {"newest day": "/", "a day": f"/{day}.html", "archive": "/archive.html", "state": "/state.html"}
    paths |= {f"search: {words}": f"/search.html?q={words.replace(' ', '+').replace('ü', '%C3%BC')}" for words in WORDS}
    rows({f"served, {name}": [_ask(site, path) for site in sites] for name, path in paths.items()}, rounds)


def _ask(site: Site, path: str) -> Callable[[], object]:
    return lambda: site.ask(path)


def in_the_browser(measured: Sequence[Measured], rounds: int) -> None:
    """Print what a search of the static site takes in Chromium, from a page just loaded."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where asked for

    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        pages = [browser.new_page() for _ in measured]
        urls = [(each.folder / "site" / "search.html").as_uri() for each in measured]
        for words in WORDS:
            rows(
                {f"in the browser, search: {words}": [_find(*each, words) for each in zip(pages, urls, strict=True)]},
                rounds,
            )
        browser.close()


def _find(page: Any, url: str, words: str) -> Callable[[], object]:  # noqa: ANN401 - Playwright's page
    def find() -> None:
        page.goto(f"{url}?q={words}")
        page.wait_for_function("document.getElementById('said').textContent !== ''")

    return find


def builds(measured: Sequence[Measured]) -> None:
    """Print what builds of the site take and write."""
    again = [timed(lambda each=each: build(each.archive, each.site, HEADING)) for each in measured]  # type: ignore[misc]
    wrote, took = [], []
    for each in measured:
        each.archive.put(made(LAST_DAY + timedelta(days=1)))
        before = {path: path.stat().st_mtime_ns for path in each.site.path.rglob("*") if path.is_file()}
        took.append(timed(lambda each=each: build(each.archive, each.site, HEADING)))  # type: ignore[misc]
        after = {path: path.stat().st_mtime_ns for path in each.site.path.rglob("*") if path.is_file()}
        wrote.append(sum(before.get(path) != when for path, when in after.items()))
    print(f"{'first build, s':<52} {measured[0].first_build_seconds:>9.2f} {measured[1].first_build_seconds:>9.2f}")
    print(f"{'files of the site':<52} {measured[0].files:>9} {measured[1].files:>9}")
    print(f"{'build again, nothing changed, ms':<52} {again[0]:>9.1f} {again[1]:>9.1f}")
    print(f"{'build after a new day, ms':<52} {took[0]:>9.1f} {took[1]:>9.1f} {took[1] / took[0]:>7.2f}")
    print(f"{'files that the new day wrote':<52} {wrote[0]:>9} {wrote[1]:>9}")


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, nargs=2, default=[20, 2000])
    parser.add_argument("--items", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--browser", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        measured = [Measured(Path(folder) / str(days), days, given.items) for days in given.days]
        print(f"{'ms, median of ' + str(given.rounds):<52} {given.days[0]:>9} {given.days[1]:>9} {'ratio':>7}")
        desks = [desk(each.folder) for each in measured]
        index = [timed(lambda each=each: each.index.refresh(each.archive)) / 1000 for each in desks]  # type: ignore[misc]
        with serving_page(desks[0]) as few, serving_page(desks[1]) as many:
            served([few, many], given.rounds)
        print(f"{'served, first index, s':<52} {index[0]:>9.2f} {index[1]:>9.2f}")
        if given.browser:
            in_the_browser(measured, max(5, given.rounds // 3))
        builds(measured)


if __name__ == "__main__":
    main()
