"""OpenHands: its agent server, which writes, and its automation service, which starts runs and to which we deploy."""

from __future__ import annotations
