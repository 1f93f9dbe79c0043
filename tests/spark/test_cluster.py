"""A real cluster on loopback: code travels, workers write their parts, one may die."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console import DUMP_LOG, METADATA_SHELL, Done, run_here
from tests.rowlogs import EVERY_LOG
from tests.segments import IN
from tests.spark.cluster import Cluster, running_cluster

LOG = str(IN / "meta/00000000000000000000.log")
METADATA = "--cluster-metadata-decoder"
_CONF = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "600m",
}

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    pytest.importorskip("pyspark")
    with running_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


def command(cluster: Cluster, *args: str) -> list[str]:
    """Return the command line of a dump on the cluster."""
    conf = [text for name, value in _CONF.items() for text in ("--conf", f"{name}={value}")]
    return [DUMP_LOG, "--spark", "--master", cluster.master, "--shared-paths", *conf, *args]


def run(cluster: Cluster, *args: str) -> Done:
    """Run a dump on the cluster."""
    done = subprocess.run(
        command(cluster, *args),
        capture_output=True,
        env=cluster.environment,
        timeout=300,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())


def joined(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(directory.iterdir()))


def test_every_log_of_the_corpus(cluster: Cluster, tmp_path: Path) -> None:
    arguments = ("--deep-iteration", *map(str, EVERY_LOG))
    local = run_here(*arguments)

    done = run(cluster, "--output", str(tmp_path / "out"), *arguments)

    assert done.errors[:-1] == local.errors
    assert done.code == local.code
    assert joined(tmp_path / "out") == local.out


def test_worker_that_is_killed_costs_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """An executor dies while it writes; its splits go to the other one."""
    logs = [LOG] * 4
    local = run_here(METADATA, "--format", "json", *logs)
    small = ("--conf", "spark.kraftops.splitBytes=1")
    output = tmp_path / "out"
    full = command(cluster, METADATA, "--format", "json", "--output", str(output), *small, *logs)
    with subprocess.Popen(full, env=cluster.environment, stderr=subprocess.PIPE) as process:
        assert process.stderr
        latest = time.monotonic() + 120
        while time.monotonic() < latest and process.poll() is None:
            places = list(tmp_path.glob(".out.*.tmp/part-*"))
            if len(places) > 30:
                break
            time.sleep(0.01)
        executors = cluster.executors()
        os.kill(executors[0], signal.SIGKILL)
        errors = process.stderr.read().decode()
        code = process.wait()

    assert len(executors) == 2
    assert (code, errors.splitlines()[:-1]) == (0, [])
    assert joined(output) == local.out


def test_summary_and_check(cluster: Cluster) -> None:
    damaged = str(IN / "dmg")

    summary = run(cluster, METADATA, "--summary", LOG)
    check = run(cluster, "--check", damaged)

    assert summary.out == run_here(METADATA, "--summary", LOG).out
    assert check.code == 2
    assert len(check.out.splitlines()) > 50


def test_find(cluster: Cluster) -> None:
    words = ["-s", LOG, "--format", "json", "find", "/"]

    full = [METADATA_SHELL, *command(cluster)[1:], *words]
    done = subprocess.run(
        full, capture_output=True, env=cluster.environment, timeout=300, check=False
    )

    local = run_here(*words, program=METADATA_SHELL)
    assert (done.returncode, done.stdout, done.stderr) == (0, local.out, b"")


def test_sql(cluster: Cluster) -> None:
    done = run(cluster, METADATA, "--sql", "SELECT count(*) AS n FROM log", LOG, "--format", "csv")

    rows = run_here(METADATA, "--format", "json", LOG).out.count(b"\n")
    assert (done.code, done.text) == (0, f"n\n{rows}\n")


def test_local_path_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    full = [
        one
        for one in command(cluster, "--output", str(tmp_path / "o"), LOG)
        if one != "--shared-paths"
    ]

    done = subprocess.run(full, capture_output=True, env=cluster.environment, check=False)

    assert done.returncode == 1
    assert b"is a path of this machine" in done.stderr
    assert b"--shared-paths" in done.stderr
