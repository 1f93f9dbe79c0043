"""Tables of Delta and Iceberg; in the gate a format of Spark's own stands for their writers.

`KRAFTOPS_SPARK_SINKS=delta,iceberg` has the writers themselves, with the newest PySpark that they support.
"""

import os
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kraftops.dump.sources.names import expand
from kraftops.fileio.output import ExistsError
from kraftops.query.query import Query
from kraftops.spark.session.session import Session
from kraftops.spark.sql import sinks
from kraftops.spark.sql.sinks import Sink, is_table_name, write_sink
from kraftops.spark.sql.tables import answer, log_table, observed
from kraftops_cli.spark.options import SparkRequest
from tests.helpers.logs.segments import IN
from tests.helpers.spark import compare_sinks
from tests.helpers.spark.connect import ROOT, environment_of, release_python, running_server
from tests.helpers.spark.lakes import LAKES, lake_conf
from tests.helpers.tools.console import run_here

WRITERS = [one for one in os.environ.get("KRAFTOPS_SPARK_SINKS", "").split(",") if one]
LOG = str(IN / "user/none/00000000000000000000.log")


def test_iceberg_knows_tables_by_names_and_delta_by_paths_alone() -> None:
    names = ("lake.db.log", "./log", "s3://b/log")

    assert [is_table_name("iceberg", name) for name in names] == [True, False, False]
    assert not any(is_table_name("delta", name) for name in names)


def test_sink_is_configured_unless_somebody_has_done_it() -> None:
    site = (("spark.sql.extensions", "org.example.Other"),)

    conf = dict(SparkRequest(sink="delta", site=site).settings().conf)

    assert list(conf) == ["spark.sql.catalog.spark_catalog"]
    assert SparkRequest(site=site).settings().conf == ()


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("--sql", "SELECT 1"), "--sink needs --output"),
        (("--output", "o", "--format", "json"), "--sink delta and --format json"),
        (("--output", "o", "--single-file"), "--sink and --single-file"),
        (("--output", "o", "--summary"), "--sink and --summary"),
    ],
)
def test_what_a_table_cannot_be_is_refused(args: tuple[str, ...], reason: str) -> None:
    done = run_here("--spark", "--sink", "delta", *args, LOG)

    assert done.code == 1
    assert reason in done.errors[0]


@pytest.mark.spark
def test_missing_writer_is_named_with_its_package(session: Session, tmp_path: Path) -> None:
    done = run_here("--spark", "--sink", "iceberg", "--output", str(tmp_path / "out"), LOG)

    assert done.code == 1
    assert "has no writer of iceberg on its class path" in done.errors[-2]
    assert "org.apache.iceberg:iceberg-spark-runtime-" in done.errors[-1]
    assert not (tmp_path / "out").exists()


@pytest.mark.spark
def test_rows_are_written_counted_and_replaced_only_if_asked(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sinks.SINKS, "parquet", Sink("none"))
    output = str(tmp_path / "out")
    done = run_here("--format", "json", LOG)
    sources, query = expand([LOG]), Query(form="parquet", deep_iteration=True)
    table, counts = observed(log_table(session, sources, query))

    write_sink(table, "parquet", output, overwrite=False, partition_by=None)

    assert counts().records == len(done.text.splitlines()) == pq.read_table(output).num_rows
    with pytest.raises(ExistsError, match="out exists"):
        write_sink(table, "parquet", output, overwrite=False, partition_by=None)
    some = answer(session, sources, query, "SELECT offset, topic FROM log WHERE offset < 3")
    write_sink(some, "parquet", output, overwrite=True, partition_by=None)
    assert sorted(pq.read_table(output).column("offset").to_pylist()) == [0, 1, 2]


@pytest.mark.parametrize("is_connect", [False, True], ids=["classic", "connect"])
@pytest.mark.parametrize("kind", WRITERS)
def test_tables_have_the_rows_of_the_local_tool(
    kind: str, tmp_path: Path, *, is_connect: bool
) -> None:
    python = release_python(LAKES[kind].release)
    with ExitStack() as stack:
        conf = lake_conf(kind, tmp_path)
        server = running_server(tmp_path, python, python, conf)
        master = stack.enter_context(server) if is_connect else "local[2,4]"
        done = subprocess.run(
            [python, "-m", compare_sinks.__name__, kind, master, str(tmp_path)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=environment_of(tmp_path, python),
            timeout=500,
            check=False,
        )

    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-4000:]
