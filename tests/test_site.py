"""The static site: what is written when, what a page says, and a search that finds as people expect."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.archives import LAST_DAY, attacks, fill, made
from tests.digests import STORIES, brief, digest

from news_digest.channels import Target, open_channel
from news_digest.channels.archive import Archive
from news_digest.channels.feed import Heading
from news_digest.channels.folder import Folder, PublicDisk
from news_digest.channels.site.search import MOST_RESULTS, Index, words_of
from news_digest.errors import DeliveryError
from news_digest.model import Claim, Draft, Item, Section
from news_digest.shown import visible
from news_digest.testing import FakeClock

pytest.importorskip("jinja2", reason="the extra web is not installed")

from news_digest.channels.feed import feed_files
from news_digest.channels.site.build import build
from news_digest.channels.site.pages import Neighbours, Pages
from news_digest.channels.site.views import day_view

HEADING = Heading("Morning digest", "https://news.example/")


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "archive")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "site", disk=PublicDisk())


def page(folder: Folder, name: str) -> str:
    data = folder.get(name)
    assert data is not None, name
    return data.decode()


class Page(HTMLParser):
    """What a browser would see of a page: elements, attributes, links, ids, text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def values(self, name: str) -> list[str]:
        return [value for known, value in self.attributes if known == name]


# --- what is written when --------------------------------------------------------------------------------------------


def test_a_site_has_its_index_pages_archive_search_and_feeds(archive: Archive, folder: Folder) -> None:
    days = fill(archive, 3)
    written = build(archive, folder, HEADING)
    for name in (
        "index.html",
        "archive.html",
        "archive-2026.html",
        "search.html",
        "atom.xml",
        "feed.json",
        "static/style.css",
    ):
        assert name in written
        assert folder.get(name)
    assert all(f"{day}.html" in written for day in days)


def test_building_again_writes_nothing(archive: Archive, folder: Folder) -> None:
    fill(archive, 5)
    build(archive, folder, HEADING)
    before = {path: path.stat().st_mtime_ns for path in folder.path.rglob("*") if path.is_file()}
    assert build(archive, folder, HEADING) == []
    assert {path: path.stat().st_mtime_ns for path in folder.path.rglob("*") if path.is_file()} == before


def test_a_new_day_writes_its_page_its_neighbours_and_the_overviews_only(archive: Archive, folder: Folder) -> None:
    fill(archive, 20)
    build(archive, folder, HEADING)
    archive.put(made(LAST_DAY + timedelta(days=1)))
    written = build(archive, folder, HEADING)
    assert [name for name in written if not name.startswith("search/")] == [
        *("2026-12-01.html", "2026-12-02.html", "archive-2026.html", "archive.html"),
        *("atom.xml", "feed.json", "index.html"),
    ]
    assert [name for name in written if name.startswith("search/days/")] == ["search/days/2026-12-02.js"]


def test_a_day_that_was_written_again_changes_its_page_alone(archive: Archive, folder: Folder) -> None:
    fill(archive, 5)
    build(archive, folder, HEADING)
    archive.put(replace(made(LAST_DAY - timedelta(days=2)), notices=("A feed has moved.",)))
    written = [name for name in build(archive, folder, HEADING) if not name.startswith("search/")]
    assert written == ["2026-11-29.html", "atom.xml", "feed.json"]


def test_a_day_that_is_gone_from_the_archive_is_gone_from_the_site(archive: Archive, folder: Folder) -> None:
    fill(archive, 3)
    build(archive, folder, HEADING)
    for ending in ("json", "md"):
        (archive.path / f"2026-11-30.{ending}").unlink()
    build(archive, folder, HEADING)
    assert folder.get("2026-11-30.html") is None
    assert "2026-11-30.html" not in page(folder, "2026-12-01.html")
    assert not [hit for hit in Index(folder).search("bridge tables index").hits if hit.day == date(2026, 11, 30)]


def test_a_file_that_was_damaged_is_made_again_after_its_entry_is_gone(archive: Archive, folder: Folder) -> None:
    fill(archive, 2)
    build(archive, folder, HEADING)
    (folder.path / ".site.json").write_text("{")
    (folder.path / "2026-12-01.html").write_text("damaged")
    assert build(archive, folder, HEADING) == ["2026-12-01.html"]


def test_another_title_makes_every_page_again(archive: Archive, folder: Folder) -> None:
    fill(archive, 2)
    build(archive, folder, HEADING)
    written = build(archive, folder, Heading("Evening digest"))
    assert {"2026-12-01.html", "2026-11-30.html", "index.html"} <= set(written)


def test_an_empty_archive_makes_an_index_that_says_so(archive: Archive, folder: Folder) -> None:
    build(archive, folder, HEADING)
    assert "No digest yet" in page(folder, "index.html")


def test_a_damaged_day_does_not_keep_the_others_away(archive: Archive, folder: Folder) -> None:
    fill(archive, 3)
    (archive.path / "2026-12-01.json").write_text("{")
    build(archive, folder, HEADING)
    assert "30\N{NO-BREAK SPACE}November" in page(folder, "index.html")


def test_the_channel_builds_from_the_archive_that_it_keeps(tmp_path: Path) -> None:
    options = {"folder": str(tmp_path / "site"), "archive": str(tmp_path / "archive")}
    channel = open_channel("page", Target("page", FakeClock(), options))
    channel.deliver(made(LAST_DAY))
    assert "files changed" in channel.deliver(made(LAST_DAY)).detail
    assert (tmp_path / "site" / "2026-12-01.html").exists()
    assert (tmp_path / "archive" / "2026-12-01.md").exists()


def test_a_folder_that_cannot_be_written_is_a_delivery_error(tmp_path: Path, archive: Archive) -> None:
    (tmp_path / "site").write_text("a file stands here")
    with pytest.raises(DeliveryError):
        build(archive, Folder(tmp_path / "site", disk=PublicDisk()), HEADING)


# --- what a page says ------------------------------------------------------------------------------------------------


def built(archive: Archive, folder: Folder) -> Page:
    build(archive, folder, HEADING)
    return Page(page(folder, "index.html"))


def test_each_item_has_its_sources_who_else_tells_it_and_why_it_is_here(archive: Archive, folder: Folder) -> None:
    archive.put(digest())
    text = " ".join(" ".join(built(archive, folder).words).split())
    assert "Gazette also told by Planet , The Courier" in text
    assert "It was filed under “artificial intelligence”." in text
    assert "3 sources tell it." in text
    assert "2 stories were recognised as the same event." in text
    assert "It goes on with a story of the digest before." in text
    assert "It was noted by its headline only." in text
    assert "Not readable this time: dead.example" in text


def test_days_link_to_their_neighbours(archive: Archive, folder: Folder) -> None:
    fill(archive, 3)
    build(archive, folder, HEADING)
    links = Page(page(folder, "2026-11-30.html")).values("href")
    assert "2026-11-29.html" in links
    assert "2026-12-01.html" in links


def test_the_archive_has_a_page_a_year_and_the_newest_first(archive: Archive, folder: Folder) -> None:
    fill(archive, 2)
    fill(archive, 2, last=date(2025, 3, 1))
    build(archive, folder, HEADING)
    assert "December 2026" in page(folder, "archive.html")
    assert "March 2025" in page(folder, "archive-2025.html")
    assert "archive-2025.html" in Page(page(folder, "archive.html")).values("href")


def test_every_link_within_the_site_leads_somewhere(archive: Archive, folder: Folder) -> None:
    fill(archive, 8)
    build(archive, folder, HEADING)
    for name in ("index.html", "archive.html", "search.html", "2026-11-28.html"):
        for link in Page(page(folder, name)).values("href"):
            if not link.startswith(("http", "#")):
                assert folder.get(link.partition("#")[0]), link


def test_a_page_asks_nobody_else_and_runs_nothing_inline(archive: Archive, folder: Folder) -> None:
    fill(archive, 1)
    build(archive, folder, HEADING)
    for name in ("index.html", "archive.html", "search.html"):
        seen = Page(page(folder, name))
        assert not {"img", "iframe", "object", "embed", "video", "audio", "style"} & set(seen.tags)
        assert not [attribute for attribute, _ in seen.attributes if attribute.startswith("on") or attribute == "style"]
        assert all(not value.startswith(("http", "//")) for value in seen.values("src"))
        assert any("default-src 'none'" in value for value in seen.values("content"))


@pytest.mark.skipif(not attacks(), reason="no eval/injections.jsonl beside the checkout")
def test_no_attack_gets_an_element_an_attribute_or_a_link_into_a_page(archive: Archive, folder: Folder) -> None:
    archive.put(digest())
    honest = built(archive, folder)
    pages = Pages(HEADING)
    elements, names = set(honest.tags), {name for name, _ in honest.attributes}
    for attack in attacks():
        text = attack["payload"]
        stories = (
            replace(STORIES[0], title=text, excerpt=text, source=text, link=text, suspicious=(text,)),
            *STORIES[1:4],
        )
        item = Item(text, (text,), (1,))
        draft = Draft(lead=(Claim(text, (1,)),), sections=(Section(text, (item,)),), headlines=(item,), writer=text)
        attacked = digest(draft, brief(*stories), notices=(text,), findings=(text,), conversation_url=text)
        shown = pages.day(day_view(attacked), Neighbours()).decode()
        seen = Page(shown)
        assert set(seen.tags) <= elements, attack["id"]
        assert {name for name, _ in seen.attributes} <= names | {"href"}, attack["id"]
        links = [link for link in seen.values("href") if re.match(r"[a-z]+:", link, re.IGNORECASE)]
        assert all(link.startswith(("http://", "https://")) and "@" not in link.split("/")[2] for link in links), (
            attack["id"]
        )
        everything = shown + "".join(data.decode() for data in feed_files([attacked], HEADING).values())
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\U000e0000-\U000e007f]", everything), (
            attack["id"]
        )


# --- search ----------------------------------------------------------------------------------------------------------


def index_of(archive: Archive, folder: Folder) -> Index:
    index = Index(folder)
    index.update(archive)
    return index


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Gale", 1),
        ("gale weights", 1),
        ("41 seconds daemon", 1),
        ("WEIGHT", 2),
        ("ferr daem", 2),
        ("ferrous", 2),
        ("harbour bridge", 1),
        ("harbor", 0),
        ("seconds 41", 1),
        ("courier", 1),
        ("nothing-like-it", 0),
    ],
)
def test_a_search_finds_items_with_all_words_by_their_beginnings(
    archive: Archive, folder: Folder, query: str, found: int
) -> None:
    archive.put(digest())
    assert len(index_of(archive, folder).search(query).hits) == found


def test_a_search_ignores_case_accents_and_very_common_words(archive: Archive, folder: Folder) -> None:
    stories = (replace(STORIES[0], title="Über die Höhe in Zürich"), *STORIES[1:])
    archive.put(digest(Draft(headlines=(Item("Über die Höhe in Zürich", (), (1,)),)), brief(*stories)))
    index = index_of(archive, folder)
    for query in ("uber hohe", "ÜBER", "the zurich"):
        assert len(index.search(query).hits) == 1, query
    assert "very common" in index.search("the of and").said
    assert index.search("   ").said == ""


def test_a_search_finds_chinese_and_japanese_within_a_text(archive: Archive, folder: Folder) -> None:
    stories = (replace(STORIES[0], title="来週、東京で新しい橋が開通"), *STORIES[1:])
    archive.put(digest(Draft(headlines=(Item("来週、東京で新しい橋が開通", (), (1,)),)), brief(*stories)))
    index = index_of(archive, folder)
    assert len(index.search("東京").hits) == 1
    assert len(index.search("大阪").hits) == 0


def test_a_search_gives_the_newest_first_across_years_and_stops_when_it_has_enough(
    archive: Archive, folder: Folder
) -> None:
    fill(archive, 6, items=40, last=date(2026, 1, 3))
    found = index_of(archive, folder).search("monday")
    days = [hit.day for hit in found.hits]
    assert days == sorted(days, reverse=True)
    assert len(days) == MOST_RESULTS
    assert found.said.startswith(f"The newest {MOST_RESULTS} of more")
    assert {day.year for day in days} == {2025, 2026} or days[-1].year == 2026


def test_a_hit_names_the_item_that_its_page_has(archive: Archive, folder: Folder) -> None:
    fill(archive, 3)
    build(archive, folder, HEADING)
    for hit in Index(folder).search("telescope").hits:
        text = page(folder, f"{hit.day}.html")
        place = text.index(f'id="i{hit.item}"')
        assert hit.headline.split(".")[0] in text[place : place + 400]


def test_a_day_that_was_written_again_is_found_by_its_new_words_only(archive: Archive, folder: Folder) -> None:
    archive.put(digest())
    index = index_of(archive, folder)
    archive.put(digest(Draft(headlines=(Item("A quokka was seen", (), (1,)),)), brief(*STORIES[:1])))
    index.update(archive)
    assert len(index.search("quokka").hits) == 1
    assert not index.search("ferrous").hits


def test_an_index_that_is_up_to_date_is_not_written(archive: Archive, folder: Folder) -> None:
    fill(archive, 3)
    index = index_of(archive, folder)
    assert index.update(archive) == []


def test_a_damaged_index_file_finds_less_and_breaks_nothing(archive: Archive, folder: Folder) -> None:
    archive.put(digest())
    index_of(archive, folder)
    (folder.path / "search" / "2026" / "ga.js").write_text("nd(")
    (folder.path / "search" / "days" / "2026-12-01.js").write_text("\x00")
    assert Index(folder).search("gale").hits == ()
    assert Index(folder).search("ferrous").hits == ()


@given(st.text(max_size=80))
def test_any_text_has_words_and_none_of_them_is_a_path(text: str) -> None:
    assert all(1 <= len(word) <= 32 and not re.search(r"[\s/\\.:\x00-\x1f]", word) for word in words_of(text))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=4))
def test_every_word_that_was_indexed_is_found(tmp_path_factory: pytest.TempPathFactory, titles: list[str]) -> None:
    where = tmp_path_factory.mktemp("index")
    archive, folder = Archive(where / "archive"), Folder(where / "site", disk=PublicDisk())
    items = tuple(Item(title, (), (1,)) for title in titles if title.strip())
    archive.put(digest(Draft(headlines=items), brief(*STORIES[:1])))
    index = index_of(archive, folder)
    stored = archive.load(date(2026, 12, 1))
    assert stored is not None
    for item in stored.draft.headlines:
        for word in words_of(visible(item.headline)):
            assert index.search(word).hits
