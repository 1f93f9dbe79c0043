"""List the crates of the compiled engine; fail if a licence is not permissive."""

import json
import re
import subprocess
import sys
from pathlib import Path

CRATE = Path(__file__).resolve().parent.parent / "core" / "native"
ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
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


def main() -> int:
    """Print a line for each crate; return 1 if any is not allowed."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    done = subprocess.run(command, cwd=CRATE, stdout=subprocess.PIPE, check=True)
    refused = 0
    for crate in sorted(json.loads(done.stdout)["packages"], key=lambda crate: str(crate["name"])):
        licence = crate["license"] or "none"
        note = "" if allowed(licence) else "  NOT ALLOWED"
        refused += bool(note)
        print(f"{crate['name']:22} {crate['version']:10} {licence}{note}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
