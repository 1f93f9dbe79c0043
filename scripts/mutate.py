"""Mutate constants and comparisons of modules, and see whether their nearest tests notice.

`python scripts/mutate.py core/kraftops/log/batch.py …` tries some mutants of each, drawn by a seed,
in a copy of the tree, and prints a row of the table of TESTING.md, and those that no test notices.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import select
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import hypothesis  # noqa: F401 loaded once for all forks
import pytest

import changed

ROOT = Path(__file__).resolve().parent.parent
_FOLDERS = ("core", "shell", "cli")
_TESTS_SECONDS = 40.0
"""Tests that a mutant may take, with those that run for each change, and not here."""
_TEST_SECONDS = 100
"""A test that loops forever fails after it; no test takes as long on a busy machine."""
_SECONDS = 400
"""A loop where no test runs, or in a process of a test, is noticed after it."""
_EDGES = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
}


class Mutant(NamedTuple):
    """A change of a source: the bytes from *begin* to *end* are replaced."""

    line: int
    begin: int
    end: int
    text: str


def mutants_of(source: bytes) -> list[Mutant]:
    """Return the mutants of a module, in the order of its lines."""
    begins = [0]
    for line in source.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    return sorted(_mutants(ast.parse(source), source, begins))


def _mutants(node: ast.AST, source: bytes, begins: list[int]) -> Iterator[Mutant]:
    if isinstance(node, ast.Constant) and type(node.value) in {int, float}:
        begin, end = _span(node, begins)
        yield Mutant(node.lineno, begin, end, f"({node.value!r} + 1)")
        if node.value and node.col_offset and source[:begin].endswith(b" = "):
            yield Mutant(node.lineno, begin, end, f"({node.value!r} * 10)")
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        for operator, left, right in zip(node.ops, sides, sides[1:], strict=False):
            if type(operator) in _EDGES:
                old, new = _EDGES[type(operator)]
                begin = source.index(old.encode(), _span(left, begins)[1], _span(right, begins)[0])
                yield Mutant(left.lineno, begin, begin + len(old), new)
    for name, field in ast.iter_fields(node):
        if name not in {"annotation", "returns", "decorator_list"}:  # they change nothing that runs
            for child in field if isinstance(field, list) else [field]:
                if isinstance(child, ast.AST):
                    yield from _mutants(child, source, begins)


def _span(node: ast.expr, begins: list[int]) -> tuple[int, int]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    begin = begins[node.lineno - 1] + node.col_offset
    return begin, begins[node.end_lineno - 1] + node.end_col_offset


def tests_of(name: str) -> list[str]:
    """Return the tests of a module: of its name, or else the nearest."""
    own = changed.tests_in(changed.mirror_of(name))
    chosen = own or [
        test for test in changed.select([name], _TESTS_SECONDS).chosen if test not in changed.ALWAYS
    ]
    if not chosen:
        sys.exit(f"mutate.py: {name} has no tests nearby")
    return chosen


def is_noticed(tests: list[str]) -> bool:
    """Tell whether a test fails; a fork has pytest loaded, and none of our modules yet."""
    child = os.fork()
    if not child:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        ignored = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
        options = ["-qx", "-p", "no:cacheprovider", f"--timeout={_TEST_SECONDS}", "-W", ignored]
        os._exit(bool(pytest.main([*options, *tests])))
    with os.fdopen(os.pidfd_open(child)) as ended:
        is_over = select.select([ended], [], [], _SECONDS)[0]
    if not is_over:
        os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0


def try_module(tree: Path, name: str, count: int, seed: int) -> None:
    """Print the row of a module, and the mutants that no test notices."""
    source = (ROOT / name).read_bytes()
    tests = tests_of(name)
    target = tree / name
    for compiled in target.parent.glob(f"__pycache__/{target.stem}.*"):
        compiled.unlink()  # a mutant may have the size and the second of another
    if is_noticed(tests):
        sys.exit(f"mutate.py: {' '.join(tests)} fail without a mutant")
    mutants = mutants_of(source)
    chosen = sorted(random.Random(seed).sample(mutants, min(count, len(mutants))))  # noqa: S311 no secrets
    left = []
    for mutant in chosen:
        target.write_bytes(source[: mutant.begin] + mutant.text.encode() + source[mutant.end :])
        if not is_noticed(tests):
            left.append(mutant)
    target.write_bytes(source)
    noticed = len(chosen) - len(left)
    print(f"| `{name}` | {len(mutants)} | {len(chosen)} | {noticed} |", flush=True)
    for mutant in left:
        line = source.splitlines()[mutant.line - 1].decode().strip()
        print(f"    line {mutant.line}: {mutant.text} in {line}", flush=True)


def main() -> None:
    """Try the modules of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("modules", nargs="+", metavar="FILE")
    parser.add_argument("--count", type=int, default=20, help="mutants of each (20)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="mutants-") as folder:
        for name in _FOLDERS:
            unused = shutil.ignore_patterns("native")
            shutil.copytree(ROOT / name, Path(folder) / name, ignore=unused)
        copies = [str(Path(folder) / name) for name in _FOLDERS]
        sys.path[:0] = copies
        os.environ |= {"PYTHONPATH": os.pathsep.join(copies), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        os.chdir(ROOT)
        for name in arguments.modules:
            try_module(Path(folder), name, arguments.count, arguments.seed)


if __name__ == "__main__":
    main()
