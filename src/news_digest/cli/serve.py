"""``news-digest serve``: the reading page on this machine."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from news_digest.cli.options import config_option, settings_of
from news_digest.errors import ConfigError

if TYPE_CHECKING:
    from news_digest.cli.settings import Settings
    from news_digest.ports import Tell
    from news_digest.web.app import Desk
    from news_digest.web.gate import Gate
    from news_digest.web.state import FeedPast

__all__ = ["desk_of", "gate_of", "serve_command"]

_PORT = 8425


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=_PORT, show_default=True, type=click.IntRange(0, 65535), help="0: any free one.")
@click.option("--token-env", metavar="NAME", help="The environment variable that holds the token that readers need.")
@click.option(
    "--name", "names", multiple=True, metavar="HOST", help="A further name that readers use; may be repeated."
)
@click.option("--title", default="News digest", show_default=True, help="What the page calls itself.")
@click.option("--read-only", is_flag=True, help="Offer no runs from the page.")
@config_option
def serve_command(  # the options are what they are
    host: str,
    port: int,
    token_env: str | None,
    names: Sequence[str],
    title: str,
    config_file: str | None,
    *,
    read_only: bool,
) -> None:
    """Serve the page: today's digest, the archive with search, the state, and runs by hand.

    On this machine only, unless you name another address; then readers need a token.

    \b
    Examples:
      news-digest serve
      news-digest serve --host 0.0.0.0 --token-env READING_TOKEN --name reading.example.org
    """
    gate = gate_of(host, os.environ.get(token_env, "") if token_env else "", names)
    settings = settings_of(config_file)
    try:
        import uvicorn  # noqa: PLC0415 - an extra

        from news_digest.web.app import create_app  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(
            "cannot serve",
            thing=error.name or "web",
            cause="it is not installed",
            hint="pip install 'news-digest[web]'",
        ) from error
    desk = desk_of(settings, title, read_only=read_only)
    # A long archive takes a while to index for the first time; the pages need not wait for that.
    threading.Thread(target=desk.index.refresh, args=(desk.archive,), name="index", daemon=True).start()
    app = create_app(desk, gate)
    config = uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        limit_concurrency=100,
        timeout_graceful_shutdown=2,
    )
    with _listening(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        click.echo(f"http://{shown}:{listener.getsockname()[1]}/  (Ctrl-C ends it)", err=True)
        uvicorn.Server(config).run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ConfigError(
            "cannot listen",
            thing=f"{host}:{port}",
            cause=error.strerror or str(error),
            hint="choose another --port; 0 takes any that is free",
        ) from error


def gate_of(host: str, token: str, names: Sequence[str]) -> Gate:
    """Return the gate of an address; raises ``ConfigError`` for one beyond this machine without a token."""
    from news_digest.web.gate import Gate, is_loopback  # noqa: PLC0415

    if not is_loopback(host) and not token:
        raise ConfigError(
            "cannot serve without a token",
            thing=host,
            cause="others than this machine could reach it",
            hint="set a token and name its variable with --token-env, or leave --host out",
        )
    hosts = tuple(name.lower() for name in (*names, host) if name.strip("0.:"))
    return Gate(secrets.token_bytes(32), token, hosts)


def desk_of(settings: Settings, title: str, *, read_only: bool = False) -> Desk:
    """Return what the page shows and offers for these settings."""
    from news_digest.channels.archive import Archive  # noqa: PLC0415
    from news_digest.channels.feed import Heading  # noqa: PLC0415
    from news_digest.channels.folder import Folder, QuickDisk  # noqa: PLC0415
    from news_digest.channels.site.search import Index  # noqa: PLC0415
    from news_digest.cli.wiring import Wiring, now  # noqa: PLC0415
    from news_digest.feeds.manners import discreet  # noqa: PLC0415
    from news_digest.web.app import Desk  # noqa: PLC0415
    from news_digest.web.jobs import Jobs  # noqa: PLC0415

    wiring = Wiring(settings, tell=lambda _step: None)
    store = wiring.kept().store
    jobs = {} if read_only else {"run": lambda tell: _run(settings, tell), "retry": lambda tell: _retry(settings, tell)}
    return Desk(
        archive=Archive(settings.places.archive),
        index=Index(Folder(settings.places.cache / "search", disk=QuickDisk())),
        clock=now,
        state=lambda: store.load().state,
        sources=tuple(discreet(source) for source in settings.config.feeds),
        past=_past_of(settings),
        jobs=Jobs(jobs),
        limits=wiring.limits(),
        heading=Heading(title, language=settings.config.text("style.language")),
    )


def _run(settings: Settings, tell: Tell) -> Sequence[str]:
    from io import StringIO  # noqa: PLC0415

    from news_digest.cli.wiring import Wiring  # noqa: PLC0415
    from news_digest.run import run  # noqa: PLC0415

    wiring = Wiring(settings, tell=tell, stdout=StringIO())
    return run(wiring.job(), wiring.edges(), wiring.limits()).lines()


def _retry(settings: Settings, tell: Tell) -> Sequence[str]:
    from news_digest.cli.wiring import Wiring, now  # noqa: PLC0415
    from news_digest.ledger import Ledger  # noqa: PLC0415
    from news_digest.lifecycle import reopen  # noqa: PLC0415
    from news_digest.model import Period  # noqa: PLC0415

    wiring = Wiring(settings, tell=tell)
    edges, today = wiring.edges(), Period.of(now())
    ledger = Ledger(
        edges.store, today=today, limits=wiring.limits(), clock=edges.clock, sleep=edges.sleep, jitter=edges.jitter
    )
    ledger.load()
    ledger.apply(lambda state: reopen(state, today, today))
    return [f"{today} is open again", *_run(settings, tell)]


def _past_of(settings: Settings) -> Callable[[str], FeedPast]:
    from news_digest.feeds.cache import FeedCache  # noqa: PLC0415
    from news_digest.web.state import FeedPast  # noqa: PLC0415

    cache = FeedCache(settings.places.cache)

    def past(url: str) -> FeedPast:
        record = cache.load(url)
        return FeedPast(record.read_at, record.failing_since, record.failures)

    return past
