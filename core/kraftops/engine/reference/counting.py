"""Count records by the numbers of their frames."""

from __future__ import annotations

from typing import cast

from kraftops.errors import DecodeError
from kraftops.log.batch import read_record
from kraftops.records.dialects import Dialect
from kraftops.records.long_text import LONG
from kraftops.varint import read_varint

Counted = tuple[int | None, int | None, int, int]
"""Number of a type and its version, where a frame has them; records, and the bytes they take."""


def count_framed(framing: Dialect, buffer: bytes, pos: int, count: int) -> list[Counted]:
    """Count *count* records of framed values that take all bytes from *pos* on.

    Raises:
        DecodeError: they do not.
    """
    found: dict[tuple[int | None, int | None], list[int]] = {}
    has_long = len(buffer) > LONG
    view = cast("bytes", memoryview(buffer))  # a slice of it copies nothing
    for _ in range(count):
        start = pos
        is_long = has_long and read_varint(buffer, pos)[0] > LONG
        record, pos = read_record(view if is_long else buffer, pos, 0, 0)
        kind: tuple[int | None, int | None]
        try:
            frame = framing.read_frame(record.value or b"")
            kind = frame.type, frame.version
        except DecodeError:
            kind = None, None
        amount = found.setdefault(kind, [0, 0])
        amount[0] += 1
        amount[1] += pos - start
    if count and pos != len(buffer):
        raise DecodeError(
            f"{len(buffer) - pos} bytes too many for the {count} records of the batch"
        )
    return [(*kind, number, size) for kind, (number, size) in found.items()]
