"""Find the columns that an SQL statement names: Spark asks a Python source for all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FIELDS = "spark.sql.debug.maxToStringFields"
_ANALYZED = re.compile(r"== Analyzed Logical Plan ==\n.*?\n(.*?)\n== Optimized", re.DOTALL)
_ATTRIBUTE = re.compile(r"(\w+)#(\d+)")
_TABLES = re.compile(r"[\s:+-]*(?:LocalRelation|LogicalRDD|View|SubqueryAlias)\b")
_LEAST = "crcValid"  # of a table that is only counted; headers of batches tell it


def named_columns(spark: SparkSession, sql: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return those of the columns *names* of a table that a statement names; () if it is not known.

    Spark's text of the analyzed plan has them, with a number each: `EXPLAIN EXTENDED` is the only
    public way to a plan, also of Spark Connect. The table must be an empty one, made of no rows.
    """
    from pyspark.errors import PySparkException

    before = spark.conf.get(_FIELDS, None)
    spark.conf.set(_FIELDS, "10000")
    try:
        rows = spark.sql(f"EXPLAIN EXTENDED {sql}").collect()  # several, if there is no plan
    except PySparkException:
        return ()  # the statement itself says why
    finally:
        if before is None:
            spark.conf.unset(_FIELDS)
        else:
            spark.conf.set(_FIELDS, before)
    match = _ANALYZED.search("\n".join(str(row[0]) for row in rows))
    return _named(match[1], names) if match else ()


def _named(plan: str, names: Sequence[str]) -> tuple[str, ...]:
    of_table: dict[str, str] = {}
    used: set[str] = set()
    for line in plan.splitlines():
        pairs = _ATTRIBUTE.findall(line)
        if _TABLES.match(line):
            of_table |= {number: name for name, number in pairs}
        else:
            used |= {number for _, number in pairs}
    if not {*names} <= {*of_table.values()}:
        return ()  # another plan than those that are known
    named = {of_table[number] for number in used & of_table.keys()}
    return tuple(name for name in names if name in named) or (_LEAST,)
