"""Beginning of a dump on Spark: whether jobs run before all logs are listed."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.dump.small_files import is_small_file
from kraftops.query.query import Query
from kraftops.uris import is_remote
from kraftops_cli.dump_log.options import DumpOptions
from kraftops_cli.spark.options import SparkRequest


def can_begin_early(
    names: Sequence[str], query: Query, options: DumpOptions, request: SparkRequest
) -> bool:
    """Tell whether jobs can begin before all logs in object stores are listed.

    They cannot where they are one query of Spark, and where a name, a type or a column is looked up
    in all logs, or among the decoders of all.
    """
    is_one_query = request.sql or request.sink or request.partition_by or request.explain
    has_names = query.filter.topics or options.groups or options.summary
    by_decoders = query.filter.types or options.where or query.output_format.is_columns
    return (
        all(is_remote(name) and not is_small_file(name) for name in names)
        and not (is_one_query or has_names)
        and not (by_decoders and query.decoder is None)
    )
