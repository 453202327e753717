"""``news-digest retry``: open today again after it ended without a digest."""

from __future__ import annotations

import click

from news_digest.cli.options import config_option, json_option, print_json, settings_of
from news_digest.errors import IllegalMove

__all__ = ["retry_command"]


@click.command("retry")
@click.argument("day", required=False, metavar="[DATE]")
@config_option
@json_option
def retry_command(day: str | None, config_file: str | None, *, as_json: bool) -> None:
    """Open today again when it ended failed, empty or expired; the next run tells its stories.

    A past day is not opened: the window of the next run covers its stories.

    \b
    Examples:
      news-digest retry && news-digest run
    """
    from news_digest.cli.show import day_of  # noqa: PLC0415
    from news_digest.cli.wiring import Wiring, now  # noqa: PLC0415
    from news_digest.ledger import Ledger  # noqa: PLC0415
    from news_digest.lifecycle import reopen  # noqa: PLC0415
    from news_digest.model import Period  # noqa: PLC0415

    wiring = Wiring(settings_of(config_file), tell=lambda _step: None)
    edges, limits = wiring.edges(), wiring.limits()
    today = Period.of(now())
    wanted = day_of(day)
    period = Period(wanted) if wanted else today
    ledger = Ledger(edges.store, today=today, limits=limits, clock=edges.clock, sleep=edges.sleep, jitter=edges.jitter)
    before = ledger.load()
    if period.key not in before.tasks and period != today:
        raise IllegalMove(
            "cannot open the day again", thing=str(period), cause="it has no record", hint="only today can be opened"
        )
    ledger.apply(lambda state: reopen(state, period, today))
    opened = period.key in before.tasks
    if as_json:
        print_json({"period": str(period), "opened": opened})
    else:
        click.echo(f"{period} is open again; `news-digest run` tells it" if opened else f"{period} is open already")
