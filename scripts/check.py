"""Run every check of the project with this interpreter: crate, tests, lint, types, generated files.

With `--no-tests`, only the tests of the reference engine run.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from hatch_build import CRATE, UnbuiltError, toolchain

ROOT = Path(__file__).resolve().parent.parent
CARGO_CHECKS = (
    ("crate: format", ["fmt", "--check"]),
    ("crate: lint", ["clippy", "--release", "--locked", "--all-targets", "--", "-D", "warnings"]),
    ("crate: tests", ["test", "--release", "--locked", "--lib"]),
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

CHECKS = (
    ("tests", ["-m", "pytest", "-n", "2"]),
    ("tests of the reference engine", ["-m", "pytest", "-q", "-n", "2", *REFERENCE]),
    ("lint", ["-m", "ruff", "check"]),
    ("format", ["-m", "ruff", "format", "--check"]),
    ("types", ["-m", "mypy"]),
    ("types of the build hook", ["-m", "mypy", "scripts/hatch_build.py"]),
    (
        "imports and page",
        ["-m", "pytest", "-q", "tests/test_imports.py", "tests/test_architecture.py"],
    ),
    ("generated files", ["scripts/generate.py", "--check"]),
)


def main() -> int:
    """Run all checks in order; return 1 if any fails."""
    failed = _failed_of_crate()
    for name, arguments in CHECKS:
        if name == "tests" and "--no-tests" in sys.argv:
            continue
        engine = {"KRAFTOPS_ENGINE": "reference"} if "reference" in name else {}
        print(f"== {name}", flush=True)
        if _fails([sys.executable, *arguments], ROOT, engine):
            failed.append(name)
    print(f"== failed: {', '.join(failed)}" if failed else "== all checks passed")
    return 1 if failed else 0


def _failed_of_crate() -> list[str]:
    """Run the checks of the crate if there is a suitable cargo, and return the failed ones."""
    failed = []
    try:
        cargo, missing = toolchain(ROOT / CRATE), ""
    except UnbuiltError as error:
        cargo, missing = "", str(error)
    for name, arguments in CARGO_CHECKS:
        print(f"== {name}", flush=True)
        if missing or (arguments[0] in _COMPONENTS and not shutil.which(f"cargo-{arguments[0]}")):
            print(f"-- skipped: {missing or f'no cargo-{arguments[0]} in PATH'}", flush=True)
        elif _fails([cargo, *arguments], ROOT / CRATE):
            failed.append(name)
    print("== crate: licences", flush=True)
    if missing:
        print(f"-- skipped: {missing}", flush=True)
    elif _fails([sys.executable, "scripts/crate_licences.py"], ROOT):
        failed.append("crate: licences")
    return failed


def _fails(command: list[str], directory: Path, environment: dict[str, str] | None = None) -> bool:
    environment = os.environ | (environment or {})
    return subprocess.run(command, cwd=directory, env=environment, check=False).returncode != 0


if __name__ == "__main__":
    sys.exit(main())
