"""How tests run Kafka's classes in a JVM."""

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
    """Return what the installed Java says it is, and whether it can compile."""
    version, modules = (
        subprocess.run(["java", option], capture_output=True, text=True, check=False)
        for option in ("-version", "--list-modules")
    )
    compiler = re.search(r"^jdk\.compiler@(\d+)", modules.stdout, re.MULTILINE)
    return version.stderr + (compiler[0] if compiler else "")


def java_release() -> int:
    """Return the number of the installed Java's release; 0 if it is none that counts like that."""
    found = re.search(r'version "(\d+)', java_version())
    return int(found[1]) if found else 0


def has_compiler() -> bool:
    """Tell whether the installed Java runs source code too."""
    return "jdk.compiler@" in java_version()
