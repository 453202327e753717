"""Which addresses a request that a stranger named may not reach.

The judgement is made on the address that a socket is about to be connected to, on every hop: judging the name before
would leave the time between two look-ups to whoever owns the name (DNS rebinding).

Source: IANA special-purpose address registries (RFC 6890, 8190), RFC 6052 (NAT64), RFC 3056 (6to4).
"""

from __future__ import annotations

import socket
from bisect import bisect_right
from ipaddress import IPv4Network, IPv6Address, IPv6Network

__all__ = ["host_refusal", "refusal"]

# What each network is called in a message; the first that matches names it.
_REFUSED_V4 = tuple(
    (IPv4Network(network), name)
    for network, name in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "carrier-internal"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "cloud metadata"),  # Azure's, although the address looks public
        ("169.254.0.0/16", "link-local or cloud metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "reserved"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "reserved"),
        ("198.51.100.0/24", "reserved"),
        ("203.0.113.0/24", "reserved"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_RANGES_V4 = sorted((int(network[0]), int(network[-1]), name) for network, name in _REFUSED_V4)
_STARTS_V4 = [first for first, _, _ in _RANGES_V4]
_REFUSED_V6 = tuple(
    (IPv6Network(network), name)
    for network, name in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "reserved"),
        ("3fff::/20", "reserved"),
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
"""The only part of IPv6 that is handed out for public use."""

# IPv6 addresses that carry an IPv4 address: which bits, counted from the right, hold it.
_EMBEDDED_V4 = (
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("::ffff:0:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("2002::/16"), 80),
)

_INTERNAL_NAMES = ("localhost", "local", "internal")
"""Names and suffixes that mean this machine or this network whoever resolves them."""


def refusal(address: str) -> str:
    """Return what kind of address it is when a guarded request may not connect to it, empty when it may."""
    try:
        if ":" not in address:
            return _refusal_v4(int.from_bytes(socket.inet_pton(socket.AF_INET, address), "big"))
        return _refusal_v6(IPv6Address(address.partition("%")[0]))
    except (ValueError, OSError):
        return "unreadable"


def host_refusal(host: str) -> str:
    """Return why a host, as an address names it, is refused before anything is looked up; empty when it is not.

    Names stay open here but for the few that are internal by definition: they are judged by what they resolve to.
    """
    name = host.strip("[]").rstrip(".").lower()
    if name.rpartition(".")[2] in _INTERNAL_NAMES:
        return "internal"
    if ":" in name:
        return refusal(name)
    try:
        # Also the forms that resolvers accept and people do not read: 127.1, 0x7f000001, 2130706433.
        return _refusal_v4(int.from_bytes(socket.inet_aton(name), "big"))
    except (OSError, UnicodeEncodeError):
        return ""


def _refusal_v4(number: int) -> str:
    # The last network that begins at or below the address is the only one that can hold it: none lies in another.
    first, last, name = _RANGES_V4[bisect_right(_STARTS_V4, number) - 1]
    return name if first <= number <= last else ""


def _refusal_v6(address: IPv6Address) -> str:
    for network, shift in _EMBEDDED_V4:
        if address in network:
            return _refusal_v4((int(address) >> shift) & 0xFFFFFFFF)
    named = next((name for network, name in _REFUSED_V6 if address in network), "")
    return named or ("" if address in _GLOBAL_V6 else "reserved")
