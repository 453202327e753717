"""What the documentation says is so: commands, options, exit codes, links, and the examples that can run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from tests.layers import ROOT
from tests.pages import PAGES, errors, written

from news_digest.cli.main import COMMANDS, INTERRUPTED, cli
from news_digest.config import configure

PAGES_READ = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
NAMES = [str(page.relative_to(ROOT)) for page in PAGES_READ]
FENCE = re.compile(r"^(?P<fence>```+)(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=fence)\s*$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
MENTION = re.compile(r"(?<![\w./~-])news-digest((?: +[^\s`;#>]+)*)")
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")
TARGET = re.compile(r"\bmake(?: -C \S+)? ([a-z][a-z-]*)\b")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    language: str
    text: str


def blocks(*languages: str) -> list[Block]:
    found = ((page, match) for page in PAGES_READ for match in FENCE.finditer(page.read_text("utf-8")))
    every = [Block(str(page.relative_to(ROOT)), match["language"], match["text"]) for page, match in found]
    return [block for block in every if block.language in languages]


def code(page: Path) -> str:
    """Return everything of a page that is code, a line for each piece."""
    text = page.read_text("utf-8")
    return "\n".join([*(match["text"] for match in FENCE.finditer(text)), *INLINE.findall(FENCE.sub("", text))])


def mentions(text: str) -> Iterator[list[str]]:
    """Yield the words behind each ``news-digest`` of a text, up to a pipe."""
    for match in MENTION.finditer(text):
        words = match[1].split()
        yield words[: words.index("|")] if "|" in words else words


# --- commands ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", NAMES)
def test_every_command_and_option_that_a_page_names_exists(page: str) -> None:
    missing = [problem for words in mentions(code(ROOT / page)) for problem in unknown(cli, words)]
    assert missing == []


def unknown(group: click.Command, words: list[str]) -> Iterator[str]:
    """Yield what of a command line does not exist: sub-commands (``a|b`` names two), options."""
    context = click.Context(group)
    if not words:
        return
    if isinstance(group, click.Group) and re.fullmatch(r"[a-z][a-z|-]*", words[0]):
        for name in words[0].split("|"):
            command = group.get_command(context, name)
            if command is None:
                yield f"{group.name}: no command {name}"
            else:
                yield from unknown(command, words[1:])
        return
    known = {
        option for parameter in group.get_params(context) for option in (*parameter.opts, *parameter.secondary_opts)
    }
    yield from (
        f"{group.name}: no option {word}" for word in words if word.startswith("-") and _option(word) not in known
    )


def _option(word: str) -> str:
    return re.split(r"[=\].,:]", word)[0]


@pytest.mark.parametrize(
    ("line", "problems"),
    [
        ("news-digest run --json | jq", []),
        ("see news-digest.toml and ~/.config/news-digest/", []),
        ("news-digest rum", ["news-digest: no command rum"]),
        ("news-digest run --jsonn", ["run: no option --jsonn"]),
        ("news-digest state check|chekc", ["state: no command chekc"]),
    ],
)
def test_a_command_that_does_not_exist_would_be_found(line: str, problems: list[str]) -> None:
    cli.name = "news-digest"
    assert [problem for words in mentions(line) for problem in unknown(cli, words)] == problems


def test_the_readme_names_every_command() -> None:
    named = {words[0] for words in mentions(code(ROOT / "README.md")) if words}
    assert set(COMMANDS) - named == set()


@pytest.mark.parametrize("name", list(COMMANDS))
def test_the_help_of_every_command_has_an_example_that_exists(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    shown = command.help or ""
    assert f"news-digest {name}" in shown
    assert [problem for words in mentions(shown) for problem in unknown(cli, words)] == []


@pytest.mark.parametrize("page", NAMES)
def test_every_make_target_that_a_page_names_exists(page: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(TARGET.findall(code(ROOT / page))) - targets == set()


# --- exit codes ----------------------------------------------------------------------------------------------------


def _codes(page: str) -> set[int]:
    return {int(match) for match in re.findall(r"^\| (\d+) \| (?!`)", (ROOT / page).read_text("utf-8"), re.MULTILINE)}


def test_the_exit_codes_are_those_of_the_errors() -> None:
    assert _codes("docs/exit-codes.md") == {0, INTERRUPTED} | {error.exit_code for error in errors()}


def test_the_help_names_the_same_exit_codes() -> None:
    assert cli.epilog is not None
    assert {int(code) for code in re.findall(r"\b\d+\b", cli.epilog)} == _codes("docs/exit-codes.md")


@pytest.mark.parametrize("page", NAMES)
def test_every_exit_code_that_a_page_names_exists(page: str) -> None:
    named = re.findall(r"exit(?:s with|ed with)?(?: code)?s? \[?(\d+)\b", (ROOT / page).read_text("utf-8").lower())
    assert {int(code) for code in named} - _codes("docs/exit-codes.md") == set()


# --- pages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", list(PAGES))
def test_generated_tables_are_up_to_date(page: str) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert written(page, text) == text, "run `make docs`"


def test_a_page_without_its_generated_part_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"configuration\.md has no generated part 'keys'"):
        written("configuration.md", "# Configuration\n")


@pytest.mark.parametrize("page", [*NAMES, "CHANGELOG.md"])
def test_links_lead_somewhere(page: str) -> None:
    file = ROOT / page
    for link in LINK.findall(FENCE.sub("", file.read_text("utf-8"))):
        path, _, anchor = link.partition("#")
        target = (file.parent / path).resolve() if path else file
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}, link


# --- examples ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", blocks("toml"), ids=lambda block: block.page)
def test_examples_of_configuration_are_valid(block: Block) -> None:
    document = tomllib.loads(block.text)
    if "project" not in document:
        assert configure(document, {}, file=block.page).feeds


@pytest.mark.parametrize("block", blocks("json"), ids=lambda block: block.page)
def test_examples_of_json_are_valid(block: Block) -> None:
    assert json.loads(block.text) is not None


@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: block.page)
def test_examples_of_code_run(block: Block, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", block.text], cwd=tmp_path, env=_environment(tmp_path), capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


OFFLINE = ("demo", "status", "config", "completion", "--help", "--version")
"""Commands that need neither a network nor a state; their examples are run as they stand."""


def _runnable() -> list[tuple[str, str]]:
    lines = [
        (block.page, line.strip())
        for block in blocks("sh", "console", "shell", "bash")
        for line in block.text.splitlines()
    ]
    return sorted({(page, line) for page, line in lines for words in mentions(line) if words and words[0] in OFFLINE})


@pytest.mark.parametrize(("page", "line"), _runnable())
def test_examples_of_commands_run(page: str, line: str, tmp_path: Path) -> None:
    done = subprocess.run(
        ["/bin/bash", "-o", "pipefail", "-c", line], cwd=tmp_path, env=_environment(tmp_path), capture_output=True, text=True,
        check=False, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, (page, done.stderr)


def test_there_are_examples_to_run() -> None:
    assert _runnable()
    assert blocks("toml")


def _environment(home: Path) -> Mapping[str, str]:
    """Return an environment without the user's folders and settings."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NEWS_DIGEST_", "XDG_", "AUTOMATION_"))
    }
    kept.pop("WORKSPACE_BASE", None)
    return kept | {"HOME": str(home), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
