"""A real cluster on loopback: code is shipped, workers write their parts, one may crash."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.spark import compare_local as sameness
from tests.helpers.spark.cluster import CONF, Cluster, running_cluster
from tests.helpers.spark.compare_local import LOG, METADATA, SHORT_LOG, SMALLEST, parts
from tests.helpers.tools.console import DUMP_LOG, Done, run_here

ROOT = Path(__file__).parents[3]

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    pytest.importorskip("pyspark")
    with running_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


def command(cluster: Cluster, *args: str) -> list[str]:
    """Return the command line of a dump on the cluster."""
    conf = [text for name, value in CONF for text in ("--conf", f"{name}={value}")]
    return [DUMP_LOG, "--spark", "--master", cluster.master, *conf, *args]


def run(cluster: Cluster, *args: str) -> Done:
    """Run a dump on the cluster."""
    done = subprocess.run(
        command(cluster, *args),
        capture_output=True,
        env=cluster.environment,
        timeout=100,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())


def test_answers_are_the_local_ones(cluster: Cluster, tmp_path: Path) -> None:
    """Dump, find and check, and what workers lack, in one session."""
    done = subprocess.run(
        [sys.executable, "-m", sameness.__name__, cluster.master, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=cluster.environment,
        timeout=200,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-4000:]


def test_killed_worker_is_replaced(cluster: Cluster, tmp_path: Path) -> None:
    """A machine goes down while it writes; its splits go to the other one."""
    logs = [SHORT_LOG] * 3
    local = run_here(METADATA, "--format", "json", *logs)
    output = tmp_path / "out"
    args = ["--shared-paths", METADATA, "--format", "json", "--output", str(output)]
    full = command(cluster, *args, *SMALLEST, *logs)
    with subprocess.Popen(full, env=cluster.environment, stderr=subprocess.PIPE) as process:
        assert process.stderr
        latest = time.monotonic() + 120
        while time.monotonic() < latest and process.poll() is None:
            if len(list(tmp_path.glob(".out.*.tmp/part-*"))) > 10:
                break
            time.sleep(0.01)
        executors = cluster.executors()
        for pid in next(iter(executors.items())):
            os.kill(pid, signal.SIGKILL)
        is_done = output.exists()
        errors = process.stderr.read().decode()
        code = process.wait()
    cluster.start_worker()
    cluster.wait_for_workers()

    assert (len(executors), is_done) == (2, False)
    assert (code, errors.splitlines()[:-1]) == (0, [])
    assert parts(output) == local.out


def test_job_without_a_worker_ends(cluster: Cluster) -> None:
    """The job needs more memory than any worker has; Spark itself would wait for ever."""
    wanted = ("--conf", "spark.executor.memory=4g", "--conf", "spark.kraftops.workerSeconds=2")

    done = run(cluster, "--shared-paths", "--check", LOG, *wanted)

    assert (done.code, done.out, len(done.errors)) == (5, b"", 2)
    assert done.errors[0].endswith(f"no worker of {cluster.master} has begun a task in 2 s")
    assert "workerSeconds=N" in done.errors[1]


def test_local_path_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    done = run(cluster, "--output", str(tmp_path / "o"), LOG)

    assert done.code == 1
    assert "is a path of this machine" in done.err
    assert "--shared-paths" in done.err
