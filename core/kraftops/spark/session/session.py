"""Spark, while it runs: started here for a command, or found running."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kraftops.errors import UsageError
from kraftops.spark.session.failures import job_errors
from kraftops.spark.session.launch import running_context
from kraftops.spark.session.settings import CONF_PREFIX, Settings
from kraftops.spark.session.shipping import UnionParam, packed
from kraftops.spark.session.status_tracker import workers_awaited

if TYPE_CHECKING:
    from pyspark import Accumulator, SparkContext
    from pyspark.sql import SparkSession

_SUBMITTED = "PYSPARK_GATEWAY_PORT"  # set by spark-submit


class Session:
    """Spark, while it runs."""

    def __init__(
        self, context: SparkContext, settings: Settings, spark: SparkSession | None = None
    ) -> None:
        """Take a context that is running."""
        self.context = context
        self.settings = settings
        self.slow: Accumulator[frozenset[str]] | None = None
        """Workers that have not the compiled engine that was sent to them, and why."""
        self._spark = spark

    @property
    def spark(self) -> SparkSession:
        """The session for SQL, made when it is first asked for."""
        if self._spark is None:
            from pyspark.sql import SparkSession

            self._spark = SparkSession(self.context)
        return self._spark

    @property
    def cores(self) -> int:
        """How many tasks run at a time."""
        return self.settings.cores or self.context.defaultParallelism

    @property
    def slow_text(self) -> str | None:
        """What to say of workers that have not the compiled engine; None if there are none."""
        found = sorted(self.slow.value) if self.slow else []
        if not found:
            return None
        more = f", and {len(found) - 1} more like it" if len(found) > 1 else ""
        return f"a worker reads without the compiled engine, slower: {found[0]}{more}"


@contextmanager
def started(settings: Settings) -> Iterator[Session]:
    """Start Spark, give it, and stop it; or give the one that runs here, and leave it running.

    The latter is so under `spark-submit` and in notebooks, whose master and configuration count.

    Raises:
        UsageError: pyspark or Java is missing, or a setting is none.
        SparkError: it cannot be started, or the master cannot be reached.
    """
    try:
        import pyspark  # noqa: F401 - heavy: 100 ms
    except ImportError:
        raise UsageError(
            "--spark needs pyspark, which is not installed", hint="pip install 'kraftops[spark]'"
        ) from None
    running = _running(settings)
    if running is not None:
        yield running
        return
    patience = settings.worker_seconds
    with running_context(settings) as context:
        session = Session(context, replace(settings, master=settings.full_master))
        if settings.is_local:
            yield session
            return
        with packed() as sent, workers_awaited(context, patience):
            with job_errors("our code cannot be sent to the workers"):
                context.addPyFile(sent.archive)
                if sent.engine is not None:
                    context.addFile(sent.engine)
                    union: Any = UnionParam()
                    session.slow = context.accumulator(frozenset[str](), union)
            yield session


def _running(settings: Settings) -> Session | None:
    """Return the session that somebody has started in this process; of *settings* ours count."""
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    if spark is None and _SUBMITTED in os.environ:
        spark = SparkSession.builder.getOrCreate()
    if spark is None:
        return None
    context = spark.sparkContext
    ours = [pair for pair in settings.conf if pair[0].startswith(CONF_PREFIX)]
    conf = (*context.getConf().getAll(), *ours)
    return Session(context, Settings(str(context.master), conf, verbose=True), spark)
