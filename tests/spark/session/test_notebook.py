"""Twenty tasks of a notebook, with tables of Delta and Iceberg on the releases that have them."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.helpers.spark import notebook_tasks
from tests.helpers.spark.cluster import running_cluster
from tests.helpers.spark.connect import ROOT, environment_of, release_python, running_server
from tests.helpers.spark.lakes import LAKES, lake_conf

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.long]


def do_tasks(python: str, environment: dict[str, str], *args: str) -> None:
    done = subprocess.run(
        [python, "-m", notebook_tasks.__name__, *args],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=350,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-4000:]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("is_connect", [False, True], ids=["classic", "connect"])
@pytest.mark.parametrize("lake", ["parquet", *LAKES])
def test_tasks_have_the_local_answers(lake: str, tmp_path: Path, *, is_connect: bool) -> None:
    python = release_python(LAKES[lake].release) if lake in LAKES else sys.executable
    with ExitStack() as stack:
        conf = lake_conf(lake, tmp_path) if lake in LAKES else {}
        server = running_server(tmp_path, python, python, conf, has_package=True)
        master = stack.enter_context(server) if is_connect else "local[2,4]"
        do_tasks(python, environment_of(tmp_path, python), master, str(tmp_path), lake)


@pytest.mark.timeout(900)
def test_tasks_have_the_local_answers_on_a_cluster_whose_executor_is_killed(
    tmp_path: Path,
) -> None:
    with running_cluster(tmp_path) as cluster:
        workers = [str(worker.pid) for worker in cluster.workers]
        environment = {
            **cluster.environment,
            "PYTHONPATH": environment_of(tmp_path, sys.executable)["PYTHONPATH"],
        }
        do_tasks(sys.executable, environment, cluster.master, str(tmp_path), "parquet", *workers)
