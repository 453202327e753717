"""Names to parts: tables, entry points, and what is said where a name leads nowhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from news_digest.errors import ConfigError
from news_digest.registry import names, resolve

TABLE = {"ours": "json:dumps", "broken": "json:no_such_thing", "missing": "no_such_module_here:make", "bare": "json"}
GROUP = "news_digest.test_parts"


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a distribution that brings a part named ``theirs``, and one that would take the place of ours."""
    (tmp_path / "their_part.py").write_text("def make(place):\n    return ['made', place]\n")
    meta = tmp_path / "their_part-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: their-part\nVersion: 1.0\n")
    (meta / "entry_points.txt").write_text(f"[{GROUP}]\ntheirs = their_part:make\nours = their_part:make\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "their_part", raising=False)


def test_a_name_of_the_table_is_imported_when_it_is_asked_for() -> None:
    assert resolve(TABLE, GROUP, "ours")([1]) == "[1]"


@pytest.mark.usefixtures("plugin")
def test_another_distribution_adds_a_part_through_an_entry_point() -> None:
    assert resolve(TABLE, GROUP, "theirs")("here") == ["made", "here"]
    assert names(TABLE, GROUP) == ("bare", "broken", "missing", "ours", "theirs")


@pytest.mark.usefixtures("plugin")
def test_another_distribution_does_not_take_the_place_of_ours() -> None:
    assert resolve(TABLE, GROUP, "ours")([1]) == "[1]"


@pytest.mark.parametrize(("name", "hint"), [("ourz", "did you mean 'ours'?"), ("OURS", "did you mean 'ours'?")])
def test_a_mistyped_name_is_answered_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(
        ConfigError, match=r"there is no .*: test_parts: known are bare, broken, missing, ours"
    ) as caught:
        resolve(TABLE, GROUP, name)
    assert caught.value.hint == hint


def test_a_name_like_no_other_is_answered_with_what_there_is() -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(TABLE, GROUP, "xyz123")
    assert caught.value.hint == "use one of them, or install the package that brings it"


@pytest.mark.parametrize("name", ["broken", "missing", "bare"])
def test_a_part_that_cannot_be_imported_says_what_is_missing(name: str) -> None:
    with pytest.raises(ConfigError, match=f"cannot use '{name}'") as caught:
        resolve(TABLE, GROUP, name)
    assert "choose one of: bare, broken, missing, ours" in caught.value.hint
