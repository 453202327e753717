"""By what a story is remembered and recognised: canonical links, fingerprints, the identity of a document's entries.

The specification's two fingerprints are kept bit for bit (``docs/state.md``, "Identity"). They are not enough:
publishers share one identifier among all items, move from http to https, add trackers, rotate identifiers at every
fetch. So a third kind is remembered beside them, and what cannot identify anything is not used. Pure, and cheap: a few
hashes an entry.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple
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
        *(
            "fbclid",
            "gclid",
            "dclid",
            "gbraid",
            "wbraid",
            "msclkid",
            "yclid",
            "twclid",
            "igshid",
            "ttclid",
            "li_fat_id",
        ),
        *("mc_cid", "mc_eid", "_hsenc", "_hsmi", "mkt_tok", "oly_anon_id", "oly_enc_id", "vero_id", "s_cid", "cmp"),
        *("ocid", "wt_mc", "wt.mc_id", "ns_campaign", "ns_mchannel", "ns_source", "xtor", "ftag", "sr_share", "ito"),
    }
)
"""Parameters that say where a reader came from, never what is read (miniflux, Firefox and ClearURLs agree)."""
_TRACKER_PREFIXES: Final = ("utm_", "at_", "mtm_", "pk_", "hsa_", "__hs")
_TRACKERS_OF_HOSTS: Final = {"medium.com": frozenset({"source"}), "medscape.com": frozenset({"src"})}
"""Words that mean something elsewhere: dropped only on these hosts and those below them."""
_WRAPPERS: Final = {
    "google.com": ("/url", ("url", "q")),
    "news.google.com": ("/url", ("url",)),
    "l.facebook.com": ("/l.php", ("u",)),
    "lm.facebook.com": ("/l.php", ("u",)),
    "slack-redir.net": ("/link", ("url",)),
    "t.umblr.com": ("/redirect", ("z",)),
    "youtube.com": ("/redirect", ("q",)),
    "bing.com": ("/news/apiclick.aspx", ("url",)),
    "out.reddit.com": ("", ("url",)),
}
"""Links of these hosts lead somewhere else: host, path, and the parameter that holds the target."""
_WRAPPING: Final = re.compile(
    rf"https?://(?:www\.)?(?:{'|'.join(map(re.escape, _WRAPPERS))})(?:[/?#]|$)", re.IGNORECASE
)
_SHORTEST_IDENTIFIER: Final = 6
_ADDRESS: Final = re.compile(r"(?i)^(https?)://(www\.)?([^/?#]+)(.*)$", re.DOTALL)
_NUMERIC_FRAGMENT: Final = re.compile(r"#\d+$")
_SIMPLE: Final = re.compile(
    r"(https?)://([a-z0-9.-]+)((?:/[!-\"$->@-~]*)?)(?:\?((?:[\w.~-]+=[\w.~-]*)(?:&[\w.~-]+=[\w.~-]*)*+)?)?(?:#[!-~]*)?",
    re.ASCII,
)
"""Most links: lower case, no port or credentials, nothing encoded in the query; read without taking them apart."""


class Marks(NamedTuple):
    """What an entry shows of itself: enough to tell it from others."""

    identifier: str
    link: str
    title: str
    published: datetime | None
    target: str = ""
    """Where the link leads in the end, where the feed says so (``feedburner:origLink``)."""


def fingerprint(text: str) -> Fingerprint:
    """Return the first 16 hexadecimal digits of the SHA-256 of a text (specification, "Fingerprints")."""
    return Fingerprint(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16])


# --- links ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def canonical_link(link: str) -> str:
    """Return a link as the specification compares it.

    Scheme and host in lower case, no fragment, no ``utm_*``, no trailing slash; an empty path of an address with a host
    becomes ``/``. What cannot be taken apart is returned as it is, stripped.
    """
    simple = _SIMPLE.fullmatch(link)
    if simple:
        scheme, host, path, query = simple.groups("")
        kept = "&".join(pair for pair in query.split("&") if pair[:4].lower() != "utm_") if query else ""
        return f"{scheme}://{host}{path.rstrip('/') or '/'}{'?' if kept else ''}{kept}"
    parts = _split(link)
    if parts is None:
        return link.strip()
    pairs = [(name, value) for name, value in _query(parts) if not name.lower().startswith("utm_")]
    path = parts.path.rstrip("/") or "/"
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), path, urlencode(pairs, errors="surrogatepass"), ""))


@lru_cache(maxsize=1024)
def wide_link(link: str) -> str:
    """Return a link as we compare it besides: unwrapped, https, no ``www.`` or port, no trackers, the query sorted.

    Two links with one wide form lead to the same story in every case that was found in reports and in real feeds.
    """
    link = unwrapped(link)
    simple = _SIMPLE.fullmatch(link)
    if simple:
        _, host, path, query = simple.groups("")
        host = host.removeprefix("www.")
        each = query.split("&") if query else ()
        kept = "&".join(sorted(pair for pair in each if not _is_tracker(pair.partition("=")[0].lower(), host)))
        return f"https://{host}{path.rstrip('/') or '/'}{'?' if kept else ''}{kept}"
    parts = _split(link)
    if parts is None or parts.scheme.lower() not in ("http", "https"):
        return canonical_link(link).strip()
    host = _host(parts)
    pairs = [pair for pair in _query(parts) if not _is_tracker(pair[0].lower(), host)]
    query = "&".join(sorted(urlencode([pair], errors="surrogatepass") for pair in pairs))
    return urlunsplit(("https", host, parts.path.rstrip("/") or "/", query, ""))


def unwrapped(link: str) -> str:
    """Return the target of a link that only forwards, else the link itself; wrappers are followed three deep."""
    for _ in range(3):
        parts = _split(link) if _WRAPPING.match(link) else None
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
    """Return the specification's fingerprints of an entry: of its identifier, and of its canonical link if it differs.

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
    return found


def _other_forms(address: str) -> tuple[str, ...]:
    """Return an address with the other scheme, and with or without ``www.``; nothing for what is no address."""
    match = _ADDRESS.match(address)
    if match is None:
        return ()
    scheme, www, host, path = match.groups("")
    rest = host + path
    other = "http" if scheme.lower() == "https" else "https"
    flipped = rest if www else f"www.{rest}"
    return f"{other}://{www}{rest}", f"{scheme}://{flipped}", f"{other}://{flipped}"


# --- the entries of one document -----------------------------------------------------------------------------------


def identify(entries: Sequence[Marks], feed: str) -> list[Identity]:
    """Return the identity of each entry of one document, in their order; it does not depend on that order.

    What several entries share identifies none of them (an entry that is listed twice shares nothing with itself). Where
    neither identifier nor link is left, title, date and feed take their place. A weak identifier is remembered and not
    looked up; its form qualified by the feed takes a wide place.
    """
    texts = [_Texts.of(marks, feed) for marks in entries]
    return [_identity(each, own, feed) for each, own in zip(texts, _own(texts), strict=True)]


class _Texts(NamedTuple):
    """Everything of one entry that may tell it from others; empty where it has none."""

    identifier: str
    canonical: str
    wide: str
    with_fragment: str
    revision: str
    """The wide form of an identifier that is an address: a fragment that only counts revisions is dropped."""
    title: str
    dated: str
    """Title, date and feed: all that is left where a publisher rotates identifier and link."""
    timed: str
    """The same if the date has a time of day: two stories can well share a day, and a title."""

    @classmethod
    def of(cls, marks: Marks, feed: str) -> _Texts:
        identifier, link, title = marks.identifier.strip(), marks.link.strip(), " ".join(marks.title.split())
        target = marks.target or link
        at = marks.published
        dated = f"{title}\n{int(at.timestamp())}\n{feed}" if title and at else ""
        return cls(
            identifier,
            canonical_link(marks.link) if link else "",
            wide_link(target) if target else "",
            _with_fragment(target),
            _wide_identifier(identifier),
            marks.title.strip(),
            dated,
            dated if at and (at.hour or at.minute or at.second) else "",
        )


def _own(entries: Sequence[_Texts]) -> Sequence[_Texts]:
    """Return what each entry of a document has alone; what several have is empty."""
    columns = zip(*set(entries), strict=True)
    shared = [{text for text, times in Counter(each).items() if text and times > 1} for each in columns]
    if not any(shared):
        return entries
    return [
        _Texts(*("" if text in many else text for text, many in zip(each, shared, strict=True))) for each in entries
    ]


def _identity(texts: _Texts, own: _Texts, feed: str) -> Identity:
    identifier, canonical = own.identifier, own.canonical
    weak = bool(identifier) and is_weak(identifier)
    stored = [text for text in (identifier, canonical) if text]
    lookup = [canonical] if weak and canonical else [] if weak else list(stored)
    lookup += [*(_other_forms(canonical) if own.wide else ()), *(_other_forms(identifier) if own.revision else ())]
    wide = [
        own.wide if canonical else own.with_fragment,
        own.revision if identifier else "",
        f"{feed}\n{identifier}" if weak else "",
        own.timed,
    ]
    if not stored:
        dated = texts.dated or f"{texts.title}\n\n{feed}"
        bare = own.title if not texts.identifier and not texts.canonical else ""
        stored += [text for text in (bare, dated) if text]
        lookup.append(dated)
    prints = {text: fingerprint(text) for text in dict.fromkeys((*stored, *lookup, *wide)) if text}
    kept = dict.fromkeys(prints[text] for text in stored)
    beside = dict.fromkeys(key for text in wide if text and (key := prints[text]) not in kept)
    known = dict.fromkeys(prints[text] for text in lookup)
    return Identity(tuple(kept), tuple(beside), tuple(known | beside))


def _with_fragment(link: str) -> str:
    """Return the wide form of a link with its fragment; empty where it has none."""
    address, mark, fragment = link.partition("#")
    return f"{wide_link(address)}#{fragment}" if mark and fragment else ""


def _wide_identifier(identifier: str) -> str:
    if _ADDRESS.match(identifier) is None:
        return ""
    bare = _NUMERIC_FRAGMENT.sub("", identifier)
    return _with_fragment(bare) or wide_link(bare)
