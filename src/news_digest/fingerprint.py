"""By what a story is remembered and recognised: canonical links, fingerprints, and the identity of a document's entries.

The specification's two fingerprints are kept bit for bit (``docs/state.md``, "Identity"). They are not enough: publishers
share one identifier among all items, move from http to https, add trackers, rotate identifiers at every fetch. So a third
kind is remembered beside them, and what cannot identify anything is not used. Pure, and cheap: a few hashes an entry.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

from news_digest.model import Fingerprint, Identity

__all__ = [
    "Marks",
    "canonical_link",
    "fingerprint",
    "forms",
    "identify",
    "is_weak",
    "stored_fingerprints",
    "unwrapped",
    "wide_link",
]

_TRACKERS: Final = frozenset(
    {
        *("fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid", "igshid", "ttclid", "li_fat_id"),
        *("mc_cid", "mc_eid", "_hsenc", "_hsmi", "mkt_tok", "oly_anon_id", "oly_enc_id", "vero_id", "s_cid", "cmp"),
        *("ocid", "wt_mc", "wt.mc_id", "ns_campaign", "ns_mchannel", "ns_source", "xtor", "ftag", "sr_share", "ito"),
    }
)
"""Parameters that say where a reader came from, never what is read (the lists of miniflux, Firefox and ClearURLs agree)."""
_TRACKER_PREFIXES: Final = ("utm_", "at_", "mtm_", "pk_", "hsa_", "__hs")
_TRACKERS_OF_HOSTS: Final = {"medium.com": frozenset({"source"}), "medscape.com": frozenset({"src"})}
"""Words that mean something elsewhere: dropped only on these hosts and those below them."""
_WRAPPERS: Final = {
    "google.com": ("/url", ("url", "q")),
    "news.google.com": ("/url", ("url",)),
    "l.facebook.com": ("/l.php", ("u",)),
    "bing.com": ("/news/apiclick.aspx", ("url",)),
    "out.reddit.com": ("", ("url",)),
}
"""Links of these hosts lead somewhere else: host, path, and the parameter that holds the target."""
_SHORTEST_IDENTIFIER: Final = 6
_ADDRESS: Final = re.compile(r"(?i)^(https?)://(www\.)?([^/?#]+)(.*)$", re.DOTALL)
_NUMERIC_FRAGMENT: Final = re.compile(r"#\d+$")


@dataclass(frozen=True, slots=True)
class Marks:
    """What an entry shows of itself: enough to tell it from others."""

    identifier: str
    link: str
    title: str
    published: datetime | None


def fingerprint(text: str) -> Fingerprint:
    """Return the first 16 hexadecimal digits of the SHA-256 of a text (specification, "Fingerprints")."""
    return Fingerprint(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16])


# --- links ---------------------------------------------------------------------------------------------------------


def canonical_link(link: str) -> str:
    """Return a link as the specification compares it.

    Scheme and host in lower case, no fragment, no ``utm_*``, no trailing slash; an empty path of an address with a host
    becomes ``/``. What cannot be taken apart is returned as it is, stripped.
    """
    parts = _split(link)
    if parts is None:
        return link.strip()
    query = [(name, value) for name, value in _query(parts) if not name.lower().startswith("utm_")]
    path = parts.path.rstrip("/") or "/"
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), path, urlencode(query), ""))


def wide_link(link: str) -> str:
    """Return a link as we compare it besides: https, no ``www.``, no default port, no trackers, the query sorted, unwrapped.

    Two links with one wide form lead to the same story in every case that was found in reports and in real feeds.
    """
    parts = _split(unwrapped(link))
    if parts is None or parts.scheme.lower() not in ("http", "https"):
        return canonical_link(link)
    host = _host(parts)
    query = sorted(pair for pair in _query(parts) if not _is_tracker(pair[0].lower(), host))
    return urlunsplit(("https", host, parts.path.rstrip("/") or "/", urlencode(query), ""))


def unwrapped(link: str) -> str:
    """Return the target of a link that only forwards, the link itself else; wrappers in wrappers are followed three deep."""
    for _ in range(3):
        parts = _split(link)
        if parts is None:
            return link
        path, names = _WRAPPERS.get(_host(parts), ("", ()))
        values = dict(_query(parts))
        target = next((values[name] for name in names if _ADDRESS.match(values.get(name, ""))), "")
        if not target or (path and parts.path != path):
            return link
        link = target
    return link


def _split(link: str) -> SplitResult | None:
    try:
        return urlsplit(link.strip())
    except ValueError:
        return None


def _query(parts: SplitResult) -> list[tuple[str, str]]:
    try:
        return parse_qsl(parts.query, keep_blank_values=True, max_num_fields=200)
    except ValueError:
        return [(parts.query, "")]


def _host(parts: SplitResult) -> str:
    host = parts.netloc.rpartition("@")[2].lower()
    for port in (":80", ":443"):
        host = host.removesuffix(port)
    return host.removeprefix("www.")


def _is_tracker(name: str, host: str) -> bool:
    if name in _TRACKERS or name.startswith(_TRACKER_PREFIXES):
        return True
    return any(
        name in names and (host == owner or host.endswith(f".{owner}")) for owner, names in _TRACKERS_OF_HOSTS.items()
    )


# --- one entry -----------------------------------------------------------------------------------------------------


def stored_fingerprints(identifier: str, link: str, title: str) -> tuple[Fingerprint, ...]:
    """Return the specification's fingerprints of an entry: of its identifier, and of its canonical link where it differs.

    An entry without an identifier uses its link, else its title, in the identifier's place.
    """
    canonical = canonical_link(link) if link.strip() else ""
    first = identifier.strip() or canonical or title.strip()
    return tuple(fingerprint(text) for text in dict.fromkeys((first, canonical)) if text)


def is_weak(identifier: str) -> bool:
    """Return whether an identifier is too small to be one: only digits, or under six characters."""
    text = identifier.strip()
    return text.isdecimal() or len(text) < _SHORTEST_IDENTIFIER


def forms(text: str) -> Mapping[str, Fingerprint]:
    """Return, by name, every fingerprint by which a link or identifier that a person gives may have been remembered."""
    found = {"identifier": fingerprint(text.strip()), "link": fingerprint(canonical_link(text))}
    if _ADDRESS.match(text.strip()):
        found["wide link"] = fingerprint(wide_link(text))
        found |= {f"link as {form}": fingerprint(form) for form in _other_forms(canonical_link(text))}
        found |= {f"identifier as {form}": fingerprint(form) for form in _other_forms(text.strip())}
    return {name: key for name, key in found.items()}


def _other_forms(address: str) -> Iterable[str]:
    """Return an address with the other scheme, and with or without ``www.``; nothing for what is no address."""
    match = _ADDRESS.match(address)
    if match is None:
        return ()
    rest = match[3] + match[4]
    every = (f"{scheme}://{prefix}{rest}" for scheme in ("https", "http") for prefix in ("", "www."))
    return tuple(form for form in every if form != address)


# --- the entries of one document -----------------------------------------------------------------------------------


def identify(entries: Sequence[Marks], feed: str) -> list[Identity]:
    """Return the identity of each entry of one document.

    What several entries share identifies none of them (an entry that is listed twice shares nothing with itself). Where
    neither identifier nor link is left, title, date and feed take their place. A weak identifier is remembered and not
    looked up; its form qualified by the feed takes a wide place.
    """
    shared = _Shared(entries, feed)
    return [_identity(marks, feed, shared) for marks in entries]


class _Shared:
    """How many different entries of a document carry the same text."""

    def __init__(self, entries: Sequence[Marks], feed: str) -> None:
        self._counts: Counter[str] = Counter()
        for marks in set(entries):
            self._counts.update({text for text in _texts(marks, feed) if text})

    def alone(self, text: str) -> bool:
        return bool(text) and self._counts[text] <= 1


def _texts(marks: Marks, feed: str) -> tuple[str, ...]:
    identifier = marks.identifier.strip()
    return (
        f"i{identifier}",
        f"l{canonical_link(marks.link)}" if marks.link else "",
        f"w{wide_link(marks.link)}" if marks.link else "",
        f"f{_with_fragment(marks.link)}",
        f"r{_without_revision(identifier)}",
        f"t{marks.title.strip()}",
        _dated(marks, feed),
    )


def _identity(marks: Marks, feed: str, shared: _Shared) -> Identity:
    identifier, canonical = marks.identifier.strip(), canonical_link(marks.link) if marks.link.strip() else ""
    has_identifier = bool(identifier) and shared.alone(f"i{identifier}")
    has_link = bool(canonical) and shared.alone(f"l{canonical}")
    stored = [text for text, usable in ((identifier, has_identifier), (canonical, has_link)) if usable]
    lookup = [text for text in stored if text != identifier or text == canonical or not is_weak(identifier)]
    lookup += [form for text in lookup for form in _other_forms(text)]
    wide = list(_wide(marks, feed, shared, has_identifier=has_identifier, has_link=has_link))
    if not stored or (not lookup and not wide):
        dated = _dated(marks, feed) or f"{marks.title.strip()}\n\n{feed}"
        bare = marks.title.strip() if not identifier and not canonical and shared.alone(f"t{marks.title.strip()}") else ""
        stored += [text for text in (bare, dated) if text]
        lookup.append(dated)
        wide = [text for text in wide if text != dated]
    kept = _prints(stored)
    beside = tuple(key for key in _prints(wide) if key not in kept)
    return Identity(kept, beside, tuple(dict.fromkeys((*_prints(lookup), *beside))))


def _wide(marks: Marks, feed: str, shared: _Shared, *, has_identifier: bool, has_link: bool) -> Iterable[str]:
    """Yield the texts of the wide fingerprints: each only where no other entry of the document has it."""
    identifier = marks.identifier.strip()
    if marks.link.strip():
        wide = wide_link(marks.link)
        if has_link and shared.alone(f"w{wide}"):
            yield wide
        fragment = _with_fragment(marks.link)
        if not has_link and fragment and shared.alone(f"f{fragment}"):
            yield fragment
    if has_identifier and is_weak(identifier):
        yield f"{feed}\n{identifier}"
    revision = _without_revision(identifier)
    if has_identifier and revision and shared.alone(f"r{revision}"):
        yield revision
    dated = _dated(marks, feed)
    if dated and shared.alone(dated):
        yield dated


def _with_fragment(link: str) -> str:
    parts = _split(link)
    return f"{wide_link(link)}#{parts.fragment}" if parts is not None and parts.fragment else ""


def _without_revision(identifier: str) -> str:
    """Return the wide form of an identifier that is an address, with its fragment unless that only counts revisions."""
    match = _ADDRESS.match(identifier)
    if match is None:
        return ""
    bare = _NUMERIC_FRAGMENT.sub("", identifier)
    return _with_fragment(bare) or wide_link(bare)


def _dated(marks: Marks, feed: str) -> str:
    """Return title, date and feed: what is left where a publisher rotates identifier and link."""
    title = " ".join(marks.title.split())
    return f"{title}\n{int(marks.published.timestamp())}\n{feed}" if title and marks.published else ""


def _prints(texts: Iterable[str]) -> tuple[Fingerprint, ...]:
    return tuple(dict.fromkeys(fingerprint(text) for text in texts))
