"""The type and version of records, read from as few of their bytes as can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kraftops.errors import DecodeError, Underflow
from kraftops.log.batch import Record, read_record
from kraftops.memo import Memo
from kraftops.records.coordinator import messages
from kraftops.records.dialects import Dialect, dialect, snake_case, type_name
from kraftops.varint import read_varint

USER = "user"
UNKNOWN = "UNKNOWN"
_REMOTE = "remote-log-metadata"
_FRAME = 6  # bytes behind the offset delta: a key length of one, a value length of two, the frame


class Label(NamedTuple):
    """A record type by Kafka's name; None is the version of what has none, as a tombstone."""

    type: str
    version: int | None


class Amount:
    """Some records, and the bytes that they take in their batches, inflated."""

    __slots__ = ("count", "size")

    def __init__(self, count: int = 0, size: int = 0) -> None:
        self.count = count
        self.size = size

    def add(self, count: int, size: int) -> None:
        """Count more."""
        self.count += count
        self.size += size


LabelOf = Callable[[Record], Label]


def label_reader(decoder: str, dialect_name: str = "kafka") -> LabelOf:
    """Return a function of a record, of no control batch, to its label."""
    if decoder in ("metadata", "remote"):
        spoken = dialect(_REMOTE if decoder == "remote" else dialect_name)
        return lambda record: _frame_label(record.value or b"", spoken)
    if decoder in ("offsets", "transaction", "share"):
        names = {
            number: snake_case(key.name.removesuffix("Key"))
            for number, (key, _) in messages(decoder).items()
        }
        return lambda record: _key_label(record, names)
    return lambda _: Label(USER, None)


def _frame_label(value: bytes, spoken: Dialect) -> Label:
    try:
        number, version, _ = spoken.read_frame(value)
    except DecodeError:
        return Label(UNKNOWN, None)
    message = spoken.messages.get(number)
    return Label(type_name(message) if message else f"{UNKNOWN}({number})", version)


def _key_label(record: Record, names: dict[int, str]) -> Label:
    key, value = record.key, record.value
    if key is None or len(key) < 2:
        return Label(UNKNOWN, None)
    number = int.from_bytes(key[:2], signed=True)
    version = None
    if value is not None and len(value) >= 2:
        version = int.from_bytes(value[:2], signed=True)
    return Label(names.get(number, f"{UNKNOWN}({number})"), version)


class FramedTypes:
    """Counts the records of metadata batches by label, by the numbers of their frames."""

    def __init__(self, decoder: str, dialect_name: str = "kafka") -> None:
        self._spoken = dialect(_REMOTE if decoder == "remote" else dialect_name)
        self._labels: Memo[Label | None] = Memo(self._label)

    def count(self, b: bytes, p: int, count: int) -> dict[Label, Amount]:
        """Count records that begin at *p* and take all bytes that are left.

        Raises:
            DecodeError: they do not.
        """
        seen: dict[bytes, Amount] = {}
        found: dict[Label, Amount] = {}
        try:
            for _ in range(count):
                n = b[p]
                if n & 1:
                    raise DecodeError("a record of negative size")
                if n < 128:
                    q, e = p + 2, p + 1 + (n >> 1)
                elif b[p + 1] < 128:
                    q, e = p + 3, p + 2 + ((n & 127 | b[p + 1] << 7) >> 1)
                else:
                    size, q = read_varint(b, p)
                    q, e = q + 1, q + size
                while b[q] > 127:  # the timestamp delta
                    q += 1
                q += 1
                while b[q] > 127:  # the offset delta
                    q += 1
                key = b[q + 1 : q + 1 + _FRAME]
                amount = seen.get(key)
                if amount is None:
                    amount = self._amount(b, p, key, seen, found)
                amount.count += 1
                amount.size += e - p
                p = e
        except IndexError:
            raise Underflow("the records of the batch are cut short") from None
        if p != len(b) and count:
            raise DecodeError(f"{len(b) - p} bytes too many for the {count} records of the batch")
        for key, amount in seen.items():
            label = self._labels[key]
            assert label is not None
            found.setdefault(label, Amount()).add(amount.count, amount.size)
        return found

    def _amount(
        self,
        b: bytes,
        p: int,
        key: bytes,
        seen: dict[bytes, Amount],
        found: dict[Label, Amount],
    ) -> Amount:
        """Return where to count the record at *p*, whose *key* was not seen before."""
        label = self._labels[key]
        if label is not None:
            return seen.setdefault(key, Amount())
        record, _ = read_record(b, p, 0, 0)
        return found.setdefault(_frame_label(record.value or b"", self._spoken), Amount())

    def _label(self, key: bytes) -> Label | None:
        """Return what the bytes behind an offset delta tell, or None if that is not all."""
        if len(key) < _FRAME or key[0] != 1:  # a record with a key
            return None
        size, pos = read_varint(key, 1)
        try:
            frame = self._spoken.read_frame(key[pos:])
        except DecodeError:
            return None
        return _frame_label(key[pos:], self._spoken) if size >= frame.body else None
