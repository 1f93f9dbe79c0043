"""Run the checks of the project with this interpreter: crate, tests, lint, types, generated files.

There are three tiers. `--changed [BASE]` is for each change: lint, types, and the nearest tests of
what changed since a commit. Without options, all parts of the gate run, or only those that are
named: `tests`, `static`, which can run beside them, and `others`. `--long` has the rest, by
subject.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import changed
import long_checks
from hatch_build import CRATE, UnbuiltError, toolchain

ROOT = Path(__file__).resolve().parent.parent
CARGO_CHECKS = (
    ("crate: format", ["fmt", "--check"]),
    ("crate: tests", ["test", "--locked", "--lib"]),  # .ci/run has pip build the release meanwhile
    ("crate: lint", ["clippy", "--release", "--locked", "--all-targets", "--", "-D", "warnings"]),
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

BUILD_ENGINE = ("-m", "hatchling", "build", "-t", "wheel:editable", "--hooks-only")
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
    ("installs", ["scripts/installs.py"]),
    ("tests of the reference engine", ["-m", "pytest", "-q", "-n", "2", *REFERENCE]),
    ("generated files", ["scripts/generate.py", "--check"]),
    ("site of the documentation", ["scripts/documentation.py", "--check"]),
)
"""The longest first: it ends beside all others."""


_MOST_NAMED = 10
"""Tests that are left out and named: more would hide the outcome."""


class Outcome(NamedTuple):
    """The outcome of a check, with its output if that was not shown meanwhile."""

    name: str
    has_failed: bool
    output: str = ""


def main() -> int:
    """Run the checks of a tier; return 1 if any fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="parts of a tier; all if none")
    tiers = parser.add_mutually_exclusive_group()
    tiers.add_argument(
        "--changed", nargs="?", const="HEAD", metavar="BASE", help="since a commit (HEAD)"
    )
    tiers.add_argument("--long", action="store_true", help=", ".join(long_checks.PARTS))
    arguments = parser.parse_args()
    names = long_checks.PARTS if arguments.long else () if arguments.changed else PARTS
    if unknown := {*arguments.parts} - {*names}:
        parser.error(f"{', '.join(sorted(unknown))}: parts are {', '.join(names) or 'not for it'}")
    parts = arguments.parts or [*names]
    if arguments.changed:
        outcomes = _changed(changed.changed_files(arguments.changed))
    else:
        outcomes = _long(parts) if arguments.long else _gate(parts)
    failed = [outcome.name for outcome in outcomes if outcome.has_failed]
    passed = f"all checks passed: {', '.join(parts) or 'of what changed'}"
    print(f"== failed: {', '.join(failed)}" if failed else f"== {passed}")
    return 1 if failed else 0


def _gate(parts: list[str]) -> list[Outcome]:
    outcomes = [_shown(*TESTS)] if "tests" in parts else []
    is_static = "static" in parts
    checks = (*(STATIC if is_static else ()), *(OTHERS if "others" in parts else ()))
    return outcomes + _two_at_a_time([_crate] if is_static else [], checks)


def _changed(names: list[str]) -> list[Outcome]:
    """Check what changed, and say which of its tests are left to all checks."""
    selection = changed.select(names)
    count, others = len(selection.chosen), selection.others
    print(f"== {len(names)} files changed: {count} files of tests, {selection.seconds:.0f} s")
    if others:
        print(f"-- left to all checks: {', '.join(others[:_MOST_NAMED])}", end="")
        print(f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else "")
    sources = changed.python_files(names)
    lint = (("lint", ["-m", "ruff", "check", *sources]),) if sources else ()
    form = (("format", ["-m", "ruff", "format", "--diff", "-q", *sources]),) if sources else ()
    types = (("types", ["-m", "mypy"]),) if any(map(changed.mirror_of, sources)) else ()
    crate = [name for name in names if name.startswith(f"{CRATE}/")]
    outcomes = _two_at_a_time([_crate] if crate else [], (*lint, *form, *types))
    if crate and _is_engine_older(crate):
        print(f"== engine\n-- it is older than the crate: python {' '.join(BUILD_ENGINE)}")
        outcomes.append(Outcome("engine", has_failed=True))
    if any(outcome.has_failed for outcome in outcomes):
        print("-- tests run once these pass; ruff format and ruff check --fix mend most of lint")
        return outcomes
    return [*outcomes, _shown("tests", ["-m", "pytest", "-q", "-n", "2", *selection.chosen])]


def _is_engine_older(sources: list[str]) -> bool:
    """Tell whether the engine in the tree was built before one of these files changed."""
    built = [path.stat().st_mtime for path in ROOT.glob("core/kraftops/engine/_native*.so")]
    return bool(built) and max(built) < max((ROOT / name).stat().st_mtime for name in sources)


def _long(parts: list[str]) -> list[Outcome]:
    environment = {"PYTHONPATH": str(ROOT)}
    return [
        _shown(
            f"{part}: {' '.join(command.arguments)}",
            list(command.arguments),
            command.environment | environment,
        )
        for part in parts
        for command in long_checks.PARTS[part]
    ]


def _two_at_a_time(
    several: Iterable[Callable[[], list[Outcome]]], checks: Iterable[tuple[str, list[str]]]
) -> list[Outcome]:
    """Run checks, most of which use one processor, and print what they say, in order."""
    with ThreadPoolExecutor(2) as pool:
        first = [pool.submit(function) for function in several]
        then = [pool.submit(_checked, *check) for check in checks]
        outcomes = []
        for outcome in chain(
            chain.from_iterable(done.result() for done in first), (done.result() for done in then)
        ):
            print(f"== {outcome.name}\n{outcome.output}", end="", flush=True)
            outcomes.append(outcome)
    return outcomes


def _shown(name: str, arguments: list[str], environment: dict[str, str] | None = None) -> Outcome:
    """Run a check, and show its output meanwhile."""
    print(f"== {name}", flush=True)
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | (environment or {}), check=False)
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
