"""The jars of a Kafka release, fetched once by Maven, and the command lines of its tools."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path

POM = Path(__file__).with_name("pom.xml")
CLIENTS_POM = Path(__file__).with_name("clients-pom.xml")
"""With Kafka Streams and `LocalTieredStorage` too."""

# What `kafka-run-class.sh` of Kafka 4.3.1 adds for every tool.
PERFORMANCE_OPTIONS = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
)


def cache_directory() -> Path:
    """Return the cache directory of tests and benchmarks, created if missing."""
    if named := os.environ.get("KRAFTOPS_TEST_CACHE"):
        wanted = Path(named)
    elif base := os.environ.get("XDG_CACHE_HOME"):
        wanted = Path(base, "kraftops-tests")
    else:
        wanted = Path("~/.cache/kraftops-tests").expanduser()
    try:
        wanted.mkdir(parents=True, exist_ok=True)
    except OSError:  # no home, or one that cannot be written
        wanted = Path(tempfile.gettempdir(), "kraftops-tests")
        wanted.mkdir(exist_ok=True)
    return wanted


def kafka_jars(version: str = "4.3.1") -> Path | None:
    """Return the directory of the jars; None, the reason on standard error, if there is none."""
    try:
        return resolved_jars(version)
    except MissingJarsError as missing:
        sys.stderr.write(f"no jars of Kafka {version}: {missing}\n")
        return None


def java_command(jars: Path, main_class: str, *arguments: str, heap: str = "256M") -> list[str]:
    """Return the command that runs a class of *jars* as Kafka's own scripts run their tools."""
    options = [f"-Xmx{heap}", *PERFORMANCE_OPTIONS, "-cp", f"{jars}/*"]
    return ["java", *options, main_class, *arguments]


class MissingJarsError(Exception):
    """Java, Maven or the network is missing."""


def resolved_jars(version: str, pom: Path = POM) -> Path:
    """Return the directory of the jars of Kafka that *pom* names.

    Raises:
        MissingJarsError: there is none, and none can be made.
    """
    name = pom.name.replace("pom.xml", "kafka")
    return copied_jars(f"{name}-{version}-{_checksum(pom):08x}", pom, {"kafka.version": version})


def copied_jars(name: str, pom: Path, properties: Mapping[str, str]) -> Path:
    """Return the directory of *name* in the cache, with what *pom* needs of these properties.

    Raises:
        MissingJarsError: there is none, and none can be made.
    """
    if not shutil.which("java"):
        raise MissingJarsError("java is not installed")
    cache = cache_directory()
    jars = cache / name
    with (cache / "kafka-jars.lock").open("w") as lock:
        # Two processes must not share Maven's own repository either.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jars.is_dir():
            with tempfile.TemporaryDirectory(dir=cache) as scratch:
                copied = Path(scratch, "jars")
                _copy_dependencies(pom, properties, copied)
                copied.rename(jars)  # an interrupted copy is never taken for a whole one
    return jars


def _checksum(pom: Path) -> int:
    texts = (POM,) if pom == POM else (POM, pom)
    return zlib.crc32(b"".join(each.read_bytes() for each in texts))


def _copy_dependencies(pom: Path, properties: Mapping[str, str], directory: Path) -> None:
    if not shutil.which("mvn"):
        raise MissingJarsError("mvn is not installed")
    command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
    command += [f"-D{name}={value}" for name, value in properties.items()]
    command += [f"-DoutputDirectory={directory}"]
    done = subprocess.run(
        command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise MissingJarsError(f"mvn failed: {done.stdout.strip()}")
