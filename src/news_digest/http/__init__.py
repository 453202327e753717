"""One client for everything that we request ourselves: :class:`CurlHttp`, on libcurl.

``client`` drives libcurl; the rest decides and is pure: ``chain`` (redirects, and which headers go along), ``coding``
(content codings), ``guard`` (which addresses are refused), ``lanes`` (order within a host), ``proxies``, ``failures``.
"""

from __future__ import annotations

from news_digest.http.client import CurlHttp
from news_digest.http.proxies import Proxies

__all__ = ["CurlHttp", "Proxies"]
