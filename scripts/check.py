"""Run every check of the project with this interpreter: crate, tests, lint, types, generated files.

With names of parts, only these run: `tests`, `static`, which can run beside them, and `others`.
"""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from hatch_build import CRATE, UnbuiltError, toolchain

ROOT = Path(__file__).resolve().parent.parent
CARGO_CHECKS = (
    ("crate: format", ["fmt", "--check"]),
    ("crate: lint", ["clippy", "--release", "--locked", "--all-targets", "--", "-D", "warnings"]),
    ("crate: tests", ["test", "--locked", "--lib"]),
)
_COMPONENTS = {"fmt", "clippy"}
"""Components of Rust that may be missing."""
REFERENCE = (
    "tests/cli/dump_log/test_corpus.py",
    "tests/core/dump/scan/test_fuzz.py",
    "tests/core/image",
    "tests/cli/metadata_shell/test_corpus.py",
)
"""Tests of the engine that the environment names: corpora, replay. tests/engine names its own."""

PARTS = ("tests", "static", "others")
TESTS = ("tests", ["-m", "pytest", "-n", "3"])
STATIC = (
    ("lint", ["-m", "ruff", "check"]),
    ("format", ["-m", "ruff", "format", "--check"]),
    ("types", ["-m", "mypy"]),
    ("types of the build hook", ["-m", "mypy", "scripts/hatch_build.py"]),
    ("licences", ["scripts/licences.py"]),
)
"""With those of the crate; they run nothing that is installed, and write nothing but caches."""
OTHERS = (
    ("tests of the reference engine", ["-m", "pytest", "-q", "-n", "2", *REFERENCE]),
    (
        "imports and page",
        ["-m", "pytest", "-q", "tests/test_imports.py", "tests/test_architecture.py"],
    ),
    ("generated files", ["scripts/generate.py", "--check"]),
    ("site of the documentation", ["scripts/documentation.py"]),
    ("installs", ["scripts/installs.py"]),
)


class Outcome(NamedTuple):
    """The outcome of a check, with its output if that was not shown meanwhile."""

    name: str
    has_failed: bool
    output: str = ""


def main() -> int:
    """Run all tests, then the other checks, two at a time; return 1 if any fails."""
    parts = sys.argv[1:] or PARTS
    if unknown := {*parts} - {*PARTS}:
        sys.exit(f"check.py: there are {', '.join(PARTS)}, and no {', '.join(sorted(unknown))}")
    outcomes = [_shown(*TESTS)] if "tests" in parts else []
    with ThreadPoolExecutor(2) as pool:  # most of them use one processor
        is_static = "static" in parts
        of_crate = [pool.submit(_crate)] if is_static else []
        checks = (*(STATIC if is_static else ()), *(OTHERS if "others" in parts else ()))
        running = [pool.submit(_checked, *check) for check in checks]
        crate = chain.from_iterable(done.result() for done in of_crate)
        for outcome in chain(crate, (one.result() for one in running)):
            print(f"== {outcome.name}\n{outcome.output}", end="", flush=True)
            outcomes.append(outcome)
    failed = [outcome.name for outcome in outcomes if outcome.has_failed]
    passed = f"all checks passed: {', '.join(parts)}"
    print(f"== failed: {', '.join(failed)}" if failed else f"== {passed}")
    return 1 if failed else 0


def _shown(name: str, arguments: list[str]) -> Outcome:
    """Run a check, and show its output meanwhile."""
    print(f"== {name}", flush=True)
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, check=False)
    return Outcome(name, done.returncode != 0)


def _checked(name: str, arguments: list[str]) -> Outcome:
    engine = {"KRAFTOPS_ENGINE": "reference"} if "reference" in name else {}
    return _run(name, [sys.executable, *arguments], ROOT, engine)


def _crate() -> list[Outcome]:
    """Run the checks of the crate, if there is a suitable cargo."""
    try:
        cargo, missing = toolchain(ROOT / CRATE), ""
    except UnbuiltError as error:
        cargo, missing = "", str(error)
    outcomes = []
    for name, arguments in CARGO_CHECKS:
        if missing or (arguments[0] in _COMPONENTS and not shutil.which(f"cargo-{arguments[0]}")):
            reason = missing or f"no cargo-{arguments[0]} in PATH"
            outcomes.append(Outcome(name, has_failed=False, output=f"-- skipped: {reason}\n"))
        else:
            outcomes.append(_run(name, [cargo, *arguments], ROOT / CRATE))
    return outcomes


def _run(
    name: str, command: list[str], directory: Path, environment: dict[str, str] | None = None
) -> Outcome:
    done = subprocess.run(
        command,
        cwd=directory,
        env=os.environ | (environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return Outcome(name, done.returncode != 0, done.stdout)


if __name__ == "__main__":
    sys.exit(main())
