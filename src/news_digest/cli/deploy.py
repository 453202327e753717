"""``news-digest deploy`` and ``news-digest bundle``: to the OpenHands automation service, or into a folder."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from news_digest.cli.options import config_option, settings_of

if TYPE_CHECKING:
    from news_digest.cli.settings import Settings
    from news_digest.openhands.bundle import Bundle
    from news_digest.openhands.service import AutomationService

__all__ = ["bundle_command", "deploy_command"]

KEYS = ("OPENHANDS_AUTOMATION_API_KEY", "AUTOMATION_LOCAL_API_KEY", "OPENHANDS_API_KEY")
"""Where the service's key is looked for when --key-env does not say."""
FAILED = 5


@click.command("bundle")
@config_option
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def bundle_command(config_file: str | None, folder: Path) -> int:
    """Write the folder that `deploy` uploads: wheel, config.json, setup.sh, main.py.

    \b
    Example:
      news-digest bundle build/automation
    """
    bundle = _bundle(settings_of(config_file))
    bundle.write(folder)
    for name, content in sorted(bundle.files.items()):
        click.echo(f"{folder / name}  {len(content)} bytes")
    click.echo(f"as an upload: {len(bundle.tarball())} bytes", err=True)
    return 0


@click.command("deploy")
@config_option
@click.option("--host", required=True, metavar="URL", help="The automation service's address.")
@click.option("--schedule", default="0 8 * * *", show_default=True, metavar="CRON", help="When it runs.")
@click.option("--timezone", default="UTC", show_default=True, metavar="ZONE", help="In which time zone.")
@click.option("--name", default="News digest", show_default=True, help="What the automation is called.")
@click.option("--key-env", metavar="VARIABLE", help=f"Where the service's key is; default: {', '.join(KEYS)}.")
@click.option(
    "--dispatch/--no-dispatch", default=None, help="Start one run and follow it to the digest; asks if neither."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
def deploy_command(
    config_file: str | None,
    *,
    host: str,
    schedule: str,
    timezone: str,
    name: str,
    key_env: str | None,
    dispatch: bool | None,
    dry_run: bool,
) -> int:
    """Deploy to the OpenHands automation service: upload, create or update. Twice changes nothing.

    \b
    Examples:
      news-digest deploy --host http://localhost:8000 --dry-run
      news-digest deploy --host http://localhost:8000 --schedule '30 7 * * 1-5' --timezone Europe/Berlin
    """
    from news_digest.openhands.deploy import Wanted, apply, plan  # noqa: PLC0415 - the help does without it

    settings = settings_of(config_file)
    service, bundle = _service(settings, host, key_env), _bundle(settings)
    seconds = settings.config.count("budget_seconds") + settings.config.count("feeds_seconds")
    wanted = Wanted(name, schedule, timezone, seconds)
    planned = plan(service, bundle, wanted)
    for line in planned.lines():
        click.echo(f"would {line}" if dry_run and planned.is_needed else line, err=True)
    if dry_run:
        return 0
    automation_id = apply(service, bundle, wanted, planned)
    click.echo(f"automation {automation_id} runs at {schedule} {timezone}", err=True)
    if dispatch is None:
        dispatch = sys.stdin.isatty() and click.confirm(
            "Start a run now and wait for its digest?", default=True, err=True
        )
    return _follow(service, automation_id) if dispatch else 0


def _follow(service: AutomationService, automation_id: str) -> int:
    from news_digest.cli.wiring import now  # noqa: PLC0415
    from news_digest.hygiene import clean  # noqa: PLC0415
    from news_digest.openhands.deploy import follow  # noqa: PLC0415

    run_id = service.dispatch(automation_id)
    click.echo(f"run {run_id} started; waiting for its end", err=True)
    ended = follow(service, automation_id, run_id, clock=now, sleep=lambda span: time.sleep(span.total_seconds()))
    about = f" (conversation {ended.conversation_id})" if ended.conversation_id else ""
    click.echo(f"run {run_id}: {ended.status}{about}", err=True)
    if ended.digest:
        click.echo("\n".join(map(clean, ended.digest.splitlines())))
    if ended.status != "COMPLETED":
        click.echo(f"error: {clean(ended.error) or 'the service gave no reason'}", err=True)
        return FAILED
    return 0


def _bundle(settings: Settings) -> Bundle:
    from news_digest.openhands.bundle import bundle_of  # noqa: PLC0415

    return bundle_of(settings.config)


def _service(settings: Settings, host: str, key_env: str | None) -> AutomationService:
    from news_digest.cli.wiring import Wiring  # noqa: PLC0415
    from news_digest.errors import ConfigError  # noqa: PLC0415
    from news_digest.openhands.service import AutomationService  # noqa: PLC0415

    key = next((os.environ[name] for name in ([key_env] if key_env else KEYS) if os.environ.get(name)), "")
    if not key:
        raise ConfigError(
            "there is no key for the automation service",
            thing=key_env or ", ".join(KEYS),
            cause="the environment variable is not set" if key_env else "none of these environment variables is set",
            hint="the local service's key is its AUTOMATION_LOCAL_API_KEY; the cloud's is an API key of your account",
        )
    return AutomationService(Wiring(settings, tell=lambda _step: None).http(), host, key)
