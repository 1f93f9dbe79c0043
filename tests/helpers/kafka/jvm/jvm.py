"""The installed Java, and the class path of a Kafka release."""

import re
import subprocess
from functools import cache
from pathlib import Path

# Nothing here runs for long, and there are more JVMs than processors.
OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


def classpath(jars: Path) -> str:
    """Return the class path of a release, with one binding of SLF4J where the release has two."""
    found = (str(jar) for jar in jars.glob("*.jar") if not jar.name.startswith("slf4j-reload4j"))
    return ":".join(sorted(found))


@cache
def java_version() -> str:
    """Return the version text of the installed Java and of its compiler, if any."""
    version, modules = (
        subprocess.run(["java", option], capture_output=True, text=True, check=False)
        for option in ("-version", "--list-modules")
    )
    compiler = re.search(r"^jdk\.compiler@(\d+)", modules.stdout, re.MULTILINE)
    return version.stderr + (compiler[0] if compiler else "")


def java_release() -> int:
    """Return the feature release of the installed Java; 0 if it is unknown."""
    found = re.search(r'version "(\d+)', java_version())
    return int(found[1]) if found else 0


def has_compiler() -> bool:
    """Tell whether the installed Java runs source code too."""
    return "jdk.compiler@" in java_version()
