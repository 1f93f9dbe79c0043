"""Count the selected records of batches, one by one."""

from array import array
from collections.abc import Iterable, Iterator
from heapq import nsmallest

from google_crc32c import value as crc32c

from kraftops.engine.count_contract import (
    LONGEST_KEY,
    MOST_LARGEST,
    Counted,
    CountRequest,
    LargeRecord,
    Tops,
    Window,
)
from kraftops.engine.heavy_hitters import HeavyHitters
from kraftops.engine.reference.records import sized_records
from kraftops.engine.reference.selection import RowBuilder
from kraftops.errors import DecodeError
from kraftops.log import legacy
from kraftops.log.batch import LOG_APPEND_TIME, LOG_OVERHEAD, Batch, Header, Record
from kraftops.log.legacy import LegacyHeader
from kraftops.memory import Meter
from kraftops.records.control import control_meaning
from kraftops.records.meaning import IN_ROWS, Label, size_error

_Selected = Iterator[tuple[int, Record, int]]
"""Number in the batch, record, and its size."""


class ReferenceCounter:
    """A `kraftops.engine.count_contract.RecordCounter` in plain Python."""

    def __init__(self, request: CountRequest, meter: Meter) -> None:
        """Count records of a file; *meter* counts what its batches inflate to."""
        self._meter = meter
        query = request.query
        decoder = query.record_decoder
        self._rows = RowBuilder(request.path, query)
        self._label = decoder.label_reader()
        self._is_bounded = decoder.has_types
        self._meaning = decoder.meaning_reader(show_secrets=False) if query.check else None
        self._has_tops = request.tops
        self._keys: HeavyHitters[bytes] = HeavyHitters()
        self._keyless = 0
        self._largest: list[LargeRecord] = []

    def add_window(self, data: bytes, start: int, position: int) -> int:  # noqa: ARG002 - takes none
        """Leave all batches to `add`."""
        return start

    def count_logs(self, buffer: bytes, stops: list[int]) -> list[None]:  # noqa: ARG002 - takes none
        """Leave all logs to `add`."""
        return [None] * len(stops)

    def tally(self) -> None:
        """Return nothing: no window was counted."""

    def add(
        self, batch: Batch, header: Header, buffer: bytes, pos: int, window: Window
    ) -> Counted | None:
        """Count the selected records of a batch; see `RecordCounter`."""
        try:
            for _ in sized_records(buffer, pos, header):
                pass
        except DecodeError:
            return None
        return self._count(
            self._selected(batch, header, buffer, pos),
            batch.position,
            header.record_count,
            window,
            is_control=header.is_control,
        )

    def add_legacy(self, batch: Batch, head: LegacyHeader, window: Window) -> Counted:
        """Count the selected messages of a batch of magic 0 or 1.

        Raises:
            DecodeError: the batch cannot be read.
        """
        # All are read first, so that a damaged batch is not counted.
        total = sum(1 for _ in legacy.records(batch, self._meter))
        selected = (
            (number, message.record, _legacy_size(message))
            for number, message in enumerate(legacy.records(batch, self._meter))
            if self._rows.legacy_row(batch, head, message) is not None
        )
        return self._count(selected, batch.position, total, window, is_control=False)

    def tops(self) -> Tops:
        return Tops(
            keys=self._keys,
            keyless=self._keyless,
            largest=self._largest,
            producers=HeavyHitters(),
            batches=[],
        )

    def _selected(self, batch: Batch, header: Header, buffer: bytes, pos: int) -> _Selected:
        is_appended = header.attributes & LOG_APPEND_TIME
        for number, (record, size) in enumerate(sized_records(buffer, pos, header)):
            if self._rows.matches(batch, header, record):
                stamped = record._replace(timestamp=header.max_timestamp) if is_appended else record
                yield number, stamped, size

    def _count(
        self, selected: _Selected, position: int, total: int, window: Window, *, is_control: bool
    ) -> Counted:
        numbers = array("I")
        offsets: tuple[int, int] | None = None
        times: tuple[int, int] | None = None
        amounts: dict[Label, list[int]] = {}
        errors: list[tuple[int, int, str]] = []
        skipped = size_of_all = 0
        for number, record, size in selected:
            if len(numbers) >= window.most:
                break
            if skipped < window.skip:
                skipped += 1
                continue
            numbers.append(number)
            offsets = _widened(offsets, record.offset)
            times = _widened(times, record.timestamp)
            size_of_all += size
            error = self._error(record, is_control=is_control)
            if error is not None:
                errors.append((record.offset, size, error))
            if is_control:
                continue
            label = self._label(record)
            amount = amounts.setdefault(label, [0, 0])
            amount[0] += 1
            amount[1] += size
            if self._has_tops:
                self._add_tops(record, size, position, label)
        return Counted(
            records=len(numbers),
            size=size_of_all,
            skipped=skipped,
            offsets=offsets,
            times=times,
            amounts=[(label, count, size) for label, (count, size) in amounts.items()],
            numbers=None if len(numbers) == total else list(numbers),
            errors=errors,
        )

    def _error(self, record: Record, *, is_control: bool) -> str | None:
        if self._meaning is not None:
            meaning = control_meaning(record) if is_control else self._meaning(record)
            return meaning.error
        if is_control or self._is_bounded:
            return size_error(record.key, record.value, IN_ROWS)
        return None

    def _add_tops(self, record: Record, size: int, position: int, label: Label) -> None:
        key, value = record.key, record.value
        if key is None:
            self._keyless += 1
        else:
            self._keys.add(_counted_key(bytes(key)))
        key_size, value_size = (None if part is None else len(part) for part in (key, value))
        large = LargeRecord(
            size, position, record.offset, record.timestamp, key_size, value_size, label
        )
        self._largest = largest_records((*self._largest, large))


def largest_records(records: Iterable[LargeRecord]) -> list[LargeRecord]:
    """Return the largest records; of equal ones, those with the lowest offsets, then the first."""
    return nsmallest(MOST_LARGEST, records, key=lambda top: (-top.size, top.offset, top.position))


def _counted_key(key: bytes) -> bytes:
    """Bound the size of a key: a long one is its beginning, its size and its CRC-32C."""
    if len(key) <= LONGEST_KEY:
        return key
    crc: int = crc32c(key)
    return key[:LONGEST_KEY] + len(key).to_bytes(8) + crc.to_bytes(4)


def _widened(ends: tuple[int, int] | None, number: int) -> tuple[int, int]:
    """Return the least and the highest of numbers, with one more."""
    return (number, number) if ends is None else (min(ends[0], number), max(ends[1], number))


def _legacy_size(message: legacy.LegacyRecord) -> int:
    """Return the size of a message in bytes, with its offset and size fields."""
    overhead = LOG_OVERHEAD + (22 if message.magic else 14)
    return overhead + max(message.key_size, 0) + max(message.value_size, 0)
