"""Structs of decoded keys and values, beside their JSON."""

import json
from typing import Any

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.errors import UsageError
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops.records.decoders import decoder_named
from kraftops.spark.source.decoded import key_and_value, structs
from kraftops.spark.source.schemas import arrow_columns
from tests.helpers.logs.segments import IN

LOGS = {
    "metadata": IN / "meta/00000000000000000000.log",
    "offsets": IN / "consumer_offsets/00000000000000000000.log",
}

pa = pytest.importorskip("pyarrow")
types = pytest.importorskip("pyspark.sql.types")


def rows(decoder: str) -> list[Any]:
    query = Query(decoder=decoder, deep_iteration=True, form="json")
    return list(part_rows(ByteRange(str(LOGS[decoder])), query, Report()))


def values(kind: Any, texts: list[str | None]) -> list[Any]:
    """Return texts as structs of a Spark type, as plain values."""
    schema = arrow_columns(types.StructType([types.StructField("value", kind)]))
    array = structs(pa.array(texts, pa.string()), schema.field(0).type)
    array.validate(full=True)
    return array.to_pylist()  # type: ignore[no-any-return]


def shown(found: Any, kind: Any) -> Any:
    """Return what JSON shows of a value, as the struct of *kind* has it: fields without value null."""
    if isinstance(kind, types.StructType) and found is not None:
        return {field.name: shown(found.get(field.name), field.dataType) for field in kind}
    if isinstance(kind, types.ArrayType) and found is not None:
        return [shown(one, kind.elementType) for one in found]
    if isinstance(kind, types.StringType) and isinstance(found, dict):
        return json.dumps(found, ensure_ascii=False)
    return found


@pytest.mark.parametrize("decoder", LOGS)
def test_structs_have_the_values_of_the_json(decoder: str) -> None:
    by_type: dict[str, list[Any]] = {}
    for row in rows(decoder):
        by_type.setdefault(row.type, []).append(row)

    assert len(by_type) > 10
    for name, some in by_type.items():
        for column, kind in key_and_value(name, [decoder], "kafka").items():
            texts = [getattr(row, column) for row in some]
            wanted = [None if text is None else shown(json.loads(text), kind) for text in texts]
            assert values(kind, texts) == wanted


def test_messages_inside_bytes_stay_json() -> None:
    kind = key_and_value("GROUP_METADATA", ["offsets"], "kafka")["value"]
    texts = [row.value for row in rows("offsets") if row.type == "GROUP_METADATA" and row.value]

    members = [member for group in values(kind, texts) for member in group["members"]]

    assert {type(json.loads(member["subscription"])) for member in members} == {dict}


def test_value_that_is_null_is_no_struct() -> None:
    kind = key_and_value("TOPIC_RECORD", ["metadata"], "kafka")["value"]

    assert values(kind, ['{"name":"a"}', None]) == [{"name": "a", "topicId": None}, None]


def test_every_record_type_has_a_struct() -> None:
    for decoder in ("metadata", "offsets", "transaction", "remote", "share"):
        for name in decoder_named(decoder).type_names():
            assert key_and_value(name, [decoder], "kafka")["value"].names is not None


def test_type_of_another_topic_is_refused() -> None:
    with pytest.raises(UsageError, match="no OFFSET_COMMIT is in what is read by the decoder meta"):
        key_and_value("OFFSET_COMMIT", ["metadata"], "kafka")
