"""Workers without kraftops, in processes of their own: the same answers as locally."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.spark import compare_local as sameness
from tests.helpers.spark.cluster import environment_of

ROOT = Path(__file__).parents[3]

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_local_cluster(tmp_path: Path) -> None:
    """The corpus, a split for each batch, find and check, in one go."""
    pytest.importorskip("pyspark")
    environment = environment_of(tmp_path)
    bare = [environment["PYSPARK_PYTHON"], "-c", "import cramjam, pyarrow, kraftops"]
    refusal = subprocess.run(bare, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert refusal.stderr.endswith("No module named 'kraftops'\n")

    done = subprocess.run(
        [sys.executable, "-m", sameness.__name__, "local-cluster[2,1,1024]", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=200,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-4000:]
