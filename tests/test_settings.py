from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.cli.settings import load_settings, state_file
from news_digest.errors import ConfigError

UUID_ID = str(UUID(int=7))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


# --- which file ----------------------------------------------------------------------------------------------------


def test_without_a_file_there_are_defaults(home: Path, work: Path) -> None:
    settings = load_settings({"HOME": str(home)}, work)
    assert settings.file is None
    assert settings.config.count("max_items") == 50


def test_the_working_folder_comes_before_the_users_and_our_file_before_the_references(home: Path, work: Path) -> None:
    files = [
        write(work / "news-digest.toml", "max_items = 1"),
        write(work / "config.json", '{"max_items": 2}'),
        write(home / ".config" / "news-digest" / "news-digest.toml", "max_items = 3"),
    ]
    for number, file in enumerate(files, 1):
        settings = load_settings({"HOME": str(home)}, work)
        assert (settings.file, settings.config.count("max_items")) == (file, number)
        file.unlink()


def test_a_given_file_is_the_only_one(home: Path, work: Path) -> None:
    write(work / "news-digest.toml", "max_items = 1")
    other = write(work / "other.toml", "max_items = 2")
    assert load_settings({"HOME": str(home)}, work, str(other)).config.count("max_items") == 2


def test_the_users_configuration_folder_can_be_moved(home: Path, work: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "moved" / "news-digest" / "news-digest.toml", "max_items = 4")
    assert load_settings({"HOME": str(home), "XDG_CONFIG_HOME": str(tmp_path / "moved")}, work).file == file
    assert load_settings({"HOME": str(home), "XDG_CONFIG_HOME": "moved"}, work).file is None  # a relative one is unset


def test_a_byte_order_mark_does_no_harm(home: Path, work: Path) -> None:
    write(work / "news-digest.toml", "\ufeffmax_items = 5")
    assert load_settings({"HOME": str(home)}, work).config.count("max_items") == 5


@pytest.mark.parametrize(
    ("name", "content", "cause"),
    [
        ("news-digest.toml", b"max_items = ", "no valid TOML: "),
        ("news-digest.toml", b"a = 1\na = 2", "no valid TOML: "),
        ("news-digest.toml", b"\xff", "it is not UTF-8"),
        ("config.json", b"{", "no valid JSON: "),
        ("config.json", b"[" * 100_000, "no valid JSON: "),
        ("config.json", b"[]", "it is no JSON object"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_cause(
    home: Path, work: Path, name: str, content: bytes, cause: str
) -> None:
    (work / name).write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_settings({"HOME": str(home)}, work)
    assert str(caught.value).startswith(f"cannot read the configuration: {work / name}: {cause}")


@pytest.mark.parametrize(("given_name", "cause"), [("nowhere.toml", "there is no such file"), (".", "Is a directory")])
def test_a_given_file_must_be_there(work: Path, given_name: str, cause: str) -> None:
    with pytest.raises(ConfigError, match=cause):
        load_settings({}, work, str(work / given_name))


# --- where things live ---------------------------------------------------------------------------------------------


def test_the_state_is_below_the_workspace_root_of_the_automation_service() -> None:
    environment = {
        "WORKSPACE_BASE": f"/var/oh/automation-runs/{UUID_ID}",
        "AUTOMATION_EVENT_PAYLOAD": json.dumps({"automation_id": "a1"}),
    }
    assert state_file(environment) == Path("/var/oh/automation-state/news_digest_a1.json")


def test_without_an_automation_the_id_is_default() -> None:
    expected = Path("/var/oh/automation-state/news_digest_default.json")
    assert state_file({"WORKSPACE_BASE": "/var/oh/automation-runs/x"}) == expected


def test_a_state_below_the_openhands_folder_is_gone_on_with(home: Path) -> None:
    there = home / ".openhands" / "workspaces" / "automation-state" / "news_digest_default.json"
    fallback = home / ".local" / "state" / "news-digest" / "news_digest_default.json"
    assert state_file({"HOME": str(home)}) == fallback
    write(there, "{}")
    assert state_file({"HOME": str(home)}) == there


@pytest.mark.parametrize("payload", ["{}", "", "[]", "null", '{"automation_id": 3}', '{"automation_id": ""}'])
def test_an_event_without_an_id_names_none(payload: str) -> None:
    assert (
        state_file({"WORKSPACE_BASE": "/a/b/c", "AUTOMATION_EVENT_PAYLOAD": payload}, "x").name == "news_digest_x.json"
    )


@pytest.mark.parametrize("payload", ["{", "[" * 100_000])
def test_an_event_that_is_no_json_is_an_error(payload: str) -> None:
    with pytest.raises(ConfigError, match="AUTOMATION_EVENT_PAYLOAD"):
        state_file({"AUTOMATION_EVENT_PAYLOAD": payload})


@given(st.text() | st.sampled_from(["../../etc/passwd", "..", "/etc/passwd", "a\0b", "a/../b", "C:\\x", "a" * 300]))
def test_an_id_never_leaves_the_folder(identity: str) -> None:
    environment = {"WORKSPACE_BASE": "/var/oh/automation-runs/x"}
    for file in (
        state_file(environment, identity),
        state_file(environment | {"AUTOMATION_EVENT_PAYLOAD": json.dumps({"automation_id": identity})}),
    ):
        assert file.parent == Path("/var/oh/automation-state")
        assert len(file.name) < 200
        assert "\0" not in file.name


def test_the_events_id_is_the_digests_id_everywhere(home: Path, work: Path) -> None:
    write(work / "news-digest.toml", 'automation_id = "of-the-file"')
    environment = {"HOME": str(home), "AUTOMATION_EVENT_PAYLOAD": json.dumps({"automation_id": UUID_ID})}
    settings = load_settings(environment, work)
    assert settings.config.text("automation_id") == UUID_ID
    assert UUID_ID in settings.places.state.name


def test_each_digest_has_its_own_places(home: Path, work: Path) -> None:
    places = [load_settings({"HOME": str(home), "NEWS_DIGEST_AUTOMATION_ID": each}, work).places for each in ("a", "b")]
    assert places[0].state != places[1].state
    assert places[0].archive != places[1].archive
    assert places[0].cache != places[1].cache


@pytest.mark.parametrize(
    ("variable", "place", "below"),
    [
        ("XDG_STATE_HOME", "state", "news-digest/news_digest_default.json"),
        ("XDG_DATA_HOME", "archive", "news-digest/default"),
        ("XDG_CACHE_HOME", "cache", "news-digest/default"),
    ],
)
def test_places_follow_the_xdg_folders(home: Path, work: Path, variable: str, place: str, below: str) -> None:
    settings = load_settings({"HOME": str(home), variable: str(work / "moved")}, work)
    assert getattr(settings.places, place) == work / "moved" / below


PATHS = [
    ("state/s.json", "conf/state/s.json", "work/state/s.json"),
    ("~/s.json", "home/s.json", "home/s.json"),
    ("/abs/s.json", "/abs/s.json", "/abs/s.json"),
]


@pytest.mark.parametrize(("value", "in_file", "in_variable"), PATHS)
@pytest.mark.parametrize("key", ["state", "archive", "cache"])
def test_a_relative_path_belongs_to_its_file_and_in_a_variable_to_the_working_folder(
    tmp_path: Path, home: Path, work: Path, key: str, value: str, in_file: str, in_variable: str
) -> None:
    file = write(tmp_path / "conf" / "news-digest.toml", f'[paths]\n{key} = "{value}"')
    settings = load_settings({"HOME": str(home)}, work, str(file))
    assert getattr(settings.places, key) == tmp_path / in_file
    environment = {"HOME": str(home), f"NEWS_DIGEST_PATHS_{key.upper()}": value}
    assert getattr(load_settings(environment, work).places, key) == tmp_path / in_variable


def test_a_path_with_a_nul_is_an_error(home: Path, work: Path) -> None:
    write(work / "news-digest.toml", '[paths]\nstate = "a\\u0000b"')
    with pytest.raises(ConfigError, match=r"paths\.state in .*news-digest\.toml: 'a\\x00b' is not a path"):
        load_settings({"HOME": str(home)}, work)


def test_secrets_of_feeds_come_from_the_environment(home: Path, work: Path) -> None:
    feed: dict[str, Any] = {"url": "https://a.test/", "headers_env": {"X-Key": "KEY"}}
    file = write(work / "config.json", json.dumps({"feeds": [feed]}))
    settings = load_settings({"HOME": str(home), "KEY": "s3cret"}, work, str(file))
    assert settings.sources()[0].headers == (("X-Key", "s3cret"),)
    with pytest.raises(ConfigError, match="KEY is not set"):
        load_settings({"HOME": str(home)}, work, str(file)).sources()
