"""The image of one group of entities, and the findings about its records in the order of all."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kraftops.engine.fold_contract import POSITION_BITS
from kraftops.image.replay.events import Ended
from kraftops.image.replay.replay import Limits, Replay
from kraftops.image.state.findings import Finding, FindingKind
from kraftops.image.state.image import MetadataImage, PriorState
from kraftops.image.state.store import InflatedBatch, LoggedRecord
from kraftops.log.batch import (
    HEADER,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    Batch,
    Header,
    read_record,
)
from kraftops.spark.find.partitioner import FIRST, Router, Share
from kraftops.spark.find.scan_job import Before, FirstPass

_POSITION_MASK = (1 << POSITION_BITS) - 1

Source = tuple[str, int | None]
"""Path and end offset, of a snapshot, of a file."""
Order = tuple[int, int, int, int]
"""What findings about records are sorted by: where the replay of the whole log comes upon them.

How many transactions have ended, also the record's own; its source, position and number.
"""


class Dealt(NamedTuple):
    """A share, the number of its source, and the offset after which control records are new."""

    source: int
    after: int
    share: Share


class Noted(NamedTuple):
    """A finding about a record: *data* is a batch of that record alone."""

    order: Order
    reason: str
    path: str
    end_offset: int | None
    position: int
    data: bytes


class GroupReplay:
    """Replays the batches of a group, in the order of the log, into an image."""

    def __init__(self, image: MetadataImage) -> None:
        self._image = image
        self._replay = Replay(image)
        self._batches: list[tuple[bytes, bool]] = []  # as a share has numbers; which are control
        self._ends: list[int] = []  # findings before those that each transaction's end has brought

    def replay(self, dealt: Iterable[Dealt]) -> None:
        """Apply the batches of a group."""
        for one in dealt:
            batch = one.share.batch
            self._replay.limits = Limits(one.after)
            for event in self._replay.add(batch, one.source):
                if isinstance(event, Ended):
                    self._ends.append(len(self._image.record_findings) - event.dropped)
            if len(self._image.store.numbers()) > len(self._batches):
                self._batches.append((one.share.numbers, batch.header.is_control))

    def noted(self, finding: Finding) -> Finding:
        """Return a finding about the log with the address of its record here, if it has one."""
        began = self._replay.began
        is_here = finding.kind is FindingKind.TRANSACTION and began is not None
        return finding._replace(address=began) if is_here else finding

    def findings(self, sources: Sequence[Source]) -> Iterator[tuple[LoggedRecord | None, Noted]]:
        """Yield records, None for those of control batches, and what was found about them.

        *sources* are paths and end offsets of all files.
        """
        store, batch, numbers = self._image.store, -1, {}
        for found, (address, reason) in enumerate(self._image.record_findings):
            if address >> POSITION_BITS != batch:
                batch = address >> POSITION_BITS
                numbers = _numbered(store.batch(batch), self._batches[batch][0])
            source, position = store.source_of(address)
            ended = bisect_right(self._ends, found)
            order = (ended, source, position, numbers[address & _POSITION_MASK])
            data = _alone(store.batch(batch), address & _POSITION_MASK)
            record = None if self._batches[batch][1] else store.record(address)
            yield record, Noted(order, reason, *sources[source], position, data)


def image_of(
    dealt: Sequence[Dealt], number: int, router: Router, first_pass: FirstPass, dialect: str
) -> tuple[MetadataImage, list[Noted]]:
    """Return the image of a group, and what was found about records for which it answers.

    The first group's has the findings about the log.
    """
    stretches = first_pass.all_stretches
    sources: list[Source] = [("", None)] * (1 + max(one.source for one in stretches))
    for stretch in stretches:
        sources[stretch.source] = stretch.path, stretch.end_offset
    image = _image_of(sources, dialect)
    replay = GroupReplay(image)
    before = first_pass.before
    if before:
        old = [one for one in dealt if one.source >= before.source]
        dealt = [one for one in dealt if one.source < before.source]
        past = _past(old, before, _image_of(sources, dialect))
        image.offer_prior_state(lambda: past)
    replay.replay(dealt)
    noted = []
    for record, finding in replay.findings(sources):
        groups = () if record is None else router.of_record(record.key, record.value)
        if (groups or (FIRST,))[0] == number:
            noted.append(finding)
    image.provenance = first_pass.provenance
    if first_pass.offset != first_pass.provenance.offset:
        image.note_end_of_snapshot(first_pass.offset + 1)
    image.fold.forget_dropped()
    if number == FIRST:
        image.log_findings += map(replay.noted, first_pass.findings)
    return image, noted


def _image_of(sources: Iterable[Source], dialect: str) -> MetadataImage:
    """Return an image with these sources, which are read once, and nothing else."""
    image = MetadataImage(dialect)
    for path, end_offset in sources:
        image.store.add_source(path, None, end_offset)
    return image


def _past(dealt: Iterable[Dealt], before: Before, image: MetadataImage) -> PriorState:
    """Return what led to a snapshot, given the shares of that, loaded into an image."""
    loads = [{one.source for one in load} for load in before.loads]
    for at, sources in enumerate(loads):
        replay = Replay(image)
        # An older snapshot comes first, if there is one, and then what the log has before its end.
        image.fold.seed(is_seeded=at == 1)
        for one in dealt:
            if one.source in sources:
                replay.limits = Limits(one.after)
                for _ in replay.add(one.share.batch, one.source):
                    pass
    return PriorState(image, before.unchanged)


def image_of_findings(noted: Iterable[Noted], dialect: str) -> MetadataImage:
    """Return an image that has findings about records, in this order, and nothing else."""
    image = MetadataImage(dialect)
    for one in noted:
        source = image.store.add_source(one.path, None, one.end_offset)
        address = image.store.add(source, Batch(one.position, len(one.data), one.data))
        image.fold.drop(address + HEADER_SIZE, one.reason)
    return image


def _numbered(inside: InflatedBatch, numbers: bytes) -> dict[int, int]:
    """Return by the positions of records their numbers in the batch that they come from."""
    found, at = {}, inside.start
    pairs = memoryview(numbers).cast("I")
    for first, count in zip(pairs[::2], pairs[1::2], strict=True):
        for number in range(first, first + count):
            found[at] = number
            _, at = read_record(inside.data, at, inside.base_offset, inside.base_timestamp)
    return found


def _alone(inside: InflatedBatch, position: int) -> bytes:
    """Return a batch of the record at *position* alone."""
    _, end = read_record(inside.data, position, inside.base_offset, inside.base_timestamp)
    raw, time = inside.data[position:end], inside.append_time
    head = Header(
        base_offset=inside.base_offset,
        length=HEADER_SIZE - LOG_OVERHEAD + len(raw),
        leader_epoch=inside.epoch,
        magic=2,
        crc=0,
        attributes=0 if time is None else LOG_APPEND_TIME,
        last_offset_delta=0,
        base_timestamp=inside.base_timestamp,
        max_timestamp=time or 0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        record_count=1,
    )
    return HEADER.pack(*head) + raw
