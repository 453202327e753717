"""The layers of the package, as ``docs/architecture.md`` draws them; tests of imports and of coverage read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "news_digest"

RUN = frozenset({"ledger", "settling", "finishing", "run", "report"})
EDGES = frozenset({"http", "feeds", "stores", "writers", "channels", "openhands"})
ENTRIES = frozenset({"cli", "web", "automation"})
ASIDE = frozenset({"ports", "registry", "demo", "testing"})
"""Layers of one part each. Everything that is named nowhere here is the core."""

MAY_IMPORT = {
    "core": frozenset({"core"}),
    "registry": frozenset({"core"}),
    "ports": frozenset({"core"}),
    "run": frozenset({"core", "ports", "run"}),
    "testing": frozenset({"core", "ports"}),
    "demo": frozenset({"core", "demo"}),
    "edge": frozenset({"core", "ports", "registry"}),
    "entry": frozenset({"core", "ports", "registry", "run", "edge", "entry", "demo"}),
}

BETWEEN_EDGES = {
    ("channels", "stores.durable"): "writing a file so that it survives a power cut is decided once",
    ("writers", "openhands"): "the agent server's client, which the bundle and deploy use too",
}
"""The only steps from one edge to another, each with its reason."""


@dataclass(frozen=True)
class Module:
    """One module of the package: its name below ``news_digest``, its file and its syntax tree."""

    name: str
    file: Path
    tree: ast.Module

    @property
    def part(self) -> str:
        """Return the folder or top-level module that it belongs to."""
        return self.name.partition(".")[0]

    @property
    def layer(self) -> str:
        """Return the layer of the module."""
        return layer_of(self.name)


def layer_of(name: str) -> str:
    """Return the layer of a module by its name below ``news_digest``."""
    part = name.partition(".")[0]
    if part in ASIDE:
        return part
    return "run" if part in RUN else "edge" if part in EDGES else "entry" if part in ENTRIES else "core"


@cache
def modules() -> tuple[Module, ...]:
    """Return every module of the package."""
    return tuple(Module(_name(file), file, ast.parse(file.read_text("utf-8"))) for file in sorted(SOURCE.rglob("*.py")))


def core() -> tuple[Module, ...]:
    """Return the modules of the core: pure, and covered to the last branch."""
    return tuple(module for module in modules() if module.layer == "core" and module.name)


def imports(module: Module, *, at_import: bool = False) -> Iterator[str]:
    """Yield the absolute names that a module imports; ``at_import``: only what importing it imports as well."""
    body = _executed(module.tree) if at_import else ast.walk(module.tree)
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            known = {f"news_digest.{each.name}" for each in modules()}
            yield from (name if name in known else node.module for name in inner)


def _executed(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes that run when the module is imported: no bodies of functions, nothing for the type checker."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        waiting.extend(ast.iter_child_nodes(node))


def _name(file: Path) -> str:
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
