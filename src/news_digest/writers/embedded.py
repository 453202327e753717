"""The embedded writer: needs no key, no account and no network; its sentences are the stories' own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from news_digest.extract import compose_draft
from news_digest.grouping import Similarity
from news_digest.model import Brief, Draft
from news_digest.writers import Desk
from news_digest.writers.workspace import DirectWriter

__all__ = ["embedded_writer", "open_embedded", "open_local"]

NAME = "embedded"


def embedded_writer(root: str | Path, similarity: Similarity | None = None, *, name: str = NAME) -> DirectWriter:
    """Return the writer that composes with :func:`~news_digest.extract.compose_draft`; ``root`` is for workspaces."""

    def compose(brief: Brief) -> Draft:
        return replace(compose_draft(brief, similarity), writer=name)

    return DirectWriter(root, name, compose)


def open_embedded(desk: Desk) -> DirectWriter:
    """Return the writer ``embedded``; it has no options."""
    return embedded_writer(desk.workspaces)


def open_local(desk: Desk) -> DirectWriter:
    """Return the writer ``local``: the embedded one with the embedding of the extra of that name.

    Raises :class:`~news_digest.errors.ConfigError` where the extra is not installed.
    """
    from news_digest.writers.vectors import lazily  # noqa: PLC0415 - only for those who ask for it

    return embedded_writer(desk.workspaces, lazily(), name="local")
