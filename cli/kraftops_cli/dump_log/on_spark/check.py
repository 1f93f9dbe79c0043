"""`kafka-dump-log` on Spark before a job is planned: checks, and whether jobs begin early."""

from collections.abc import Iterable, Sequence

from kraftops.dump.check.findings import PartitionCheck
from kraftops.dump.check.tier import Surroundings
from kraftops.dump.check.units import Unit
from kraftops.dump.small_files import is_small_file
from kraftops.dump.sources.names import expand
from kraftops.dump.sources.parts import source_sizes
from kraftops.log.files import STANDARD_INPUT
from kraftops.query.query import Query
from kraftops.query.times import needs_end
from kraftops.spark.dump.check_job import check_units
from kraftops.spark.session.session import started
from kraftops.uris import is_remote
from kraftops_cli.dump_log.check import among, run_check
from kraftops_cli.dump_log.options import DumpOptions
from kraftops_cli.spark.options import SparkRequest, refuse_local, warn_if_slow, warn_if_small
from kraftops_cli.spark.progress import SparkProgress
from kraftops_cli.terminal.streams import Terminal


def can_check(request: SparkRequest) -> bool:
    """Tell whether nothing but a check is asked for."""
    return not (request.sql or request.explain or request.partition_by)


def run_check_on_spark(
    names: Sequence[str], query: Query, request: SparkRequest, terminal: Terminal
) -> int | None:
    """Check partitions and files as without Spark; return the exit code.

    It is None where a name is not a partition and no file that can be checked as a whole.

    Raises:
        UsageError: a directory holds no log.
        SourceError: a directory cannot be read.
        SparkError: a job failed.
    """
    if STANDARD_INPUT in names:
        return None
    checked, others = among(names, {*names}, {}, query)
    if others:
        return None
    settings = request.settings()
    sources = expand(names)
    refuse_local(request, [source.path for source in sources])
    warn_if_small(settings, sum(source_sizes(sources)), terminal)
    with SparkProgress(terminal.status) as progress, started(settings) as session:

        def run(units: Sequence[Unit], surroundings: Surroundings) -> Iterable[PartitionCheck]:
            return check_units(session, units, surroundings, progress.show)

        code = run_check(checked, terminal, run=run, has_progress=False)
        warn_if_slow(session, terminal)
    return code


def can_begin_early(
    names: Sequence[str], query: Query, options: DumpOptions, request: SparkRequest
) -> bool:
    """Tell whether jobs can begin before all logs in object stores are listed.

    They cannot where they are one query of Spark, and where a name, a type or a column is looked up
    in all logs, or among the decoders of all, or a time counts from their end.
    """
    has_end = any(text and needs_end(text) for text in (options.since, options.until))
    is_one_query = request.sql or request.sink or request.partition_by or request.explain
    has_names = query.filter.topics or options.groups or options.summary
    by_decoders = query.filter.types or options.where or query.output_format.is_columns
    return (
        all(is_remote(name) and not is_small_file(name) for name in names)
        and not (is_one_query or has_names or has_end)
        and not (by_decoders and query.decoder is None)
    )
