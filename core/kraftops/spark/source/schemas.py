"""Columns of a row as Spark's schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftops.errors import UsageError
from kraftops.query.row import COLUMNS, TYPES

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


def row_schema() -> StructType:
    """Return the schema of the row; every column may be null."""
    from pyspark.sql import types

    kinds: dict[str, DataType] = {
        "int64": types.LongType(),
        "int32": types.IntegerType(),
        "int16": types.ShortType(),
        "bool_": types.BooleanType(),
    }
    by_column = {column: kinds[kind] for kind, columns in TYPES.items() for column in columns}
    header = types.StructType(
        [
            types.StructField("key", types.StringType()),
            types.StructField("value", types.BinaryType()),
        ]
    )
    by_column["headers"] = types.ArrayType(header)
    return types.StructType(
        [types.StructField(name, by_column.get(name, types.StringType())) for name in COLUMNS]
    )


def checked_schema(asked: StructType) -> StructType:
    """Return the requested schema, if it has only columns of the row.

    Raises:
        UsageError: it has an unknown column, one of another type, twice or NOT NULL.
    """
    known = {field.name: field.dataType for field in row_schema().fields}
    for field in asked.fields:
        if field.name not in known:
            raise UsageError(
                f"a row has no column {field.name!r}", hint=f"it has {', '.join(COLUMNS)}"
            )
        if field.dataType != known[field.name]:
            raise UsageError(
                f"the column {field.name} is of type {known[field.name].simpleString()}, "
                f"not {field.dataType.simpleString()}"
            )
        if asked.names.count(field.name) > 1:
            raise UsageError(f"the column {field.name} is asked for twice")
        if not field.nullable:
            raise UsageError(
                f"the column {field.name} may be null", hint="leave out NOT NULL; damage has nulls"
            )
    return asked
