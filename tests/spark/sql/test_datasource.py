"""Data source in a session of PySpark."""

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftops.dump.scan.arrow import MOST_MS
from kraftops.spark.session.session import Session
from kraftops.spark.source.table_columns import TABLE_COLUMNS
from tests.helpers.logs.corpus_rows import EVERY_LOG, FLAGS, parsed
from tests.helpers.logs.segments import IN
from tests.helpers.tools.console import run_here
from tests.helpers.tools.distribution import long_after

METADATA = str(IN / "meta/00000000000000000000.log")

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark(session: Session) -> Iterator[Any]:
    """A session that finds the source by itself."""
    session.spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    return session.spark


def read(spark: Any, *paths: str, **options: str) -> Any:
    """Return a table of logs."""
    found = {"decoder": "metadata", **options}
    return spark.read.format("kraftops").options(**found).load(list(paths))


def plain(rows: list[Any]) -> list[dict[str, Any]]:
    """Return rows in the form of JSON."""
    found = [row.asDict(recursive=True) for row in rows]
    for row in found:
        if row["timestamp"] is not None:
            row["timestamp"] = round(row["timestamp"].timestamp() * 1000)
        for name in ("key", "value"):
            value, text = row[name], row.pop(f"{name}Json")
            is_text = value is not None and value.decode("utf-8", "replace").encode() == value
            is_base64 = value is not None and not (is_text and row["kind"] == "user")
            row[f"{name}Encoding"] = "base64" if is_base64 else None
            if text is not None:
                assert value is None
                row[name] = json.loads(text)
            elif value is not None:
                row[name] = b64encode(value).decode() if is_base64 else value.decode()
        for header in row["headers"]:
            header["value"] = None if header["value"] is None else "…"
    return found


def local(*args: str) -> list[dict[str, Any]]:
    """Return what the local tool says in JSON."""
    rows = parsed(run_here("--format", "json", *args).text)
    for row in rows:
        if row["timestamp"] is not None and row["timestamp"] > MOST_MS:
            row["timestamp"] = None  # Spark has no such time
        for header in row["headers"]:
            header["value"] = None if header["value"] is None else "…"
    return rows


def test_rows_are_those_of_the_local_tool(spark: Any) -> None:
    """Every log of the corpus, with damage, in order."""
    paths = [str(path) for path in EVERY_LOG]

    table = read(spark, *paths, decoder="user")

    assert table.columns == list(TABLE_COLUMNS)
    assert plain(table.collect()) == local(FLAGS["user"], *paths)


def test_directory_chooses_its_decoder(spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    (folder / "00000000000000000000.log").write_bytes(Path(METADATA).read_bytes())

    found = spark.read.format("kraftops").load(str(folder))

    assert plain(found.collect()) == local(str(folder))


@pytest.mark.parametrize(
    ("options", "arguments"),
    long_after(
        3,
        [
            (
                {"where": '["partitionId=0", "version=1"]', "offsets": "10.."},
                ["--where", "partitionId=0", "--where", "version=1", "--offset", "10.."],
            ),
            (
                {"since": "2020-01-01", "until": "2100-01-01", "topics": "a.none"},
                ["--since", "2020-01-01", "--topic", "a.none"],
            ),
            ({"types": "noop", "offsets": "9000.."}, ["--offset", "9000.."]),
            ({"types": "topic,partition"}, ["--type", "topic,partition"]),
            ({"offsets": "10..40"}, ["--offset", "10..40"]),
            ({"where": "partitionId=0"}, ["--where", "partitionId=0"]),
        ],
    ),
)
def test_options_choose_as_those_of_the_tool_do(
    spark: Any, options: dict[str, str], arguments: list[str]
) -> None:
    found = read(spark, METADATA, splitBytes="8000", **options)

    assert plain(found.collect()) == local(FLAGS["metadata"], *arguments, METADATA)


def test_groups_are_chosen_as_by_the_tool(spark: Any) -> None:
    path = str(IN / "consumer_offsets/00000000000000000000.log")

    found = read(spark, path, decoder="offsets", groups="a.classic,a.newg")

    expected = local("--offsets-decoder", "--group=a.classic", "--group=a.newg", path)
    assert len(expected) > 40
    assert plain(found.collect()) == expected


@pytest.mark.parametrize(
    "condition",
    long_after(
        5,
        [
            "type IN ('TOPIC_RECORD', 'PARTITION_RECORD')",
            "offset > 20 AND offset <= 40",
            "timestamp >= '2023-11-14' AND timestamp < '2030-03-17' AND type IS NOT NULL",
            "NOT type = 'TOPIC_RECORD'",
            "brokerId IN (1, 2) OR partitionId = 0",
            "type = 'TOPIC_RECORD'",
            "type = 'topic'",
            "offset = 12",
            "offset < 5 OR type = 'PARTITION_RECORD'",
            "timestamp > timestamp_millis(1700000000000)",
            "type = 'TOPIC_RECORD' AND type = 'PARTITION_RECORD'",
            "kind = 'control'",
            "offset > 30 AND offset < 20",
            "partitionId >= 1 AND brokerId IS NULL",
            "brokerId IN (1, 2)",
        ],
    ),
)
def test_filters_of_spark_choose_the_same_when_they_are_pushed(spark: Any, condition: str) -> None:
    plainly = read(spark, METADATA).where(condition).collect()

    pushed = read(spark, METADATA, pushdown="true", splitBytes="8000").where(condition).collect()

    assert pushed == plainly


def test_pushed_filters_are_gone_from_the_plan(spark: Any) -> None:
    table = read(spark, METADATA, pushdown="true").where("offset > 20")

    plan = table._jdf.queryExecution().executedPlan().toString()

    assert "Filter (" not in plan


def test_columns_are_those_of_a_shorter_schema(spark: Any) -> None:
    found = read(spark, METADATA, columns="type, offset")

    assert found.columns == ["type", "offset"]
    assert found.collect() == read(spark, METADATA).select("type", "offset").collect()


def test_table_without_columns_counts_its_rows(spark: Any) -> None:
    from pyspark.sql.types import StructType

    reader = spark.read.format("kraftops").option("decoder", "metadata")

    assert reader.schema(StructType([])).load(METADATA).count() == len(
        local(FLAGS["metadata"], METADATA)
    )


def test_record_type_has_columns_of_its_fields(spark: Any) -> None:
    found = read(spark, METADATA, record="PARTITION_RECORD", columns="offset,value")

    rows = local(FLAGS["metadata"], "--type", "partition", METADATA)
    assert [
        row.asDict(recursive=True) for row in found.select("offset", "value.isr").collect()
    ] == [{"offset": row["offset"], "isr": row["value"]["isr"]} for row in rows]
    kinds = dict(found.select("value.*").dtypes)
    assert (kinds["leader"], kinds["directories"]) == ("int", "array<string>")


def test_a_table_of_a_catalog_is_refused_in_one_line(spark: Any) -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException, match="CREATE TABLE does not work") as refusal:
        spark.sql(f"CREATE TABLE logs USING kraftops OPTIONS (path '{METADATA}')")
    assert "hint: CREATE TEMPORARY VIEW" in str(refusal.value)


def test_values_become_variants_by_parse_json(spark: Any) -> None:
    records = read(spark, METADATA, columns="offset,type,valueJson").where("type = 'TOPIC_RECORD'")

    names = records.selectExpr("parse_json(valueJson):name::string AS name")
    assert [row.name for row in names.collect()] == [
        row["value"]["name"] for row in local(FLAGS["metadata"], "--type", "topic", METADATA)
    ]


def test_user_topic_stands_beside_the_source_of_kafka(spark: Any) -> None:
    """Its columns, but for the type of the timestamp, which is a name here."""
    path = str(IN / "user/none/00000000000000000000.log")
    of_kafka = (
        "key binary, value binary, topic string, partition int, offset long, timestamp timestamp"
    )

    found = read(spark, path, decoder="user", columns="key,value,topic,partition,offset,timestamp")

    other = spark.createDataFrame([], of_kafka)
    assert found.schema == other.schema
    assert found.union(other).count() == found.count() > 0


class TestModes:
    @pytest.fixture
    def damaged(self, tmp_path: Path) -> str:
        """A log with a batch whose CRC is wrong, and half a batch at its end."""
        path = tmp_path / "00000000000000000000.log"
        data = bytearray(Path(METADATA).read_bytes())
        data[data.rindex(b"a.manual")] ^= 1
        path.write_bytes(data + data[:80])
        return str(path)

    def test_permissive_is_the_default(self, spark: Any, damaged: str) -> None:
        found = read(spark, damaged, mode="permissive").collect()

        assert found == read(spark, damaged).collect()
        assert found[-1].kind == "damage"
        assert False in {row.crcValid for row in found}

    def test_malformed_rows_are_dropped(self, spark: Any, damaged: str) -> None:
        found = read(spark, damaged, mode="DROPMALFORMED")
        short = read(spark, damaged, mode="DROPMALFORMED", columns="offset")

        kept = read(spark, damaged).where("error IS NULL AND crcValid").collect()
        assert found.collect() == kept
        assert [row.offset for row in short.collect()] == [row.offset for row in kept]

    def test_first_malformed_row_ends_the_job(self, spark: Any, damaged: str) -> None:
        from pyspark.errors import PySparkException

        with pytest.raises(
            PySparkException, match=r"00\.log: position \d+: the CRC does not match"
        ):
            read(spark, damaged, mode="FAILFAST", columns="offset").count()

    def test_damage_that_filters_leave_out_ends_it_too(self, spark: Any, damaged: str) -> None:
        from pyspark.errors import PySparkException

        Path(damaged).write_bytes(Path(METADATA).read_bytes() + bytes(8) + b"\xff" * 80)

        with pytest.raises(PySparkException, match=r"00\.log: position \d+: "):
            read(spark, damaged, mode="FAILFAST", types="topic").count()

    def test_whole_log_is_read_by_each(self, spark: Any) -> None:
        found = read(spark, METADATA, mode="FAILFAST", columns="offset")

        assert found.collect() == read(spark, METADATA, columns="offset").collect()


def test_shorter_schema_gives_the_same_columns(spark: Any) -> None:
    reader = spark.read.format("kraftops").option("decoder", "metadata")

    short = reader.schema("offset bigint, type string, version smallint").load(METADATA)

    whole = read(spark, METADATA).select("offset", "type", "version")
    assert short.collect() == whole.collect()
    assert short.columns == ["offset", "type", "version"]


@pytest.mark.parametrize(
    ("schema", "reason"),
    long_after(
        1,
        [
            ("offset string", "the column offset is of type bigint, not string"),
            ("nothing string", "a row has no column 'nothing'"),
            ("type string, offset bigint, type string", "the column type is asked for twice"),
            ("type string, offset bigint not null", "the column offset may be null"),
        ],
    ),
)
def test_schema_of_other_columns_is_refused(spark: Any, schema: str, reason: str) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException, match=reason):
        spark.read.format("kraftops").schema(schema).load(METADATA).count()


@pytest.mark.parametrize(
    ("options", "reason"),
    long_after(
        2,
        [
            ({"nonsense": "1"}, "no option 'nonsense'\nhint: there are path, "),
            ({"columns": "ofset"}, "a row has no column 'ofset'\nhint: perhaps offset"),
            ({"decoder": "x"}, "no decoder 'x'"),
            ({"salvage": "maybe"}, "salvage is true or false"),
            ({"types": "nonsense"}, "no record type 'nonsense'"),
            ({"splitBytes": "-1"}, "splitBytes is a number"),
            ({"record": "OFFSET_COMMIT"}, "no record type 'OFFSET_COMMIT'"),
        ],
    ),
)
def test_bad_options_are_refused(spark: Any, options: dict[str, str], reason: str) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException, match=reason):
        read(spark, METADATA, **options).count()


def test_nothing_that_matches_is_an_empty_table(spark: Any) -> None:
    found = read(spark, METADATA, offsets="900000..")

    assert found.collect() == []
    assert found.columns == list(TABLE_COLUMNS)


def test_sql_has_the_table(spark: Any) -> None:
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW records USING kraftops "
        f"OPTIONS (path '{METADATA}', decoder 'metadata')"
    )

    found = spark.sql("SELECT count(*) AS n FROM records").collect()

    assert found[0].n == len(local(FLAGS["metadata"], METADATA))


def test_flipped_bit_shows_in_each_row_of_its_batch(spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    path = folder / "00000000000000000000.log"
    data = bytearray(Path(METADATA).read_bytes())
    data[data.rindex(b"a.manual")] ^= 1
    path.write_bytes(data)

    found = read(spark, str(folder))
    bad = found.where("NOT crcValid").collect()
    kept = read(spark, str(folder), skipInvalid="true")

    assert plain(found.collect()) == local(FLAGS["metadata"], str(path))
    assert len({row.baseOffset for row in bad}) == 1
    assert {(row.topic, row.partition) for row in bad} == {("__cluster_metadata", 0)}
    assert kept.count() == found.count() - len(bad)
