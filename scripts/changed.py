"""The tests of changed files, the nearest first: those that import them, and of their subjects.

`scripts/check.py --changed` runs as many of them as end in two minutes on two processors. Tests
with a real Kafka are left to the gate, unless they changed themselves: it takes longer to start
than twenty files of other tests take to run.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tests.helpers.project.imports import modules  # noqa: E402
from tests.helpers.tools.distribution import seconds_of_files  # noqa: E402

KAFKA = "tests/kafka/"
ALWAYS = ("tests/test_imports.py", "tests/test_architecture.py", "tests/test_words.py")
BUDGET = 150.0
"""Seconds of tests, of one process: with two, and lint and types beside them, two minutes."""
UNMEASURED = 1.0
"""Seconds of a file that the list leaves out, with its part of the start of a process."""
MIRRORS = {
    "core/kraftops/": "tests/core/",
    "shell/kraftops_shell/": "tests/shell/",
    "shell/kraftops_terminal/": "tests/terminal/",
    "cli/kraftops_cli/": "tests/cli/",
}
_FOLD = ("tests/engine", "tests/core/engine", "tests/core/image", "tests/core/timeline")
_PAGES = ("tests/test_documentation.py", "tests/cli/test_generated.py")
_TREE = ("tests/shell", "tests/core/tree", "tests/core/views", "tests/cli/metadata_shell")
SUBJECTS = {
    "core/native": _FOLD,
    "core/pyspark_kraftops": ("tests/spark/source", "tests/spark/stream"),
    "core/kraftops/checkup": ("tests/cli/doctor", "tests/cli/test_questions.py"),
    "cli/kraftops_cli/doctor": ("tests/cli/test_questions.py",),
    "core/kraftops/disk": ("tests/cli/test_questions.py",),
    "core/kraftops/dump": ("tests/core/dump", "tests/cli/dump_log"),
    "core/kraftops/engine": (*_FOLD, "tests/cli/dump_log/test_corpus.py"),
    "core/kraftops/findings": ("tests/core/checkup", "tests/test_json_schemas.py"),
    "core/kraftops/image": (*_TREE, "tests/engine"),
    "core/kraftops/library": ("tests/test_library.py",),
    "core/kraftops/log": ("tests/core/dump", "tests/engine"),
    "core/kraftops/query": ("tests/cli/dump_log", "tests/engine"),
    "core/kraftops/records": ("tests/engine", "tests/cli/dump_log/test_corpus.py"),
    "core/kraftops/recovery": (
        "tests/cli/test_storage_recover_crash.py",
        "tests/cli/storage",
    ),
    "core/kraftops/report": ("tests/cli/report", "tests/browser"),
    "core/kraftops/schema": ("tests/core/records", "tests/engine"),
    "core/kraftops/server": ("tests/core/dump/check",),
    "core/kraftops/spark": ("tests/spark", "tests/cli/dump_log/on_spark"),
    "core/kraftops/storage": ("tests/cli/storage",),
    "core/kraftops/timeline": ("tests/cli/incidents", "tests/shell/commands/time"),
    "core/kraftops/tree": _TREE,
    "core/kraftops/views": _TREE,
    "core/kraftops/wire": ("tests/cli/cluster", "tests/cli/live"),
    "cli/kraftops_cli": ("tests/cli/test_mistakes.py", *_PAGES),
    "cli/kraftops_cli/spark": ("tests/spark", "tests/cli/dump_log/on_spark"),
    "cli/kraftops_cli/syntax": ("tests/cli/test_grammar.py",),
    "shell/kraftops_shell/grammar": ("tests/shell/grammar",),
    "docs": _PAGES,
    "README.md": _PAGES,
    "packaging": ("tests/test_packaging_tree.py", "tests/test_packaging_yaml.py"),
    "tests/data/dump-4.3.1": ("tests/cli/dump_log/test_corpus.py",),
    "tests/data/screens": ("tests/shell", "tests/cli/cluster", "tests/cli/terminal"),
}
"""Tests of a folder that neither its mirror nor an import leads to: most run commands."""


GUARDS = {
    r".*\.md$": "tests/test_documentation.py",
    r"core/kraftops/json_schemas/": "tests/test_json_schemas.py",
    r"(man|completions)/": "tests/cli/test_generated.py",
    r"core/(kraftops/engine/reference/folding|native/src/fold)/": "tests/core/image/replay",
}
"""Tests that are as near to what a pattern matches as those of its name."""

_IMPORT = re.compile(
    r"^ *(?:from (?=[\w.]+ import)|import )(?P<module>[\w.]+)(?: import (?P<names>\([^)]*\)|.*))?",
    re.MULTILINE,
)
"""Parsing 1,500 files would take longer than their tests."""


class Nearness(NamedTuple):
    """The way from a changed file to a test; the least is the nearest."""

    rank: int
    """0 it changed, 1 has the name, 2 imports it, 3 the folder, 4 the subject, then by imports."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Selection:
    """Test files, the nearest first, and those that no time is left for."""

    chosen: tuple[str, ...]
    others: tuple[str, ...]
    seconds: float


def changed_files(base: str) -> list[str]:
    """Return the files that differ from a commit, and new ones; deleted ones are left out."""
    names = _git("diff", "--name-only", "-z", base) + _git(
        "ls-files", "-z", "--others", "--exclude-standard"
    )
    return sorted(name for name in {*names.split("\0")} if name and (ROOT / name).is_file())


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    try:
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(command)}: {error.stderr.strip()}")


def select(changed: Iterable[str], budget: float = BUDGET) -> Selection:
    """Return the tests of changed files: the nearest, as long as the budget lasts."""
    nearest: dict[str, Nearness] = {}
    for name in changed:
        for test, rank in _tests_of(name):
            if rank and test.startswith(KAFKA):
                continue
            nearness = Nearness(rank, seconds_of(test))
            nearest[test] = min(nearness, nearest.get(test, nearness))
    chosen, others = list(ALWAYS), []
    seconds = sum(map(seconds_of, ALWAYS))
    for test in sorted(nearest.keys() - {*ALWAYS}, key=lambda test: (nearest[test], test)):
        if nearest[test].rank == 0 or seconds + nearest[test].seconds <= budget:
            chosen.append(test)
            seconds += nearest[test].seconds
        else:
            others.append(test)
    return Selection(tuple(chosen), tuple(others), seconds)


def _tests_of(name: str) -> Iterator[tuple[str, int]]:
    if _is_test(name):
        yield name, 0
    yield from _mirroring(name)
    for folder, subjects in SUBJECTS.items():
        if name == folder or name.startswith(f"{folder}/"):
            for test in (test for subject in subjects for test in tests_in(subject)):
                yield test, 4
    if name.endswith(".py"):
        for test, distance in _importing(name):
            yield test, 2 if distance == 1 else 3 + distance
    else:
        for test in _naming(Path(name)):
            yield test, 5


def _mirroring(name: str) -> Iterator[tuple[str, int]]:
    for pattern, guards in GUARDS.items():
        if re.match(pattern, name):
            yield from ((test, 1) for test in tests_in(guards))
    mirror = mirror_of(name)
    for test in tests_in(mirror):
        yield test, 1
    for test in tests_in(str(Path(mirror).parent)) if mirror else ():
        yield test, 3


def mirror_of(name: str) -> str:
    """Return the file that has the tests of a module; "" for other files."""
    for folder, tests in MIRRORS.items():
        if name.startswith(folder):
            path = Path(tests + name.removeprefix(folder))
            return str(path.with_name(f"test_{path.name}"))
    return ""


def tests_in(name: str) -> list[str]:
    """Return a file of tests, or those of a folder; nothing if there is none."""
    return [test for test in _tests() if test == name or (name and test.startswith(f"{name}/"))]


def _is_test(name: str) -> bool:
    return name.startswith("tests/") and Path(name).name.startswith("test_")


@cache
def _tests() -> tuple[str, ...]:
    paths = (path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))
    return tuple(sorted(str(path) for path in paths if path.parts[1] != "data"))


def seconds_of(test: str) -> float:
    """Return how long a file of tests took in the last run that was measured."""
    return seconds_of_files().get(test, UNMEASURED)


@cache
def _importers() -> dict[str, set[str]]:
    """Return the files that import a file, of code and of tests."""
    files = {name: str(path.relative_to(ROOT)) for name, path in modules().items()}
    for path in (ROOT / "tests").rglob("*.py"):
        if "data" not in path.parts:
            name = path.relative_to(ROOT)
            files[".".join(name.with_suffix("").parts)] = str(name)
    importers = defaultdict(set)
    for name in files.values():
        for target in _imported((ROOT / name).read_text("utf-8"), files):
            importers[target].add(name)
    return importers


def _imported(text: str, files: dict[str, str]) -> Iterator[str]:
    for match in _IMPORT.finditer(text):
        module, names = match["module"], re.findall(r"\w+", match["names"] or "")
        named = [f"{module}.{name}" for name in names]
        yield from (files[name] for name in (module, *named) if name in files)


def _importing(name: str) -> Iterator[tuple[str, int]]:
    """Yield the tests that import a file, themselves or through others, with their distances."""
    distances = {name: 0}
    waiting = deque([name])
    while waiting:
        target = waiting.popleft()
        for importer in _importers().get(target, ()):
            if importer not in distances:
                distances[importer] = distances[target] + 1
                waiting.append(importer)
                if _is_test(importer):
                    yield importer, distances[importer]


def _naming(path: Path) -> Iterator[str]:
    """Yield the tests in whose source a file is named, with its folder or by a longer name."""
    needle = path.name if len(path.name) > 8 else f"{path.parent.name}/{path.name}"
    for test in _tests():
        if needle in (ROOT / test).read_text("utf-8"):
            yield test


def python_files(changed: Iterable[str]) -> list[str]:
    """Return the files that lint reads."""
    return [name for name in changed if name.endswith(".py") and not name.startswith("tests/data")]
