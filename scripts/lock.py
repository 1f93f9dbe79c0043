"""Write the locks of what tests are run with, of what is in the tree without Python, of its linker.

They have each package with its version and its hashes. It asks pip, with its own configuration,
what it would install into each Python that is here, and into the interpreter of the tree. Files of
other platforms are not in the locks.
"""

import json
import platform
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packaging.utils import canonicalize_name

from installs import REPOSITORY, pythons

LOCK = REPOSITORY / "requirements.lock"
TREE_LOCK = REPOSITORY / "packaging/tree.lock"
BUILDERS_LOCK = REPOSITORY / "packaging/builders.lock"
_HEAD = """\
# What .ci/run tests with: `python scripts/lock.py` writes it. It is for
{platforms}
# pip install --require-hashes -r requirements.lock
"""


_TREE_HEAD = """\
# What is in the tree without Python, beside kraftops: `python scripts/lock.py` writes it.
"""
_BUILDERS_HEAD = """\
# What links the tree and the wheel for an old glibc: `python scripts/lock.py` writes it.
# pip install --require-hashes -r packaging/builders.lock
"""
TREE_OPTIONS = [  # of pip: files for the interpreter of the tree, on glibc 2.28 and later
    *("--only-binary", ":all:", "--python-version", "3.13"),
    *(
        word
        for minor in range(28, 16, -1)
        for word in ("--platform", f"manylinux_2_{minor}_x86_64")
    ),
]


def _project() -> dict[str, Any]:
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))


def requirements() -> list[str]:
    """Return what kraftops, its extras and its tests need."""
    project = _project()
    ours = project["project"]
    extras = (one for extra in ours["optional-dependencies"].values() for one in extra)
    groups = (one for group in project["dependency-groups"].values() for one in group)
    tools = (one for one in groups if isinstance(one, str))  # not those that name a group
    return [*ours["dependencies"], *extras, *tools]


def chosen(python: str, *words: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, version and SHA-256 of each file that pip would install into a Python."""
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--dry-run"]
    command = [*pip, "--ignore-installed", "--report", "-", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    for one in json.loads(done.stdout)["install"]:
        digest = one["download_info"]["archive_info"]["hashes"]["sha256"]
        yield canonicalize_name(one["metadata"]["name"]), one["metadata"]["version"], digest


def write_lock(lock: Path, head: str, *words: str) -> None:
    """Write what pip would install by itself, each in one version."""
    with TemporaryDirectory() as nowhere:
        files = sorted(chosen(sys.executable, "--target", nowhere, *words))
    lines = (f"{name}=={version} --hash=sha256:{digest}\n" for name, version, digest in files)
    lock.write_text(head + "".join(lines), encoding="utf-8")


def main() -> int:
    """Write the locks; where Pythons get several versions of a package, each says for which."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    there = pythons()
    for minor, python in there.items():
        for name, version, digest in chosen(python, *requirements()):
            found[name, version][minor] = digest
    lines = []
    for (name, version), digests in sorted(found.items()):
        marker = ""
        if len(digests) < len(there):
            marker = " ; " + " or ".join(f"python_version == '{minor}'" for minor in digests)
        hashes = "".join(f" \\\n    --hash=sha256:{one}" for one in sorted({*digests.values()}))
        lines.append(f"{name}=={version}{marker}{hashes}\n")
    here = f"{platform.system()} {platform.machine()}"
    head = _HEAD.format(platforms="\n".join(f"# Python {minor}, {here}" for minor in there))
    LOCK.write_text(head + "".join(lines), encoding="utf-8")
    write_lock(TREE_LOCK, _TREE_HEAD, *TREE_OPTIONS, *_project()["project"]["dependencies"])
    write_lock(BUILDERS_LOCK, _BUILDERS_HEAD, "ziglang", "cargo-zigbuild")
    print(f"{len(lines)} packages for Python {', '.join(there)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
