"""Which proxy a request goes through, by the usual environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

__all__ = ["Proxies"]


@dataclass(frozen=True, slots=True)
class Proxies:
    """The operator's proxies: one for http, one for https, and which hosts are reached without.

    This machine itself is never asked for through a proxy. ``exempt`` has the form of ``no_proxy``: host names (with
    all below them), addresses, networks, each with an optional port, or ``*``; commas or blanks stand between them.
    """

    http: str = ""
    https: str = ""
    exempt: tuple[str, ...] = ()

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Proxies:
        """Read ``http_proxy``, ``https_proxy``, ``all_proxy`` and ``no_proxy``, small letters before capitals.

        ``HTTP_PROXY`` in capitals is ignored where ``REQUEST_METHOD`` is set: under CGI a visitor chooses it.
        """

        def variable(name: str) -> str:
            forged = name == "http_proxy" and "REQUEST_METHOD" in environment
            return environment.get(name) or ("" if forged else environment.get(name.upper(), ""))

        everything = variable("all_proxy")
        exempt = tuple(variable("no_proxy").lower().replace(",", " ").split())
        return cls(variable("http_proxy") or everything, variable("https_proxy") or everything, exempt)

    def choose(self, scheme: str, host: str, port: int) -> str:
        """Return the address of the proxy for a request, empty for none."""
        proxy = self.https if scheme == "https" else self.http
        return "" if not proxy or _is_this_machine(host) or self._is_exempt(host, port) else proxy

    def _is_exempt(self, host: str, port: int) -> bool:
        return any(_matches(rule, host.strip("[]").rstrip("."), port) for rule in self.exempt)


def _is_this_machine(host: str) -> bool:
    name = host.strip("[]").rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _matches(rule: str, host: str, port: int) -> bool:
    if rule == "*":
        return True
    if "/" in rule:
        return _in_network(rule, host)
    name, colon, wanted_port = rule.rpartition(":")
    if colon and wanted_port.isdigit() and ":" not in name.strip("[]"):
        if int(wanted_port) != port:
            return False
        rule = name
    suffix = rule.strip("[]").removeprefix("*").removeprefix(".")
    return host == suffix or host.endswith(f".{suffix}")


def _in_network(rule: str, host: str) -> bool:
    try:
        return ip_address(host) in ip_network(rule, strict=False)
    except ValueError:
        return False
