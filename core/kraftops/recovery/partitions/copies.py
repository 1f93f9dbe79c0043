"""A copy of a partition on a broker's disk, and where two copies diverge.

The rules are those of Kafka's `LeaderEpochFileCache` and of the truncation of a follower
(`AbstractFetcherThread.getOffsetTruncationState`, KIP-279).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kraftops.dump.check.findings import Span, uncovered
from kraftops.server.loader.text_files import EpochEntry, LeaderEpochs

MISSING_START = "missing-start"
_ABOVE_ALL_EPOCHS = 1 << 31  # an epoch is an int32


class Hole(NamedTuple):
    """Offsets that a copy lacks, with the code of the finding that tells why."""

    code: str
    offsets: range

    @property
    def span(self) -> Span:
        """The first and the last offset."""
        return self.offsets.start, self.offsets.stop - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionCopy:
    """A copy of a partition, as a directory or an archive has it.

    Attributes:
        broker: the id of its broker.
        place: the directory of the partition.
        topic: the name of the topic.
        topic_id: its id; None where the directory does not tell.
        number: the number of the partition.
        start: the first offset of the oldest segment.
        bases: the first offsets of all segments.
        holes: what it should have before its end, and lacks.
        hidden_to: the log start of its checkpoint, where its epochs begin before that; or 0.
        cleaned: the offset up to which its broker may have compacted it.
        end: the offset after the last record.
        is_end_exact: whether the end was read; without segments it is the lowest possible.
        epochs: the leader epochs with their first offsets, in order, as its batches have them.
        false_epochs: those of its checkpoint that its batches contradict.
        high_watermark: what the broker noted of it; None where it noted none.
        snapshot_end: the highest offset before which a producer snapshot has its producers; or 0.
        time: the time of the newest record in ms; None where that was not read.
        next_producer_id: the id after the highest that its newest snapshot and batches have.
        is_missing: whether there is none: the broker creates it again, empty.
        is_loaded: whether a start takes it; its broker cannot serve another one.
        was_clean: whether its log directory was stopped in order.
        is_packed: whether it is in an archive.
        is_read: whether its checksums were computed, where it may be the source of a copy.
    """

    broker: int
    place: str
    topic: str
    topic_id: bytes | None
    number: int
    start: int = 0
    bases: tuple[int, ...] = ()
    holes: tuple[Hole, ...] = ()
    hidden_to: int = 0
    cleaned: int = 0
    end: int = 0
    is_end_exact: bool = True
    epochs: tuple[EpochEntry, ...] = ()
    false_epochs: tuple[EpochEntry, ...] = ()
    high_watermark: int | None = None
    snapshot_end: int = 0
    time: int | None = None
    next_producer_id: int = 0
    is_missing: bool = False
    is_loaded: bool = True
    was_clean: bool = True
    is_packed: bool = False
    is_read: bool = True

    def __str__(self) -> str:
        high_watermark = self.high_watermark
        noted = "" if high_watermark is None else f", noted high watermark {high_watermark}"
        return f"broker {self.broker}: it ends at offset {self.end}, epoch {self.epoch}{noted}"

    @property
    def name(self) -> str:
        """Topic and number, as in the name of the directory."""
        return f"{self.topic}-{self.number}"

    @property
    def epoch(self) -> int:
        """The latest leader epoch; -1 if there is none."""
        return self.epochs[-1].epoch if self.epochs else -1

    @property
    def rank(self) -> tuple[int, int, int]:
        """Latest epoch, end, and less what is missing before that, by which copies compare.

        A leader has all committed records of earlier epochs, and assigns its epoch at once, so
        that a copy of the highest rank has all that was ever committed to any of them.
        """
        return self.epoch, self.end, -sum(len(hole.offsets) for hole in self.holes)

    def as_leader(self, epoch: int) -> PartitionCopy:
        """Return the copy as others see it once its broker leads, after the epoch of the metadata.

        The epoch that begins then removes false ones that are not below it
        (`LeaderEpochFileCache.assign`).
        """
        kept = [entry for entry in self.false_epochs if entry.epoch <= epoch]
        epochs = LeaderEpochs((*self.epochs, *kept)).entries
        return replace(self, epochs=epochs) if kept else self

    def lacks(self, other: PartitionCopy, code: str | None = None) -> list[range]:
        """Return the offsets of its holes that another copy has; of holes of one *code*, or all."""
        absent: list[Span] = [(0, other.start - 1), (other.end, max(self.end, other.end))]
        absent += [hole.span for hole in other.holes]
        return [
            range(first, last + 1)
            for hole in self.holes
            if code in (None, hole.code)
            for first, last in uncovered(hole.span, absent)
        ]


def newest_of(
    copies: Iterable[PartitionCopy],
    leaders: Collection[int] = (),
    damaged: Collection[int] = (),
) -> PartitionCopy:
    """Return the copy of the highest rank, from which others of its partition are replaced.

    Of equal ones that is a sound one, then one that a start takes, then that of a leader, and of
    the lowest broker.

    Args:
        copies: of one partition.
        leaders: the brokers that may lead it.
        damaged: the brokers whose copies have a fault other than a hole.
    """
    return max(
        copies,
        key=lambda copy: (
            *copy.rank,
            copy.broker not in damaged,
            copy.is_loaded,
            copy.broker in leaders,
            -copy.broker,
        ),
    )


def more_complete(copy: PartitionCopy, copies: Iterable[PartitionCopy]) -> list[PartitionCopy]:
    """Return the copies of the same partition that have some of what a copy lacks."""
    return [other for other in copies if other.name == copy.name and copy.lacks(other)]


def newest_by_broker(copies: Iterable[PartitionCopy]) -> dict[int, PartitionCopy]:
    """Return the newest copy of each broker, which may have an old one in another directory."""
    newest: dict[int, PartitionCopy] = {}
    for copy in copies:
        other = newest.get(copy.broker)
        if other is None or copy.rank > other.rank:
            newest[copy.broker] = copy
    return newest


def common_end(follower: PartitionCopy, leader: PartitionCopy) -> int:
    """Return the offset to which a follower truncates its copy, once the other copy leads.

    The leader is in a new epoch, above all on the disks, that begins at the end of its copy.
    """
    epochs_of_leader = (*leader.epochs, EpochEntry(_ABOVE_ALL_EPOCHS, leader.end))
    end = follower.end
    while epochs := [epoch for epoch in follower.epochs if epoch.start_offset < end]:
        answer = _end_of_epoch(epochs_of_leader, leader.end, epochs[-1].epoch)
        own = _end_of_epoch(epochs, end, answer.epoch)
        if own.epoch == answer.epoch:
            return min(own.start_offset, answer.start_offset, end)
        end = min(own.start_offset, end)  # the follower lacks that epoch, and asks for an older one
    return min(end, leader.end)


def _end_of_epoch(epochs: Sequence[EpochEntry], end: int, epoch: int) -> EpochEntry:
    """Return the largest epoch up to *epoch* and its end (`LeaderEpochFileCache.endOffsetFor`).

    An epoch before all others ends where the first of them begins.
    """
    later = next((entry for entry in epochs if entry.epoch > epoch), None)
    if later is None:
        return EpochEntry(epochs[-1].epoch, end)
    floor = max((entry.epoch for entry in epochs if entry.epoch <= epoch), default=epoch)
    return EpochEntry(floor, later.start_offset)


def acknowledged_records(
    offsets: range, copy: PartitionCopy, copies: Iterable[PartitionCopy]
) -> int | None:
    """Return how many records at offsets of a copy were certainly acknowledged; None: unknown.

    A broker notes high watermarks every 5 s (`replica.high.watermark.checkpoint.interval.ms`) and
    when it stops: those of other copies hold for the part that both have in common.
    """
    high_watermarks = [
        min(other.high_watermark, common_end(copy, other), offsets.stop)
        for other in copies
        if other.high_watermark is not None
    ]
    return max(0, max(high_watermarks) - offsets.start) if high_watermarks else None
