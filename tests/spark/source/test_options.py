"""Options of the data source, without a session."""

import re
from pathlib import Path

import pytest

from kraftops.errors import SourceError, UsageError
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.spark.source.options import OPTIONS, query_from_text, query_text, source_options


def test_names_may_be_in_any_case() -> None:
    options = source_options({"PATH": "a.log", "FromStart": "TRUE", "splitbytes": "100"})

    assert options.names == ("a.log",)
    assert options.from_start
    assert options.split_bytes == 100


def test_several_paths_are_a_json_list() -> None:
    assert source_options({"paths": '["a.log", "b,c.log"]'}).names == ("a.log", "b,c.log")


@pytest.mark.parametrize("mode", ["PERMISSIVE", "DROPMALFORMED"])
def test_wrong_name_is_no_empty_table_and_no_row(tmp_path: Path, mode: str) -> None:
    options = source_options({"path": str(tmp_path / "loogs"), "mode": mode})

    with pytest.raises(SourceError, match="loogs: No such file or directory"):
        options.sources()


def test_what_a_command_alone_reads_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "node.tar.gz"
    archive.touch()

    with pytest.raises(UsageError, match=r"Spark reads no archive of directories: .*node\.tar\.gz"):
        source_options({"path": str(archive)}).sources()
    with pytest.raises(UsageError, match="an archive of directories in an object store"):
        source_options({"path": "s3://logs/node.tar.gz"}).sources()
    with pytest.raises(UsageError, match="Spark cannot read standard input"):
        source_options({"path": "-"}).sources()


def test_query_survives_its_text() -> None:
    wanted = Filter(types=frozenset({"topic", "config"}), first_offset=3, keys=frozenset({"k"}))
    query = Query(decoder="metadata", form="json", filter=wanted)

    assert query_from_text(query_text(query)) == query


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "no path is given"),
        ({"path": "a", "nonsense": "1"}, "no option 'nonsense'"),
        ({"path": "a", "owner": "root", "option.path": "a"}, "CREATE TABLE does not work"),
        ({"path": "a", "raw": "yes"}, "raw is true or false, not 'yes'"),
        ({"path": "a", "groups": "g", "decoder": "metadata"}, "has records about groups"),
        ({"path": "a", "cores": "-1"}, "cores is a number, not '-1'"),
        ({"path": "a", "columns": "ofset"}, "a row has no column 'ofset'"),
        ({"path": "a", "columns": "key,key"}, "the column key is asked for twice"),
        ({"path": "a", "mode": "strict"}, "mode is PERMISSIVE or DROPMALFORMED or FAILFAST"),
        ({"path": "a", "record": "PARTITON_RECORD"}, "no record type 'PARTITON_RECORD'"),
        ({"path": "a", "record": "topic,partition"}, "record is one record type"),
        ({"path": "a", "record": "topic", "types": "topic"}, "leave out types"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        source_options(options)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"columns": "Ofset"}, "perhaps offset"),
        ({"record": "PARTITON_RECORD", "decoder": "metadata"}, "near it are: PARTITION_RECORD"),
    ],
)
def test_near_names_are_told(options: dict[str, str], hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        source_options({"path": "a", **options})

    assert (refused.value.hint or "").startswith(hint)


def test_record_type_is_found_in_any_spelling() -> None:
    options = source_options({"path": "a", "record": "partition-change", "decoder": "metadata"})

    assert options.record == "PARTITION_CHANGE_RECORD"
    assert options.query.filter.types == {"partitionchange"}


def test_help_of_the_source_has_every_option() -> None:
    pytest.importorskip("pyspark")
    from kraftops.spark import KraftopsDataSource

    text = KraftopsDataSource.__doc__ or ""

    assert [name for name in OPTIONS if not re.search(rf"\b{name}\b", text)] == []
