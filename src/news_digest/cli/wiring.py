"""Settings become a :class:`Job` and :class:`Edges`: the one place that knows every edge by name.

Every part is made when it is first used, so that a run on a finished day makes nothing but the store.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TextIO

from news_digest.model import Entry, FeedResult, FeedSource, Limits, Story
from news_digest.ports import Channel, Edges, Feeds, Http, Journal, Tell, Writer

if TYPE_CHECKING:
    from news_digest.cli.settings import Settings
    from news_digest.run import Job
    from news_digest.stores import Kept

__all__ = ["Wiring", "now"]


def now() -> datetime:
    """Return the present instant."""
    return datetime.now(UTC)


def _sleep(span: timedelta) -> None:
    time.sleep(max(0.0, span.total_seconds()))


class Wiring:
    """Makes the edges of one digest from its settings."""

    def __init__(self, settings: Settings, *, tell: Tell, stdout: TextIO | None = None, log_form: str = "text") -> None:
        self.settings = settings
        self._tell = tell
        self._stdout = stdout or sys.stdout
        self._log_form = log_form
        self._http: Http | None = None

    def limits(self) -> Limits:
        """Return the limits that the configuration sets, the specification's else."""
        config = self.settings.config
        return Limits(
            lookback=timedelta(hours=config.count("lookback_hours")),
            shortlist_stories=config.count("max_items"),
            run_budget=timedelta(seconds=config.count("budget_seconds")),
            feeds_deadline=timedelta(seconds=config.count("feeds_seconds")),
        )

    def job(self) -> Job:
        """Return the digest that a run makes."""
        from news_digest.finishing import secret_values  # noqa: PLC0415
        from news_digest.model import Style  # noqa: PLC0415
        from news_digest.run import Job  # noqa: PLC0415

        config = self.settings.config
        return Job(
            automation_id=config.text("automation_id"),
            sources=self.settings.sources(),
            topics=config.texts("topics"),
            writer=config.text("writer"),
            run_id=self.settings.environment.get("AUTOMATION_RUN_ID") or f"{os.getpid()}-{random.getrandbits(64):016x}",
            style=Style(
                language=config.text("style.language"),
                max_words=config.count("style.max_words"),
                tone=config.text("style.tone"),
                instructions=config.text("style.instructions"),
            ),
            secrets=secret_values(self.settings.environment),
        )

    def edges(self) -> Edges:
        """Return the edges of a run."""
        kept = self.kept()
        return Edges(
            clock=now,
            sleep=_sleep,
            feeds=_LazyFeeds(self._feeds),
            store=kept.store,
            outbox=kept.outbox,
            writer=self.writer,
            channels=self.channels(),
            journal=self.journal(),
            tell=self._tell,
            jitter=random.random,
        )

    def kept(self) -> Kept:
        """Return the store and its outbox."""
        from news_digest.stores import Place, open_store  # noqa: PLC0415

        name = self.settings.config.text("store")
        environment = self.settings.environment
        place = Place(
            path=str(self.settings.places.state),
            base_url=environment.get("AUTOMATION_API_URL", ""),
            token=environment.get("AUTOMATION_KV_TOKEN", ""),
            http=self.http() if name == "kv" else None,
        )
        return open_store(name, place)

    def http(self) -> Http:
        """Return the one client for what we request ourselves."""
        if self._http is None:
            from news_digest import __version__  # noqa: PLC0415
            from news_digest.http import CurlHttp, Proxies  # noqa: PLC0415

            config = self.settings.config
            agent = config.text("user_agent") or f"news-digest/{__version__} (+https://news-digest.example/about)"
            self._http = CurlHttp(
                agent,
                allow_private_hosts=config.flag("allow_private_hosts"),
                proxies=Proxies.of(self.settings.environment),
            )
        return self._http

    def _feeds(self) -> Feeds:
        """Return the feeds; a run that reads them may write, so what is configured wrong fails here, before a claim."""
        self.writer(self.settings.config.text("writer"))
        for name in self.settings.config.texts("channels"):
            self._channel(name)
        return self.feeds()

    def feeds(self, *, always_ask: bool = False) -> Feeds:
        """Return the feeds; ``always_ask``: also those that are fresh by their own word, for a check by hand."""
        from news_digest.feeds.cache import FeedCache  # noqa: PLC0415
        from news_digest.feeds.manners import Manners  # noqa: PLC0415
        from news_digest.feeds.read import FeedReader  # noqa: PLC0415

        return FeedReader(
            http=self.http(),
            cache=FeedCache(self.settings.places.cache),
            clock=now,
            sleep=_sleep,
            jitter=random.random,
            tell=self._tell,
            manners=Manners(
                always_ask=always_ask, max_bytes=self.settings.config.count("feed_megabytes") * 1024 * 1024
            ),
        )

    def writer(self, name: str) -> Writer:
        """Return a writer by its name; raises ``ConfigError``."""
        from news_digest.writers import Desk, open_writer  # noqa: PLC0415

        config = self.settings.config
        environment = self.settings.environment
        table = {key.partition(".")[2]: value for key, value in config.values.items() if key.startswith(f"{name}.")}
        if name == "openhands":  # two of its keys are the reference's, and stand in no table
            table["secret_names"] = config.texts("agent_secret_names")
            table["people_url"] = config.text("openhands_url") or environment.get("OPENHANDS_URL", "")
        desk = Desk(str(self.settings.places.workspaces), now, self.http, table, environment)
        return open_writer(name, desk)

    def journal(self) -> Journal:
        """Return the journal beside the archive."""
        from news_digest.stores.journal import FileJournal  # noqa: PLC0415

        return FileJournal(self.settings.places.journal)

    def channels(self) -> Mapping[str, Channel]:
        """Return the configured channels by name; each is made when it is first asked for."""
        return _LazyChannels(self.settings.config.texts("channels"), self._channel)

    def _channel(self, name: str) -> Channel:
        from news_digest.channels import Target, open_channel  # noqa: PLC0415

        options = dict(self.settings.config.channel_options.get(name, {}))
        kind = str(options.pop("kind", name))
        if kind == "archive":
            options.setdefault("folder", str(self.settings.places.archive))
        if kind == "log":
            options.setdefault("form", self._log_form)
        archive = str(self.settings.places.archive)
        target = Target(name, now, options, self.settings.environment, archive, self._stdout)
        return open_channel(kind, target)


class _LazyChannels(Mapping[str, Channel]):
    """Channels by name, made when they are asked for."""

    def __init__(self, names: Sequence[str], make: Callable[[str], Channel]) -> None:
        self._names = tuple(names)
        self._make = make

    def __getitem__(self, name: str) -> Channel:
        if name not in self._names:
            raise KeyError(name)
        return self._make(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _LazyFeeds:
    """Feeds that are made when they are first read: a finished day reads none."""

    def __init__(self, make: Callable[[], Feeds]) -> None:
        self._make = make
        self._made: Feeds | None = None

    def read(self, sources: Sequence[FeedSource], deadline: timedelta) -> Sequence[FeedResult]:
        """See :class:`~news_digest.ports.Feeds`."""
        return self._feeds().read(sources, deadline)

    def stories(self, groups: Sequence[Sequence[Entry]]) -> tuple[Story, ...]:
        """See :class:`~news_digest.ports.Feeds`."""
        return self._feeds().stories(groups)

    def _feeds(self) -> Feeds:
        self._made = self._made or self._make()
        return self._made
