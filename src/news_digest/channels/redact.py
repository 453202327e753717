"""Secrets out of texts: for causes that a library or a far end words, which may repeat what it was given."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, quote_plus

from news_digest.shown import visible

__all__ = ["HIDDEN", "redact"]

HIDDEN: Final = "***"
_SHORTEST: Final = 4
"""Shorter ones would hide half of the text, and are no secrets worth the name."""
_LONGEST_CAUSE: Final = 300


def redact(text: str, secrets: Iterable[str]) -> str:
    """Return text on one line, at most 300 characters, without the secrets: plain, percent-encoded or in base64."""
    forms = {form for secret in secrets if len(secret) >= _SHORTEST for form in _forms(secret)}
    clean = visible(text)
    for form in sorted(forms, key=len, reverse=True):
        clean = clean.replace(form, HIDDEN)
    return clean[:_LONGEST_CAUSE]


def _forms(secret: str) -> set[str]:
    encoded = base64.b64encode(secret.encode()).decode().rstrip("=")
    return {secret, repr(secret)[1:-1], quote(secret, safe=""), quote(secret), quote_plus(secret), encoded}
