"""Keys and values that an engine has decoded: their JSON as structs of Spark."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from itertools import repeat
from typing import TYPE_CHECKING, Any

from kraftops.errors import UsageError
from kraftops.records.control import definitions
from kraftops.records.decoder import DecoderOptions
from kraftops.records.decoders import decoder_named
from kraftops.schema.message import Field, Message

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType


def key_and_value(record: str, decoders: Collection[str], dialect: str) -> dict[str, StructType]:
    """Return the types of the columns that have fields of a record type, by its message tables.

    A field has its type in any version of the message. Bytes are text, as in JSON.

    Raises:
        UsageError: none of the decoders reads this type.
    """
    for key, value in _messages(record, decoders, dialect):
        columns = {"value": _struct(value.fields)}
        return columns if key is None else {"key": _struct(key.fields), **columns}
    raise UsageError(
        f"no {record} is in what is read by the decoder {' or '.join(sorted(decoders))}",
        hint="the option decoder chooses another one",
    )


def _messages(
    record: str, decoders: Iterable[str], dialect: str
) -> Iterable[tuple[Message | None, Message]]:
    """Yield (key, value) messages; the key is None where the value's frame has the type."""
    for name in decoders:
        decoder = decoder_named(name, DecoderOptions(dialect))
        messages = decoder.shown_messages()
        keys = tuple(messages.keys) or repeat(None)
        for type_name, key, value in zip(decoder.type_names(), keys, messages.values, strict=False):
            if type_name == record:
                yield key, value
    for _, type_name, _, value in definitions():
        if type_name == record:
            yield None, value


def _struct(fields: Iterable[Field]) -> StructType:
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(field.name, _type(field)) for field in fields])


def _type(field: Field) -> DataType:
    from pyspark.sql import types

    kinds: dict[str, DataType] = {
        "bool": types.BooleanType(),
        "int8": types.ByteType(),
        "int16": types.ShortType(),
        "uint16": types.IntegerType(),
        "int32": types.IntegerType(),
        "uint32": types.LongType(),
        "int64": types.LongType(),
        "float64": types.DoubleType(),
    }
    kind = _struct(field.fields) if field.is_struct else kinds.get(field.type, types.StringType())
    return types.ArrayType(kind) if field.array else kind


def structs(texts: pa.Array, kind: pa.StructType) -> pa.Array:
    import pyarrow as pa
    from pyarrow.json import ParseOptions, ReadOptions, read_json

    absent = texts.is_null()
    lines = b"\n".join(texts.cast(pa.binary()).fill_null(b"{}").to_pylist())
    if not kind.num_fields or absent.true_count == len(texts):
        return _structs_one_by_one(texts, kind)
    try:
        table = read_json(
            pa.BufferReader(lines),
            read_options=ReadOptions(use_threads=False, block_size=len(lines) + 1),
            parse_options=ParseOptions(
                explicit_schema=pa.schema(list(kind)), unexpected_field_behavior="ignore"
            ),
        )
    except pa.ArrowInvalid:  # a field of bytes is shown as an object, or a number is not a number
        return _structs_one_by_one(texts, kind)
    columns = [table.column(field.name).combine_chunks().cast(field.type) for field in kind]
    return pa.StructArray.from_arrays(columns, fields=list(kind), mask=absent)


def _structs_one_by_one(texts: pa.Array, kind: pa.StructType) -> pa.Array:
    import pyarrow as pa

    parsed = (None if text is None else json.loads(text) for text in texts.to_pylist())
    return pa.array([_value(content, kind) for content in parsed], kind)


def _value(content: Any, kind: pa.DataType) -> Any:
    """Return a value of JSON as one of an Arrow type; where that is text, objects stay JSON."""
    import pyarrow as pa

    if content is None:
        return None
    if pa.types.is_struct(kind):
        return {field.name: _value(content.get(field.name), field.type) for field in kind}
    if pa.types.is_list(kind):
        return [_value(element, kind.value_type) for element in content]
    if pa.types.is_string(kind):
        return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return float(content) if pa.types.is_floating(kind) else content
