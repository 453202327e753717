"""The outbox in a folder: one JSON file per period, from the brief until everything owed was delivered."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from news_digest.model import Json, Period
from news_digest.stores.durable import Disk, failure, locked, make_folder, read, replace

__all__ = ["FileOutbox"]


class FileOutbox:
    """Keeps values as ``<folder>/<YYYY-MM-DD>.json``, written as durably as the state."""

    def __init__(self, folder: str | os.PathLike[str], *, disk: Disk | None = None) -> None:
        self.folder = Path(folder)
        self._disk = disk or Disk()

    def put(self, period: Period, value: Mapping[str, Json]) -> None:
        """Keep the value, durably, in place of what was kept for the period."""
        data = json.dumps(value).encode("ascii") + b"\n"
        path = self._path(period)
        try:
            make_folder(path.parent, self._disk)
            with locked(path.with_name(".lock")):
                replace(path, data, self._disk)
        except OSError as error:
            raise failure(error, "cannot keep the digest", path) from error

    def get(self, period: Period) -> Mapping[str, Json] | None:
        """Return what is kept for the period, None where nothing is, or nothing readable."""
        path = self._path(period)
        try:
            data = read(path)
        except OSError as error:
            raise failure(error, "cannot read the digest kept", path) from error
        return _parse(data) if data else None

    def drop(self, period: Period) -> None:
        """Forget the period; a second call finds nothing and is content."""
        path = self._path(period)
        try:
            path.unlink()
            self._disk.flush_folder(path.parent)
        except FileNotFoundError:
            return
        except OSError as error:
            raise failure(error, "cannot forget the digest kept", path) from error

    def _path(self, period: Period) -> Path:
        return Path(os.path.realpath(self.folder)) / f"{period}.json"


def _parse(data: bytes) -> Mapping[str, Json] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
