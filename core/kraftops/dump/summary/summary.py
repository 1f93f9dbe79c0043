"""The summary of a log: numbers, counted by byte range and merged in order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from kraftops.answers.fields import json_of
from kraftops.display.times import time_fields
from kraftops.dump.summary.answer import OPEN
from kraftops.dump.summary.details import NoDetails, details_for
from kraftops.dump.summary.sketches import (
    Amount,
    Distribution,
    OffsetSpan,
    SampledDict,
    TimeHistogram,
)
from kraftops.dump.summary.tops import LogTops
from kraftops.dump.summary.transactional_ids import TransactionalIds
from kraftops.dump.summary.transactions import Transactions
from kraftops.engine.count_contract import Counted, LogCount
from kraftops.log.batch import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    Batch,
    Header,
)
from kraftops.log.files import FileKind, file_name
from kraftops.log.legacy import LegacyHeader
from kraftops.records.decoder import Decoder
from kraftops.records.meaning import Label

MOST_LABELS = 1000
"""Record types with their versions that are counted one by one; all others are `OTHER`."""

_MOST_EPOCHS = 10_000  # bounds memory; a log with an election an hour gets there in a year
_SITES_LISTED = 20  # of damage: as many as a screen shows; the others are counted
_OTHER = Label("OTHER", None)


class DamageSite(NamedTuple):
    """A site of damage: a position in a file, a number of bytes, and a reason."""

    path: str
    position: int
    size: int
    reason: str


class DamageSites:
    """Sites of damage: their number, their bytes, and the first ones.

    `kraftops.dump.summary.sketches` describes how counts of ranges are merged.
    """

    def __init__(self) -> None:
        self.count = self.size = 0
        self.first: list[DamageSite] = []

    def add(self, site: DamageSite) -> None:
        self.count += 1
        self.size += site.size
        if len(self.first) < _SITES_LISTED:
            self.first.append(site)

    def merge(self, later: DamageSites) -> None:
        self.count += later.count
        self.size += later.size
        self.first = (self.first + later.first)[:_SITES_LISTED]


class _Codec(NamedTuple):
    """The codec of a batch, and the bytes of its records as stored and inflated."""

    number: int
    stored: int
    inflated: int


class Scope(NamedTuple):
    """The scope of a summary: the decoder of the records, and what is counted of them.

    *is_chosen*: a filter or a limit may leave records out. *has_open*: it leaves out no marker or
    record that ends a transaction in its range of offsets and times. *has_details*: groups or
    transactional ids are counted, largest records and keys.
    """

    decoder: Decoder
    is_chosen: bool = False
    has_open: bool = True
    has_details: bool = True


class Summary:
    """The numbers of a log; see `kraftops.dump.summary.sketches` for the merging of parts.

    It counts the parts of one log, in order: offsets and transactions continue in the next file.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.files: dict[str, int] = {}  # bytes read, by path
        self.padding = 0  # bytes
        self.torn = 0  # bytes at the end of the log, of a batch that is not whole
        self.batches = Amount()
        self.records = Amount()
        self.control_batches = self.transactional_batches = 0
        self.magics: dict[int, int] = {}
        self.sizes = Distribution()
        self.records_per_batch = Distribution()
        self.offsets = OffsetSpan(has_gaps=not scope.is_chosen)
        self.end_offset: int | None = None
        self.first_time: int | None = None
        self.last_time: int | None = None
        self.history = TimeHistogram()
        self.volume = TimeHistogram()  # bytes of records, uncompressed
        self.epochs: SampledDict[int, list[int]] = SampledDict(
            _MOST_EPOCHS
        )  # first offset, batches, records
        self.codecs: dict[int, list[int]] = {}  # batches, bytes as stored, bytes inflated
        self.types: dict[Label, Amount] = {}
        self.control: dict[str, Amount] = {}
        self.damage = DamageSites()
        self.spent: list[DamageSite] = []
        """The damage at which files had spent their budgets."""
        self.undecodable = DamageSites()
        self.transactions = Transactions(has_open=scope.has_open)
        self.details = (
            details_for(scope.decoder.name, has_open=scope.has_open)
            if scope.has_details
            else NoDetails()
        )
        self.tops = LogTops(scope.decoder) if scope.has_details else None

    def add_file(self, path: str, size: int) -> None:
        """Count *size* bytes of a file as read."""
        self.files[path] = self.files.get(path, 0) + size

    def reach(self, offset: int) -> None:
        """Note that the log goes at least up to an offset, exclusive."""
        if self.end_offset is None or offset > self.end_offset:
            self.end_offset = offset

    def add_damage(self, path: str, position: int, size: int, reason: str) -> None:
        """Count bytes that are not a readable batch."""
        self.damage.add(DamageSite(path, position, size, reason))

    def add_undecodable(self, path: str, position: int, size: int, reason: str) -> None:
        """Count a record that the decoder cannot read; *position* is the position of its batch."""
        self.undecodable.add(DamageSite(path, position, size, reason))

    def add_batch(
        self,
        header: Header,
        batch: Batch,
        inflated: int,
        part: Counted | None = None,
        *,
        in_log: bool,
    ) -> None:
        """Count a batch of magic 2 with a correct checksum.

        Args:
            header: the header of *batch*.
            batch: the batch, compressed as in the file.
            inflated: the size of its records in bytes, uncompressed.
            part: the records that count; None is all.
            in_log: whether the offsets count as offsets of the log; a snapshot's do not.
        """
        (
            base_offset, _, epoch, magic, _, attributes, last_delta, first_time, last_time, _, _, _,
            count,
        ) = header  # fmt: skip
        first, last, size = base_offset, base_offset + last_delta, inflated
        if attributes & (LOG_APPEND_TIME | DELETE_HORIZON):
            first_time = last_time
        if part is not None and part.offsets and part.times:
            (first, last), (first_time, last_time) = part.offsets, part.times
            count, size = part.records, part.size
        self.control_batches += attributes & CONTROL > 0
        self.transactional_batches += attributes & TRANSACTIONAL > 0
        if in_log:
            self.offsets.add(first, last, count)
        tally = self.epochs.get(epoch)
        if tally:
            tally[1] += 1
            tally[2] += count
        elif epoch >= 0:
            self.epochs.put(epoch, [base_offset, 1, count])
        codec = attributes & CODEC_MASK
        stored = batch.size - HEADER_SIZE
        self._add(batch, magic, Amount(count, size), _Codec(codec, stored, inflated))
        self._add_times(first_time, last_time, Amount(count, size))

    def add_legacy(
        self,
        head: LegacyHeader,
        batch: Batch,
        counted: Counted,
    ) -> None:
        """Count a message or wrapper of magic 0 or 1 with a correct checksum.

        Args:
            head: the header of *batch*.
            batch: the batch, compressed as in the file.
            counted: the messages that count, at least one.
        """
        assert counted.offsets
        assert counted.times
        amount = Amount(counted.records, counted.size)
        self.offsets.add(*counted.offsets, counted.records)
        self._add(batch, head.magic, amount, _Codec(head.codec, batch.size, counted.size))
        first_time, last_time = counted.times
        if counted.numbers is None:
            last_time = head.timestamp
        self._add_times(first_time, last_time, amount)

    def add_records(self, amounts: Iterable[tuple[Label, int, int]]) -> None:
        """Count data records by type and version: their number and their bytes."""
        for label, count, size in amounts:
            is_full = label not in self.types and len(self.types) >= MOST_LABELS
            self.types.setdefault(_OTHER if is_full else label, Amount()).add(count, size)

    def add_control(self, name: str, size: int) -> None:
        """Count a control record by its type."""
        self.control.setdefault(name, Amount()).add(1, size)

    def merge(self, later: Summary) -> None:
        """Add the numbers of a later part of the log, which must not be used afterwards."""
        for path, size in later.files.items():
            self.add_file(path, size)
        self.padding += later.padding
        self.torn = later.torn
        if later.end_offset is not None:
            self.reach(later.end_offset)
        self.batches.add(later.batches.count, later.batches.size)
        self.records.add(later.records.count, later.records.size)
        self.control_batches += later.control_batches
        self.transactional_batches += later.transactional_batches
        for magic, count in later.magics.items():
            self.magics[magic] = self.magics.get(magic, 0) + count
        self.sizes.merge(later.sizes)
        self.records_per_batch.merge(later.records_per_batch)
        self.offsets.merge(later.offsets)
        for time in (later.first_time, later.last_time):
            if time is not None:
                self._extend_times(time, time)
        self.history.merge(later.history)
        self.volume.merge(later.volume)
        self.epochs.merge(later.epochs, _add_epoch)
        for codec, numbers in later.codecs.items():
            ours = self.codecs.setdefault(codec, [0, 0, 0])
            ours[:] = map(sum, zip(ours, numbers, strict=True))
        self.add_records((label, type_.count, type_.size) for label, type_ in later.types.items())
        for name, amount in later.control.items():
            self.control.setdefault(name, Amount()).add(amount.count, amount.size)
        self.damage.merge(later.damage)
        self.spent += later.spent
        self.undecodable.merge(later.undecodable)
        self.transactions.merge(later.transactions)
        self.details.merge(later.details)
        if self.tops and later.tops:
            self.tops.merge(later.tops)

    @property
    def segments(self) -> int:
        """The number of its files that are not snapshots."""
        return sum(map(_is_segment, self.files))

    @property
    def types_in_order(self) -> list[tuple[str, int | None, int, int]]:
        """Record types, the most frequent first, with version, number and bytes."""
        amounts = [(*label, amount.count, amount.size) for label, amount in self.types.items()]
        return sorted(amounts, key=lambda kind: (-kind[2], kind[0], kind[1] or -1))

    @property
    def log_transactions(self) -> Transactions | TransactionalIds:
        """The transactions of the log, or those that its records are about."""
        return self.details if isinstance(self.details, TransactionalIds) else self.transactions

    def row(self) -> dict[str, Any]:
        """Return what tables of many logs have, as `as_dict` does, in a third of the time."""
        count = LogCount(
            size=self.batches.size,
            records=self.records.count,
            offsets=_pair(self.offsets.first, self.offsets.last),
            end=self.end_offset,
            times=_pair(self.first_time, self.last_time),
        )
        return row_of(list(self.files), count) | {
            "tornBytes": self.torn,
            "damage": {"count": self.damage.count, "bytes": self.damage.size},
            "undecodable": {"count": self.undecodable.count},
            "transactions": json_of((OPEN,), self.transactions),
        }

    def _add(self, batch: Batch, magic: int, records: Amount, codec: _Codec) -> None:
        self.batches.add(1, batch.size)
        self.records.add(records.count, records.size)
        self.magics[magic] = self.magics.get(magic, 0) + 1
        self.sizes.add(batch.size)
        self.records_per_batch.add(records.count)
        numbers = self.codecs.setdefault(codec.number, [0, 0, 0])
        numbers[0] += 1
        numbers[1] += codec.stored
        numbers[2] += codec.inflated

    def _add_times(self, first: int, last: int, records: Amount) -> None:
        if last < 0:  # -1: no timestamp
            return
        self._extend_times(min(first, last) if first >= 0 else last, last)
        if records.count:
            self.history.add(last, records.count)
            self.volume.add(last, records.size)

    def _extend_times(self, first: int, last: int) -> None:
        if self.first_time is None or first < self.first_time:
            self.first_time = first
        if self.last_time is None or last > self.last_time:
            self.last_time = last


def row_of(paths: list[str], count: LogCount) -> dict[str, Any]:
    """Return the columns of tables of many logs, in the shape of a whole summary's JSON."""
    first, last = count.offsets or (None, None)
    first_time, last_time = count.times or (None, None)
    return {
        "segments": sum(map(_is_segment, paths)),
        "files": {"paths": paths},
        "batches": {"bytes": count.size},
        "records": {"count": count.records},
        "offsets": {"first": first, "last": last, "end": count.end},
        "times": {**time_fields("first", first_time), **time_fields("last", last_time)},
        "tornBytes": 0,
        "damage": {"count": 0, "bytes": 0},
        "undecodable": {"count": 0},
        "transactions": {"open": []},
    }


def _pair(first: int | None, last: int | None) -> tuple[int, int] | None:
    return None if first is None or last is None else (first, last)


def _is_segment(path: str) -> bool:
    """Tell whether a file is a segment, and no snapshot."""
    name = file_name(path)
    return name is None or name.kind is not FileKind.CHECKPOINT


def _add_epoch(ours: list[int], later: list[int]) -> None:
    ours[1] += later[1]
    ours[2] += later[2]
