"""Sample feeds that the package carries: made-up news of four made-up outlets, served over real HTTP on loopback.

Every name, number and event in them is invented; their addresses are reserved for documentation (RFC 2606).
"""

from __future__ import annotations

from news_digest.demo.server import DemoFeeds, serve

__all__ = ["DemoFeeds", "serve"]
