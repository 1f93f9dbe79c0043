"""Tables of Delta and Iceberg; a format of Spark's own stands for their writers here."""

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
from tests.helpers.tools.console import run_here

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
        (("--sql", "SELECT 1"), "--sink delta needs --output"),
        (("--output", "o", "--format", "json"), "--sink delta and --format json"),
        (("--output", "o", "--single-file"), "--sink and --single-file"),
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
