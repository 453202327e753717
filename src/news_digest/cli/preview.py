"""``news-digest preview``: brief and digest as a run would make them now, by any writer, without touching the state."""

from __future__ import annotations

import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from news_digest.cli.options import config_option, json_option, print_json, quiet_option, settings_of
from news_digest.cli.progress import ProgressLine
from news_digest.errors import AllFeedsFailed, NewsDigestError

if TYPE_CHECKING:
    from news_digest.cli.wiring import Wiring
    from news_digest.model import Brief, Digest
    from news_digest.ports import Writer

__all__ = ["preview_command"]

_LONGEST_WAIT = timedelta(minutes=10)


@click.command("preview")
@click.option("--writer", "name", metavar="NAME", help="Who writes, instead of the configured writer.")
@click.option("--brief", "only_brief", is_flag=True, help="Print what the writer would be asked, and stop.")
@click.option("--estimate", "only_estimate", is_flag=True, help="Print what the writer llm may cost, and ask nobody.")
@config_option
@json_option
@quiet_option
def preview_command(
    name: str | None, config_file: str | None, *, only_brief: bool, only_estimate: bool, as_json: bool, quiet: bool
) -> None:
    """Print the digest that a run would make now: nothing is claimed, remembered or delivered.

    \b
    Examples:
      news-digest preview
      news-digest preview --brief
      news-digest preview --estimate
      news-digest preview --writer llm
    """
    from news_digest.brief import brief_text  # noqa: PLC0415
    from news_digest.cli.wiring import Wiring  # noqa: PLC0415
    from news_digest.render import json_value, markdown  # noqa: PLC0415
    from news_digest.wire import to_json  # noqa: PLC0415

    settings = settings_of(config_file)
    progress = ProgressLine(sys.stderr, quiet=quiet)
    with tempfile.TemporaryDirectory(prefix="news-digest-preview-") as folder:
        # Drafts and the feeds' cache of a preview are nobody's: a run must not find them.
        places = settings.places._replace(workspaces=Path(folder) / "workspaces")
        wiring = Wiring(settings._replace(places=places), tell=progress)
        try:
            brief = _brief(wiring)
            digest = None if only_brief or only_estimate else _digest(wiring, name, brief)
        finally:
            progress.close()
    if only_estimate:
        _print_estimate(brief, settings.config.count("llm.max_tokens"), as_json=as_json)
    elif as_json:
        print_json(to_json(brief) if digest is None else json_value(digest))
    else:
        sys.stdout.write((brief_text(brief) if digest is None else markdown(digest)) + "\n")


def _print_estimate(brief: Brief, most: int, *, as_json: bool) -> None:
    from news_digest.wire import to_json  # noqa: PLC0415
    from news_digest.writers.llm import estimate  # noqa: PLC0415

    found = estimate(brief, most)
    if as_json:
        print_json(to_json(found))
    else:
        sys.stdout.write(f"A digest of these {len(brief.stories)} stories costs {found}.\n")


def _brief(wiring: Wiring) -> Brief:
    from news_digest.run import make_brief  # noqa: PLC0415
    from news_digest.selection import select  # noqa: PLC0415

    edges, job, limits = wiring.edges(), wiring.job(), wiring.limits()
    now, state = edges.clock(), edges.store.load().state
    results = edges.feeds.read(job.sources, limits.feeds_deadline)
    failures = tuple(result.failure for result in results if result.failure)
    if len(failures) == len(results):
        raise AllFeedsFailed("cannot preview", cause="; ".join(map(str, failures)), hint="`news-digest feeds check`")
    selection = select(results, state, now, limits)
    stories = edges.feeds.stories(selection.picked)
    if not stories:
        raise NewsDigestError("nothing to preview", cause="no story is new", hint="`news-digest status` tells why")
    return make_brief(job, selection, stories, failures, now, state)


def _digest(wiring: Wiring, name: str | None, brief: Brief) -> Digest:
    from uuid import uuid4  # noqa: PLC0415

    from news_digest.brief import brief_hash  # noqa: PLC0415
    from news_digest.cli.wiring import now  # noqa: PLC0415
    from news_digest.finishing import finish  # noqa: PLC0415
    from news_digest.model import Active, Ticket  # noqa: PLC0415
    from news_digest.ports import Wrote  # noqa: PLC0415

    chosen = name or wiring.settings.config.text("writer")
    writer: Writer = wiring.writer(chosen)
    ticket = Ticket(str(uuid4()))
    conversation = writer.begin(brief, ticket)
    try:
        end = now() + _LONGEST_WAIT
        while not isinstance(progress := writer.poll(conversation, brief), Wrote):
            reason = getattr(progress, "reason", "")
            if reason or now() > end:
                raise NewsDigestError("no preview", thing=chosen, cause=reason or "the writer did not end in time")
            wiring.edges().sleep(timedelta(seconds=1))
    finally:
        writer.release(conversation, brief.period)
    task = Active(brief.period, ticket, (), (), len(brief.stories), now(), brief_hash=brief_hash(brief))
    return finish(progress, brief, task, now())
