"""``news-digest demo``: the whole way on sample feeds, in a folder of its own that is gone afterwards."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from news_digest.cli.options import json_option, quiet_option

__all__ = ["demo_command"]


@click.command("demo")
@json_option
@quiet_option
@click.option("--keep", metavar="FOLDER", help="Keep state and archive here instead of throwing them away.")
def demo_command(keep: str | None, *, as_json: bool, quiet: bool) -> int:
    """Print a digest of sample feeds: no key, no account, no network beyond this machine.

    The feeds are served over HTTP on loopback: RSS, Atom, JSON Feed and RDF, the same event from two outlets, an
    undated story, and one feed that answers 404. Your own state is not touched.

    \b
    Examples:
      news-digest demo
      news-digest demo --keep ./demo-state    and look at what a run leaves behind
    """
    if keep is not None:
        return _demo(Path(keep), as_json=as_json, quiet=quiet)
    with tempfile.TemporaryDirectory(prefix="news-digest-demo-") as folder:
        return _demo(Path(folder), as_json=as_json, quiet=quiet)


def _demo(folder: Path, *, as_json: bool, quiet: bool) -> int:
    from news_digest.cli.run import run_once  # noqa: PLC0415
    from news_digest.cli.settings import Places, Settings  # noqa: PLC0415
    from news_digest.cli.wiring import now  # noqa: PLC0415
    from news_digest.config import configure  # noqa: PLC0415
    from news_digest.demo import serve  # noqa: PLC0415

    environment = {name: value for name, value in os.environ.items() if not name.startswith("NEWS_DIGEST_")}
    with serve(now()) as served:
        feeds = [{"url": source.url, "name": source.name} for source in served.sources]
        config = configure({"feeds": feeds, "allow_private_hosts": True}, {}, file="the demo")
        places = Places(folder / "state.json", folder / "archive", folder / "cache", folder / "workspaces")
        return run_once(Settings(config, None, places, environment), as_json=as_json, quiet=quiet)
