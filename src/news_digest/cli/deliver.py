"""``news-digest deliver``: send what is owed, or a digest of the archive once more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

import click

from news_digest.cli.options import config_option, json_option, print_json, settings_of
from news_digest.errors import ConfigError, DeliveryError, NewsDigestError

if TYPE_CHECKING:
    from news_digest.cli.wiring import Wiring
    from news_digest.ledger import Ledger
    from news_digest.model import Digest, Limits, Receipt
    from news_digest.ports import Edges
    from news_digest.report import Delivered

__all__ = ["deliver_command"]


@click.command("deliver")
@click.argument("day", required=False, metavar="[DATE]")
@click.option("--to", "channels", multiple=True, metavar="CHANNEL", help="Only to this one; may be repeated.")
@config_option
@json_option
def deliver_command(day: str | None, channels: Sequence[str], config_file: str | None, *, as_json: bool) -> int:
    """Send digests that a channel has not taken yet; with --to, send a digest again.

    Without --to only what is still owed goes out, so that nobody gets a digest twice. With it the digest of DATE (the
    last one without a date) goes out from the archive, owed or not.

    \b
    Examples:
      news-digest deliver
      news-digest deliver 2026-12-01 --to email
    """
    from news_digest.cli.wiring import Wiring  # noqa: PLC0415

    wiring = Wiring(settings_of(config_file), tell=lambda _step: None, log_form="markdown")
    wanted = _date(day)
    done = _again(wiring, wanted, channels) if channels else _owed(wiring, wanted)
    failed = [each for each in done if each.cause]
    if as_json:
        print_json(
            [
                {"period": str(each.period), "channel": each.channel, "cause": each.cause, "hint": each.hint}
                for each in done
            ]
        )
    for each in done:
        click.echo(f"{each.period} to {each.channel}: {each.cause or 'delivered'}", err=True)
        if each.hint:
            click.echo(f"hint: {each.hint}", err=True)
    if not done:
        click.echo("nothing is owed", err=True)
    return DeliveryError.exit_code if failed else 0


def _owed(wiring: Wiring, day: date | None) -> list[Delivered]:
    from news_digest.model import Period  # noqa: PLC0415
    from news_digest.report import RunReport  # noqa: PLC0415
    from news_digest.settling import Settling  # noqa: PLC0415

    edges, limits = wiring.edges(), wiring.limits()
    now = edges.clock()
    report = RunReport(Period.of(now), now)
    ledger = _ledger(edges, limits)
    Settling(ledger, edges, limits, report, wiring.job()).deliver_owed(Period(day) if day else None)
    for warning in report.warnings:
        click.echo(f"warning: {warning}", err=True)
    return report.delivered


def _again(wiring: Wiring, day: date | None, channels: Sequence[str]) -> list[Delivered]:
    from news_digest.report import Delivered  # noqa: PLC0415

    digest = _archived(wiring, day)
    known = wiring.channels()
    for name in channels:
        if name not in known:
            raise ConfigError(
                "there is no such channel",
                thing=name,
                cause=f"configured are {', '.join(known)}",
                hint="add it to `channels`, with a table [channel.NAME] where it has options",
            )
    done = []
    for name in channels:
        try:
            receipt = known[name].deliver(digest)
        except DeliveryError as error:
            done.append(Delivered(digest.period, name, str(error), error.hint))
        else:
            _note(wiring, digest, receipt)
            done.append(Delivered(digest.period, name))
    return done


def _note(wiring: Wiring, digest: Digest, receipt: Receipt) -> None:
    """Record a delivery where it was owed, so that the next run does not send a second copy."""
    from news_digest.lifecycle import mark_delivered  # noqa: PLC0415
    from news_digest.model import Settled  # noqa: PLC0415

    ledger = _ledger(wiring.edges(), wiring.limits())
    task = ledger.state.tasks.get(digest.period.key)
    if isinstance(task, Settled) and task.ticket == digest.ticket and receipt.channel in task.owed:
        ledger.apply(lambda state: mark_delivered(state, digest.ticket, receipt))


def _ledger(edges: Edges, limits: Limits) -> Ledger:
    from news_digest.ledger import Ledger  # noqa: PLC0415
    from news_digest.model import Period  # noqa: PLC0415

    today = Period.of(edges.clock())
    ledger = Ledger(edges.store, today=today, limits=limits, clock=edges.clock, sleep=edges.sleep, jitter=edges.jitter)
    ledger.load()
    return ledger


def _archived(wiring: Wiring, day: date | None) -> Digest:
    from news_digest.channels.archive import Archive  # noqa: PLC0415

    archive = Archive(wiring.settings.places.archive)
    digest = archive.load(day) if day else archive.last()
    if digest is None:
        raise NewsDigestError(
            "no digest to deliver",
            thing=str(day or archive.path),
            cause="the archive has none",
            hint="`news-digest show` says which days there are",
        )
    return digest


def _date(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise ConfigError("wrong value", thing="DATE", cause=f"{text!r} is not a date like 2026-12-01") from error
