"""Before the first pass over a metadata log: what its parts say, each by itself, on the workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kraftops.errors import SourceError
from kraftops.image.replay import Limits
from kraftops.image.sources import Piece, files_of, plans
from kraftops.log.files import ARCHIVES, STANDARD_INPUT
from kraftops.log.splits import Split, plan_splits
from kraftops.spark.jobs import equipped
from kraftops.spark.session import Session
from kraftops.spark.skimming import Run, run_of
from kraftops.spark.watching import Show, watched
from kraftops.spark.wholly import wholly
from kraftops.uris import is_remote

_SPLIT_BYTES = 32 << 20


@dataclass(frozen=True)
class CutWork:
    """Cuts files into splits."""

    size: int

    def __call__(self, pieces: Iterable[Piece]) -> Iterator[list[Split]]:
        """Yield the splits of each file; none where it is none that can be cut."""
        for piece in pieces:
            if piece.path == STANDARD_INPUT or piece.path.endswith(ARCHIVES):
                yield []
                continue
            try:
                yield plan_splits(piece.path, self.size)
            except SourceError:
                yield []  # who reads all of it says so


@dataclass(frozen=True)
class SurveyWork:
    """Looks at splits of the metadata log, each by itself."""

    dialect: str

    def __call__(self, splits: Iterable[tuple[Split, bool]]) -> Iterator[Run | None]:
        """Yield what was found in each, given whether it is a snapshot's."""
        for split, is_snapshot in splits:
            yield run_of(split, self.dialect, is_snapshot=is_snapshot)


def survey(
    session: Session, names: Sequence[str], limits: Limits, dialect: str, show: Show | None
) -> dict[str, list[tuple[Split, Run | None]]]:
    """Return what the parts of a log say, by the paths of files; nothing of what is in one part.

    Raises:
        SourceError: a directory cannot be read, or none of them holds a metadata log.
        UsageError: the log does not reach back to the limits.
        SparkError: a job failed.
    """
    context, settings = session.context, session.settings
    pieces, _ = next(plans(files_of(names), limits), ([], []))
    cut: Any = CutWork(settings.split_bytes or _SPLIT_BYTES)
    with wholly(session, names):
        if settings.is_local and not any(is_remote(piece.path) for piece in pieces):
            found = list(cut(pieces))
        else:
            work = equipped(session, cut)
            found = context.parallelize(pieces, max(1, len(pieces))).mapPartitions(work).collect()
    cuts = {piece: splits for piece, splits in zip(pieces, found, strict=True) if splits}
    splits = [(split, piece.is_snapshot) for piece in cuts for split in cuts[piece]]
    if len(splits) < 2:
        return {}
    with wholly(session, names), watched(context, len(splits), show, lambda: (0, 0)):
        task = equipped(session, SurveyWork(dialect))
        runs = iter(context.parallelize(splits, len(splits)).mapPartitions(task).collect())
    return {piece.path: [(split, next(runs)) for split in cuts[piece]] for piece in cuts}
