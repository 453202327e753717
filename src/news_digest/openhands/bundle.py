"""What is deployed: our wheel, ``config.json``, ``setup.sh`` and ``main.py``, the same bytes for the same content.

The wheel is made from the package as it is installed (PEP 427), so that ``deploy`` needs no build tool and no checkout.
Times are fixed and names sorted: a second deployment of the same thing is recognised by its bytes.
"""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from news_digest.config import Config
from news_digest.errors import ConfigError
from news_digest.model import Json

__all__ = ["UPLOAD_BYTES", "Bundle", "bundle_of", "config_document", "wheel"]

UPLOAD_BYTES: Final = 1024 * 1024
"""What the automation service takes (1.26: 413 above it)."""
FORMAT: Final = {"format": "news-digest"}
"""Marks a ``config.json`` of ours, whose every key is checked; the reference's has no such key."""

_PACKAGE: Final = "news_digest"
_DISTRIBUTION: Final = "news-digest"
_ENTRY: Final = ("main.py", "setup.sh")
_LEFT_OUT: Final = ("__pycache__",)
_STAYS_HERE: Final = ("automation_id", "store", "paths.state", "paths.archive", "paths.cache")
"""Keys that the automation service decides, or that name places on this machine."""
_ZIP_TIME: Final = (1980, 1, 1, 0, 0, 0)
_FILE_MODE: Final = 0o644
_SCRIPT_MODE: Final = 0o755


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of a bundle by name."""

    files: Mapping[str, bytes]

    def tarball(self) -> bytes:
        """Return the bundle as the service takes it: a gzipped tar without times and owners."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, content in sorted(self.files.items()):
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(content), _SCRIPT_MODE if name.endswith(".sh") else _FILE_MODE
                archive.addfile(member, io.BytesIO(content))
        return gzip.compress(packed.getvalue(), mtime=0)

    def write(self, folder: Path) -> None:
        """Write the files into a folder, which is made where it is missing; others in it are left."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
            (folder / name).chmod(_SCRIPT_MODE if name.endswith(".sh") else _FILE_MODE)


def bundle_of(config: Config) -> Bundle:
    """Return the bundle of a configuration; raises ``ConfigError`` where it is above the upload limit."""
    name, packed = wheel(Path(__file__).resolve().parents[1], _installed())
    entry = Path(__file__).with_name("entry")
    document = json.dumps(config_document(config), indent=2, ensure_ascii=False) + "\n"
    files = {name: packed, "config.json": document.encode()}
    bundle = Bundle(files | {each: (entry / each).read_bytes() for each in _ENTRY})
    size = len(bundle.tarball())
    if size > UPLOAD_BYTES:
        raise ConfigError(
            "the bundle is too large to upload",
            cause=f"{size} bytes, and the automation service takes {UPLOAD_BYTES}",
            hint="configure fewer feeds",
        )
    return bundle


def config_document(config: Config) -> dict[str, Json]:
    """Return the configuration as ``config.json`` of a bundle: what was set, without what belongs to this machine.

    Secrets stay where they are: only the names of their variables go along.
    """
    document: dict[str, Json] = dict(FORMAT)
    for name, value in config.values.items():
        if config.origins[name].place == "default" or name in _STAYS_HERE:
            continue
        table, _, key = name.rpartition(".")
        (document.setdefault(table, {}) if table else document)[key] = value
    if config.channel_options:
        document["channel"] = {name: dict(options) for name, options in config.channel_options.items()}
    document.setdefault("feeds", config.values["feeds"])
    return document


# --- the wheel -----------------------------------------------------------------------------------------------------


def wheel(package: Path, installed: Distribution) -> tuple[str, bytes]:
    """Return name and content of the wheel of an installed pure package."""
    information = f"{_PACKAGE}-{installed.version}.dist-info"
    files = dict(_package_files(package))
    files[f"{information}/METADATA"] = _needed(installed, "METADATA")
    files[f"{information}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: news-digest\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    if entry_points := installed.read_text("entry_points.txt"):
        files[f"{information}/entry_points.txt"] = entry_points.encode()
    files[f"{information}/RECORD"] = _record(files, f"{information}/RECORD")
    return f"{_PACKAGE}-{installed.version}-py3-none-any.whl", _zipped(files.items())


def _package_files(package: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(package.rglob("*")):
        if path.is_file() and not any(part in _LEFT_OUT for part in path.parts):
            yield f"{_PACKAGE}/{path.relative_to(package).as_posix()}", path.read_bytes()


def _installed() -> Distribution:
    try:
        return distribution(_DISTRIBUTION)
    except PackageNotFoundError as error:
        raise ConfigError(
            "cannot make the bundle",
            thing=_DISTRIBUTION,
            cause="the package is not installed, only its files are there",
            hint="install it, with pip or uv",
        ) from error


def _needed(installed: Distribution, name: str) -> bytes:
    text = installed.read_text(name)
    if text is None:
        raise ConfigError("cannot make the bundle", thing=name, cause="the installation has no such file")
    return text.encode()


def _record(files: Mapping[str, bytes], own: str) -> bytes:
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    for name, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.writerow([name, f"sha256={digest}", len(content)])
    rows.writerow([own, "", ""])
    return table.getvalue().encode()


def _zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted(files):
            member = zipfile.ZipInfo(name, _ZIP_TIME)
            member.external_attr = _FILE_MODE << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    return packed.getvalue()
