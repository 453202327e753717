"""Which stories are new: seen, in flight, window, cap, order (specification, "Lifecycle"; ``docs/decisions.md``).

One pass over the entries of all feeds that could be read. Entries that any fingerprint connects are one story,
whichever feeds they stand in; it is remembered by all their fingerprints.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest

from news_digest.fingerprint import fingerprint
from news_digest.lifecycle import ALL_FEEDS, in_flight, known
from news_digest.model import Entry, FeedResult, Fingerprint, Funnel, Limits, Selection, State

__all__ = ["lookups", "prints", "select", "window_start"]

_Group = tuple[Entry, ...]


def select(results: Sequence[FeedResult], state: State, now: datetime, limits: Limits) -> Selection:
    """Return what is new in the feeds: at most ``limits.shortlist_stories`` stories, and where all others went.

    An undated story counts as current, and so does one dated ahead of ``now``: it stands as if it appeared now, so
    that it cannot lead the digest until its date has passed.
    """
    since = window_start(state, now, limits)
    keys_of = {result.source.url: fingerprint(result.source.url) for result in results}
    starts = {url: _feed_window(state, key, since, now, limits) for url, key in keys_of.items()}
    failed = tuple(keys_of[result.source.url] for result in results if result.failure)
    told, held = known(state), frozenset(in_flight(state))
    unseen: list[_Group] = []
    seen: list[_Group] = []
    flying: list[_Group] = []
    for group in _groups(entry for result in results for entry in result.entries):
        keys = lookups(group)
        where = seen if not told.isdisjoint(keys) else flying if not held.isdisjoint(keys) else unseen
        where.append(group)
    fresh = [group for group in unseen if any(_is_current(entry, starts, now) for entry in group)]
    stale = [group for group in unseen if not any(_is_current(entry, starts, now) for entry in group)]
    picked, above_cap = _shortlist(fresh, now, limits.shortlist_stories)
    return Selection(
        picked=picked,
        above_cap=above_cap,
        seen=_flat(seen),
        in_flight=_flat(flying),
        stale=_flat(stale),
        funnel=Funnel(sum(len(result.entries) for result in results), len(unseen), len(fresh), len(picked)),
        since=since,
        failed=failed,
        caught_up={} if above_cap else _caught_up(state, [key for key in keys_of.values() if key not in failed]),
    )


def _caught_up(state: State, read: Collection[Fingerprint]) -> Mapping[str, datetime]:
    """Return what of ``State.behind`` is covered: the feeds that were read, and all feeds when any was."""
    return {key: since for key, since in state.behind.items() if read and (key in read or key == ALL_FEEDS)}


def lookups(group: Iterable[Entry]) -> tuple[Fingerprint, ...]:
    """Return all by which a story would be recognised."""
    return tuple(dict.fromkeys(key for entry in group for key in entry.identity.lookup))


def prints(group: Iterable[Entry]) -> tuple[tuple[Fingerprint, ...], tuple[Fingerprint, ...]]:
    """Return what a told story adds to ``seen`` and to ``seen_wide``."""
    entries = tuple(group)
    stored = dict.fromkeys(key for entry in entries for key in entry.identity.stored)
    wide = dict.fromkeys(key for entry in entries for key in entry.identity.wide if key not in stored)
    return tuple(stored), tuple(wide)


def window_start(state: State, now: datetime, limits: Limits) -> datetime:
    """Return where the window begins: the lookback, or further back where something was not told.

    That is the last completed digest when it is longer ago (before the first one, the last check), and the window of
    every task that ended without one since; ``limits.catch_up`` at most.
    """
    start = now - limits.lookback
    last = state.last_digest
    told = (last.until or last.written_at) if last else state.last_checked or now
    behind = state.behind.get(ALL_FEEDS, start)
    return max(min(start, told - limits.late_publication, behind), now - limits.catch_up)


def _feed_window(state: State, key: Fingerprint, since: datetime, now: datetime, limits: Limits) -> datetime:
    """Return where one feed's window begins: a feed that was down is read back to before it failed."""
    return max(min(since, state.behind.get(key, since)), now - limits.catch_up)


def _is_current(entry: Entry, starts: Mapping[str, datetime], now: datetime) -> bool:
    return entry.published is None or entry.published >= starts.get(entry.feed, now)


def _appeared(entry: Entry, now: datetime) -> datetime:
    return now if entry.published is None else min(entry.published, now)


def _groups(entries: Iterable[Entry]) -> list[_Group]:
    """Return the entries as stories: connected by any fingerprint, in the order of their first entries."""
    groups: dict[int, list[Entry]] = {}
    owner: dict[Fingerprint, int] = {}
    for number, entry in enumerate(entries):
        joined = sorted({owner[key] for key in entry.identity.lookup if key in owner})
        target = joined[0] if joined else number
        members = [*(member for index in joined for member in groups.pop(index)), entry]
        groups[target] = members
        renamed = members if len(joined) > 1 else [entry]
        owner.update((key, target) for member in renamed for key in member.identity.lookup)
    return [tuple(groups[index]) for index in sorted(groups)]


def _shortlist(fresh: Sequence[_Group], now: datetime, cap: int) -> tuple[tuple[_Group, ...], tuple[_Group, ...]]:
    """Return what is picked and what is above the cap: newest first, round-robin over feeds when there is too much."""
    ordered = sorted(fresh, key=lambda group: _appeared(group[0], now), reverse=True)
    if len(ordered) <= cap:
        return tuple(ordered), ()
    by_feed: dict[str, list[_Group]] = {}
    for group in ordered:
        by_feed.setdefault(group[0].feed, []).append(group)
    rounds = [group for turn in zip_longest(*by_feed.values()) for group in turn if group is not None]
    picked = sorted(rounds[:cap], key=lambda group: _appeared(group[0], now), reverse=True)
    return tuple(picked), tuple(rounds[cap:])


def _flat(groups: Iterable[_Group]) -> tuple[Entry, ...]:
    return tuple(entry for group in groups for entry in group)
