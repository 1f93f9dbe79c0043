"""A standalone cluster on loopback, from the package that pip installs."""

import os
import re
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from kraftops.spark.java import java_home

_PYTHON = """\
#!/bin/sh
PYTHONPATH="$PYTHONPATH:{packages}" exec '{python}' -S "$@"
"""


@dataclass(frozen=True)
class Cluster:
    """A master, its workers' processes, and the Python that they run, which has no kraftops."""

    master: str
    workers: list[subprocess.Popen[bytes]]
    environment: dict[str, str]

    def executors(self) -> list[int]:
        """Return the processes that work for a job, by what /proc says."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                line = (entry / "cmdline").read_bytes()
                parent = re.search(r"PPid:\s+(\d+)", (entry / "status").read_text())
            except OSError:
                continue
            ours = {worker.pid for worker in self.workers}
            if b"CoarseGrainedExecutorBackend" in line and parent and int(parent[1]) in ours:
                found.append(int(entry.name))
        return found


def bare_python(directory: Path) -> Path:
    """Write a program that is this Python with its packages, but none that is installed editably.

    Those are in `.pth` files, which only `site` looks at.
    """
    path = directory / "python"
    packages = sysconfig.get_paths()["purelib"]
    path.write_text(_PYTHON.format(packages=packages, python=sys.executable))
    path.chmod(0o755)
    return path


@contextmanager
def running_cluster(directory: Path, workers: int = 2) -> Iterator[Cluster]:
    """Start a cluster, and stop it by the ids of its processes."""
    import pyspark

    spark_class = str(Path(pyspark.__path__[0]) / "bin/spark-class")
    environment = {
        **os.environ,
        "JAVA_HOME": java_home(os.environ, str(directory / "java")),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": str(bare_python(directory)),
        "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    port, web = _free_port(), _free_port()
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        place = "org.apache.spark.deploy"
        options = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(web)]
        command = [spark_class, f"{place}.master.Master", *options]
        _start(stack, command, environment, directory / "master.log")
        _wait_for(port)
        started = []
        for number in range(workers):
            options = ["--host", "127.0.0.1", "--webui-port", str(_free_port())]
            options += ["-c", "1", "-m", "1g", "-d", str(directory / f"work-{number}"), master]
            command = [spark_class, f"{place}.worker.Worker", *options]
            log = directory / f"worker-{number}.log"
            started.append(_start(stack, command, environment, log))
        _wait_until_registered(directory / "master.log", workers)
        yield Cluster(master, started, environment)


def _start(
    stack: ExitStack, command: list[str], environment: dict[str, str], log: Path
) -> subprocess.Popen[bytes]:
    out = stack.enter_context(log.open("wb"))
    process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
    stack.callback(_stop, process)
    return process


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port


def _wait_for(port: int) -> None:
    latest = time.monotonic() + 60
    while time.monotonic() < latest:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the master does not listen")


def _wait_until_registered(log: Path, workers: int) -> None:
    latest = time.monotonic() + 60
    while time.monotonic() < latest:
        if log.read_text(errors="replace").count("Registering worker") >= workers:
            return
        time.sleep(0.1)
    raise AssertionError(log.read_text(errors="replace"))
