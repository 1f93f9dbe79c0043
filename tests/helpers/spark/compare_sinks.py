"""Compare tables that `--sink` makes, on any master, with the rows of the local tool.

python -m tests.helpers.spark.compare_sinks KIND MASTER DIRECTORY
"""

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kraftops.dump.scan.arrow import LEAST_MS, MOST_MS
from kraftops.spark.session.session import started
from kraftops.spark.session.settings import Settings
from tests.helpers.spark.cluster import CONF
from tests.helpers.spark.compare_local import CORPUS, LOG, METADATA, SOME
from tests.helpers.spark.lakes import lake_conf
from tests.helpers.tools.console import run_here

_SOME_TYPES = (METADATA, "--type", "topic,partition", LOG)


def compare(spark: Any, kind: str, directory: Path) -> None:
    """Compare a whole corpus, a table in directories by type, and one that is replaced."""
    place = str(directory / "all")
    _same(spark, kind, place, CORPUS, SOME)
    _same(spark, kind, str(directory / "by_type"), (METADATA, LOG), ("--partition-by", "type"))
    again = run_here("--spark", "--sink", kind, "--output", place, *_SOME_TYPES)
    assert again.code == 3, again.err
    assert "exists" in again.err
    _same(spark, kind, place, _SOME_TYPES, ("--overwrite",))
    query = "SELECT type, count(*) AS n FROM log GROUP BY type"
    counts = str(directory / "counts")
    done = run_here("--spark", "--sink", kind, "--sql", query, "--output", counts, *_SOME_TYPES)
    assert done.code == 0, done.err
    rows = spark.read.format(kind).load(counts).collect()
    assert {row.type: row.n for row in rows} == {
        row.type: row["count"]
        for row in spark.read.format(kind).load(place).groupBy("type").count().collect()
    }
    assert len(rows) == 2


def _same(
    spark: Any, kind: str, place: str, args: tuple[str, ...], spark_args: tuple[str, ...]
) -> None:
    local = f"{place}-local"
    expected = run_here("--format", "parquet", "--overwrite", "--output", local, *args)
    done = run_here("--spark", "--sink", kind, *args, *spark_args, "--output", place)
    assert done.code == expected.code, done.err
    wanted = pq.read_table(local)
    found = spark.read.format(kind).load(place).select(*wanted.column_names).toArrow()
    rows, other = map(_rows, (wanted, found))
    assert len(rows) > 10
    assert [row for row, there in zip(rows, other, strict=True) if row != there][:3] == []


def _rows(table: pa.Table) -> list[str]:
    """Return rows, in order; times in ms, as null where Spark has none."""
    at = table.column_names.index("timestamp")
    unit = 1000 if table.schema.field(at).type.unit == "us" else 1
    plain = table.set_column(at, "timestamp", table.column(at).cast(pa.int64())).to_pylist()
    for row in plain:
        ms = None if row["timestamp"] is None else row["timestamp"] // unit
        row["timestamp"] = None if ms is None or not LEAST_MS <= ms <= MOST_MS else ms
    return sorted(map(repr, plain))


def main() -> None:
    """Start Spark, and compare."""
    kind, master, directory = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    is_connect = master.startswith("sc:")  # a server has its own configuration
    conf = () if is_connect else (*CONF, *lake_conf(kind, directory).items())
    with started(Settings(master, conf)) as session:
        compare(session.spark, kind, directory)


if __name__ == "__main__":
    main()
