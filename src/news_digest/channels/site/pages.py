"""Templates to bytes: Jinja2 with every value escaped, and the files that pages need beside them.

Needs the extra ``web``. All pages stand in one folder and link to each other by file name, so the same page works from
a disk, from any web server and from our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from news_digest.channels.feed import ATOM, JSON_FEED, Heading
from news_digest.channels.site.views import DayView, day_file, months_of, year_file
from news_digest.errors import ConfigError

if TYPE_CHECKING:
    import jinja2

__all__ = ["ASSETS", "POLICY", "Neighbours", "Pages", "asset", "version"]

POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'none'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'"
)
"""The Content-Security-Policy of every page: nothing from elsewhere, nothing inline, no image at all."""

ASSETS: Final = ("style.css", "search.js")
"""What a static site has beside its pages."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The days before and after a day, where there are such."""

    before: date | None = None
    after: date | None = None


class Pages:
    """Renders pages under one heading; ``served``: by our own server, which searches by itself and shows the state."""

    def __init__(self, heading: Heading, *, served: bool = False) -> None:
        self._heading = heading
        self._templates = _environment()
        self._served = served

    def day(self, view: DayView, near: Neighbours, *, newest: bool = False) -> bytes:
        """Return the page of a day; the newest is also the index."""
        return self.render("day.html", view=view, near=near, here="today" if newest else "archive", title=view.title)

    def empty(self) -> bytes:
        """Return the index of an archive without digests."""
        return self.render("empty.html", here="today", title=self._heading.title)

    def year(self, year: int, years: Sequence[int], days: Sequence[date]) -> bytes:
        """Return a year's archive: its months as calendars, and all days as a list."""
        return self.render(
            "archive.html",
            here="archive",
            title=f"Archive of {year}",
            year=year,
            years=years,
            days=sorted(days, reverse=True),
            months=months_of(days),
        )

    def search(self, **found: object) -> bytes:
        """Return the search page; our server passes ``query`` and ``results``."""
        return self.render("search.html", here="search", title="Search", **({"query": "", "results": None} | found))

    def render(self, name: str, **values: Any) -> bytes:  # noqa: ANN401 - templates take what they name
        """Return a template filled in, as UTF-8."""
        template = self._templates.get_template(name)
        return template.render(heading=self._heading, served=self._served, policy=POLICY, **values).encode()


@cache
def _environment() -> jinja2.Environment:
    try:
        import jinja2  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigError(
            "cannot make pages", thing="page", cause="Jinja2 is not installed", hint="pip install 'news-digest[web]'"
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("news_digest.channels.site"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {"day_file": day_file, "year_file": year_file, "atom": ATOM, "json_feed": JSON_FEED}
    return environment


@cache
def asset(name: str) -> bytes:
    """Return a file that pages need."""
    return files("news_digest.channels.site").joinpath("static", name).read_bytes()


@cache
def version() -> str:
    """Return a hash of all templates: pages that another one made are made again."""
    folder = files("news_digest.channels.site").joinpath("templates")
    contents = sorted((each.name, each.read_bytes()) for each in folder.iterdir() if each.name.endswith(".html"))
    return sha256(repr(contents).encode()).hexdigest()[:16]
