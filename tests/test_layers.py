"""The law of the layers, read from the imports, and the limits on size."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BASE = ("errors", "strict_yaml")

# What a layer may import beside itself: a layer, or one module of it.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "errors": (),
    "strict_yaml": ("errors",),
    "resources": ("errors",),
    "project": BASE,
    "sources": BASE,
    "tables": (*BASE, "sources"),
    "statistics": (),
    "findings": BASE,
    "rulebook": (*BASE, "tables", "statistics", "findings"),
    # Procedures ask the rulebook's conditions, of this run and of those beside it.
    "compare": (*BASE, "tables", "statistics", "findings", "rulebook"),
    "report": (*BASE, "resources", "findings", "tables", "compare"),
    "replay": (*BASE, "tables", "statistics", "findings"),
    "pipeline": (
        *BASE,
        "project",
        "resources",
        "sources",
        "tables",
        "statistics",
        "findings",
        "rulebook",
        "compare",
        "report",
        "replay",
    ),
    "fleet": (
        *BASE,
        "resources",
        "sources",
        "tables",
        "statistics",
        "findings",
        "statistics",
        "compare.configuration",  # which keys only name a run
        "rulebook",  # a rule's page says what the rule says
        "report",  # the pages of many runs have the letters, clock and manner of the one
        "pipeline",
    ),
    "docs": (
        *BASE,
        "resources",
        "sources.readers",
        "tables",
        "findings",
        "rulebook",
        "compare",
        "pipeline",
        "fleet.views",
        "cli",
    ),
    "cli": (
        *BASE,
        "project",
        "resources",
        "tables",
        "findings",
        "rulebook",
        "report",
        "pipeline",
        "fleet",
    ),
    "__main__": ("cli",),
}
LONGEST_FUNCTION = 80
LONGEST_FILE = 400


def module_name(path: Path) -> str:
    """`analyzer.sources.records` for analyzer/sources/records.py."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted((ROOT / "analyzer").rglob("*.py"))}
TREES = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}


def imports_of(name: str, tree: ast.Module, modules: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Modules of ours that this one imports, wherever in it, with the line."""
    package = name if MODULES.get(name, Path()).name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "analyzer":
                    yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - (node.level - 1)]
            origin = ".".join([*above, node.module or ""]).strip(".") if node.level else node.module
            if origin is None or origin.split(".")[0] != "analyzer":
                continue
            for alias in node.names:
                inner = f"{origin}.{alias.name}"
                yield (inner if inner in modules else origin), node.lineno


def inner_name(name: str) -> str:
    """The name inside the package; `cli_rules` is part of `cli`, `pipeline_rules` of `pipeline`."""
    inner = name.removeprefix("analyzer").lstrip(".")
    return re.sub(r"^(cli|pipeline)_", r"\1.", inner)


def layer(name: str) -> str:
    """The folder or top module that a module belongs to; "" for the package itself."""
    return inner_name(name).split(".")[0]


def breaches(name: str, tree: ast.Module, modules: frozenset[str]) -> list[str]:
    """What this module imports against the law, one line each."""
    own = layer(name)
    found = []
    for target, line in imports_of(name, tree, modules):
        inner = inner_name(target)
        allowed = (own, *MAY_IMPORT.get(own, ()))
        if inner and not any(inner == a or inner.startswith(f"{a}.") for a in allowed):
            found.append(f"{name}:{line} imports {target}")
    return found


def test_each_module_belongs_to_a_known_layer() -> None:
    unknown = {layer(name) for name in MODULES} - set(MAY_IMPORT) - {""}
    assert not unknown, "add the new layer to the law above, and to docs/how-it-works.md"


@pytest.mark.parametrize("name", MODULES)
def test_imports_keep_the_law_of_the_layers(name: str) -> None:
    assert breaches(name, TREES[name], frozenset(MODULES)) == []


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("analyzer.sources.areal", "from analyzer.tables import store", "analyzer.tables"),
        ("analyzer.statistics.trend", "import analyzer.errors", "analyzer.errors"),
        (
            "analyzer.rulebook.engine",
            "def f():\n    from analyzer.report.view import build_view",
            "analyzer.report.view",
        ),
        ("analyzer.report.view", "from ..rulebook.model import RuleSpec", "analyzer.rulebook"),
        ("analyzer.findings.exports", "from analyzer import resources", "analyzer.resources"),
    ],
)
def test_the_reading_of_imports_sees_a_breach(name: str, source: str, expected: str) -> None:
    modules = frozenset([*MODULES, "analyzer.resources", "analyzer.rulebook.model"])
    found = breaches(name, ast.parse(source), modules)
    assert len(found) == 1
    assert f"imports {expected}" in found[0]


def test_the_reading_of_imports_lets_the_allowed_pass() -> None:
    source = "import json\nfrom analyzer.findings.model import Finding\nfrom . import model"
    assert breaches("analyzer.rulebook.engine", ast.parse(source), frozenset(MODULES)) == []


def test_no_import_cycles() -> None:
    graph = {
        name: {t for t, _ in imports_of(name, tree, frozenset(MODULES)) if t != name}
        for name, tree in TREES.items()
    }
    assert cycle(graph) == []


def test_a_cycle_is_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """A closed path through the graph, or nothing."""
    done: set[str] = set()

    def walk(node: str, path: list[str]) -> list[str]:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return []
        for target in sorted(graph.get(node, ())):
            if found := walk(target, [*path, node]):
                return found
        done.add(node)
        return []

    for start in sorted(graph):
        if found := walk(start, []):
            return found
    return []


@pytest.mark.parametrize("name", MODULES)
def test_no_module_hides_an_import_from_the_interpreter(name: str) -> None:
    names = {n.id for n in ast.walk(TREES[name]) if isinstance(n, ast.Name)}
    attributes = {n.attr for n in ast.walk(TREES[name]) if isinstance(n, ast.Attribute)}
    assert "TYPE_CHECKING" not in names | attributes


@pytest.mark.parametrize("name", MODULES)
def test_files_and_functions_stay_readable(name: str) -> None:
    path = MODULES[name]
    assert path.name != "utils.py"
    assert len(path.read_text("utf-8").splitlines()) <= LONGEST_FILE
    long = [
        f"{node.name} has {lines} lines"
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > LONGEST_FUNCTION
    ]
    assert long == []
