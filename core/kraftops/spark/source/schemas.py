"""Columns of a row, and of a table of the data source, as Spark's schema."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from kraftops.dump.scan.arrow import has_bytes
from kraftops.errors import UsageError
from kraftops.query.row import COLUMNS, TYPES

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType


def row_schema(decoders: Collection[str]) -> StructType:
    """Return the schema of rows that these decoders read; every column may be null."""
    from pyspark.sql import types

    kinds: dict[str, DataType] = {
        "int64": types.LongType(),
        "int32": types.IntegerType(),
        "int16": types.ShortType(),
        "bool_": types.BooleanType(),
    }
    by_column = {column: kinds[kind] for kind, columns in TYPES.items() for column in columns}
    header = types.StructType().add("key", types.StringType()).add("value", types.BinaryType())
    by_column["timestamp"] = types.TimestampType()
    if has_bytes(decoders):
        by_column["key"] = by_column["value"] = types.BinaryType()
    by_column["headers"] = types.ArrayType(header)
    return types.StructType(
        [types.StructField(name, by_column.get(name, types.StringType())) for name in COLUMNS]
    )


def arrow_columns(schema: StructType) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(list(_arrow_type(schema)))


def _arrow_type(kind: DataType) -> pa.DataType:
    """Return a type of Spark's as one of Arrow's; times are in UTC in every release of Spark."""
    import pyarrow as pa
    from pyspark.sql import types
    from pyspark.sql.pandas.types import to_arrow_type

    if isinstance(kind, types.TimestampType):
        return pa.timestamp("us", "UTC")
    if isinstance(kind, types.StructType):
        return pa.struct(
            [pa.field(field.name, _arrow_type(field.dataType), field.nullable) for field in kind]
        )
    return to_arrow_type(kind)


def checked_schema(asked: StructType, whole: StructType) -> StructType:
    """Return the requested schema, if it has only columns of the *whole* one.

    Raises:
        UsageError: it has an unknown column, one of another type, twice or NOT NULL.
    """
    types_by_column = {field.name: field.dataType for field in whole.fields}
    for field in asked.fields:
        if field.name not in types_by_column:
            raise UsageError(
                f"a row has no column {field.name!r}", hint=f"it has {', '.join(types_by_column)}"
            )
        if field.dataType != types_by_column[field.name]:
            raise UsageError(
                f"the column {field.name} is of type {types_by_column[field.name].simpleString()}, "
                f"not {field.dataType.simpleString()}"
            )
        if asked.names.count(field.name) > 1:
            raise UsageError(f"the column {field.name} is asked for twice")
        if not field.nullable:
            raise UsageError(
                f"the column {field.name} may be null", hint="leave out NOT NULL; damage has nulls"
            )
    return asked
