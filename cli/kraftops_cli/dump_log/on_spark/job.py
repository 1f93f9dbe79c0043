"""Command of `kafka-dump-log` on a running Spark."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from kraftops.dump.sources.names import Source, SourcePage
from kraftops.spark.jobs.planning import Split, planned
from kraftops.spark.session.session import Session
from kraftops_cli.dump_log.plan import Plan
from kraftops_cli.spark.options import SparkRequest
from kraftops_cli.spark.progress import SparkProgress
from kraftops_cli.terminal.streams import Terminal


@dataclass(frozen=True, slots=True)
class SparkJob:
    """Plan of a command, and everything that it needs on a running Spark.

    *sources* and *splits* are those of all waves so far.
    """

    plan: Plan
    more: Iterator[SourcePage]
    sources: list[Source]
    request: SparkRequest
    session: Session
    splits: list[Split]
    progress: SparkProgress
    terminal: Terminal
    start: float

    def waves(self) -> Iterator[list[Split]]:
        """Yield the splits of the sources of the plan, and then of further ones as they come."""
        yield [*self.splits]
        for page in self.more:
            self.sources.extend(page.sources)
            splits = planned(self.session, page.sources, self.plan.query.max_bytes)
            wave = [
                split._replace(number=number)
                for number, split in enumerate(splits, len(self.splits))
            ]
            self.splits.extend(wave)
            yield wave

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
