"""Run every check of the project with this interpreter: tests, lint, types, generated files.

`--no-tests` leaves the tests out.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CHECKS = (
    ("tests", ["-m", "pytest", "-n", "2"]),
    ("lint", ["-m", "ruff", "check"]),
    ("format", ["-m", "ruff", "format", "--check"]),
    ("types", ["-m", "mypy"]),
    ("import direction", ["-m", "pytest", "-q", "tests/test_imports.py"]),
    ("generated files", ["scripts/generate.py", "--check"]),
)


def main() -> int:
    """Run the checks in order; return 1 if any fails, after all of them ran."""
    failed = []
    for name, arguments in CHECKS:
        if name == "tests" and "--no-tests" in sys.argv:
            continue
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, *arguments], cwd=ROOT, check=False).returncode:
            failed.append(name)
    print(f"== failed: {', '.join(failed)}" if failed else "== all checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
