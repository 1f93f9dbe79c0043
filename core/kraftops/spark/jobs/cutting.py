"""Cut large files into parts where reading them is work for more than one: on the workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kraftops.dump.sources.names import Source
from kraftops.log.ranges import ByteRange
from kraftops.spark.jobs.jobs import is_done_here, run
from kraftops.spark.jobs.lost import is_last_try
from kraftops.spark.jobs.planning import Piece, Split, cut_here, plan
from kraftops.spark.session.session import Session


@dataclass(frozen=True, slots=True)
class _CutWork:
    """Cuts the files of splits, one each."""

    target: int
    max_bytes: int
    tries: int

    def __call__(self, splits: Iterable[Split]) -> Iterator[list[ByteRange]]:
        for split in splits:
            paths = [piece.part.path for piece in split.pieces]
            if is_last_try(self.tries):  # whoever reads them has the same fate, and says so
                yield from ([ByteRange(path)] for path in paths)
            else:
                yield from cut_here(paths, self.target, self.max_bytes)


def planned(session: Session, sources: Sequence[Source], max_bytes: int) -> list[Split]:
    """Return the splits of sources; what is far away is read by workers to be cut.

    Raises:
        SparkError: the job failed.
    """

    def cut(paths: Sequence[str], target: int, most: int) -> list[list[ByteRange]]:
        if is_done_here(session, paths):
            return cut_here(paths, target, most)
        splits = [Split(at, (Piece(ByteRange(path)),), 0) for at, path in enumerate(paths)]
        return run(session, splits, _CutWork(target, most, session.settings.tries))

    size = session.settings.split_bytes
    return plan(sources, session.cores, max_bytes=max_bytes, size=size, cut=cut)
