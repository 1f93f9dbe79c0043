"""The imports of all modules, read from their source."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
ROOTS = {
    "kraftops": REPOSITORY / "core",
    "pyspark_kraftops": REPOSITORY / "core",
    "kraftops_terminal": REPOSITORY / "shell",
    "kraftops_shell": REPOSITORY / "shell",
    "kraftops_cli": REPOSITORY / "cli",
}
"""The folders of the packages."""
COMPILED_ENGINE = "kraftops.engine._native"
ROWS = (
    (
        "errors",
        "outcomes",
        "uuids",
        "varint",
        "memo",
        "memory",
        "commit",
        "origin",
        "uris",
        "java",
        "fileio",
        "parallel",
        "display",
        "answers",
        "findings",
    ),
    ("schema",),
    ("log",),
    ("records",),
    ("query",),
    ("engine",),
    ("server",),
    ("dump",),
    ("storage",),
    ("image",),
    ("tree",),
    ("recovery",),
    ("placement",),
    ("disk",),
    ("views",),
    ("timeline",),
    ("wire",),
    ("reassign",),
    ("voters",),
    ("restart",),
    ("report",),
    ("checkup",),
    ("library",),
    ("spark",),
)
"""The packages of the library in the order of the data's way: each may import the rows before it."""


class When(Enum):
    """The time at which an import statement runs."""

    LOAD = "when the module is loaded"
    CALL = "when a function is called"
    NEVER = "under TYPE_CHECKING"


@dataclass(frozen=True, slots=True)
class Import:
    """An import of *target* in *module*."""

    module: str
    target: str
    when: When

    def __str__(self) -> str:
        return f"{self.module} imports {self.target}"


@cache
def modules() -> dict[str, Path]:
    """Return the files of all modules by name; a package has the name of its folder."""
    found = {}
    for root in dict.fromkeys(ROOTS.values()):
        for path in root.rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def packages() -> set[str]:
    """Return the names of all packages with an `__init__` module."""
    return {name for name, path in modules().items() if path.name == "__init__.py"}


@cache
def imports() -> list[Import]:
    """Return all imports of all modules, without the implied imports of parent packages."""
    found = []
    for module, path in modules().items():
        tree = ast.parse(path.read_text("utf-8"), str(path))
        for node, when in _statements(tree.body, When.LOAD):
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{module} has a relative import"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                targets = [name if _is_module(name) else str(node.module) for name in names]
            else:
                continue
            found += [Import(module, target, when) for target in targets]
        found += [Import(module, target, When.CALL) for target in _named_modules(tree)]
    return found


def _is_module(name: str) -> bool:
    return name in modules() or name == COMPILED_ENGINE


def _named_modules(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that are named by strings, for `import_module`; not in comparisons."""
    compared = {
        part for node in ast.walk(tree) if isinstance(node, ast.Compare) for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in compared:
            name = node.value.partition(":")[0]
            if "." in name and name in modules():
                yield name


def _statements(nodes: Iterable[ast.stmt], when: When) -> Iterator[tuple[ast.stmt, When]]:
    for node in nodes:
        yield node, when
        inner = when
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and when is When.LOAD:
            inner = When.CALL
        is_typing = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        yield from _statements(getattr(node, "body", []), When.NEVER if is_typing else inner)
        for name in ("orelse", "finalbody"):
            yield from _statements(getattr(node, name, []), inner)
        for branch in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
            yield from _statements(branch.body, inner)


def own_imports() -> list[Import]:
    """Return the imports of our own modules that run at all, without imports of a module by itself."""
    return [
        found
        for found in imports()
        if found.when is not When.NEVER
        and found.target in modules()
        and found.target != found.module
    ]


def row(module: str) -> int | None:
    """Return the row of a module of the library; None for other modules and the library itself."""
    package, _, rest = module.partition(".")
    if package != "kraftops" or not rest:
        return None
    name = rest.partition(".")[0]
    rows = [number for number, names in enumerate(ROWS) if name in names]
    assert rows, f"{module} has no row"
    return rows[0]


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of nodes that reach each other."""
    reached = {node: _reached(graph, node) for node in graph}
    groups = {
        frozenset(other for other in found if node in reached.get(other, ()))
        for node, found in reached.items()
        if node in found
    }
    return sorted(sorted(group) for group in groups)


def _reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    left = [start]
    while left:
        for target in graph.get(left.pop(), ()):
            if target not in found:
                found.add(target)
                left.append(target)
    return found
