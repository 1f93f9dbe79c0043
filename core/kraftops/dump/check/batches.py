"""The batches of a log that a check looks at, and the gaps among them."""

from collections.abc import Iterator

from kraftops.engine.scan_contract import ABORT, COMMIT, NO_PRODUCER, Note, SeenBatch
from kraftops.engine.scanning import EngineScan
from kraftops.errors import DecodeError
from kraftops.log import legacy
from kraftops.log.batch import CONTROL, DELETE_HORIZON, TRANSACTIONAL, Batch, int64, records
from kraftops.log.damage.salvage import Gap, salvaged
from kraftops.log.log_file import LogFile
from kraftops.memory import Meter

_new = tuple.__new__  # of a named tuple: half the time of its own constructor


class LogBatches:
    """The batches of a log and the gaps among them, in order; iterate once.

    As far as the engine finds all sound, it reads a window at a time, with its records. After that
    it reads batch by batch.
    """

    def __init__(self, log: LogFile, scan: EngineScan, meter: Meter) -> None:
        """*scan* reads records as the check asks for, *meter* counts what is read of the others."""
        self._log, self._scan, self._meter = log, scan, meter
        self.notes: list[Note] = []
        """What is wrong with the records of whole batches."""

    def __iter__(self) -> Iterator[SeenBatch | Gap]:
        end = 0
        before: list[int] = []
        reader = self._log.batches(meter=self._scan.meter)
        while window := reader.window():
            buffer, start, position = window
            index, batches = self._scan.engine.look(buffer, start, position)
            if index == start:
                break
            reader.advance(index)
            end = position + index - start
            yield from batches
            before = [*before, *(batch.last_offset for batch in batches[-2:])][-2:]
        self._scan.meter.is_spent = False  # it is reported with the batch that was too much
        if end < self._log.size:
            for part in salvaged(self._log, end, meter=self._meter, before=before):
                yield part if isinstance(part, Gap) else self._seen(part)

    def _seen(self, batch: Batch) -> SeenBatch:
        meter = self._scan.meter
        if not meter.is_spent:
            for seen_batch in self._scan.engine.look(batch.data, 0, batch.position)[1]:
                return seen_batch
            meter.is_spent = False  # a look does not report it
            for outcome in self._scan.batch(batch):
                self.notes += outcome.notes
        return seen(batch, self._meter)


def seen(batch: Batch, meter: Meter) -> SeenBatch:
    """Return what a check looks at in a batch of a log that *meter* counts."""
    if batch.is_legacy:
        return _seen_legacy(batch, int.from_bytes(batch.data[16:17], signed=True), meter)
    base, _, epoch, magic, _, attributes, delta, _, newest, producer_id, _, sequence, count = (
        batch.header
    )
    is_marker = attributes & CONTROL and producer_id != NO_PRODUCER
    fields = (
        batch.position,
        batch.size,
        base,
        int64(base + delta),
        newest,
        epoch,
        producer_id,
        _last_sequence(sequence, delta),
        bool(attributes & TRANSACTIONAL),
        count != delta + 1 or bool(attributes & DELETE_HORIZON),
        not count,
        _marker(batch, meter) if is_marker else None,
        magic,
    )
    return _new(SeenBatch, fields)


def _seen_legacy(batch: Batch, magic: int, meter: Meter) -> SeenBatch:
    head = legacy.header(batch)
    first = head.offset
    timestamp = head.timestamp if magic == 1 else legacy.NO_TIMESTAMP
    if head.codec:
        try:
            first = next(legacy.records(batch, meter)).record.offset
        except DecodeError:  # the engine tells what is wrong with its records
            first = head.offset
    return SeenBatch(
        position=batch.position,
        size=batch.size,
        base_offset=first,
        last_offset=head.offset,
        max_timestamp=timestamp,
        magic=magic,
    )


def _last_sequence(base: int, delta: int) -> int:
    """Return the last sequence of a batch, which goes on from 0 after the largest int32."""
    if base < 0:
        return -1
    last = base + delta
    return last if last < 1 << 31 else last - (1 << 31)


def _marker(batch: Batch, meter: Meter) -> int | None:
    """Return the type of the transaction marker in a control batch; None without one."""
    try:
        record = next(records(batch, meter), None)
    except DecodeError:
        return None
    if record is None or record.key is None or len(record.key) < 4:
        return None
    kind = int.from_bytes(record.key[2:4])
    return kind if kind in (ABORT, COMMIT) else None
