"""Batches of a log as Kafka's `FileLogInputStream` finds them, and what it makes of damage."""

from collections.abc import Iterator
from contextlib import suppress
from struct import Struct
from zlib import crc32

from google_crc32c import extend as crc32c_extend
from google_crc32c import value as crc32c

from kraftops.errors import DecodeError, Underflow
from kraftops.log import legacy
from kraftops.log.batch import (
    CODEC_MASK,
    CONTROL,
    CRC_START,
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    SMALLEST_LENGTH,
    TRANSACTIONAL,
    Batch,
    Record,
    records,
)
from kraftops.log.codecs import CODECS
from kraftops.log.log_file import LogFile
from kraftops.memory import Budget, Meter
from kraftops.server.loader import thrown
from kraftops.server.loader.contract import Depth, DiskFolder, LogBatch, Marker
from kraftops.server.loader.thrown import LoadError

_FIRST_HEAD_BLOCK = 1 << 10  # most walks over heads are from the last entry of an index: 4 KiB
_HEAD_BLOCK, _WHOLE_BLOCK = 32 << 10, 1 << 20  # a walk over heads jumps over records
_UP_TO_MAGIC = 17  # bytes: `Records.HEADER_SIZE_UP_TO_MAGIC`, fewer bytes are not a batch
_HEADER, _HEADER_FROM = HEADER.unpack, HEADER.unpack_from
_new = tuple.__new__  # of a named tuple: half the time of its own constructor
_LENGTH = Struct(">i").unpack_from
_LEGACY_TIME = Struct(">q").unpack_from
_LEGACY_HEADER_SIZE = 26  # of magic 1, with its timestamp
_BUDGET = Budget()  # what a start does is the same whatever memory this run has
_LARGEST_READ = 16 << 20  # bytes of a batch that is read for its records: markers have some 80


def whole_heads(folder: DiskFolder, name: str, start: int = 0) -> Iterator[LogBatch]:
    """Yield the batches from a position on, as far as their lengths are right."""
    # The end of a log that was preallocated, or that a start cuts, is not an error.
    with suppress(LoadError):
        yield from walk(folder, name, start, folder.files.get(name, 0), Depth.HEADS)


def has_wrong_checksum(folder: DiskFolder, name: str, batch: LogBatch) -> bool:
    """Tell whether the bytes of a batch do not have the checksum in its header."""
    with suppress(LoadError):
        whole = next(walk(folder, name, batch.position, batch.end, Depth.WHOLE), None)
        return whole is None or whole.damage is not None
    return True


def walk(folder: DiskFolder, name: str, start: int, stop: int, depth: Depth) -> Iterator[LogBatch]:
    """Yield the batches of a log between two positions.

    Raises:
        LoadError: Kafka's exception where a length or a header cannot be one.
    """
    with folder.open(name) as file:
        yield from _Stream(name, file, stop, depth, _BUDGET.meter()).batches(start)


class _Stream:
    """A log that is read in blocks."""

    def __init__(self, name: str, file: LogFile, stop: int, depth: Depth, meter: Meter) -> None:
        self._name, self._file, self._stop, self._depth = name, file, stop, depth
        self._block_size = _WHOLE_BLOCK if depth is Depth.WHOLE else _FIRST_HEAD_BLOCK
        self._largest_block = max(self._block_size, _HEAD_BLOCK)
        self._block, self._base = b"", 0
        self._meter = meter

    def _bytes(self, position: int, size: int) -> bytes:
        """Return bytes of the log, read with those that follow up to the end of the walk."""
        index = position - self._base
        if index < 0 or index + size > len(self._block):
            count = max(size, min(self._block_size, self._stop - position))
            self._block, self._base = self._file.read_at(position, count), position
            self._block_size = min(2 * self._block_size, self._largest_block)
            index = 0
        return self._block[index : index + size]

    def batches(self, position: int) -> Iterator[LogBatch]:
        """Yield the batches from *position* on.

        Raises:
            LoadError: Kafka's exception where a length or a header cannot be one.
        """
        while position < self._stop - _UP_TO_MAGIC:
            if (batch := self._plain(position)) is not None:
                yield batch
                position = batch.end
                continue
            head = self._bytes(position, HEADER_SIZE)
            if len(head) < _UP_TO_MAGIC:
                raise self._error(
                    thrown.CORRUPT_RECORD, "Unexpected EOF while attempting to read", position
                )
            length: int = _LENGTH(head, 8)[0]
            if length < SMALLEST_LENGTH:
                reason = f"Found record size {length} smaller than minimum record overhead (14)"
                raise self._error(thrown.CORRUPT_RECORD, reason, position)
            if position > self._stop - LOG_OVERHEAD - length:
                return
            size = LOG_OVERHEAD + length
            is_legacy = not 1 < head[16] < 128  # `magic < 2`, of a signed byte
            damage = None
            if self._depth is Depth.WHOLE:
                damage = self._damage(position, size, head, is_legacy=is_legacy)
            if is_legacy:
                yield self._legacy(position, size, head, damage)
            else:
                yield self._batch(position, size, head, damage)
            position += size

    def _plain(self, position: int) -> LogBatch | None:
        """Return a valid batch in the block whose records need not be looked at; most are."""
        block, index = self._block, position - self._base
        if index < 0 or index + HEADER_SIZE > len(block):
            return None
        base, length, epoch, magic, crc, attributes, delta, _, max_timestamp, producer_id, *_ = (
            _HEADER_FROM(block, index)
        )
        size = LOG_OVERHEAD + length
        is_odd = magic < 2 or attributes & CONTROL or length < SMALLEST_LENGTH
        if is_odd or position + size > self._stop:
            return None
        if self._depth is Depth.WHOLE:
            end = index + size
            if size < HEADER_SIZE or end > len(block):
                return None
            if crc32c(block[index + CRC_START : end]) != crc:
                return None
        last, is_transactional = base + delta, bool(attributes & TRANSACTIONAL)
        fields = (position, size, magic, base, last, max_timestamp, epoch, producer_id)
        return _new(LogBatch, (*fields, is_transactional, False, None, None, crc))

    def _batch(self, position: int, size: int, head: bytes, damage: str | None) -> LogBatch:
        if len(head) < HEADER_SIZE and damage is None:
            raise self._error(thrown.KAFKA, "Failed to load record batch", position)
        base, _, epoch, magic, crc, attributes, delta, _, max_timestamp, producer_id, *_ = _HEADER(
            head.ljust(HEADER_SIZE, b"\0")
        )
        is_control = bool(attributes & CONTROL)
        needs_marker = is_control and producer_id >= 0 and self._depth is not Depth.HEADS
        marker = None
        if needs_marker and damage is None:
            marker = self._marker(position, size)
        is_transactional = bool(attributes & TRANSACTIONAL)
        last, rest = base + delta, (is_transactional, is_control, damage, marker, crc)
        return _new(
            LogBatch, (position, size, magic, base, last, max_timestamp, epoch, producer_id, *rest)
        )

    def _legacy(self, position: int, size: int, head: bytes, damage: str | None) -> LogBatch:
        """Return a message or wrapper; its offset is that of its last message."""
        offset = int.from_bytes(head[:8], signed=True)
        batch = LogBatch(
            position=position,
            size=size,
            magic=head[16],
            base_offset=offset,
            last_offset=offset,
            damage=damage,
        )
        if damage is not None:
            return batch
        if head[16] == 1 and len(head) >= _LEGACY_HEADER_SIZE:
            batch = batch._replace(max_timestamp=_LEGACY_TIME(head, 18)[0])
        codec = head[17] & CODEC_MASK
        return self._wrapper(batch, codec) if codec else batch

    def _wrapper(self, batch: LogBatch, codec: int) -> LogBatch:
        """Return a wrapper with its first offset, or with what Kafka throws that looks for it."""
        position = batch.position
        if codec >= len(CODECS):
            reason = f"Unknown compression type id: {codec}"
            return batch._replace(marker=self._error(thrown.ILLEGAL_ARGUMENT, reason, position))
        if batch.magic > 1 or CODECS[codec] == "zstd":
            reason = "Invalid wrapper magic or compressionType found in legacy deep record iterator"
            return batch._replace(marker=self._error(thrown.INVALID_RECORD, reason, position))
        try:
            raw = self._file.read_at(position, min(batch.size, _LARGEST_READ))
            first = next(legacy.records(Batch(position, batch.size, raw), self._meter))
        except DecodeError as error:
            java_class = _class_of(error)
            if isinstance(error, Underflow):  # `ByteBuffer.getInt`
                java_class = thrown.INDEX_OUT_OF_BOUNDS
            elif error.message.startswith("newLimit"):  # `ByteBuffer.limit`
                java_class = thrown.ILLEGAL_ARGUMENT
            return batch._replace(marker=self._error(java_class, error.message, position))
        return batch._replace(base_offset=first.record.offset)

    def _damage(self, position: int, size: int, head: bytes, *, is_legacy: bool) -> str | None:
        """Return why a batch is not valid (`ensureValid`)."""
        if not is_legacy and size < HEADER_SIZE:
            return f"Record batch is corrupt (the size {size} is smaller than the minimum)"
        start, crc_index = (16, 12) if is_legacy else (CRC_START, 17)
        computed = self._checksum(position + start, size - start, is_legacy=is_legacy)
        stored = int.from_bytes(head[crc_index : crc_index + 4])
        if computed == stored:
            return None
        return f"Record is corrupt (stored crc = {stored}, computed crc = {computed})"

    def _checksum(self, position: int, size: int, *, is_legacy: bool) -> int:
        checksum = 0
        while size > 0:
            part = self._bytes(position, min(size, _WHOLE_BLOCK))
            if not part:
                break  # the file has become shorter
            checksum = crc32(part, checksum) if is_legacy else crc32c_extend(checksum, part)
            position, size = position + len(part), size - len(part)
        return checksum

    def _marker(self, position: int, size: int) -> Marker | LoadError | None:
        """Return what `EndTransactionMarker` makes of the first record of a control batch."""
        if size < HEADER_SIZE:
            return self._error(
                thrown.INDEX_OUT_OF_BOUNDS, "a batch without a whole header", position
            )
        try:
            batch = Batch(position, size, self._file.read_at(position, min(size, _LARGEST_READ)))
            if batch.header.record_count == 0:
                return None  # the cleaner has removed the whole transaction
            record = _first_record(batch, self._meter)
        except DecodeError as error:
            return self._error(_class_of(error), error.message, position)
        failure = _marker_failure(record)
        if failure is not None:
            return self._error(*failure, position)
        assert record.key is not None
        return Marker(record.key[3])

    def _error(self, java_class: str, message: str, position: int) -> LoadError:
        return LoadError(java_class, message, self._name, position)


def _class_of(error: DecodeError) -> str:
    """Return the class of what Kafka throws where records cannot be inflated or read.

    A negative size of a block is an Error of `SnappyInputStream`, which ends no recovery.
    """
    is_negative = error.message.startswith("snappy: a block of -")
    return thrown.SNAPPY if is_negative else thrown.INVALID_RECORD


def _first_record(batch: Batch, meter: Meter) -> Record:
    """Return the first record of a batch; all are read where Kafka inflates or counts them.

    Raises:
        DecodeError: they cannot be read.
    """
    header = batch.header
    if header.record_count < 0:
        raise DecodeError(f"Found invalid record count {header.record_count}")
    if header.codec or header.record_count == 1:
        return next(iter(list(records(batch, meter))))
    return next(records(batch, meter))


def _marker_failure(record: Record) -> tuple[str, str] | None:  # noqa: PLR0911 - one for each check
    """Return class and message of Kafka's exception for an odd marker; None for a sound one."""
    key, value = record.key, record.value
    if key is None:
        return thrown.NULL_POINTER, "a control record without a key"
    if len(key) < 4 or key[0] > 127:
        return thrown.INVALID_RECORD, "Invalid value size or version found for control record key"
    number = int.from_bytes(key[2:4], signed=True)
    if number not in (Marker.ABORT.value, Marker.COMMIT.value):
        reason = f"Invalid control record type for end transaction marker {number}"
        return thrown.ILLEGAL_ARGUMENT, reason
    if value is None:
        return thrown.NULL_POINTER, "a control record without a value"
    if len(value) > 1 and value[0] > 127:
        return thrown.INVALID_RECORD, "Invalid version found for end transaction marker"
    if len(value) < 6:  # version and coordinator epoch
        return thrown.BUFFER_UNDERFLOW, "a transaction marker that is cut short"
    return None
