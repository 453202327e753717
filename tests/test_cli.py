"""The commands as a user types them: stdout, stderr and exit code, over real HTTP on loopback and real files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest

from news_digest.cli.main import COMMANDS, cli, main
from news_digest.demo import DemoFeeds, serve


@dataclass
class Shell:
    """A user's shell: a home of its own, a working folder, and sample feeds."""

    folder: Path
    feeds: DemoFeeds
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        out, err = self.capsys.readouterr()
        return code, out, err

    def configure(self, text: str = "", feeds: Sequence[str] | None = None) -> None:
        addresses = json.dumps(list(self.feeds.urls if feeds is None else feeds))
        (self.folder / "news-digest.toml").write_text(f"feeds = {addresses}\nallow_private_hosts = true\n{text}")


@pytest.fixture(scope="module")
def served() -> Iterator[DemoFeeds]:
    with serve(datetime.now(UTC)) as feeds:
        yield feeds


@pytest.fixture
def shell(
    tmp_path: Path, served: DemoFeeds, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    for name in list(os.environ):
        if name.startswith(("NEWS_DIGEST_", "XDG_", "AUTOMATION_", "WORKSPACE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    shell = Shell(tmp_path, served, capsys)
    shell.configure()
    return shell


# --- run and what it leaves ----------------------------------------------------------------------------------------


def test_a_run_prints_the_digest_on_stdout_and_everything_else_on_stderr(shell: Shell) -> None:
    code, out, err = shell("run")
    assert code == 0
    assert out.startswith("# News digest, ")
    assert "\n## Headlines\n" in out
    assert "feeds: " in err
    assert "feed failed: " in err
    assert "(HTTP 404)" in err
    assert "wrote - told" in err


def test_the_second_run_says_that_the_day_is_done(shell: Shell) -> None:
    shell("run")
    code, out, err = shell("run")
    assert (code, out) == (0, "")
    assert "the day is done (completed); no feed was read" in err


def test_a_quiet_run_says_nothing_but_the_digest(shell: Shell) -> None:
    _, out, err = shell("run", "--quiet")
    assert out.startswith("# News digest, ")
    assert err == ""


def test_a_run_in_json_is_one_object_with_its_digest(shell: Shell) -> None:
    code, out, _ = shell("run", "--json", "--quiet")
    report = json.loads(out)
    assert (code, report["outcome"], report["exit_code"]) == (0, "wrote", 0)
    assert report["funnel"]["picked"] == report["funnel"]["fresh"] - report["funnel"]["above_cap"]
    assert len(report["digests"]) == 1


@pytest.mark.slow
def test_every_feed_failing_exits_with_three_and_the_reasons(shell: Shell) -> None:
    shell.configure(feeds=[shell.feeds.urls[-1], "http://127.0.0.1:9/closed"])
    code, out, err = shell("run")
    assert (code, out) == (3, "")
    assert "none of 2 feeds could be read" in err
    assert "(HTTP 404)" in err
    assert "127.0.0.1:9/closed: " in err


def test_private_addresses_are_refused_unless_allowed(shell: Shell) -> None:
    shell.configure()
    text = (shell.folder / "news-digest.toml").read_text().replace("allow_private_hosts = true", "")
    (shell.folder / "news-digest.toml").write_text(text)
    code, _, err = shell("run")
    assert code == 3
    assert "allow_private_hosts" in err


def test_show_prints_the_last_digest_and_the_one_of_a_date(shell: Shell) -> None:
    _, told, _ = shell("run", "--quiet")
    code, out, _ = shell("show")
    assert code == 0
    assert out.strip() == told.strip()
    today = datetime.now(UTC).date().isoformat()
    assert shell("show", today)[1] == out
    assert json.loads(shell("show", "--json")[1])["period"] == today


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["show"], 1, "the archive is empty"),
        (["show", "yesterday"], 2, "'yesterday' is not a date"),
        (["rnu"], 2, "Did you mean 'run'?"),
        (["run", "--nope"], 2, "No such option"),
        (["run", "--config", "missing.toml"], 2, "missing.toml: there is no such file"),
        (["retry", "2020-01-01"], 4, "it has no record"),
        (["state", "import", "missing.json"], 2, "cannot import the state: missing.json"),
        (["feeds", "remove", "https://nowhere.example/"], 2, "no such feed"),
    ],
)
def test_a_mistake_is_one_clear_message(shell: Shell, arguments: list[str], code: int, message: str) -> None:
    got, out, err = shell(*arguments)
    assert (got, out) == (code, "")
    assert message in err
    assert "Traceback" not in err


def test_status_tells_the_day_the_funnel_and_the_next_step(shell: Shell) -> None:
    assert "today is open" in shell("status")[1]
    shell("run")
    _, out, _ = shell("status")
    assert "next: nothing to do until tomorrow" in out
    assert "completed" in out
    assert "funnel      " in out
    assert "feed failed " in out
    value = json.loads(shell("status", "--json")[1])
    assert value["days"][0]["status"] == "completed"
    assert value["state_bytes"] < value["state_ceiling_bytes"]


def test_seen_and_why_tell_of_a_story(shell: Shell) -> None:
    link = "https://meridian.example.com/city/tram-line-9"
    assert shell("seen", link)[0] == 1
    shell("run")
    code, out, _ = shell("seen", link)
    assert code == 0
    assert "seen: " in out
    code, out, _ = shell("seen", link.replace("https://", "http://www.") + "?fbclid=1")
    assert code == 0
    _, out, _ = shell("why", link)
    assert "offered" in out
    assert "recognised in seen" in out
    assert json.loads(shell("why", "--json", link)[1])["events"]
    assert "nothing in the journal" in shell("why", "https://nowhere.example/")[1]


def test_the_state_can_be_checked_exported_and_imported(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell("run")
    assert shell("state", "check")[1] == "the state is in order\n"
    _, exported, _ = shell("state", "export")
    (shell.folder / "copy.json").write_text(exported)
    monkeypatch.setenv("NEWS_DIGEST_PATHS_STATE", str(shell.folder / "elsewhere.json"))
    assert json.loads(shell("state", "export")[1])["seen"] == []
    assert shell("state", "import", "copy.json")[0] == 0
    assert json.loads(shell("state", "export")[1])["seen"] == json.loads(exported)["seen"]
    assert shell("run")[2].count("no feed was read") == 1


def test_a_damaged_state_is_restored_from_its_previous_copy_with_a_warning(shell: Shell) -> None:
    shell("run")
    (state,) = (shell.folder / "home").rglob("news_digest_default.json")
    state.write_bytes(b"\0" * 100)
    code, _, err = shell("run")
    assert code == 0
    assert "warning: " in err
    assert "no feed was read" in err


def test_retry_opens_a_failed_day_again(shell: Shell) -> None:
    shell("run")
    (state,) = (shell.folder / "home").rglob("news_digest_default.json")
    document = json.loads(state.read_text())
    (task,) = document["tasks"].values()
    task["status"], document["seen"], document["seen_wide"] = "failed", [], []
    del task["receipts"]
    state.write_text(json.dumps(document))
    assert "news-digest retry" in shell("run")[2]
    assert "is open again" in shell("retry")[1]
    assert "is open already" in shell("retry")[1]
    assert shell("run")[1].startswith("# News digest")
    code, _, err = shell("retry")
    assert code == 4
    assert "its digest was written" in err


def test_preview_prints_a_digest_and_touches_nothing(shell: Shell) -> None:
    code, out, _ = shell("preview")
    assert code == 0
    assert out.startswith("# News digest, ")
    assert "tram" in shell("preview", "--brief")[1].lower()
    assert "today is open" in shell("status")[1]
    assert not list((shell.folder / "home").rglob("news_digest_default.json"))


def test_preview_estimates_what_a_model_may_cost_without_asking_one(shell: Shell) -> None:
    code, out, _ = shell("preview", "--estimate")
    assert code == 0
    assert out.endswith("out; never more than 60,000 together.\n")
    assert json.loads(shell("preview", "--estimate", "--json")[1])["most"] == 60_000


@pytest.mark.parametrize("command", [("config",), ("config", "--json"), ("feeds", "list"), ("feeds", "export")])
def test_the_password_in_an_address_is_not_printed(
    shell: Shell, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEWS_DIGEST_FEEDS", "https://me:s3cret@news.example/feed")
    _, out, err = shell(*command)
    assert "https://news.example/feed" in out
    assert "s3cret" not in out + err


def test_config_says_where_each_value_comes_from(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEWS_DIGEST_MAX_ITEMS", "20")
    _, out, _ = shell("config")
    assert "max_items              20  [NEWS_DIGEST_MAX_ITEMS]" in out
    assert "writer                 embedded  [default]" in out
    assert "[news-digest.toml]" in out or "news-digest.toml]" in out
    value = json.loads(shell("config", "--json")[1])
    assert value["keys"]["max_items"] == {
        "value": 20,
        "from": "NEWS_DIGEST_MAX_ITEMS",
        "variable": "NEWS_DIGEST_MAX_ITEMS",
        "about": value["keys"]["max_items"]["about"],
        "allowed": "a whole number from 1 to 400",
    }


def test_a_variable_that_nothing_reads_is_a_warning_on_stderr(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEWS_DIGEST_FEED", "https://a.example/f")
    monkeypatch.setenv("NEWS_DIGEST_PASSWORD", "named")
    shell.configure('[channel.mail]\nkind = "email"\npassword_env = "NEWS_DIGEST_PASSWORD"\n')
    warning = "warning: nothing reads the variable NEWS_DIGEST_FEED: did you mean NEWS_DIGEST_FEEDS?\n"
    code, out, err = shell("feeds", "list")
    assert (code, out.splitlines(), err) == (0, list(shell.feeds.urls), warning)
    assert shell("feeds", "check")[2].count(warning) == 1
    assert shell("feeds", "check", "--quiet")[2] == ""


def test_a_channel_that_is_configured_wrong_fails_before_anything_is_claimed(shell: Shell) -> None:
    shell.configure('channels = ["log", "carrier-pigeon"]\n')
    code, _, err = shell("run")
    assert code == 2
    assert "carrier-pigeon" in err
    assert "today is open" in shell("status")[1]


# --- every command -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(shell: Shell, name: str) -> None:
    code, out, _ = shell(name, "--help")
    assert code == 0
    assert "Example" in out
    assert f"news-digest {name}" in out


@pytest.mark.parametrize(("name", "mark"), [("bash", "complete"), ("zsh", "#compdef"), ("fish", "function")])
def test_completion_prints_a_script(shell: Shell, name: str, mark: str) -> None:
    code, out, _ = shell("completion", name)
    assert code == 0
    assert mark in out
    assert "news-digest" in out


def test_demo_leaves_nothing_behind_and_does_not_touch_the_users_state(shell: Shell) -> None:
    code, out, err = shell("demo")
    assert code == 0
    assert out.startswith("# News digest, ")
    assert "(HTTP 404)" in err
    assert list(shell.folder.iterdir()) == [shell.folder / "news-digest.toml"]


# --- feeds ---------------------------------------------------------------------------------------------------------


def test_feeds_check_explains_each_failure(shell: Shell) -> None:
    code, out, _ = shell("feeds", "check")
    assert code == 3
    assert f"4 of {len(shell.feeds.urls)} feeds can be read" in out
    assert "(HTTP 404)" in out
    rows = json.loads(shell("feeds", "check", "--json")[1])
    assert [bool(row["failure"]) for row in rows] == [False] * 4 + [True]


def test_feeds_are_added_once_and_removed_and_the_file_keeps_its_comments(shell: Shell) -> None:
    path = shell.folder / "news-digest.toml"
    shell.configure("# mine\n[style]\nmax_words = 300 # short\n", feeds=[shell.feeds.urls[0]])
    code, out, _ = shell("feeds", "add", shell.feeds.urls[1])
    assert code == 0
    assert "added to" in out
    assert "it is there already" in shell("feeds", "add", shell.feeds.urls[1])[1]
    assert "# mine" in path.read_text()
    assert "max_words = 300 # short" in path.read_text()
    assert shell("feeds", "remove", shell.feeds.urls[0])[0] == 0
    assert [row["url"] for row in json.loads(shell("feeds", "list", "--json")[1])] == [shell.feeds.urls[1]]
    code, _, err = shell("feeds", "remove", shell.feeds.urls[1])
    assert code == 2
    assert "at least one" in err


def test_opml_goes_both_ways_and_importing_twice_adds_nothing(shell: Shell) -> None:
    shell.configure(feeds=[shell.feeds.urls[0]])
    (shell.folder / "subscriptions.opml").write_text(
        '<opml version="2.0"><body><outline text="Tech"><outline text="Deep"><outline type="rss" text="One" '
        'xmlUrl="https://one.example/feed"/></outline></outline></body></opml>'
    )
    assert "1 of 1 feeds added" in shell("feeds", "import", "subscriptions.opml")[1]
    assert "0 of 1 feeds added" in shell("feeds", "import", "subscriptions.opml")[1]
    rows = json.loads(shell("feeds", "list", "--json")[1])
    assert rows[1] == {"url": "https://one.example/feed", "name": "One", "tags": ["Tech", "Deep"]}
    _, out, _ = shell("feeds", "export")
    assert 'xmlUrl="https://one.example/feed"' in out
    assert 'text="Deep"' in out


def test_feeds_parse_shows_what_is_read(shell: Shell) -> None:
    (shell.folder / "feed.xml").write_text(
        "<rss><channel><title>T</title><item><title>A &amp; B</title><link>/a</link></item></channel></rss>"
    )
    (shell.folder / "page.html").write_text("<html><body>no</body></html>")
    code, out, _ = shell("feeds", "parse", "--json", "--url", "https://x.example/f", "feed.xml", "page.html")
    assert code == 3
    first, second = (json.loads(line) for line in out.splitlines())
    assert first["entries"][0]["title"] == "A & B"
    assert first["entries"][0]["link"] == "https://x.example/a"
    assert "web page" in second["error"]


# --- as a process --------------------------------------------------------------------------------------------------


def _process(shell: Shell, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "import sys; from news_digest.cli.main import main; sys.exit(main())", *arguments],
        cwd=shell.folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ctrl_c_leaves_the_state_valid_and_the_day_resumable(shell: Shell) -> None:
    process = _process(shell, "run")
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    if process.returncode == 130:
        assert "interrupted" in err
    assert shell("state", "check")[0] == 0
    deadline = time.monotonic() + 30
    while shell("status", "--json")[1].count('"completed"') == 0 and time.monotonic() < deadline:
        shell("run")
    assert '"completed"' in shell("status", "--json")[1]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_error(shell: Shell, unbuffered: str) -> None:
    shell("run")
    process = _process(shell, "show", PYTHONUNBUFFERED=unbuffered)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=30) == 0
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()


def test_only_a_reader_that_went_away_ends_the_process_without_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cli.commands, "quit", click.Command("quit", callback=lambda: sys.exit(7)))
    with pytest.raises(SystemExit) as caught:
        main(["quit"])
    assert caught.value.code == 7


def test_a_run_on_a_finished_day_imports_no_client_no_writer_and_no_renderer(shell: Shell) -> None:
    shell("run")
    script = (
        "import sys; from news_digest.cli.main import main; code = main(['run', '--quiet']);"
        "print(code, *sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=shell.folder, capture_output=True, text=True, check=True, timeout=60
    )
    code, *modules = done.stdout.split()
    assert code == "0"
    unwanted = {
        "pycurl",
        "rich",
        "news_digest.render",
        "news_digest.extract",
        "news_digest.http",
        "urllib.request",
        "ssl",
    }
    assert unwanted.isdisjoint(modules)
    assert not any(name.startswith(("news_digest.writers.", "news_digest.feeds.")) for name in modules)
