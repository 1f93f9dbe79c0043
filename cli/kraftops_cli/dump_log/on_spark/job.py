"""Command of `kafka-dump-log` on a running Spark."""

from __future__ import annotations

import time
from dataclasses import dataclass

from kraftops.spark.jobs.planning import Split
from kraftops.spark.session.session import Session
from kraftops_cli.dump_log.plan import Plan
from kraftops_cli.spark.options import SparkRequest
from kraftops_cli.spark.progress import SparkProgress
from kraftops_cli.terminal.streams import Terminal


@dataclass(frozen=True, slots=True)
class SparkJob:
    """Plan of a command, and everything that it needs on a running Spark."""

    plan: Plan
    request: SparkRequest
    session: Session
    splits: list[Split]
    progress: SparkProgress
    terminal: Terminal
    start: float

    @property
    def seconds(self) -> float:
        """Seconds since the command was started."""
        return time.monotonic() - self.start

    def report(self, what: str, damaged: int = 0, more_offsets: int = 0) -> None:
        """Print the result, the time, and the number of unlisted offsets, on one line."""
        note = f", {damaged} of them damaged" if damaged else ""
        note += f", {more_offsets:,} more offsets not listed" if more_offsets else ""
        place = f": {self.plan.output}" if self.plan.output else ""
        splits = len(self.splits)
        self.terminal.line(f"{what} of {splits} splits{note} in {self.seconds:.1f} s{place}")
