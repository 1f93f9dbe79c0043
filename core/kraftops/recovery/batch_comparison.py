"""The batches of a metadata log, and where those of two logs of one cluster part.

Replicas of a log are equal batch by batch (KIP-595): what one has beyond the last that is equal,
the other lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kraftops.errors import KraftopsError
from kraftops.log.batch import Batch, Header, is_valid
from kraftops.log.reader import EndReason, LogFile
from kraftops.log.salvage import Gap, salvaged
from kraftops.storage.logdirs.log_recovery import Segment

See = Callable[[Header, Batch], None]


class Mark(NamedTuple):
    """A batch: the number of its segment, its bytes there, and what is the same in all replicas."""

    segment: int
    position: int
    end: int
    base_offset: int
    last_offset: int
    epoch: int
    crc: int

    @property
    def essence(self) -> tuple[int, int, int, int]:
        """What is the same in all replicas."""
        return self[3:]


class Tail(NamedTuple):
    """Where the sound batches of a log end: a place in a segment, why, and what is behind it.

    *rest* counts the bytes up to the end of the log, *batches* the whole batches among them, of
    which *epoch* is the highest.
    """

    segment: int
    position: int
    reason: str
    rest: int
    batches: int
    epoch: int


class Walk:
    """The sound batches of a log from its first on; iterate once, then *tail* is known."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments
        self.tail: Tail | None = None
        """Why not all bytes are in batches; None if they are."""

    def __iter__(self) -> Iterator[Mark]:
        return self.marks()

    def marks(self, see: See = lambda *_: None) -> Iterator[Mark]:
        """Yield the batches; *see* gets each before.

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
                    see(header, batch)
                    position = batch.position + batch.size
                    expected = header.last_offset + 1
                    yield _mark(number, position, batch, header)
                if not reason and reader.end and reader.end.reason is not EndReason.END:
                    reason = reader.end.detail or f"{reader.end.left} bytes are no whole batch"
            if reason:
                self.tail = self._tail(number, position, reason)
                return

    def _tail(self, number: int, position: int, reason: str) -> Tail:
        """Return what lies behind the last sound batch."""
        rest = batches = epoch = 0
        start = position
        for segment in self._segments[number:]:
            with LogFile(segment.path) as log:
                rest += log.size - start
                for found in salvaged(log, start):
                    if not isinstance(found, Gap) and not found.is_legacy:
                        batches += 1
                        epoch = max(epoch, found.header.leader_epoch)
            start = 0
        return Tail(number, position, reason, rest, batches, epoch)


def _mark(number: int, end: int, batch: Batch, header: Header) -> Mark:
    return Mark(
        number,
        batch.position,
        end,
        header.base_offset,
        header.last_offset,
        header.leader_epoch,
        header.crc,
    )


def _problem(batch: Batch, expected: int) -> str:
    """Return why a batch is no sound one that goes on at an offset; nothing if it is."""
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


class Agreement(NamedTuple):
    """How far two logs are equal: the offset after the last batch that both have.

    The marks are those of that batch in one and in the other, None without any. If *is_other*, not
    even the first batches of all are equal.
    """

    offset: int
    one: Mark | None = None
    other: Mark | None = None
    is_other: bool = False


def agreement(one: Sequence[Segment], other: Sequence[Segment]) -> Agreement:
    """Return how far two logs are equal, from the first offset that both have.

    Raises:
        SourceError: a segment cannot be read.
    """
    left, right = iter(Walk(one)), iter(Walk(other))
    mine, theirs = next(left, None), next(right, None)
    # Logs that begin later may have parted where one of them begins.
    begins = mine is not None and theirs is not None and not mine.base_offset + theirs.base_offset
    while mine and theirs and mine.base_offset != theirs.base_offset:
        if mine.base_offset < theirs.base_offset:
            mine = next(left, None)
        else:
            theirs = next(right, None)
    found = Agreement(0)
    while mine and theirs and mine.essence == theirs.essence:
        found = Agreement(mine.last_offset + 1, mine, theirs)
        mine, theirs = next(left, None), next(right, None)
    return found._replace(is_other=begins and found.one is None)
