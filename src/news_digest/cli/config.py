"""``news-digest config``: where everything lives, what is set, and from where."""

from __future__ import annotations

import sys

import click

from news_digest.cli.options import config_option, json_option, print_json, settings_of
from news_digest.cli.settings import Settings
from news_digest.config import KEYS, variable
from news_digest.hygiene import clean
from news_digest.model import Json

__all__ = ["config_command"]


@click.command("config")
@config_option
@json_option
def config_command(config_file: str | None, *, as_json: bool) -> None:
    """Say where everything lives, what is set, and from where. Secrets are never shown: they have only names here.

    \b
    Examples:
      news-digest config
      NEWS_DIGEST_MAX_ITEMS=20 news-digest config | grep max_items
    """
    settings = settings_of(config_file)
    if as_json:
        print_json(_value(settings))
    else:
        sys.stdout.write("\n".join(map(clean, _lines(settings))) + "\n")


def _places(settings: Settings) -> dict[str, str]:
    places = settings.places
    return {
        "file": str(settings.file) if settings.file else "none (defaults)",
        "state": str(places.state),
        "archive": str(places.archive),
        "journal": str(places.journal),
        "cache": str(places.cache),
        "workspaces": str(places.workspaces),
    }


def _shown(settings: Settings, name: str) -> Json:
    if name == "feeds":
        from news_digest.feeds.manners import discreet  # noqa: PLC0415 - the records of feeds

        return [discreet(source).url for source in settings.config.feeds]
    return settings.config.values[name]


def _value(settings: Settings) -> dict[str, Json]:
    keys = {
        key.name: {
            "value": _shown(settings, key.name),
            "from": settings.config.origins[key.name].place,
            "variable": variable(key.name),
            "about": key.about,
            "allowed": key.allowed,
        }
        for key in KEYS
    }
    return {"places": _places(settings), "keys": keys, "channels": sorted(settings.config.channel_options)}


def _lines(settings: Settings) -> list[str]:
    lines = [f"{name:<11} {place}" for name, place in _places(settings).items()]
    lines.append("")
    for key in KEYS:
        value = _shown(settings, key.name)
        shown = (
            ", ".join(value) if isinstance(value, list) else str(value).lower() if key.kind == "flag" else str(value)
        )
        lines.append(f"{key.name:<22} {shown or '-'}  [{settings.config.origins[key.name].place}]")
    return lines
