"""Columns of a table that are not those of the row, made of what is scanned.

`key` and `value` have one type whatever is read: the bytes of records that were not decoded, as
those of users. What a decoder has read is JSON, in `keyJson` and `valueJson`.
"""

from __future__ import annotations

import os
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from kraftops.query.row import COLUMNS
from kraftops.records.internal_topics import USER
from kraftops.records.meaning import BASE64
from kraftops.spark.source.committed import NEEDED as NEEDED_OF_STATE
from kraftops.spark.source.committed import Isolation
from kraftops.spark.source.decoded import structs
from kraftops.spark.source.replicas import broker_of
from kraftops.spark.source.segment_list import identities

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType

BROKER_ID, TRANSACTION_STATE, METADATA = "broker", "transactionState", "metadata"
_ENCODINGS = {"key": "keyEncoding", "value": "valueEncoding"}
_JSON = {"keyJson": "key", "valueJson": "value"}
TABLE_COLUMNS = tuple(
    column
    for name in COLUMNS
    if name not in _ENCODINGS.values()
    for column in ((name, *_JSON) if name == "value" else (name,))
)
"""The columns of every table."""
OTHER_COLUMNS = (BROKER_ID, TRANSACTION_STATE, METADATA)
"""Those that only some tables have."""
NEEDED = {
    **{name: (name, encoding, "kind") for name, encoding in _ENCODINGS.items()},
    **{name: (source, _ENCODINGS[source], "kind") for name, source in _JSON.items()},
    TRANSACTION_STATE: NEEDED_OF_STATE,
    BROKER_ID: (),
    METADATA: (),
}
"""The scanned columns of which each is made."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def made_kinds() -> dict[str, DataType]:
    from pyspark.sql import types

    file = types.StructType()  # the names are those of Spark's own hidden column
    file.add("file_path", types.StringType()).add("file_size", types.LongType())
    file.add("file_modification_time", types.TimestampType())
    text, number = types.StringType(), types.IntegerType()
    kinds = dict.fromkeys(_ENCODINGS, types.BinaryType()) | dict.fromkeys(
        (*_JSON, TRANSACTION_STATE), text
    )
    return {**kinds, BROKER_ID: number, METADATA: file}


def file_value(name: str, path: str) -> Any:
    if name == BROKER_ID:
        return broker_of(os.path.dirname(os.path.dirname(path)))
    size, modified = identities([path])[path] or (None, None)
    moment = None if modified is None else _EPOCH + timedelta(microseconds=modified // 1000)
    return {"file_path": path, "file_size": size, "file_modification_time": moment}


def made_column(
    rows: pa.RecordBatch, name: str, kind: pa.DataType, isolation: Isolation | None
) -> pa.Array:
    import pyarrow as pa

    if name == TRANSACTION_STATE:
        assert isolation is not None
        return isolation.states(rows)
    if name in _JSON:
        return _json(rows, _JSON[name])
    return structs(_json(rows, name), kind) if pa.types.is_struct(kind) else _bytes(rows, name)


def _json(rows: pa.RecordBatch, name: str) -> pa.StringArray:
    """Return the JSON that a decoder made of keys or values; null where none read them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_read = pc.and_(
        pc.not_equal(rows.column("kind"), USER), rows.column(_ENCODINGS[name]).is_null()
    )
    if is_read.false_count == rows.num_rows:
        return pa.nulls(rows.num_rows, pa.string())
    column = rows.column(name).view(pa.string())  # JSON is in UTF-8
    return column if is_read.true_count == rows.num_rows else pc.if_else(is_read, column, None)


def _bytes(rows: pa.RecordBatch, name: str) -> pa.BinaryArray:
    """Return the bytes of keys or values as they are in the log; null where a decoder read them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_own = pc.equal(rows.column("kind"), USER)
    if is_own.true_count == rows.num_rows:
        return rows.column(name)
    own = pc.if_else(is_own, rows.column(name), None)
    is_raw = pc.fill_null(pc.equal(rows.column(_ENCODINGS[name]), BASE64), fill_value=False)
    if not is_raw.true_count:
        return own
    texts = pc.if_else(is_raw, rows.column(name), None).to_pylist()
    raw = [None if text is None else b64decode(text) for text in texts]
    return pc.coalesce(own, pa.array(raw, pa.binary()))
