"""A standalone cluster on loopback, from the package that pip installs."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from kraftops.spark.session.launch import java_home
from tests.helpers.spark.java import java_options
from tests.helpers.tools.console import ENVIRONMENT

_PYTHON = """\
#!/bin/sh
PYTHONPATH="$PYTHONPATH:{packages}" exec '{python}' -S "$@"
"""
CONF = (
    ("spark.driver.host", "127.0.0.1"),
    ("spark.driver.bindAddress", "127.0.0.1"),
    ("spark.driver.memory", "512m"),
    ("spark.executor.memory", "600m"),
)
"""For jobs on a cluster of this machine's."""


@dataclass(frozen=True)
class Cluster:
    """A master, its workers' processes, and what it and jobs have as their environment."""

    master: str
    process: subprocess.Popen[bytes]
    environment: dict[str, str]
    directory: Path
    stack: ExitStack
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_worker(self, **variables: str) -> None:
        """Start a worker of one core, with some more variables in its environment."""
        number = len(self.workers)
        place = self.directory / f"work-{number}"
        options = ["--host", "127.0.0.1", "--webui-port", str(free_port())]
        options += ["-c", "1", "-m", "1g", "-d", str(place), self.master]
        log = self.directory / f"worker-{number}.log"
        environment = {**self.environment, **variables}
        self.workers.append(_start(self.stack, "worker.Worker", options, environment, log))

    def wait_for_workers(self) -> None:
        """Wait until the master knows all workers."""
        log = self.directory / "master.log"
        text = "Registering worker"
        wait(lambda: log.read_text(errors="replace").count(text) >= len(self.workers), log)

    def executors(self) -> dict[int, int]:
        """Return the processes that work for a job, by their workers'."""
        return executors_of(worker.pid for worker in self.workers)


def executors_of(workers: Iterable[int]) -> dict[int, int]:
    """Return the processes that work for a job, by the workers that have started them."""
    found, ours = {}, {*workers}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes()
            parent = re.search(r"PPid:\s+(\d+)", (entry / "status").read_text())
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in line and parent and int(parent[1]) in ours:
            found[int(parent[1])] = int(entry.name)
    return found


def bare_python(directory: Path, *lacks: str) -> Path:
    """Write a program that is this Python with its packages, but without kraftops and others.

    What is installed editably is in `.pth` files, which only `site` looks at.
    """
    name = "-".join(("without", *lacks))
    path, packages = directory / name, directory / f"packages-{name}"
    packages.mkdir()
    places = [Path(place) for place in sys.path if Path(place).name.endswith("-packages")]
    for package in chain.from_iterable(place.iterdir() for place in places):
        link = packages / package.name
        if not package.name.startswith(("kraftops", *lacks)) and not link.is_symlink():
            link.symlink_to(package)  # the first of a name is what this Python imports
    path.write_text(_PYTHON.format(packages=packages, python=sys.executable))
    path.chmod(0o755)
    return path


def environment_of(directory: Path) -> dict[str, str]:
    """Return the environment of jobs whose workers have a Python without kraftops."""
    return {
        **ENVIRONMENT,
        "JAVA_HOME": java_home(os.environ, str(directory / "java")),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": str(bare_python(directory)),
        "JDK_JAVA_OPTIONS": java_options(),
    }


@contextmanager
def running_cluster(directory: Path, workers: int = 2) -> Iterator[Cluster]:
    """Start a cluster, and stop it by the ids of its processes."""
    environment = environment_of(directory)
    port = free_port()
    log = directory / "master.log"
    options = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port())]
    with ExitStack() as stack:
        master = _start(stack, "master.Master", options, environment, log)
        cluster = Cluster(f"spark://127.0.0.1:{port}", master, environment, directory, stack)
        for _ in range(workers):  # they try until there is a master
            cluster.start_worker()
        cluster.wait_for_workers()
        yield cluster


def _start(
    stack: ExitStack, daemon: str, options: list[str], environment: dict[str, str], log: Path
) -> subprocess.Popen[bytes]:
    import pyspark

    program = str(Path(pyspark.__path__[0]) / "bin/spark-class")
    out = stack.enter_context(log.open("wb"))
    command = [program, f"org.apache.spark.deploy.{daemon}", *options]
    process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
    stack.callback(stop, process)
    return process


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """Return a port that nobody uses."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port


def wait(is_true: Callable[[], bool], log: Path) -> None:
    """Wait until something is true; fail with the content of *log*."""
    latest = time.monotonic() + 300
    while time.monotonic() < latest:
        if is_true():
            return
        time.sleep(0.1)
    raise AssertionError(log.read_text(errors="replace"))
