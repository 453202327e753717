"""The site and the served page in a real Chromium: phone and desktop, light and dark, keyboard, print, attacks.

Screenshots go to the folder that ``NEWS_DIGEST_SHOTS`` names, so that a person can look at them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.archives import LAST_DAY, fill
from tests.digests import STORIES, brief, digest

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytest.importorskip("starlette", reason="the extra web is not installed")

from playwright import sync_api
from tests.archives import attacks
from tests.serving_web import Site, desk, serving_page

from news_digest.channels.archive import Archive
from news_digest.channels.feed import Heading
from news_digest.channels.folder import Folder, PublicDisk
from news_digest.channels.site.build import build
from news_digest.channels.site.search import words_of
from news_digest.model import Claim, Draft, Item, Section

pytestmark = pytest.mark.browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
SIZES = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1280, "height": 900}}
SHOTS = os.environ.get("NEWS_DIGEST_SHOTS", "")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if not CHROMIUM:
        pytest.skip("Chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("browser")
    archive = Archive(where / "archive")
    fill(archive, 24)
    build(archive, Folder(where / "site", disk=PublicDisk()), Heading("Morning digest", "https://news.example/"))
    return where


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Site]:
    with serving_page(desk(folder)) as site:
        yield site


class Watched:
    """A page that remembers what it asked for and what it complained about."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.asked: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture
def opened(chromium: Any) -> Iterator[Callable[..., Watched]]:
    contexts = []

    def open_page(size: str = "desktop", scheme: str = "light", **options: Any) -> Watched:
        context = chromium.new_context(viewport=SIZES[size], color_scheme=scheme, **options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        return Watched(context.new_page())

    yield open_page
    for context in contexts:
        context.close()


def shoot(page: Any, name: str, *, whole: bool = False) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"), full_page=whole)


def site_url(folder: Path, name: str = "index.html") -> str:
    return f"{(folder / 'site' / name).as_uri()}"


# --- looks -----------------------------------------------------------------------------------------------------------

PAGES = ("index.html", "2026-11-20.html", "archive.html", "search.html?q=telescope", "state.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", sorted(SIZES))
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_screen_and_is_clean_by_axe(
    opened: Callable[..., Watched], served: Site, name: str, size: str, scheme: str
) -> None:
    axe_run = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    seen = opened(size, scheme)
    seen.page.goto(served.url + name)
    shoot(seen.page, f"served-{name.partition('.')[0]}-{size}-{scheme}", whole=name.startswith("state"))
    wide, inner = seen.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= inner
    found = axe_run.Axe().run(seen.page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
    assert all(url.startswith(served.url) for url in seen.asked)
    assert seen.complaints == []


@pytest.mark.parametrize("name", ["index.html", "archive.html", "search.html"])
def test_the_site_works_from_the_disk_and_asks_for_nothing_else(
    opened: Callable[..., Watched], folder: Path, name: str
) -> None:
    seen = opened("phone")
    seen.page.goto(site_url(folder, name))
    shoot(seen.page, f"site-{name.partition('.')[0]}-phone-light")
    assert seen.page.evaluate("getComputedStyle(document.body).maxWidth") == "704px"
    assert all(url.startswith((folder / "site").as_uri()) for url in seen.asked)
    assert seen.complaints == []


def test_the_site_and_the_served_page_show_the_same_digest(
    opened: Callable[..., Watched], folder: Path, served: Site
) -> None:
    texts = []
    for url in (site_url(folder, "2026-11-20.html"), f"{served.url}2026-11-20.html"):
        seen = opened()
        seen.page.goto(url)
        texts.append(seen.page.inner_text("article.digest"))
    assert texts[0] == texts[1]


def test_on_paper_there_is_no_navigation_and_links_are_written_out(
    opened: Callable[..., Watched], folder: Path
) -> None:
    seen = opened()
    seen.page.goto(site_url(folder))
    seen.page.emulate_media(media="print")
    shoot(seen.page, "site-index-print")
    assert not seen.page.is_visible(".top")
    assert not seen.page.is_visible("details")
    after = seen.page.evaluate("getComputedStyle(document.querySelector('.sources a'), '::after').content")
    assert "https://" in after or "attr" in after


# --- use -------------------------------------------------------------------------------------------------------------


def test_the_keyboard_reaches_the_text_first_and_every_reason(opened: Callable[..., Watched], folder: Path) -> None:
    page = opened().page
    page.goto(site_url(folder))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for _ in range(6):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    page.keyboard.press("Enter")
    assert page.is_visible("details[open] li")


def test_without_script_the_served_search_works_and_the_site_says_what_it_needs(
    opened: Callable[..., Watched], folder: Path, served: Site
) -> None:
    page = opened(java_script_enabled=False).page
    page.goto(f"{served.url}search.html")
    page.fill("#q", "telescope")
    page.click("button")
    assert page.locator("#results li").count() > 0
    page.goto(site_url(folder, "search.html"))
    assert "needs JavaScript" in page.inner_text("main")


def test_the_search_on_the_disk_finds_what_the_server_finds(
    opened: Callable[..., Watched], folder: Path, served: Site
) -> None:
    disk, online = opened("phone"), opened("phone")
    disk.page.goto(site_url(folder, "search.html"))
    for query in ("telescope", "tide table", "東京", "zürich compiler", "the of", "nothingatall", "north bat", "te"):
        disk.page.fill("#q", query)
        disk.page.press("#q", "Enter")
        online.page.goto(f"{served.url}search.html?q={query}")
        expected = online.page.inner_text("#said")
        disk.page.wait_for_function("said => document.getElementById('said').textContent === said", arg=expected)
        links = "[...document.querySelectorAll('#results a')].map(a => a.textContent + a.href.split('/').pop())"
        disk.page.wait_for_function(f"count => {links}.length === count", arg=online.page.locator("#results a").count())
        assert disk.page.evaluate(links) == online.page.evaluate(links), query
    shoot(disk.page, "site-search-phone-light")
    assert disk.complaints == []


def test_words_are_cut_alike_in_the_browser_and_in_python(opened: Callable[..., Watched], folder: Path) -> None:
    page = opened().page
    page.goto(site_url(folder, "search.html"))
    texts = [
        "Über die Höhe",
        "来週、東京で橋が開通",
        "C++ and C#",
        "½ ﬁne 3.14",
        "Ærøskøbing",
        "naïve café’s",
        "İstanbul",
        "한국어",
        "a\u0301b",
        "ＡＢＣ",
        "x" * 50,
    ]
    for text in texts:
        assert page.evaluate("text => wordsOf(text, new Set(['and', 'a']))", text) == words_of(text), text


def test_a_run_shows_its_progress_as_it_comes(opened: Callable[..., Watched], folder: Path) -> None:
    with serving_page(desk(folder)) as site:
        seen = opened("phone")
        seen.page.goto(f"{site.url}state.html")
        seen.page.click("text=Run now")
        seen.page.wait_for_selector("#lines li[data-stage=write]")
        assert "<b>embedded</b> writes" in seen.page.inner_text("#lines")
        seen.page.wait_for_selector("#job[data-running=no]")
        shoot(seen.page, "served-run-phone-light")
        assert "2026-12-01: wrote" in seen.page.inner_text("#lines")
        assert seen.complaints == []


# --- attacks ---------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not attacks(), reason="no eval/injections.jsonl beside the checkout")
def test_no_attack_runs_asks_for_anything_or_links_elsewhere(opened: Callable[..., Watched], tmp_path: Path) -> None:
    archive = Archive(tmp_path / "archive")
    texts = [attack["payload"] for attack in attacks()]
    texts += [
        '"><script>alert(1)</script>',
        "<img src=//evil.example/x onerror=alert(1)>",
        "</title><svg onload=alert(1)>",
    ]
    stories = tuple(
        replace(STORIES[0], title=text, excerpt=text, source=text, link=text, also=((text, text),), suspicious=(text,))
        for text in texts
    )
    items = tuple(Item(text, (text,), (number,)) for number, text in enumerate(texts, start=1))
    draft = Draft(
        lead=tuple(Claim(text, (1,)) for text in texts),
        sections=(Section(texts[0], items),),
        headlines=items,
        writer=texts[0],
    )
    archive.put(digest(draft, brief(*stories), notices=tuple(texts), findings=tuple(texts)))
    build(archive, Folder(tmp_path / "site", disk=PublicDisk()), Heading(texts[-1]))
    with serving_page(desk(tmp_path)) as site:
        for url in (
            site_url(tmp_path),
            site.url,
            f"{site.url}search.html?q=script",
            f"{site_url(tmp_path, 'search.html')}?q=script",
        ):
            seen = opened()
            seen.page.goto(url)
            seen.page.wait_for_timeout(200)
            home = site.url if url.startswith("http:") else (tmp_path / "site").as_uri()
            assert all(each.startswith(home) for each in seen.asked)
            assert seen.complaints == []
            schemes = seen.page.evaluate("[...new Set([...document.links].map(link => link.protocol))]")
            assert set(schemes) <= {"http:", "https:", "file:"}
            assert (
                seen.page.locator("main script, main img, main svg, main iframe, main form input[type=hidden]").count()
                == 0
            )


def test_a_script_that_got_in_would_not_run(opened: Callable[..., Watched], folder: Path, served: Site) -> None:
    for url in (site_url(folder), served.url):
        seen = opened()
        seen.page.goto(url)
        seen.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.got = 1\">')")
        seen.page.evaluate(
            "const s = document.createElement('script'); s.textContent = 'window.got = 2'; document.body.append(s)"
        )
        seen.page.wait_for_timeout(100)
        assert seen.page.evaluate("window.got === undefined")
        assert len(seen.complaints) >= 2


def test_the_last_day_is_the_first_page(opened: Callable[..., Watched], served: Site) -> None:
    page = opened().page
    page.goto(served.url)
    assert page.get_attribute("h1 time", "datetime") == LAST_DAY.isoformat()
