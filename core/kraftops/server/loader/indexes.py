"""The indexes of a segment while it loads (Kafka's `AbstractIndex` and its subclasses).

An offset index has the entries that the log was indexed by, which decide where Kafka looks. Of a
time index only sizes, and what recovery appends, have effects on a start.
"""

from struct import Struct

from kraftops.server.loader import thrown
from kraftops.server.loader.contract import LogBatch
from kraftops.server.loader.disk import Disk
from kraftops.server.loader.thrown import LoadError

_OFFSET_ENTRY = Struct(">ii")
_TIME_ENTRY_SIZE = 12  # a time and a relative offset (`TimeIndex.ENTRY_SIZE`)
_WARM_ENTRIES = 8192 // _OFFSET_ENTRY.size  # Kafka searches the last 8 KiB first
_ABORTED_TXN = Struct(">bxqqqq")  # `AbortedTxn.version` is the first of the two bytes
_TXN_BLOCK = _ABORTED_TXN.size * 1024  # 34 KB: one read for most files, which have a few entries
# `AbstractIndex` maps the file into one `ByteBuffer`, whose size is an int.
_MOST_BYTES = (1 << 31) - 1
RELATIVE = range(1 << 31)
"""Offsets that an index can have, from the base offset of its segment on."""


class _Mapped:
    """An index file that is mapped into memory, with as many entries as fit into it."""

    entry_size: int

    def __init__(self, disk: Disk, name: str, base_offset: int) -> None:
        self._disk, self.name, self.base_offset = disk, name, base_offset
        most = disk.request.segment_index_bytes
        self.file, is_new = disk.file(name, self._rounded(most))
        if is_new and most < self.entry_size:
            raise LoadError(thrown.ILLEGAL_ARGUMENT, f"Invalid max index size: {most}", name)
        if self.file.size > _MOST_BYTES:
            reason = "Size exceeds Integer.MAX_VALUE"
            raise LoadError(thrown.ILLEGAL_ARGUMENT, reason, name)
        self.entries = 0 if is_new else self.file.size // self.entry_size
        self.most_entries = self.file.size // self.entry_size

    def _rounded(self, size: int) -> int:
        return size // self.entry_size * self.entry_size

    def resize(self, size: int) -> None:
        """Give the file another size; the entries stay.

        Raises:
            LoadError: they do not fit (`Buffer.position`).
        """
        rounded = self._rounded(size)
        if self.file.size == rounded:
            return
        position = self.entries * self.entry_size
        self.file.size = rounded
        self.most_entries = rounded // self.entry_size
        if position > rounded:
            reason = f"newPosition > limit: ({position} > {rounded})"
            raise LoadError(thrown.ILLEGAL_ARGUMENT, reason, self.name)

    def resize_to_most(self) -> None:
        """Make room for as many entries as the topic allows."""
        self.resize(self._disk.request.segment_index_bytes)

    def trim(self) -> None:
        """Cut off what has no entries."""
        self.resize(self.entries * self.entry_size)

    def reset(self) -> None:
        """Remove all entries."""
        self.entries = 0
        self.file.origin = None
        self._disk.rebuilt.add(self.name)
        self.resize_to_most()

    def _append_error(self, offset: int, last: int) -> LoadError:
        reason = (
            f"Attempt to append an offset {offset} to position {self.entries} "
            f"no larger than the last offset appended ({last})"
        )
        return LoadError(thrown.INVALID_OFFSET, reason, self.name)

    def _full_error(self) -> LoadError:
        reason = f"Attempt to append to a full index (size = {self.entries})"
        return LoadError(thrown.ILLEGAL_ARGUMENT, reason, self.name)


class OffsetIndex(_Mapped):
    """The `.index` of a segment."""

    entry_size = _OFFSET_ENTRY.size

    def reset(self) -> None:
        """Remove all entries."""
        self.file.entries = bytearray()
        super().reset()

    @property
    def last_offset(self) -> int:
        """The offset of the last entry; the base offset without one."""
        return self._entry(self.entries - 1)[0] if self.entries else self.base_offset

    def _entry(self, number: int) -> tuple[int, int]:
        offset, position = _OFFSET_ENTRY.unpack(self._disk.read(self.file, number * 8, 8))
        return self.base_offset + offset, position

    def position_below(self, offset: int) -> int:
        """Return the position in the log from which an offset is searched (`lookup`)."""
        if not self.entries:
            return 0
        last = self.entries - 1
        warm = max(0, last - _WARM_ENTRIES)
        if self._entry(warm)[0] < offset:
            return self._position_below(offset, warm, last)
        if self._entry(0)[0] > offset:
            return 0
        return self._position_below(offset, 0, warm)

    def _position_below(self, offset: int, low: int, high: int) -> int:
        """Return the position of the last entry up to an offset, or of an earlier equal one.

        Unordered entries lead where they lead Kafka.
        """
        while low < high:
            middle = (low + high + 1) // 2
            indexed, position = self._entry(middle)
            if indexed == offset:
                return position
            if indexed > offset:
                high = middle - 1
            else:
                low = middle
        return self._entry(low)[1]

    def append(self, offset: int, position: int) -> None:
        """Add an entry.

        Raises:
            LoadError: there is no room, or the offset is not larger than the last one.
        """
        assert self.file.entries is not None, "entries are appended to new indexes alone"
        if self.entries >= self.most_entries:
            raise self._full_error()
        if self.entries and offset <= self.last_offset:
            raise self._append_error(offset, self.last_offset)
        self.file.entries += _OFFSET_ENTRY.pack(offset - self.base_offset, position)
        self.entries += 1


class TimeIndex(_Mapped):
    """The `.timeindex` of a segment."""

    entry_size = _TIME_ENTRY_SIZE

    def __init__(self, disk: Disk, name: str, base_offset: int) -> None:
        """Open the file, or make it."""
        super().__init__(disk, name, base_offset)
        self._last = (-1, base_offset)

    def reset(self) -> None:
        """Remove all entries."""
        self._last = (-1, self.base_offset)
        super().reset()

    def append(self, timestamp: int, offset: int, *, is_last: bool = False) -> None:
        """Add an entry, if its timestamp is larger than the last one's (`maybeAppend`).

        Raises:
            LoadError: there is no room, or the offset is smaller than the last one.
        """
        if not is_last and self.entries >= self.most_entries - 1:
            raise self._full_error()
        if self.entries and offset < self._last[1]:
            raise self._append_error(offset, self._last[1])
        if timestamp > self._last[0]:
            if self.entries >= self.most_entries:
                raise LoadError(thrown.BUFFER_OVERFLOW, "no room for the last entry", self.name)
            self.entries += 1
            self._last = (timestamp, offset)


class TxnIndex:
    """The `.txnindex` of a segment; without aborted transactions there is none."""

    def __init__(self, disk: Disk, name: str, base_offset: int) -> None:
        """Open it, if it exists."""
        self._disk, self.name, self._base_offset = disk, name, base_offset
        self._last_offset: int | None = None

    def is_sane(self) -> bool:
        """Tell whether all transactions end in the segment (`TransactionIndex.sanityCheck`).

        Raises:
            LoadError: an entry has an unknown version.
        """
        file = self._disk.files.get(self.name)
        if file is None:
            return True
        whole = file.size // _ABORTED_TXN.size * _ABORTED_TXN.size
        for position in range(0, whole, _TXN_BLOCK):
            block = self._disk.read(file, position, min(_TXN_BLOCK, whole - position))
            for index, fields in enumerate(_ABORTED_TXN.iter_unpack(block)):
                version, _, _, last_offset, _ = fields
                if version > 0:
                    reason = f"Unexpected aborted transaction version {version}"
                    place = position + index * _ABORTED_TXN.size
                    raise LoadError(thrown.KAFKA, reason, self.name, place)
                if last_offset < self._base_offset:
                    return False
        return True

    def reset(self) -> None:
        """Remove all entries."""
        self._last_offset = None
        file = self._disk.files.get(self.name)
        if file is not None:
            file.origin, file.size = None, 0
            self._disk.rebuilt.add(self.name)

    def append(self, marker: LogBatch) -> None:
        """Add the transaction that a marker aborts.

        Raises:
            LoadError: its offset is not larger than the last one.
        """
        offset = marker.base_offset
        if self._last_offset is not None and self._last_offset >= offset:
            reason = (
                "The last offset of appended transactions must increase sequentially, but "
                f"{offset} is not greater than current last offset {self._last_offset}"
            )
            raise LoadError(thrown.ILLEGAL_ARGUMENT, reason, self.name)
        # No bytes: what is written here is sane wherever it is read again.
        self._disk.file(self.name)
        self._last_offset = offset
