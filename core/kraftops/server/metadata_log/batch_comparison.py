"""Batches of a metadata log, and the last batch that two logs of one cluster have in common.

Replicas of a log are equal batch by batch (KIP-595): the batches after the last common one are in
one of the logs only.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kraftops.errors import KraftopsError
from kraftops.log.batch import Batch, Header, is_valid
from kraftops.log.damage.salvage import Gap, salvaged
from kraftops.log.log_file import LogFile
from kraftops.log.reader import EndReason
from kraftops.server.metadata_log.files import Segment

Observer = Callable[[Header, Batch], None]


class BatchMark(NamedTuple):
    """A batch: number of its segment, position and end there, and fields equal in all replicas."""

    segment: int
    position: int
    end: int
    base_offset: int
    last_offset: int
    epoch: int
    crc: int

    @property
    def identity(self) -> tuple[int, int, int, int]:
        """The fields that are equal in all replicas."""
        return self[3:]


class LogTail(NamedTuple):
    """The end of a log after its last sound batch: its place in a segment, and why it is unsound.

    *rest* counts its bytes, *batches* the whole batches in it; *epoch* is their highest epoch.
    """

    segment: int
    position: int
    reason: str
    rest: int
    batches: int
    epoch: int


class SoundBatches:
    """Sound batches of a log, from the first on; iterated once, after which *tail* is known."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments
        self.tail: LogTail | None = None
        """The bytes that are in no sound batch; None if there are none."""

    def __iter__(self) -> Iterator[BatchMark]:
        return self.marks()

    def marks(self, observe: Observer = lambda *_: None) -> Iterator[BatchMark]:
        """Yield the batches, each after *observe* was called with it.

        Raises:
            SourceError: a segment cannot be read.
        """
        expected = 0
        for number, segment in enumerate(self._segments):
            position = 0
            reason = ""
            expected = max(expected, segment.base_offset)
            with LogFile(segment.path) as log:
                reader = log.batches()
                for batch in reader:
                    if reason := _problem(batch, expected):
                        break
                    header = batch.header
                    observe(header, batch)
                    position = batch.position + batch.size
                    expected = header.last_offset + 1
                    yield _mark(number, position, batch, header)
                if not reason and reader.end and reader.end.reason is not EndReason.END:
                    reason = reader.end.detail or f"{reader.end.left} bytes are not a whole batch"
            if reason:
                self.tail = self._tail(number, position, reason)
                return

    def _tail(self, number: int, position: int, reason: str) -> LogTail:
        """Return what follows the last sound batch, and why it is unsound."""
        rest = batches = epoch = 0
        start = position
        for segment in self._segments[number:]:
            with LogFile(segment.path) as log:
                rest += log.size - start
                for part in salvaged(log, start):
                    if not isinstance(part, Gap) and not part.is_legacy:
                        batches += 1
                        epoch = max(epoch, part.header.leader_epoch)
            start = 0
        return LogTail(
            segment=number,
            position=position,
            reason=reason,
            rest=rest,
            batches=batches,
            epoch=epoch,
        )


def _mark(number: int, end: int, batch: Batch, header: Header) -> BatchMark:
    return BatchMark(
        segment=number,
        position=batch.position,
        end=end,
        base_offset=header.base_offset,
        last_offset=header.last_offset,
        epoch=header.leader_epoch,
        crc=header.crc,
    )


def _problem(batch: Batch, expected: int) -> str:
    """Return why a batch is unsound, or not at the *expected* offset; empty if it is sound."""
    if batch.is_legacy:
        return f"a batch of magic {batch.data[16]}"
    try:
        header = batch.header
    except KraftopsError as error:
        return error.message
    if not is_valid(batch, header.crc):
        return "the checksum of a batch is wrong"
    if header.base_offset < expected:
        return f"a batch of offset {header.base_offset}, where {expected} is next"
    return ""


class CommonPrefix(NamedTuple):
    """Batches that two logs have in common: the offset after the last of them.

    *left* and *right* are the marks of that batch in each log, None if there is none. With
    *is_unrelated*, even the first batches of the logs differ.
    """

    offset: int
    left: BatchMark | None = None
    right: BatchMark | None = None
    is_unrelated: bool = False


def common_prefix(left: Sequence[Segment], right: Sequence[Segment]) -> CommonPrefix:
    """Return the batches that two logs have in common, from the first offset that both have.

    Raises:
        SourceError: a segment cannot be read.
    """
    left_marks, right_marks = iter(SoundBatches(left)), iter(SoundBatches(right))
    mark, other = next(left_marks, None), next(right_marks, None)
    # Logs that begin later may differ where one of them begins.
    begin_at_0 = mark is not None and other is not None and not mark.base_offset + other.base_offset
    while mark and other and mark.base_offset != other.base_offset:
        if mark.base_offset < other.base_offset:
            mark = next(left_marks, None)
        else:
            other = next(right_marks, None)
    prefix = CommonPrefix(0)
    while mark and other and mark.identity == other.identity:
        prefix = CommonPrefix(mark.last_offset + 1, mark, other)
        mark, other = next(left_marks, None), next(right_marks, None)
    return prefix._replace(is_unrelated=begin_at_0 and prefix.left is None)
