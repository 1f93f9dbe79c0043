"""`kafka-dump-log --check` on Spark: the partitions and files are shared by its workers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kraftops.dump.check.findings import PartitionCheck
from kraftops.dump.check.tier import Surroundings
from kraftops.dump.check.units import Unit
from kraftops.dump.sources.names import expand
from kraftops.dump.sources.parts import source_sizes
from kraftops.log.files import STANDARD_INPUT
from kraftops.spark.dump.check_job import check_units
from kraftops.spark.session.session import started
from kraftops_cli.dump_log.check import among, run_check
from kraftops_cli.spark.options import SparkRequest, refuse_local, warn_if_slow, warn_if_small
from kraftops_cli.spark.progress import SparkProgress
from kraftops_cli.terminal.streams import Terminal


def can_check(request: SparkRequest) -> bool:
    """Tell whether nothing but a check is asked for."""
    return not (request.sql or request.explain or request.partition_by)


def run_check_on_spark(
    names: Sequence[str], decoder: str | None, request: SparkRequest, terminal: Terminal
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
    checked, others = among(names, {*names}, {}, decoder)
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
