"""``news-digest status``: the days, the last check, and the next step."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from news_digest.cli.options import config_option, json_option, print_json, settings_of
from news_digest.hygiene import clean

if TYPE_CHECKING:
    from news_digest.standing import Standing

__all__ = ["status_command"]


@click.command("status")
@config_option
@json_option
def status_command(config_file: str | None, *, as_json: bool) -> None:
    """Say how the digest stands: days and statuses, the funnel of the last check, failed and odd feeds, the next step.

    \b
    Examples:
      news-digest status
      news-digest status --json | jq -r .next_step
    """
    from news_digest.cli.wiring import Wiring, now  # noqa: PLC0415
    from news_digest.standing import standing  # noqa: PLC0415

    wiring = Wiring(settings_of(config_file), tell=lambda _step: None)
    loaded = wiring.kept().store.load()
    found = standing(loaded.state, now(), wiring.limits())
    for warning in loaded.warnings:
        click.echo(f"warning: {warning}", err=True)
    if as_json:
        print_json({**found.to_json(), "warnings": list(loaded.warnings)})
    else:
        sys.stdout.write("\n".join(map(clean, _lines(found))) + "\n")


def _lines(found: Standing) -> list[str]:
    lines = [f"next: {found.next_step}", ""]
    for day in found.days:
        lines.append(f"{day.day}  {day.status:<10}  {day.story}")
        if day.next_step:
            lines.append(f"{'':24}next: {day.next_step}")
        if day.conversation_url:
            lines.append(f"{'':24}{day.conversation_url}")
    if not found.days:
        lines.append("no day yet")
    lines.append("")
    if found.last_checked:
        lines.append(f"last check  {found.last_checked:%Y-%m-%d %H:%M} UTC")
    if found.funnel:
        fetched, unseen, fresh = found.funnel
        lines.append(
            f"funnel      {fetched} fetched > {unseen} unseen > {fresh} fresh > {fresh - found.above_cap} offered"
        )
    if found.above_cap:
        lines.append(f"            {found.above_cap} above the cap; they compete again")
    lines += [f"feed failed {error}" for error in found.feed_errors]
    lines += [f"feed note   {notice}" for notice in found.feed_notices]
    share = 100 * found.size_bytes // found.ceiling_bytes
    lines.append(f"memory      {found.remembered} fingerprints")
    lines.append(f"state       {found.size_bytes} of {found.ceiling_bytes} bytes ({share} %)")
    return lines
