"""Counts of logs that grow: what is there is counted once, and then only what is new."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import NamedTuple

from kraftops.dump.sources.follow import Growing
from kraftops.dump.summary.file_counter import Counting
from kraftops.dump.summary.logs import Log, Reading, add_summary
from kraftops.dump.summary.summarise import summarise
from kraftops.dump.summary.summary import Summary
from kraftops.errors import SourceError, UsageError
from kraftops.fileio.mounts import archive_of
from kraftops.log.files import FileKind, file_name
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops_cli.dump_log.plan import Plan


def last_segments(files: Sequence[Reading]) -> dict[Log, Reading]:
    """Return the last segment of each log, by whose growth it is followed.

    Raises:
        UsageError: a log is not a segment or partition.
    """
    segments: dict[Log, Reading] = {}
    for file in files:
        name = file_name(file.path)
        is_packed = bool(archive_of(file.path)) or bool(name and name.archive)
        if name is None or name.is_stdin or is_packed:
            raise UsageError(
                f"--follow follows segments or the directories of partitions, not {file.path}"
            )
        if is_segment(file):
            segments[file.log] = file
    if not segments:
        raise UsageError("--follow follows segments or the directories of partitions")
    return segments


def is_segment(file: Reading) -> bool:
    """Tell whether a file is a segment, and not a snapshot or checkpoint beside it."""
    name = file_name(file.path)
    return name is not None and name.kind is FileKind.LOG


class _Followed(NamedTuple):
    growing: Growing
    query: Query
    counting: Counting


class Growth(NamedTuple):
    """The end of a look at logs: whether there was something new, and whether there is more."""

    has_grown: bool
    is_behind: bool


class GrowingSummaries:
    """The counts of logs, up to the last look at them."""

    def __init__(
        self,
        plan: Plan,
        last: Mapping[Log, Reading],
        summaries: dict[Log, Summary],
        note: Callable[[str], None],
    ) -> None:
        """Begin at the first byte of the last segments.

        Args:
            plan: The query and its options.
            last: The last segments, which are followed.
            summaries: The counts of all files before them; the new ones are added to these.
            note: Gets lines about unusual events.
        """
        self.summaries = summaries
        self._note = note
        self._growing = {
            log: _Followed(
                Growing(file.path, note), plan.query_of(file.path), Counting(file.details)
            )
            for log, file in last.items()
        }

    def grow(self, seconds: float) -> Growth:
        """Count what is new, for about this time."""
        end = monotonic() + seconds
        has_grown = False
        for log, part in self._parts():
            self._count(log, part)
            has_grown = True
            if monotonic() >= end:
                return Growth(has_grown, is_behind=True)
        return Growth(has_grown, is_behind=False)

    def _parts(self) -> Iterator[tuple[Log, ByteRange]]:
        """Yield what is new of each log; one that can no longer be read is left as it is."""
        for log, (growing, _, _) in list(self._growing.items()):
            try:
                for part in growing.parts():
                    yield log, part
            except SourceError as error:
                self._lose(log, error)

    def _count(self, log: Log, part: ByteRange) -> None:
        _, query, counting = self._growing[log]
        try:
            summary = summarise(
                part.path, query, start=part.start, stop=part.stop, counting=counting
            )
        except SourceError as error:
            self._lose(log, error)
        else:
            add_summary(self.summaries, log, summary)

    def _lose(self, log: Log, error: SourceError) -> None:
        self._note(error.message)
        self._growing.pop(log, None)
