"""Before the first pass over a metadata log: what each of its parts says by itself, on workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kraftops.errors import SourceError
from kraftops.image.load.prescan import Run, run_of
from kraftops.image.load.sources import Piece, files_of, plans
from kraftops.image.replay.replay import Limits
from kraftops.log.files import ARCHIVES, STANDARD_INPUT
from kraftops.log.ranges import ByteRange, cut_file
from kraftops.spark.jobs.run import reading_whole_log, run, runs_here
from kraftops.spark.session.session import Session
from kraftops.spark.session.status_tracker import Show

_SPLIT_BYTES = 32 << 20


@dataclass(frozen=True)
class CutWork:
    """Cuts files into splits."""

    size: int

    def __call__(self, pieces: Iterable[Piece]) -> Iterator[list[ByteRange]]:
        """Yield the splits of each file; none where it is none that can be cut."""
        for piece in pieces:
            if piece.path == STANDARD_INPUT or piece.path.endswith(ARCHIVES):
                yield []
                continue
            try:
                yield cut_file(piece.path, self.size)
            except SourceError:
                yield []  # who reads all of it says so


@dataclass(frozen=True)
class PartWork:
    """Looks at splits of a metadata log, each by itself."""

    dialect: str

    def __call__(self, splits: Iterable[tuple[ByteRange, bool]]) -> Iterator[Run | None]:
        """Yield what was found in each, given whether it is a snapshot's."""
        for split, is_snapshot in splits:
            yield run_of(split, self.dialect, is_snapshot=is_snapshot)


def runs_of_parts(
    session: Session, names: Sequence[str], limits: Limits, dialect: str, show: Show | None
) -> dict[str, list[tuple[ByteRange, Run | None]]]:
    """Return what the parts of a log say, by the paths of files; nothing of what is in one part.

    Raises:
        SourceError: a directory cannot be read, or none of them holds a metadata log.
        UsageError: the log does not reach back to the limits.
        SparkError: a job failed.
    """
    pieces, _ = next(plans(files_of(names), limits), ([], []))
    cut = CutWork(session.settings.split_bytes or _SPLIT_BYTES)
    with reading_whole_log(session, names):
        is_here = runs_here(session, (piece.path for piece in pieces))
        found = list(cut(pieces)) if is_here else run(session, pieces, cut)
    cuts = {piece: splits for piece, splits in zip(pieces, found, strict=True) if splits}
    splits = [(split, piece.is_snapshot) for piece in cuts for split in cuts[piece]]
    if len(splits) < 2:
        return {}
    with reading_whole_log(session, names):
        runs = iter(run(session, splits, PartWork(dialect), show))
    return {piece.path: [(split, next(runs)) for split in cuts[piece]] for piece in cuts}
