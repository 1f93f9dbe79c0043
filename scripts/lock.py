"""Write the lock of what tests are run with: each package with its version and its hashes.

It asks pip, with its own configuration, what it would install into each Python that is here. Files
of other platforms are not in the lock.
"""

import json
import platform
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from installs import REPOSITORY, pythons

LOCK = REPOSITORY / "requirements.lock"
_HEAD = """\
# What .ci/run tests with: `python scripts/lock.py` writes it. It is for
{platforms}
# pip install --require-hashes -r requirements.lock
"""


def requirements() -> list[str]:
    """Return what kraftops, its extras and its tests need."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    ours = project["project"]
    extras = (one for extra in ours["optional-dependencies"].values() for one in extra)
    groups = (one for group in project["dependency-groups"].values() for one in group)
    tools = (one for one in groups if isinstance(one, str))  # not those that name a group
    return [*ours["dependencies"], *extras, *tools]


def chosen(python: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, version and SHA-256 of each file that pip would install into a Python."""
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--dry-run"]
    command = [*pip, "--ignore-installed", "--report", "-", *requirements()]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    for one in json.loads(done.stdout)["install"]:
        digest = one["download_info"]["archive_info"]["hashes"]["sha256"]
        yield canonicalize_name(one["metadata"]["name"]), one["metadata"]["version"], digest


def main() -> int:
    """Write the lock; where Pythons get several versions of a package, each says for which."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    there = pythons()
    for minor, python in there.items():
        for name, version, digest in chosen(python):
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
    print(f"{len(lines)} packages for Python {', '.join(there)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
