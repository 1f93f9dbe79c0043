"""The type and version of records, read from as few of their bytes as can be."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from kraftops.engine.scanning import count_framed
from kraftops.errors import DecodeError
from kraftops.log.batch import Record
from kraftops.memo import Memo
from kraftops.records.control import CONTROL_TYPES, control_type
from kraftops.records.decoders.keyed import COORDINATORS, messages, type_names
from kraftops.records.dialects import Dialect, dialect, type_name
from kraftops.schema.compile import compiled
from kraftops.schema.read import Data

USER = "user"
UNKNOWN = "UNKNOWN"
_REMOTE = "remote-log-metadata"


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


def control_name(key: bytes | None) -> str:
    """Return the type of a control record."""
    try:
        number = control_type(key)
    except DecodeError:
        return UNKNOWN
    is_known = 0 <= number < len(CONTROL_TYPES)
    return CONTROL_TYPES[number] if is_known else f"{UNKNOWN}({number})"


def label_reader(decoder: str, dialect_name: str = "kafka") -> LabelOf:
    """Return a function of a record, of no control batch, to its label."""
    if decoder in ("metadata", "remote"):
        spoken = _dialect(decoder, dialect_name)
        return lambda record: _frame_label(record.value or b"", spoken)
    if decoder in COORDINATORS:
        labels = Memo(partial(_key_label, type_names(decoder)))

        def keyed(record: Record) -> Label:
            if record.key is None or len(record.key) < 2:
                return Label(UNKNOWN, None)
            return labels[record.key[:2] + (record.value or b"")[:2]]

        return keyed
    return lambda _: Label(USER, None)


def _dialect(decoder: str, dialect_name: str) -> Dialect:
    return dialect(_REMOTE if decoder == "remote" else dialect_name)


def _frame_label(value: bytes, spoken: Dialect) -> Label:
    try:
        number, version, _ = spoken.read_frame(value)
    except DecodeError:
        return Label(UNKNOWN, None)
    message = spoken.messages.get(number)
    return Label(type_name(message) if message else f"{UNKNOWN}({number})", version)


def _key_label(names: dict[int, str], head: bytes) -> Label:
    """Return the label of a record by the first two bytes of its key and of its value."""
    number = int.from_bytes(head[:2], signed=True)
    version = int.from_bytes(head[2:], signed=True) if len(head) == 4 else None
    return Label(names.get(number, f"{UNKNOWN}({number})"), version)


def coordinator_value(decoder: str, number: int, value: bytes) -> Data:
    """Return the value of a record whose key is of type *number*.

    Raises:
        DecodeError: it cannot be read.
    """
    known = messages(decoder).get(number)
    if known is None:
        raise DecodeError(f"unknown record type {number}")
    version = int.from_bytes(value[:2], signed=True)
    if len(value) < 2 or not known[1].versions.has(version):
        raise DecodeError(f"unknown version {version} of {known[1].name}")
    return compiled(known[1], version).read(value, 2)[0]


def coordinator_key(key: bytes | None) -> tuple[int, int]:
    """Return the type of a key, and where its first field ends, which is a string in all types.

    Raises:
        DecodeError: the key holds no such field.
    """
    if key is None:
        raise DecodeError("a record without a key")
    end = 4 + int.from_bytes(key[2:4], signed=True)
    if not 4 <= end <= len(key):
        raise DecodeError("a key that is cut short")
    return int.from_bytes(key[:2], signed=True), end


def framed_types(
    decoder: str, dialect_name: str, buffer: bytes, pos: int, count: int
) -> dict[Label, Amount]:
    """Count the records of a metadata batch, which begin at *pos* and take all that is left.

    Raises:
        DecodeError: they do not.
    """
    messages = _dialect(decoder, dialect_name).messages
    found: dict[Label, Amount] = {}
    for number, version, records, size in count_framed(decoder, dialect_name, buffer, pos, count):
        message = None if number is None else messages.get(number)
        name = UNKNOWN if number is None else f"{UNKNOWN}({number})"
        label = Label(type_name(message) if message else name, version)
        found.setdefault(label, Amount()).add(records, size)
    return found
