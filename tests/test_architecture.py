"""The rules of ``docs/architecture.md``, held."""

from __future__ import annotations

import ast
import importlib
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.layers import BETWEEN_EDGES, MAY_IMPORT, ROOT, Module, core, imports, layer_of, modules

from news_digest.channels import CHANNELS
from news_digest.stores import STORES
from news_digest.writers import WRITERS

NAMES = [module.name for module in modules()]
STANDALONE = "openhands.entry"
"""What the bundle carries beside the package: it runs before anything of ours is installed."""

IMPURE = frozenset(
    {"os", "socket", "time", "random", "subprocess", "pathlib", "threading", "tempfile", "shutil", "secrets"}
)
CLOCKS = ("datetime.now", "datetime.utcnow", "date.today", "os.environ", "os.getenv")

BROAD = {
    "automation": "the entry: what nobody foresaw is reported to the service as a bug",
    "feeds.read": "the boundary around one feed: the others go on",
    "writers.models": "the boundary of a thread: what stopped it is raised again where it is waited for",
}
"""Where a broad ``except`` stands, and why; each relabels what it caught."""

SUPPORT = {
    "channels": {"chat", "folder", "mail", "options", "redact"},
    "stores": {"durable", "journal", "kv_service", "outbox"},
    "writers": {"answers", "models", "providers", "vectors", "workspace"},
}
"""Files of a registry's folder that are no implementation: what its implementations share."""

LONGEST_MODULE, LONGEST_FUNCTION = 400, 60
"""In lines of code: no blank lines, comments and docstrings. More does not fit a head, or a screen."""


def _by_name(name: str) -> Module:
    return next(module for module in modules() if module.name == name)


# --- imports -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_imports_go_down_the_page_only(name: str) -> None:
    module = _by_name(name)
    ours = {other.removeprefix("news_digest.") for other in imports(module) if other.startswith("news_digest.")}
    wrong = {other for other in ours if not _may_import(module, other)}
    assert wrong == set(), f"{name} ({module.layer}) imports up the page, or sideways"


def _may_import(module: Module, other: str) -> bool:
    if layer_of(other) in MAY_IMPORT[module.layer] or module.part == other.partition(".")[0]:
        return True
    return any(module.part == part and f"{other}.".startswith(f"{to}.") for part, to in BETWEEN_EDGES)


def test_every_step_between_edges_is_still_taken() -> None:
    taken = {(module.part, other.removeprefix("news_digest.")) for module in modules() for other in imports(module)}
    unused = [
        step for step in BETWEEN_EDGES if not any(part == step[0] and to.startswith(step[1]) for part, to in taken)
    ]
    assert unused == []


def test_importing_goes_round_in_no_circle() -> None:
    graph = {module.name: _ours(module) for module in modules()}
    assert _circle(graph) == []


def _ours(module: Module) -> set[str]:
    found = {name.removeprefix("news_digest.") for name in imports(module, at_import=True) if "news_digest." in name}
    return (found & set(NAMES)) - {module.name}


def _circle(graph: Mapping[str, set[str]]) -> list[str]:
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph[name]):
            if found := visit(other, [*path, name]):
                return found
        done.add(name)
        return []

    return next((found for name in graph if (found := visit(name, []))), [])


@pytest.mark.parametrize(
    ("graph", "circle"), [({"a": {"b"}, "b": set()}, []), ({"a": {"b"}, "b": {"a"}}, ["a", "b", "a"])]
)
def test_a_circle_would_be_found(graph: dict[str, set[str]], circle: list[str]) -> None:
    assert _circle(graph) == circle


@pytest.mark.parametrize("name", [module.name for module in core()])
def test_the_core_knows_neither_world_nor_third_parties(name: str) -> None:
    roots = {other.partition(".")[0] for other in imports(_by_name(name))} - {"news_digest"}
    assert roots & IMPURE == set()
    assert roots <= sys.stdlib_module_names


# --- the world -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [module.name for module in modules() if module.layer != "entry"])
def test_only_entries_read_the_clock_or_the_environment_or_print(name: str) -> None:
    if name.startswith(STANDALONE):
        pytest.skip("an entry of its own")
    nodes = list(ast.walk(_by_name(name).tree))
    read = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)} & set(CLOCKS)
    printed = [node.lineno for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "print"]
    assert (read, printed) == (set(), [])


WATCHED_IMPORT = """
import os, sys
root, names, seen = sys.argv[1], sys.argv[2:], []
sys.path.insert(0, root)

def ours():
    frame = sys._getframe(2)
    while frame:
        if "importlib" in frame.f_code.co_filename or "site-packages" in frame.f_code.co_filename:
            return ""
        if frame.f_code.co_filename.startswith(root):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""

def watch(event, args):
    if event in ("open", "os.listdir", "os.scandir", "socket.connect", "subprocess.Popen") and (place := ours()):
        seen.append(f"{event} at {place}")

def watched(method):
    def call(self, *args):
        if place := ours():
            seen.append(f"environment at {place}")
        return method(self, *args)
    return call

for method in ("__getitem__", "__contains__", "__iter__"):
    setattr(os._Environ, method, watched(getattr(os._Environ, method)))
sys.addaudithook(watch)
for name in names:
    try:
        __import__(name)
    except ImportError as error:
        if (error.name or "").startswith("news_digest"):
            raise
print("\\n".join(seen), end="")
"""


def _watched(root: Path, *names: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", WATCHED_IMPORT, str(root), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_reads_no_file_and_no_environment() -> None:
    wanted = [f"news_digest.{name}".rstrip(".") for name in NAMES if not name.endswith("__main__")]
    assert _watched(ROOT / "src", *wanted) == ""


@pytest.mark.parametrize(
    "body", ["import os; os.environ.get('X')", "open(__file__).read()", "import os; 'X' in os.environ"]
)
def test_a_module_that_reads_at_import_would_be_found(tmp_path: Path, body: str) -> None:
    (tmp_path / "reads_at_import.py").write_text(body, "utf-8")
    assert "reads_at_import.py:1" in _watched(tmp_path, "reads_at_import")


def test_a_broad_except_stands_only_at_the_named_boundaries() -> None:
    found = {module.name for module in modules() for node in ast.walk(module.tree) if _is_broad(node)}
    assert found == set(BROAD)


def _is_broad(node: ast.AST) -> bool:
    if not isinstance(node, ast.ExceptHandler):
        return False
    names = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)} if node.type else set()
    return node.type is None or not names.isdisjoint({"Exception", "BaseException"})


# --- registries ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("folder", "table"), [("channels", CHANNELS), ("stores", STORES), ("writers", WRITERS)])
def test_every_implementation_in_a_folder_is_registered_and_can_be_made(folder: str, table: Mapping[str, str]) -> None:
    targets = {target.partition(":")[0].rpartition(".")[2]: target for target in table.values()}
    files = {name.split(".")[1] for name in NAMES if name.startswith(f"{folder}.") and _is_file(name)}
    assert files - SUPPORT[folder] == set(targets)
    for target in targets.values():
        module, _, factory = target.partition(":")
        assert callable(getattr(importlib.import_module(module), factory))


def _is_file(name: str) -> bool:
    return _by_name(name).file.stem == name.split(".")[1]


# --- shape ---------------------------------------------------------------------------------------------------------


def _code_lines(source: str) -> set[int]:
    """Return the numbers of the lines that hold code."""
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type not in silent]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    return lines - {
        line for node in _docstrings(ast.parse(source)) for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }


def _docstrings(tree: ast.AST) -> Iterator[ast.Expr]:
    """Yield every text that stands alone as a statement: docstrings, also those of attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node


@pytest.mark.parametrize("name", NAMES)
def test_modules_and_functions_stay_small(name: str) -> None:
    module = _by_name(name)
    code = _code_lines(module.file.read_text("utf-8"))
    assert len(code) <= LONGEST_MODULE
    functions = (node for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef))
    lengths = {node.name: sum(node.lineno <= line <= (node.end_lineno or 0) for line in code) for node in functions}
    assert {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION} == {}


def test_lines_of_code_are_counted_without_comments_and_docstrings() -> None:
    assert _code_lines('"""One."""\n\n# two\nx = 1\n"""Of x."""\n\n\ndef f():\n    """Three."""\n    return (\n        x\n    )\n') == {
        4, 8, 10, 11, 12,
    }  # fmt: skip


def _listed(module: Module) -> set[str]:
    found = [
        node for node in module.tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    return set(ast.literal_eval(found[0].value)) if found else set()


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith(STANDALONE)])
def test_public_functions_and_classes_are_listed(name: str) -> None:
    module = _by_name(name)
    defined = {
        node.name
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) or (isinstance(node, ast.FunctionDef) and not _is_subcommand(node))
    }
    assert {each for each in defined if not each.startswith("_")} - _listed(module) == set()


def _is_subcommand(node: ast.FunctionDef) -> bool:
    """Return whether a group of commands holds the function: nobody imports it."""
    calls = (ast.unparse(decorator) for decorator in node.decorator_list)
    return any(re.match(r"(?!click\.)\w+\.command\(", call) for call in calls)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith(STANDALONE)])
def test_what_is_listed_is_there(name: str) -> None:
    listed = _listed(_by_name(name))
    if listed:
        module = importlib.import_module(f"news_digest.{name}")
        assert {each for each in listed if not hasattr(module, each)} == set()


@pytest.mark.parametrize("name", NAMES)
def test_only_listed_names_are_imported_from_other_modules(name: str) -> None:
    by_name = {f"news_digest.{module.name}": module for module in modules() if module.name}
    taken = [
        (node.module, alias.name)
        for node in ast.walk(_by_name(name).tree)
        if isinstance(node, ast.ImportFrom) and node.module in by_name
        for alias in node.names
        if f"{node.module}.{alias.name}" not in by_name
    ]
    assert [f"{source}.{each}" for source, each in taken if each not in _listed(by_name[source])] == []


# --- what is tracked -----------------------------------------------------------------------------------------------

MACHINE = re.compile(r"(?<![\w./:-])/(?:work|root|tmp/bash_jobs[^/]*|Users/\w+)/")
HOSTS = ("py" + "pi.org", "files.python" + "hosted.org", "registry.npm" + "js.org", "conda.ana" + "conda.org")


def _tracked() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_tracked_file_names_a_machine_or_a_package_registry() -> None:
    found = []
    for name in _tracked():
        text = (ROOT / name).read_bytes().decode("utf-8", "replace")
        found += [f"{name}: {match[0]}" for match in MACHINE.finditer(text)]
        found += [f"{name}: {host}" for host in HOSTS if host in text]
    assert found == []


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("in /" + "work/main", True),
        ("/" + "root/x", True),
        ("https://a.test/work/x", False),
        ("src/work/x", False),
        ("../root/x", False),
    ],
)
def test_a_path_of_one_machine_would_be_found(text: str, is_found: bool) -> None:
    assert bool(MACHINE.search(text)) is is_found
