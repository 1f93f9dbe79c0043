"""Scripts that `spark-submit` runs: the notebook of the guide, and our own commands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kraftops.spark.session.launch import java_home
from tests.helpers.logs.corpus_rows import FLAGS, parsed
from tests.helpers.logs.segments import IN
from tests.helpers.spark.compare_local import parts
from tests.helpers.spark.java import java_options
from tests.helpers.tools.console import ENVIRONMENT, run_here

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "tests/helpers/spark/notebook.py"
GUIDE = ROOT / "docs/guides/spark.md"
LOG = str(IN / "meta/00000000000000000000.log")
BOTH = """
import runpy, sys
argv, sys.argv = sys.argv, [sys.argv[1], sys.argv[-1]]
runpy.run_path(sys.argv[0], run_name="__main__")
sys.argv = [argv[0], *argv[2:]]
from kraftops_cli.main import kafka_dump_log as run; run()
"""
"""The second is begun where the first has stopped its session."""

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def table(text: str, title: str) -> list[list[str]]:
    """Return the cells of a table that Spark has drawn, without its head."""
    lines = text.split(f"{title}\n")[1].split("\n\n", maxsplit=1)[0].splitlines()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if line[:1] == "|"
    ]
    return rows[1:]


def path_without_this_python() -> str:
    """Return PATH as where a virtual environment is not activated."""
    here = str(Path(sys.executable).parent)
    return os.pathsep.join(one for one in os.environ["PATH"].split(os.pathsep) if one != here)


@pytest.mark.long
def test_notebook_and_command_answer_from_the_records(tmp_path: Path) -> None:
    """The notebook has workers run its own Python; the master is that of `spark-submit`."""
    pyspark = pytest.importorskip("pyspark")
    rows = parsed(run_here(FLAGS["metadata"], "--format", "json", LOG).text)
    changes = [row for row in rows if row["type"] == "PARTITION_CHANGE_RECORD"]
    leaders = [row["value"]["leader"] for row in changes if row["value"].get("leader", -2) >= 0]
    script = tmp_path / "both.py"
    script.write_text(BOTH)
    submit = str(Path(pyspark.__path__[0]) / "bin/spark-submit")
    arguments = [str(SCRIPT), FLAGS["metadata"], "--spark", "--output", "out", LOG]

    done = subprocess.run(
        [submit, "--master", "local[2]", str(script), *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            **ENVIRONMENT,
            "JAVA_HOME": java_home(os.environ, str(tmp_path / "java")),
            "JDK_JAVA_OPTIONS": java_options(),
            "PATH": path_without_this_python(),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        },
        timeout=200,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-2000:]
    assert parts(tmp_path / "out") == run_here(FLAGS["metadata"], LOG).out
    types = table(done.stdout, "records per type and day")
    assert sum(int(row[2]) for row in types) == sum(row["kind"] == "metadata" for row in rows)
    assert sum(int(row[1]) for row in table(done.stdout, "partition changes per hour")) == len(
        changes
    )
    assert {
        int(row[0]): int(row[1]) for row in table(done.stdout, "leader elections per broker")
    } == {broker: leaders.count(broker) for broker in set(leaders)}


def test_guide_shows_the_script() -> None:
    shown = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)

    body = SCRIPT.read_text().split("\n\n", 1)[1]
    assert body in shown
    assert "get_json_object" not in body
