"""``news-digest seen`` and ``why``: would a story be recognised, and what did the last runs do with it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from news_digest.cli.options import config_option, json_option, print_json, settings_of
from news_digest.fingerprint import forms
from news_digest.hygiene import clean
from news_digest.model import Fingerprint, Json, State

if TYPE_CHECKING:
    from news_digest.cli.wiring import Wiring
    from news_digest.ports import Event

__all__ = ["seen_command", "why_command"]

NOT_SEEN = 1
"""Exit code of ``seen`` for a story that would count as new."""


@click.command("seen")
@click.argument("what", metavar="URL|ID")
@config_option
@json_option
def seen_command(what: str, config_file: str | None, *, as_json: bool) -> int:
    """Say whether a story would be recognised, and by which fingerprint. Exit code 1: it would count as new.

    \b
    Examples:
      news-digest seen https://example.com/2026/story
      news-digest seen tag:example.com,2026:1
    """
    wiring = _wiring(config_file)
    known = _recognised(wiring.kept().store.load().state, what)
    if as_json:
        print_json({"what": what, "recognised": bool(known), "by": known})
    elif known:
        for by in known:
            sys.stdout.write(clean(f"{by['where']}: {by['fingerprint']} ({by['form']}: {by['text']})") + "\n")
    else:
        sys.stdout.write("not recognised: it would count as new\n")
    return 0 if known else NOT_SEEN


@click.command("why")
@click.argument("what", metavar="URL|ID")
@config_option
@json_option
def why_command(what: str, config_file: str | None, *, as_json: bool) -> None:
    """Tell what the last runs did with a story: told on a day, left out and by which stage, above the cap, in flight.

    \b
    Examples:
      news-digest why https://example.com/2026/story
    """
    wiring = _wiring(config_file)
    keys = set(forms(what).values())
    events = [event for event in wiring.journal().read() if event.link == what or keys.intersection(event.fingerprints)]
    known = _recognised(wiring.kept().store.load().state, what)
    if as_json:
        print_json({"what": what, "events": [_event(event) for event in events], "recognised": known})
        return
    lines = [
        f"{event.at:%Y-%m-%d %H:%M} UTC  {event.period}  {event.what:<14} {event.title or event.link}"
        for event in events
    ]
    lines += [f"now: recognised in {by['where']} by its {by['form']}" for by in known]
    if not events:
        journal = wiring.settings.places.journal
        kept = "no run wrote of it" if journal.exists() else "no journal is kept here"
        lines.append(f"nothing in the journal: {kept} ({journal})")
    if not known:
        lines.append("now: not recognised; a run that finds it in a feed, within the window, offers it")
    sys.stdout.write("\n".join(map(clean, lines)) + "\n")


def _wiring(config_file: str | None) -> Wiring:
    from news_digest.cli.wiring import Wiring  # noqa: PLC0415

    return Wiring(settings_of(config_file), tell=lambda _step: None)


def _recognised(state: State, what: str) -> list[dict[str, str]]:
    """Return by which forms of a text a story would be recognised, and where each fingerprint stands."""
    from news_digest.lifecycle import in_flight  # noqa: PLC0415

    places: list[tuple[str, Mapping[Fingerprint, object]]] = [
        ("seen", dict.fromkeys(state.seen)),
        ("seen_wide", dict.fromkeys(state.seen_wide)),
        ("in flight", in_flight(state)),
    ]
    return [
        {"where": where, "fingerprint": key, "form": form, "text": what}
        for form, key in forms(what).items()
        for where, keys in places
        if key in keys
    ]


def _event(event: Event) -> dict[str, Json]:
    return {
        "at": event.at.isoformat(),
        "period": str(event.period),
        "what": event.what,
        "title": event.title,
        "link": event.link,
        "feed": event.feed,
    }
