"""Which folders are ours to read and to remove, and which are left alone."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from uuid import uuid4

import pytest

from news_digest.model import Period
from news_digest.openhands.workspaces import Workspaces

DAY = Period(date(2026, 8, 20))
RUN = "a35bff33-4679-4048-8bb3-afbc6b524790"
OTHER_RUN = "98e70db7-7716-5227-97b3-4a8446889c6f"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "automation-runs" / RUN).mkdir(parents=True)
    return tmp_path / "root"


def ours(root: Path) -> Workspaces:
    return Workspaces(str(root / "automation-runs" / RUN))


def made(path: Path, text: str = "# Digest\n") -> Path:
    path.mkdir(parents=True)
    (path / "digest.md").write_text(text)
    (path / ".git").mkdir()
    return path


def test_a_workspace_stands_in_the_folder_of_the_run_and_day(root: Path) -> None:
    assert ours(root).path(DAY, "ticket") == str(root / "automation-runs" / RUN / "news-digest" / "2026-08-20")


def test_without_a_folder_of_the_run_the_ticket_names_one(tmp_path: Path) -> None:
    stays = Workspaces(str(tmp_path))
    workspace = Path(stays.path(DAY, OTHER_RUN))
    assert workspace == tmp_path / "automation-runs" / OTHER_RUN / "news-digest" / "2026-08-20"
    made(workspace)
    assert stays.remove(str(workspace), DAY)
    assert list((tmp_path / "automation-runs").iterdir()) == []


def test_a_workspace_of_an_earlier_run_is_removed_with_the_empty_folder_above(root: Path) -> None:
    earlier = root / "automation-runs" / OTHER_RUN
    (earlier / "keep").mkdir(parents=True)
    workspace = made(earlier / "news-digest" / "2026-08-20")
    assert ours(root).read_digest(str(workspace), DAY, 100) == "# Digest\n"
    assert ours(root).remove(str(workspace), DAY)
    assert [path.name for path in earlier.iterdir()] == ["keep"]
    assert ours(root).remove(str(workspace), DAY), "missing counts as removed"


def test_the_local_form_is_ours_below_its_own_base(tmp_path: Path) -> None:
    workspace = made(tmp_path / "workspace" / "news-digest" / "2026-08-20")
    assert Workspaces(str(tmp_path / "workspace")).remove(str(workspace), DAY)
    assert not workspace.exists()


@pytest.mark.parametrize(
    "path",
    [
        "{root}/automation-runs/{run}/news-digest/2026-08-21",
        "{root}/automation-runs/{run}/news-digest",
        "{root}/automation-runs/not-a-uuid/news-digest/2026-08-20",
        "{root}/automation-runs/{run}/other/2026-08-20",
        "{root}/elsewhere/{run}/news-digest/2026-08-20",
        "{root}/automation-runs/{run}/news-digest/../../../2026-08-20",
        "{root}/automation-runs/{run}/news-digest/2026-08-20/",
        "{root}/automation-runs//{run}/news-digest/2026-08-20",
        "{root}/news-digest/2026-08-20",
        "/srv/automation-runs/{run}/news-digest/2026-08-20",
        "automation-runs/{run}/news-digest/2026-08-20",
        "/",
        "",
    ],
)
def test_any_other_path_is_left_alone(root: Path, path: str) -> None:
    given = path.format(root=root, run=RUN)
    if given.startswith(str(root)):
        Path(given).mkdir(parents=True, exist_ok=True)
    assert not ours(root).remove(given, DAY)
    assert ours(root).read_digest(given, DAY, 100) is None
    assert not given.startswith(str(root)) or Path(given).exists()


@pytest.mark.parametrize("linked", ["day", "digest folder", "run"])
def test_no_link_on_the_way_is_followed(root: Path, tmp_path: Path, linked: str) -> None:
    outside = made(tmp_path / "outside" / "news-digest" / "2026-08-20", "secret")
    folder = root / "automation-runs" / OTHER_RUN
    if linked == "run":
        folder.symlink_to(outside.parent.parent)
    elif linked == "digest folder":
        folder.mkdir()
        (folder / "news-digest").symlink_to(outside.parent)
    else:
        (folder / "news-digest").mkdir(parents=True)
        (folder / "news-digest" / "2026-08-20").symlink_to(outside)
    workspace = str(folder / "news-digest" / "2026-08-20")
    assert not ours(root).remove(workspace, DAY)
    assert ours(root).read_digest(workspace, DAY, 100) is None
    assert (outside / "digest.md").read_text() == "secret"


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "nothing"])
def test_a_digest_that_is_no_plain_file_is_none(root: Path, tmp_path: Path, kind: str) -> None:
    workspace = root / "automation-runs" / RUN / "news-digest" / "2026-08-20"
    workspace.mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    digest = workspace / "digest.md"
    match kind:
        case "link":
            digest.symlink_to(tmp_path / "secret")
        case "folder":
            digest.mkdir()
        case "pipe":
            os.mkfifo(digest)
    assert ours(root).read_digest(str(workspace), DAY, 100) == ""


def test_at_most_so_many_bytes_of_a_digest_are_read(root: Path) -> None:
    workspace = made(root / "automation-runs" / str(uuid4()) / "news-digest" / "2026-08-20", "é" * 100)
    assert ours(root).read_digest(str(workspace), DAY, 5) == "éé\ufffd"


def test_a_folder_behind_a_link_inside_the_workspace_stays(root: Path, tmp_path: Path) -> None:
    outside = made(tmp_path / "outside")
    workspace = made(root / "automation-runs" / RUN / "news-digest" / "2026-08-20")
    (workspace / "away").symlink_to(outside)
    assert ours(root).remove(str(workspace), DAY)
    assert (outside / "digest.md").exists()
