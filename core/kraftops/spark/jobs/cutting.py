"""Cut large remote files into byte ranges on workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kraftops.dump.sources.names import Source
from kraftops.log.ranges import ByteRange
from kraftops.spark.jobs.planning import LabelledRange, Split, cut_locally, plan_splits
from kraftops.spark.jobs.run import run, runs_here
from kraftops.spark.jobs.worker_crashes import is_last_try
from kraftops.spark.session.session import Session


@dataclass(frozen=True, slots=True)
class _CutWork:
    """Task that cuts the files of splits, one each."""

    target: int
    max_bytes: int
    tries: int

    def __call__(self, splits: Iterable[Split]) -> Iterator[list[ByteRange]]:
        for split in splits:
            paths = [labelled.range.path for labelled in split.ranges]
            if is_last_try(self.tries):  # reading them crashes too, and reports it
                yield from ([ByteRange(path)] for path in paths)
            else:
                yield from cut_locally(paths, self.target, self.max_bytes)


def planned(session: Session, sources: Sequence[Source], max_bytes: int) -> list[Split]:
    """Return the splits of sources; workers read remote files to cut them.

    Raises:
        SparkError: the job failed.
    """

    def cut(paths: Sequence[str], target: int, most: int) -> list[list[ByteRange]]:
        if runs_here(session, paths):
            return cut_locally(paths, target, most)
        splits = [
            Split(number, (LabelledRange(ByteRange(path)),), 0) for number, path in enumerate(paths)
        ]
        return run(session, splits, _CutWork(target, most, session.settings.tries))

    size = session.settings.split_bytes
    return plan_splits(sources, session.cores, max_bytes=max_bytes, size=size, cut=cut)
