"""A real cluster on loopback: code is shipped, workers write their parts, some and all are lost."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.spark import compare_local as sameness
from tests.helpers.spark.cluster import running_cluster
from tests.helpers.spark.compare_local import LOG
from tests.helpers.tools.console import run_command

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.spark


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_answers_are_the_local_ones_while_workers_are_lost(tmp_path: Path) -> None:
    """Dump, find and check, what workers without kraftops lack, and who is killed, in one session."""
    pytest.importorskip("pyspark")
    with running_cluster(tmp_path) as cluster:
        bare = [cluster.environment["PYSPARK_PYTHON"], "-c", "import cramjam, pyarrow, kraftops"]
        refusal = subprocess.run(
            bare,
            capture_output=True,
            text=True,
            env={**cluster.environment, "PYTHONPATH": str(tmp_path)},
            check=False,
        )
        processes = [str(one.pid) for one in (cluster.process, *cluster.workers)]

        done = subprocess.run(
            [sys.executable, "-m", sameness.__name__, cluster.master, str(tmp_path), *processes],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=cluster.environment,
            timeout=400,
            check=False,
        )

    assert refusal.stderr.endswith("No module named 'kraftops'\n")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-4000:]


def test_local_path_is_refused(tmp_path: Path) -> None:
    args = ("--spark", "--master", "spark://127.0.0.1:7077", "--output", str(tmp_path / "o"))

    done = run_command(*args, LOG)

    assert done.code == 1
    assert "is a path of this machine" in done.err
    assert "--shared-paths" in done.err
