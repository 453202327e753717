"""The bundle: the same bytes for the same content, a wheel that installs, and no secret in it."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from news_digest.config import configure
from news_digest.errors import ConfigError
from news_digest.openhands.bundle import UPLOAD_BYTES, Bundle, bundle_of, config_document
from news_digest.openhands.deploy import Plan, Wanted

FEED = {"url": "https://a.test/rss", "headers_env": {"X-Key": "FEED_KEY"}}
DOCUMENT: dict[str, Any] = {
    "feeds": [FEED],
    "writer": "embedded",
    "automation_id": "mine",
    "paths": {"archive": "/home/me/digests"},
    "style": {"max_words": 300},
    "channel": {"wall": {"kind": "log", "form": "text"}},
}


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return bundle_of(configure(DOCUMENT, {"FEED_KEY": "secret-of-the-feed"}))


def test_a_bundle_has_four_files_and_fits_with_room_to_spare(bundle: Bundle) -> None:
    names = sorted(name for name in bundle.files if not name.endswith(".whl"))
    assert (names, len(bundle.files)) == (["config.json", "main.py", "setup.sh"], 4)
    assert len(bundle.tarball()) < UPLOAD_BYTES * 3 / 4


def test_a_bundle_made_twice_has_the_same_bytes(bundle: Bundle) -> None:
    again = bundle_of(configure(DOCUMENT, {"FEED_KEY": "another"}))
    assert again.tarball() == bundle.tarball()


def test_a_tarball_unpacks_to_the_files_and_the_script_can_be_run(bundle: Bundle, tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(bundle.tarball())) as archive:
        archive.extractall(tmp_path, filter="data")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == dict(bundle.files)
    assert (tmp_path / "setup.sh").stat().st_mode & 0o111
    bundle.write(tmp_path / "written")
    assert {path.name: path.read_bytes() for path in (tmp_path / "written").iterdir()} == dict(bundle.files)


def test_the_wheel_names_every_file_with_its_hash_and_starts_where_it_is_unpacked(
    bundle: Bundle, tmp_path: Path
) -> None:
    [wheel] = [content for name, content in bundle.files.items() if name.endswith(".whl")]
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        names = set(archive.namelist())
        [record] = [name for name in names if name.endswith(".dist-info/RECORD")]
        rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
        for name, digest, size in rows:
            if digest:
                content = archive.read(name)
                wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                assert (digest, size) == (f"sha256={wanted}", str(len(content)))
        archive.extractall(tmp_path)
    assert {row[0] for row in rows} == names
    assert not any("__pycache__" in name for name in names)
    code = "import news_digest, news_digest.run; print(news_digest.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(str(tmp_path))


def test_the_configuration_goes_along_without_secrets_and_without_places_of_this_machine(bundle: Bundle) -> None:
    written = json.loads(bundle.files["config.json"])
    assert written == {
        "format": "news-digest",
        "feeds": [FEED],
        "writer": "embedded",
        "style": {"max_words": 300},
        "channel": {"wall": {"kind": "log", "form": "text"}},
    }
    assert b"secret-of-the-feed" not in b"".join(bundle.files.values())


def test_what_was_set_in_the_environment_goes_along_and_what_was_not_set_keeps_its_default() -> None:
    document = config_document(configure({}, {"NEWS_DIGEST_MAX_ITEMS": "7"}))
    assert document["max_items"] == 7
    assert all(feed["url"].startswith("https://") for feed in document["feeds"])
    assert "writer" not in document


def test_a_bundle_above_the_limit_is_refused_before_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("news_digest.openhands.bundle.UPLOAD_BYTES", 1000)
    with pytest.raises(ConfigError, match="too large to upload"):
        bundle_of(configure({}, {}))


@pytest.mark.parametrize(("seconds", "timeout"), [(0, 900), (720, 900), (721, 901), (1620, 1800), (9999, 1800)])
def test_a_run_gets_the_time_that_it_may_take_within_what_the_service_allows(seconds: int, timeout: int) -> None:
    assert Wanted("n", "0 8 * * *", "UTC", seconds).fields()["timeout"] == timeout


@pytest.mark.parametrize(
    ("plan", "lines"),
    [
        (Plan("", uploads=True, changes={"name": "n"}), ["create a new automation", "upload the bundle"]),
        (Plan("7", uploads=False), ["nothing to change: automation 7 is as configured"]),
        (Plan("7", uploads=False, changes={"timeout": 900}), ["update automation 7", "set timeout to 900"]),
    ],
)
def test_a_plan_says_what_it_does(plan: Plan, lines: list[str]) -> None:
    assert list(plan.lines()) == lines
