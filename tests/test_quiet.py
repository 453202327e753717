"""A run that ends before anything is loaded says and does exactly what the whole run would."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from news_digest.cli import main as whole
from news_digest.cli import start
from news_digest.document import decode
from news_digest.model import Limits, State
from news_digest.ports import Edges, Loaded, Version
from news_digest.quiet import is_over
from news_digest.run import Job, run

TODAY = time.strftime("%Y-%m-%d", time.gmtime())
DAY = "2026-12-01"
NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def record(**changed: Any) -> dict[str, Any]:
    done = {"period": DAY, "status": "completed", "conversation_id": "c1", "item_count": 3, "last_activity": 1.0}
    return {**done, **changed}


def document(today: Any = None, **changed: Any) -> dict[str, Any]:
    tasks = {f"news:{DAY}": today or record(), "news:2026-11-30": record(status="failed", reason="x")}
    return {"version": 1, "tasks": tasks, "seen": ["a" * 16], **changed}


OVER = [
    document(),
    document(record(receipts={"log": {"at": 1.0}, "email": {"at": 2}})),
    document(record(workspace_dir="")),
    document(seen_wide=["b" * 16], attempts={DAY: 1}, last_digest={"text": "x"}, behind={"*": 1.0}, unknown={"x": 1}),
    document(last_checked="garbled", last_funnel=3),
]


@pytest.mark.parametrize("value", OVER)
def test_a_completed_day_with_nothing_left_to_do_is_over(value: dict[str, Any]) -> None:
    assert is_over(value, DAY)


NOT_OVER = [
    ("another day", document(tasks={"news:2026-11-30": record()})),
    ("no task", document(tasks={})),
    *((status, document(record(status=status))) for status in ("starting", "active", "failed", "empty", "expired")),
    ("a status of a later version", document(record(status="archived"))),
    ("a status that is none", document(record(status=["completed"]))),
    ("a workspace that is left", document(record(workspace_dir="/w/automation-runs/x"))),
    ("a channel that is owed", document(record(receipts={"log": {"at": 1.0}, "email": {}}))),
    ("a channel that is owed, null", document(record(receipts={"email": {"at": None}}))),
    ("receipts that are none", document(record(receipts=["log"]))),
    ("a receipt that is none", document(record(receipts={"log": 3}))),
    (
        "another task that is open",
        document(tasks={f"news:{DAY}": record(), "news:2026-11-30": record(status="active")}),
    ),
    ("a record that is none", document(tasks={f"news:{DAY}": record(), "news:2026-11-30": 3})),
    ("no version", {key: value for key, value in document().items() if key != "version"}),
    ("a later version", document(version=2)),
    ("a version that is none", document(version=True)),
    ("a version with a point", document(version=1.0)),
    ("garbled tasks", document(tasks=[])),
    ("garbled fingerprints", document(seen="a")),
    ("garbled fingerprints", document(seen=[1])),
    ("garbled wide fingerprints", document(seen_wide=[None])),
    ("garbled attempts", document(attempts=[])),
    ("garbled attempts", document(attempts={DAY: True})),
    ("garbled attempts", document(attempts={DAY: -1})),
    ("garbled attempts", document(attempts={DAY: 1.5})),
    ("no object", []),
]


@pytest.mark.parametrize("value", [value for _, value in NOT_OVER], ids=[name for name, _ in NOT_OVER])
def test_in_any_doubt_the_day_is_not_over(value: Any) -> None:
    assert not is_over(value, DAY)


# --- against the whole run -----------------------------------------------------------------------------------------


def _never(*_arguments: Any, **_options: Any) -> NoReturn:
    raise AssertionError("a day that is over needs nothing of this")


class _Unwritten:
    """A store with one document that nobody saves."""

    def __init__(self, state: State) -> None:
        self._state = state

    def load(self) -> Loaded:
        return Loaded(self._state, "1")

    def save(self, state: State, expected: Version) -> Version:
        _never(state, expected)


class _Untouched:
    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        return _never


def _edges(state: State) -> Edges:
    nothing: Any = _Untouched()
    return Edges(
        clock=lambda: NOON, sleep=_never, feeds=nothing, store=_Unwritten(state), outbox=nothing, writer=_never, channels={},
        journal=nothing,
    )  # fmt: skip


JOB = Job(automation_id="a", sources=(), topics=(), writer="embedded", run_id="r")

SCALARS = st.none() | st.booleans() | st.integers(-1, 2) | st.floats(allow_nan=False) | st.text(max_size=3)
STATUSES = st.sampled_from(["completed"] * 4 + ["empty", "failed", "expired", "starting", "active", "later"]) | SCALARS
RECEIPTS = st.dictionaries(
    st.text(max_size=3), st.fixed_dictionaries({}, optional={"at": SCALARS, "run": SCALARS}) | SCALARS, max_size=2
)
RECORDS = st.fixed_dictionaries(
    {"status": STATUSES},
    optional={
        **dict.fromkeys(
            ["workspace_dir", "last_activity", "completed_at", "item_count", "conversation_id", "attempt", "reason"],
            SCALARS,
        ),
        "receipts": RECEIPTS | SCALARS,
    },
)
KEYS = st.sampled_from([f"news:{DAY}", "news:2026-11-30", "news:2026-12-02", "other"])
DOCUMENTS = st.fixed_dictionaries(
    {"version": st.sampled_from([1, 1, 1, 2, True, 1.0, "1"]), "tasks": st.dictionaries(KEYS, RECORDS, max_size=3)},
    optional={
        "seen": st.lists(SCALARS, max_size=2) | SCALARS,
        "seen_wide": st.lists(st.text(max_size=3), max_size=2),
        "attempts": st.dictionaries(st.text(max_size=3), SCALARS, max_size=2),
        **dict.fromkeys(
            ["behind", "last_checked", "last_funnel", "last_digest", "last_feed_errors", "updated_at"], SCALARS
        ),
    },
)


@given(DOCUMENTS)
def test_a_day_that_is_over_gives_the_whole_run_nothing_to_do(value: dict[str, Any]) -> None:
    if is_over(value, DAY):
        report = run(JOB, _edges(decode(value)), Limits())
        assert report.lines() == [f"{DAY}: done - the day is done (completed); no feed was read"]
        assert report.exit_code == 0


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "WORKSPACE_BASE",
        "AUTOMATION_EVENT_PAYLOAD",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "NEWS_DIGEST_STORE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news-digest.toml").write_text('[paths]\nstate = "state.json"\n')
    today = {f"news:{TODAY}": record(period=TODAY)}
    (tmp_path / "state.json").write_text(json.dumps({"version": 1, "tasks": today, "seen": []}))
    return tmp_path


@pytest.mark.parametrize(
    "given_arguments",
    [[], ["-q"], ["--quiet"], ["--config", "news-digest.toml"], ["-q", "--config", "news-digest.toml"]],
)
def test_it_says_what_the_whole_run_says(
    home: Path, capfd: pytest.CaptureFixture[str], given_arguments: list[str]
) -> None:
    before = (home / "state.json").read_bytes()
    assert start._is_over(["run", *given_arguments], TODAY)
    wanted = (whole.main(["run", *given_arguments]), *capfd.readouterr())
    assert (start.main(["run", *given_arguments]), *capfd.readouterr()) == wanted
    assert (home / "state.json").read_bytes() == before


@pytest.mark.parametrize(
    "given_arguments",
    [
        [],
        ["status"],
        ["run", "--json"],
        ["run", "--help"],
        ["run", "--config"],
        ["run", "--config", "nowhere"],
        ["run", "x"],
    ],
)
def test_everything_else_goes_to_the_whole_command_line(home: Path, given_arguments: list[str]) -> None:
    assert (home / "state.json").exists()
    assert not start._is_over(given_arguments, TODAY)


DOUBTS = {
    "the state is gone": lambda home: (home / "state.json").unlink(),
    "the state is damaged": lambda home: (home / "state.json").write_text("{"),
    "the state is deep": lambda home: (home / "state.json").write_text("[" * 100_000),
    "the configuration is wrong": lambda home: (home / "news-digest.toml").write_text("max_items = 0"),
    "a secret is missing": lambda home: (home / "news-digest.toml").write_text(
        '[paths]\nstate = "state.json"\n[[feeds]]\nurl = "https://a.test/"\nheaders_env = { X = "NOT_SET" }\n'
    ),
    "the state is elsewhere": lambda home: (home / "news-digest.toml").write_text(
        'store = "memory"\n[paths]\nstate = "state.json"\n'
    ),
}


@pytest.mark.parametrize("doubt", list(DOUBTS))
def test_a_doubt_is_left_to_the_whole_run(home: Path, doubt: str) -> None:
    DOUBTS[doubt](home)
    assert not start._is_over(["run"], TODAY)


def test_the_whole_command_line_is_behind_it(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert (home / "state.json").exists()
    assert start.main(["--version"]) == 0
    assert capfd.readouterr().out.startswith("news-digest, version ")


def test_it_loads_neither_records_nor_ports_nor_the_option_parser(home: Path) -> None:
    code = "import sys; from news_digest.cli.start import main; code = main(['run']); print(code, *sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=home, capture_output=True, text=True, check=True, timeout=60
    )
    code, *loaded = done.stdout.split()
    assert code == "0"
    unwanted = {"click", "rich", "pycurl", "dataclasses", "news_digest.model", "news_digest.ports", "news_digest.run"}
    assert unwanted & set(loaded) == set()
    assert not [
        name for name in loaded if name.startswith(("news_digest.http", "news_digest.writers", "news_digest.render"))
    ]
