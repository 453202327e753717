"""``news-digest feeds`` as a user types it, against sites that are served over real HTTP on loopback."""

from __future__ import annotations

import base64
import fcntl
import io
import json
import os
import socket
import struct
import termios
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.servers import Asked, Server, reply, serving

from news_digest.cli.feed_file import FeedFile
from news_digest.cli.main import main
from news_digest.cli.progress import ProgressLine
from news_digest.cli.settings import load_settings
from news_digest.config import configure
from news_digest.errors import ConfigError
from news_digest.ports import Step

ALTERNATE = '<link rel="alternate" type="application/rss+xml" title="{}" href="{}">'


def feed(name: str, stories: int = 2) -> bytes:
    now = datetime.now(UTC)
    items = "".join(
        f"<item><title>{name} {n}</title><link>https://{name}.example/{n}</link>"
        f"<pubDate>{format_datetime(now - timedelta(hours=5 + n))}</pubDate></item>"
        for n in range(stories)
    )
    return reply("200 OK", body=f"<rss><channel><title>The {name}</title>{items}</channel></rss>".encode())


def page(head: str = "", body: str = "") -> bytes:
    text = f"<!doctype html><html><head><title>A site</title>{head}</head><body>{body}</body></html>"
    return reply("200 OK", "Content-Type: text/html; charset=utf-8", body=text.encode())


@dataclass
class Site:
    """A working folder with a configuration, and a server whose paths are set by each test."""

    folder: Path
    server: Server
    capsys: pytest.CaptureFixture[str]
    pages: dict[str, bytes] = field(default_factory=dict)

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = main(("feeds", *arguments))
        out, err = self.capsys.readouterr()
        return code, out, err

    def url(self, path: str) -> str:
        return self.server.url(path)

    @property
    def file(self) -> Path:
        return self.folder / "news-digest.toml"

    def configure(self, text: str) -> None:
        self.file.write_bytes(text.replace("SITE", self.url("")).encode())

    def written(self) -> str:
        return self.file.read_bytes().decode().replace(self.url(""), "SITE")

    def listed(self) -> list[str]:
        return [row["url"].replace(self.url(""), "") for row in json.loads(self("list", "--json")[1])]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Site]:
    for name in list(os.environ):
        if name.startswith(("NEWS_DIGEST_", "XDG_", "AUTOMATION_", "WORKSPACE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NEWS_DIGEST_ALLOW_PRIVATE_HOSTS", "1")
    monkeypatch.chdir(tmp_path)
    pages: dict[str, bytes] = {}

    def answer(asked: Asked) -> bytes:
        return pages.get(asked.path) or reply("404 Not Found")

    with serving(answer) as server:
        made = Site(tmp_path, server, capsys, pages)
        made.configure('feeds = ["https://base.example/f"]\n')
        yield made


# --- add -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pages", "found"),
    [
        ({"/": feed("one")}, "/"),
        ({"/": page(ALTERNATE.format("News", "/a")), "/a": feed("a")}, "/a"),
        (
            {
                "/": page(ALTERNATE.format("News", "/a") + ALTERNATE.format("Comments", "/comments/feed")),
                "/a": feed("a"),
                "/comments/feed": feed("c"),
            },
            "/a",
        ),
        (
            {"/": page(ALTERNATE.format("RSS", "/a") + ALTERNATE.format("Atom", "/b")), "/a": feed("a"), "/b": feed("a")},
            "/a",
        ),
        ({"/": page(ALTERNATE.format("Old", "/old") + ALTERNATE.format("New", "/a")), "/a": feed("a")}, "/a"),
        ({"/": page(body='<a href="/x.php?id=3">RSS</a>'), "/x.php?id=3": feed("a")}, "/x.php?id=3"),
        ({"/": page('<meta http-equiv="refresh" content="0; url=/home">'), "/home": page(ALTERNATE.format("", "/a")), "/a": feed("a")}, "/a"),
        ({"/": page(body='<frameset><frame src="/nav"><frame src="/a">'), "/a": feed("a")}, "/a"),
        ({"/": reply("301 Moved", "Location: /new/"), "/new/": page(ALTERNATE.format("", "../a")), "/a": feed("a")}, "/a"),
        ({"/": reply("301 Moved", "Location: /a"), "/a": feed("a")}, "/a"),
        ({"/": reply("302 Found", "Location: /a"), "/a": feed("a")}, "/a"),
        ({"/": page(), "/atom.xml": feed("a"), "/rss.xml": feed("b")}, "/atom.xml"),
        ({"/": page(), "/index.rss": feed("a")}, "/index.rss"),
    ],
)  # fmt: skip
def test_add_finds_the_feed_of_a_site(site: Site, pages: Mapping[str, bytes], found: str) -> None:
    site.pages.update(pages)
    code, out, _ = site("add", site.url("/"))
    assert (code, site.listed()) == (0, ["https://base.example/f", found])
    assert "2 stories, newest 5 h ago" in out
    assert f"added to {site.file}" in out


def test_add_looks_below_a_page_and_below_its_site(site: Site) -> None:
    site.pages.update({"/deep/page": page(), "/blog/index.xml": feed("a", 1)})
    assert "The a, 1 story, newest 5 h ago" in site("add", site.url("/deep/page"))[1]


def test_add_keeps_the_address_that_lasts(site: Site) -> None:
    site.pages.update({"/f?session=1": feed("a"), "/f/": feed("b"), "/new": feed("c")})
    site.pages["/for-now"] = reply("302 Found", "Location: /f?session=1")
    site.pages["/f"] = reply("302 Found", "Location: /f/")
    site.pages["/moved"] = reply("301 Moved", "Location: /new")
    for path in ("/for-now#top", "/f", "/moved"):
        assert site("add", site.url(path))[0] == 0
    assert site.listed()[1:] == ["/for-now", "/f/", "/new"]


def test_add_takes_what_people_paste(site: Site) -> None:
    site.pages["/f"] = feed("a")
    for pasted in (f"feed:{site.url('/f')}", f" {site.url('/f')} ", site.url("/f#top")):
        assert site("add", pasted)[0] == 0
    assert site.listed() == ["https://base.example/f", "/f"]


def test_an_address_without_a_scheme_is_asked_with_tls_first_and_then_without(site: Site) -> None:
    first: list[bytes] = []

    def answer(listener: socket.socket) -> None:
        for _ in range(2):
            connection, _ = listener.accept()
            with connection:
                first.append(connection.recv(1))
                if first[-1] == b"G":
                    connection.recv(4096)
                    connection.sendall(feed("a"))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, args=(listener,), daemon=True)
        thread.start()
        bare = f"127.0.0.1:{listener.getsockname()[1]}/f"
        assert site("add", bare)[0] == 0
        thread.join(5)
    assert first == [b"\x16", b"G"]
    assert site.listed()[1] == f"http://{bare}"
    assert f"https://{bare}: " in site("add", bare)[2]


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", "two words", "ftp://a.example/f", "mailto:x@a.example", "http://", "a\nb"),
        *("me:s3cret@HOST/f", "me:1s3cret@HOST/f", "me@HOST/f", "https://me:s3/s3cret@HOST/f"),
    ],
)
def test_what_is_no_address_is_not_asked(site: Site, text: str) -> None:
    code, _, err = site("add", text.replace("HOST", site.url("").removeprefix("http://")))
    assert (code, site.server.asked) == (2, [])
    assert "s3" not in err
    assert "it is no web address" in err
    assert "hint: give the address of a site" in err


def test_a_feed_is_there_already_whatever_its_scheme_or_closing_slash(site: Site) -> None:
    site.pages.update({"/f": feed("a"), "/f/": feed("a")})
    site.configure('feeds = ["SITE/f"]\n')
    before = site.file.read_bytes()
    assert site("add", site.url("/f/"))[:2] == (
        0,
        f"{site.url('/f/')}: The a, 2 stories, newest 5 h ago\nit is there already, as {site.url('/f')}\n",
    )
    assert "it is there already\n" in site("add", site.url("/f"))[1]
    site.configure(f'feeds = ["{site.url("/f").replace("http:", "https:")}"]\n')
    assert "it is there already, as https:" in site("add", site.url("/f"))[1]
    assert site.file.read_bytes() == before.replace(b"http:", b"https:")


def test_a_first_feed_says_which_ones_are_read_besides(site: Site) -> None:
    site.file.unlink()
    site.pages["/f"] = feed("a")
    assert "added to news-digest.toml, which starts with the 3 default feeds\n" in site("add", site.url("/f"))[1]
    assert len(site.listed()) == 4
    assert site("remove", "Ars Technica")[0] == 0
    (site.folder / "urls").write_text("https://b.example/f")
    assert site("import", "urls")[1] == f"1 of 1 feeds added to {site.file}\n"


def test_add_takes_a_name_and_tags(site: Site) -> None:
    site.pages["/f"] = feed("a")
    site("add", site.url("/f"), "--name", "Mine", "--tag", "x", "--tag", " two  words ", "--tag", "x", "--tag", "")
    row = json.loads(site("list", "--json")[1])[1]
    assert (row["name"], row["tags"]) == ("Mine", ["x", "two words"])


@pytest.mark.slow
def test_a_login_in_the_address_is_sent_to_its_site_kept_in_the_file_and_shown_nowhere(site: Site) -> None:
    needed = "Basic " + base64.b64encode(b"me:s3cret").decode()
    with serving(lambda _: feed("b")) as other:
        pages = {
            "/": page(ALTERNATE.format("", "/a")),
            "/both": page(ALTERNATE.format("", other.url("/b"))),
            "/a": feed("a"),
        }
        site.server.answer = lambda asked: (
            pages.get(asked.path, reply("404 No"))
            if asked.headers.get("authorization") == needed
            else reply("401 No", "WWW-Authenticate: Basic realm=x")
        )
        login = site.url("/").replace("://", "://me:s3cret@")
        said = "".join(
            f"{out}{err}"
            for _, out, err in (
                site("add", login),
                site("add", login),
                site("add", login + "both"),
                site("add", login + "none"),
                site("check"),
                site("remove", "no such"),
                site("remove", "127.0.0.1"),
            )
        )
        assert "authorization" not in other.asked[0].headers
    assert tomllib.loads(site.file.read_text())["feeds"][1] == {"url": f"{login}a", "name": "The a"}
    assert "it is there already" in said
    assert "2 stories" in said
    assert "s3cret" not in said
    assert "s3cret" not in "".join(map(str, site("remove", site.url("/a"))))


def test_several_feeds_are_listed_and_none_is_added(site: Site) -> None:
    site.pages["/"] = page("".join(ALTERNATE.format(name, f"/{name}") for name in "ab"))
    site.pages.update({"/a": feed("a"), "/b": feed("b")})
    code, out, _ = site("add", site.url("/"))
    assert code == 2
    assert f"{site.url('/b')}: The b, 2 stories" in out
    assert f"none was added: choose one, as in `news-digest feeds add {site.url('/a')}`" in out
    assert json.loads(site("add", site.url("/"), "--json")[1])["added"] == ""
    assert site.listed() == ["https://base.example/f"]


ROBOTS = b"<html><title>Just a moment...</title></html>"


@pytest.mark.parametrize(
    ("answer", "cause", "hint"),
    [
        (page(), "it is a web page, not a feed; none is named there, and none is at the usual places", "some sites"),
        (page(ALTERNATE.format("", "/gone")), "/gone, but there is nothing at this address (HTTP 404)", "another one"),
        (reply("404 Not Found"), "there is nothing at this address (HTTP 404)", "the site's address"),
        (reply("410 Gone"), "closed this feed for good", "Remove"),
        (reply("403 No", body=ROBOTS), "checks for robots (HTTP 403)", "keeps programs out"),
        (reply("200 OK", body=ROBOTS), "checks for robots", "keeps programs out"),
        (reply("500 Oops"), "the server failed (HTTP 500)", "try again in a while"),
        (reply("429 Slow", "Retry-After: 60"), "ask too often (HTTP 429)", "try again in a while"),
        (reply("200 OK"), "empty", "some sites"),
        (b"garbage\r\n\r\n", "does not speak HTTP", "no web server"),
    ],
)
def test_add_says_why_there_is_no_feed_and_what_to_do(site: Site, answer: bytes, cause: str, hint: str) -> None:
    site.pages["/x"] = answer
    before = site.file.read_bytes()
    code, out, err = site("add", site.url("/x"))
    assert (code, out, site.file.read_bytes()) == (3, "", before)
    assert cause in err
    assert hint in err.partition("hint: ")[2]


def test_feeds_that_the_environment_sets_are_not_changed_in_the_file(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEWS_DIGEST_FEEDS", "https://other.example/f")
    (site.folder / "urls").write_text("https://a.example/f")
    for arguments in (("add", site.url("/f")), ("remove", "base"), ("import", "urls")):
        code, _, err = site(*arguments)
        assert (code, "NEWS_DIGEST_FEEDS is set and wins over the file" in err) == (2, True)


# --- the file ------------------------------------------------------------------------------------------------------

ARRAY = """# mine
feeds = [
  # the good ones
  "SITE/a",   # best
  { url = "SITE/moved", name = "M", headers = { Accept-Language = "de" } }, # moves

  # the rest
  "SITE/z", # last
]
max_items = 20 # why
"""
TABLES = """max_items = 20
[[feeds]]
url = "SITE/moved" # moves
name = "M"

# the other
[[feeds]]
url = "SITE/z"

[style]
max_words = 300 # short
"""


@pytest.mark.parametrize(
    ("text", "change", "expected"),
    [
        (ARRAY, ("fix",), lambda text: text.replace("SITE/moved", "SITE/new")),
        (ARRAY, ("remove", "SITE/a"), lambda text: text.replace('  "SITE/a",   # best\n', "")),
        (ARRAY, ("add", "SITE/new"), lambda text: text.replace("\n]", '\n  {url = "SITE/new", name = "The new"},\n]')),
        (ARRAY.replace("\n", "\r\n"), ("fix",), lambda text: text.replace("SITE/moved", "SITE/new")),
        (TABLES, ("fix",), lambda text: text.replace("SITE/moved", "SITE/new")),
        (TABLES, ("remove", "SITE/z"), lambda text: text.replace('[[feeds]]\nurl = "SITE/z"\n\n', "")),
        (
            TABLES,
            ("add", "SITE/new"),
            lambda text: text.replace("[style]", '[[feeds]]\nurl = "SITE/new"\nname = "The new"\n\n[style]'),
        ),
        ('feeds = ["SITE/z"]', ("add", "SITE/new"), lambda _: 'feeds = [\n    "SITE/z",\n    {url = "SITE/new", name = "The new"},\n]'),
        ('feeds = "SITE/z"\n', ("add", "SITE/new"), lambda _: 'feeds = [\n    "SITE/z",\n    {url = "SITE/new", name = "The new"},\n]\n'),
        (
            'feeds = [\n  "SITE/z"]\n',
            ("add", "SITE/new"),
            lambda _: 'feeds = [\n  "SITE/z",\n  {url = "SITE/new", name = "The new"},\n]\n',
        ),
        ('feeds = ["SITE/moved", "SITE/new"]\n', ("fix",), lambda _: 'feeds = ["SITE/new"]\n'),
        ('feeds = [" SITE/moved "]\n', ("fix",), lambda _: 'feeds = ["SITE/new"]\n'),
        (
            'feeds = [\n  "SITE/z" # it\n  # end\n]\n',
            ("add", "SITE/new"),
            lambda text: text.replace('z"', 'z",').replace("\n]", '\n  {url = "SITE/new", name = "The new"},\n]'),
        ),
        (
            '[[feeds]]\nurl = "SITE/z"\n# of z\n\n# of style\n[style]\n',
            ("add", "SITE/new"),
            lambda text: text.replace("# of style", '[[feeds]]\nurl = "SITE/new"\nname = "The new"\n\n# of style'),
        ),
        (TABLES, ("remove", "SITE/moved"), lambda text: text.replace(text[text.index("[["): text.index("# the")], "")),
        (
            TABLES.replace("[style]", "# of style\n[style]"),
            ("remove", "SITE/z"),
            lambda text: text.replace('[[feeds]]\nurl = "SITE/z"\n', ""),
        ),
        (
            '[[feeds]]\nurl = "SITE/a"\n[feeds.headers]\nA = "b"\n# of z\n[[feeds]]\nurl = "SITE/z"\n',
            ("remove", "SITE/a"),
            lambda text: text[text.index("# of z"):],
        ),
    ],
)  # fmt: skip
def test_a_change_leaves_the_rest_of_the_file_as_its_owner_wrote_it(
    site: Site, text: str, change: tuple[str, ...], expected: Callable[[str], str]
) -> None:
    site.pages.update({f"/{name}": feed(name) for name in ("a", "z", "new")})
    site.pages["/moved"] = reply("301 Moved", "Location: /new")
    site.configure(text)
    assert site(*(each.replace("SITE", site.url("")) for each in change))[0] == 0
    assert site.written() == expected(text)
    configure(tomllib.loads(site.file.read_text()), {}, file="it")


def test_fix_leaves_secrets_with_the_host_that_they_were_given_for(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "s3cret")
    other = site.url("/new").replace("127.0.0.1", "localhost")
    site.pages.update({"/new": feed("new"), "/other": feed("other")})
    site.pages.update(
        {"/here": reply("301 Moved", "Location: /other"), "/away": reply("301 Moved", f"Location: {other}")}
    )
    login = site.url("").replace("://", "://me:pw@")
    site.configure(
        f'feeds = ["{login}/here", {{url = "{login}/away", headers = {{Cookie = "a=b", Accept = "text/xml"}}, headers_env = {{X-Key = "TOKEN"}}}}]\n'
    )
    code, out, err = site("fix")
    assert code == 0
    assert "pw" not in out + err
    assert tomllib.loads(site.file.read_text())["feeds"] == [
        f"{login}/other",
        {"url": other, "headers": {"Accept": "text/xml"}},
    ]
    for command in ("list", "export"):
        code, out, _ = site(command)
        assert (code, "/other" in out, "pw" in out) == (0, True, False)


@pytest.mark.parametrize(
    ("old", "new", "written"),
    [
        ("http://a.example/f", "https://a.example/f", "https://me:pw@a.example/f"),
        ("https://a.example/f", "https://A.example:443/g", "https://me:pw@A.example:443/g"),
        ("https://a.example/f", "http://a.example/f", "http://a.example/f"),
        ("https://a.example/f", "https://b.example/f", "https://b.example/f"),
    ],
)
def test_a_login_moves_along_to_tls_and_never_away_from_it(site: Site, old: str, new: str, written: str) -> None:
    site.configure(f'feeds = ["{old.replace("//", "//me:pw@")}"]\n')
    file = FeedFile.of(load_settings(os.environ, site.folder))
    file.move({old: new})
    file.save()
    assert site.written() == f'feeds = ["{written}"]\n'


def test_fix_leaves_a_feed_alone_that_somebody_removed_meanwhile(site: Site) -> None:
    def answer(asked: Asked) -> bytes:
        site.configure('feeds = ["https://other.example/f"]\n')
        return feed("new") if asked.path == "/new" else reply("301 Moved", "Location: /new")

    site.server.answer = answer
    site.configure('feeds = ["SITE/moved"]\n')
    assert site("fix")[0] == 0
    assert site.listed() == ["https://other.example/f"]


def test_fix_is_done_once_and_says_which_feeds_it_could_not_read(site: Site) -> None:
    site.pages.update({"/new": feed("new"), "/moved": reply("301 Moved", "Location: /new")})
    site.configure('feeds = ["SITE/moved", "SITE/gone"]\n')
    code, out, err = site("fix")
    assert (code, out) == (0, f"{site.url('/moved')} -> {site.url('/new')}\n")
    assert "1 of 2 feeds cannot be read: `news-digest feeds check` says why" in err
    text = site.file.read_text()
    assert site("fix")[1] == "nothing has moved\n"
    assert site.file.read_text() == text


def test_a_file_behind_a_link_stays_there_and_keeps_its_rights(site: Site) -> None:
    site.pages["/f"] = feed("a")
    real = site.folder / "dotfiles.toml"
    site.file.rename(real)
    real.chmod(0o600)
    site.file.symlink_to(real)
    assert site("add", site.url("/f"))[0] == 0
    assert site.file.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in site.folder.glob("*.toml*")) == ["dotfiles.toml", "news-digest.toml"]


def test_the_file_of_the_public_script_is_changed_as_json(site: Site) -> None:
    site.pages["/f"] = feed("a")
    site.file.unlink()
    (site.folder / "config.json").write_text('{"feeds": ["https://a.example/f"], "other": "\\ud800"}')
    assert site("add", site.url("/f"))[0] == 0
    assert json.loads((site.folder / "config.json").read_text()) == {
        "feeds": ["https://a.example/f", {"url": site.url("/f"), "name": "The a"}],
        "other": "\ud800",
    }


def test_a_file_that_cannot_be_written_is_left_as_it_is(site: Site) -> None:
    site.pages["/f"] = feed("a")
    long = site.file.with_name("n" * 250 + ".toml")  # there is no name beside it that is longer
    before = site.file.read_bytes()
    site.file.rename(long)
    code, _, err = site("add", site.url("/f"), "--config", str(long))
    assert (code, long.read_bytes()) == (4, before)
    assert f"cannot save the feeds: {long}: File name too long\nhint: the name is too long" in err


def test_a_file_that_its_owner_made_read_only_is_left_as_it_is(site: Site) -> None:
    site.pages["/f"] = feed("a")
    before = site.file.read_bytes()
    site.file.chmod(0o444)
    code, _, err = site("add", site.url("/f"))
    assert (code, site.file.read_bytes()) == (4, before)
    assert "it is read-only" in err


def test_a_new_file_is_for_its_owner_alone_as_a_feed_may_have_a_login(site: Site) -> None:
    site.pages["/f"] = feed("a")
    site.file.unlink()
    assert site("add", site.url("/f"))[0] == 0
    assert site.file.stat().st_mode & 0o777 == 0o600


def test_two_changes_at_once_lose_nothing_of_each_other(site: Site) -> None:
    settings = load_settings(os.environ, site.folder)
    first, second = FeedFile.of(settings), FeedFile.of(settings)
    assert first.add("https://a.example/f")
    assert second.add("https://b.example/f")
    first.save()
    with pytest.raises(ConfigError, match="something else has changed the file meanwhile"):
        second.save()
    assert site.listed() == ["https://base.example/f", "https://a.example/f"]


def test_add_reads_the_file_after_it_has_asked(site: Site) -> None:
    def answer(_: Asked) -> bytes:
        site.configure('feeds = ["https://other.example/f"]\n')
        return feed("a")

    site.server.answer = answer
    assert site("add", site.url("/f"))[0] == 0
    assert site.listed() == ["https://other.example/f", "/f"]


@pytest.mark.parametrize("name", ["list", "add", "remove", "check", "fix", "import", "export", "parse"])
def test_every_command_about_feeds_has_help_with_an_example_and_a_summary_that_is_not_cut(
    site: Site, name: str
) -> None:
    code, out, _ = site(name, "--help")
    assert (code, f"news-digest feeds {name}" in out.partition("Examples:")[2]) == (0, True)
    (summary,) = (line for line in site("--help")[1].splitlines() if line.startswith(f"  {name} "))
    assert summary.endswith(".")
    assert not summary.endswith("...")


# --- remove --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        ("https://a.example/f", ["b", "c"]),
        ("http://www.a.example/f/", ["b", "c"]),
        ("https://me:s3cret@a.example/f", ["b", "c"]),
        ("alpha news", ["b", "c"]),
        ("Beta", ["a", "c"]),
        ("c.example", ["a", "b"]),
    ],
)
def test_a_feed_is_removed_by_what_it_is_known_by(site: Site, wanted: str, left: list[str]) -> None:
    site.configure(NAMED)
    code, out, _ = site("remove", wanted)
    assert code == 0
    assert out.startswith("removed https://")
    assert site.listed() == [f"https://{name}.example/f" for name in left]


NAMED = """feeds = [
  { url = "https://a.example/f", name = "Alpha News" },
  { url = "https://b.example/f", name = "Beta News" },
  "https://c.example/f",
]
"""


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("News", "more than one feed is meant: News: https://a.example/f, https://b.example/f"),
        ("betta news", "did you mean https://b.example/f?"),
        ("https://c.exampl/f", "did you mean https://c.example/f?"),
        ("zzzz", "no such feed: zzzz"),
        ("https://me:s3cret@z.example/f", "no such feed: https://z.example/f"),
        ("", "no such feed"),
    ],
)
def test_what_remove_cannot_tell_it_says(site: Site, wanted: str, said: str) -> None:
    site.configure(NAMED)
    code, _, err = site("remove", wanted)
    assert (code, said in err, "hint: " in err) == (2, True, True)
    assert site.written() == NAMED


# --- check ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_check_is_a_table_with_a_sentence_below_what_failed(site: Site) -> None:
    site.pages.update(
        {"/a": feed("a", 12), "/empty": feed("b", 0), "/page": page(), "/403": reply("403 No", body=ROBOTS)}
    )
    site.configure('feeds = [{ url = "SITE/a", name = "Mine" }, "SITE/empty", "SITE/403", "SITE/none"]\n')
    code, out, err = site("check")
    assert code == 3
    assert out.replace(site.url(""), "SITE") == (
        "state   stories  newest   feed\n"
        "ok           12  5 h ago  Mine  SITE/a\n"
        "ok            0           The b  SITE/empty\n"
        "failed                    SITE/403\n"
        "        The site answers with a page that checks for robots (HTTP 403). The site keeps programs out: ask it to let"
        " feed readers in, or give this feed other headers in the configuration.\n"
        "failed                    SITE/none\n"
        "        There is nothing at this address (HTTP 404). `news-digest feeds add` with the site's address looks for its"
        " present feed.\n"
        "2 of 4 feeds can be read\n"
    )
    assert err.startswith("feeds: reading 4 feeds\n")
    assert "4/4" in err
    assert site("check", "--quiet")[2] == ""


def test_what_is_odd_about_a_feed_is_named_below_the_digest_and_in_status(site: Site) -> None:
    site.pages.update({"/new": feed("new"), "/moved": reply("301 Moved", "Location: /new")})
    site.configure('feeds = ["SITE/moved"]\n')
    notice = f"{site.url('/moved')} has moved for good to {site.url('/new')}: `news-digest feeds fix` writes that down."
    assert main(("run", "--quiet")) == 0
    told = site.capsys.readouterr().out.replace("\\", "")
    assert "127.0.0.1 has moved for good to 127.0.0.1: `news-digest feeds fix` writes that down." in told
    assert main(("status",)) == 0
    assert f"feed note   {notice}\n" in site.capsys.readouterr().out


def test_progress_fits_the_terminal(site: Site) -> None:
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    with os.fdopen(theirs, "w") as stream, os.fdopen(ours, "rb", buffering=0) as terminal:
        progress = ProgressLine(stream)
        progress(Step("feeds", site.url("/" + "x" * 100), 1, 2))
        shown = terminal.read(1000)
        progress.close()
    line = shown.decode().removeprefix("\r\x1b[2K")
    assert (len(line), line[-4:]) == (39, " 1/2")


# --- OPML ----------------------------------------------------------------------------------------------------------


def test_an_import_leaves_out_what_is_no_feed_and_the_file_loads(site: Site) -> None:
    (site.folder / "list.opml").write_text(
        '<opml><body><outline xmlUrl="https://a.example/f"/><outline xmlUrl="https://"/><outline xmlUrl="http://[x"/>'
        '<outline xmlUrl="http://www.base.example/f/"/></body></opml>'
    )
    code, out, err = site("import", "list.opml")
    assert (code, out) == (0, f"1 of 2 feeds added to {site.file}\n")
    assert err == "left out, no address of a feed: https://\nleft out, no address of a feed: http://[x\n"
    assert site.listed() == ["https://base.example/f", "https://a.example/f"]
    assert json.loads(site("import", "list.opml", "--json")[1])["added"] == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("none.opml", "cannot read the list of feeds: none.opml: No such file or directory"),
        ("https://a.example/x.opml", "hint: fetch it first"),
        ("news-digest.toml", "cannot import: news-digest.toml: it is no OPML, and no list of addresses"),
    ],
)
def test_what_cannot_be_imported_is_named(site: Site, source: str, said: str) -> None:
    code, _, err = site("import", source)
    assert (code, said in err, "hint: " in err) == (2, True, True)


def test_an_import_shows_no_password(site: Site) -> None:
    (site.folder / "list").write_text(
        '<opml><body><outline xmlUrl="https://me:s3cret@a.example/f"/><outline xmlUrl="ftp://me:s3cret@b.example/f"/>'
        "</body></opml>"
    )
    _, out, err = site("import", "--json", "list")
    assert json.loads(out) == {"found": 1, "added": ["https://a.example/f"], "left_out": ["ftp://b.example/f"]}
    assert "s3cret" not in err
    assert "https://me:s3cret@a.example/f" in site.written()


def test_hundreds_of_feeds_go_in_and_out_unchanged(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    outlines = "".join(f'<outline text="F{n}" xmlUrl="https://h{n}.example/f"/>' for n in range(500))
    text = f"<opml><body><outline text='T'>{outlines}</outline></body></opml>".encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    assert "500 of 500 feeds added" in site("import", "-")[1]
    exported = site("export")[1]
    (site.folder / "out.opml").write_text(exported)
    assert "0 of 501 feeds added" in site("import", "out.opml")[1]
    site.configure('feeds = ["https://base.example/f"]\n')
    site("import", "out.opml")
    assert site("export")[1] == exported


# --- parse ---------------------------------------------------------------------------------------------------------


def test_parse_shows_the_files_that_can_be_read_and_names_the_others(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        b"<rss><channel><title>T</title><item><title>A \x1b[31mred\x1b[0m</title><link>/a</link></item></channel></rss>"
    )
    (site.folder / "a.xml").write_bytes(text)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    code, out, _ = site("parse", "--url", "https://x.example/", "none.xml", "a.xml", "-", ".")
    assert code == 3
    lines = out.splitlines()
    assert lines[:4] == [
        "none.xml: no feed: cannot be read: No such file or directory",
        "  Check the path.",
        "a.xml: T, 1 entries",
        "  undated           A red",
    ]
    assert "-: T, 1 entries" in lines
    rows = [json.loads(line) for line in site("parse", "--json", "none.xml", "a.xml")[1].splitlines()]
    assert [row["file"] for row in rows] == ["none.xml", "a.xml"]
    assert rows[0]["error"].startswith("cannot be read")


@pytest.mark.parametrize("header", ["Content-Type", ": x", ""])
def test_a_header_without_name_or_colon_is_a_mistake(site: Site, header: str) -> None:
    code, _, err = site("parse", "--header", header, "a.xml")
    assert (code, "is not of the form 'Name: value'" in err) == (2, True)
