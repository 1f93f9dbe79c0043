"""Amounts of records and of their bytes, by record type and version."""

from __future__ import annotations

from kraftops.engine.scanning import count_framed
from kraftops.records.decoders.framed import FramedDecoder
from kraftops.records.meaning import Label


class Amount:
    """A number of records, and their size in bytes, uncompressed."""

    __slots__ = ("count", "size")

    def __init__(self, count: int = 0, size: int = 0) -> None:
        self.count = count
        self.size = size

    def add(self, count: int, size: int) -> None:
        """Count more."""
        self.count += count
        self.size += size


def framed_amounts(
    decoder: FramedDecoder, buffer: bytes, pos: int, count: int
) -> dict[Label, Amount]:
    """Count the records of a batch, which fill *buffer* from *pos* to its end.

    Raises:
        DecodeError: they do not.
    """
    amounts: dict[Label, Amount] = {}
    for number, version, records, size in count_framed(decoder, buffer, pos, count):
        amounts.setdefault(decoder.label_of(number, version), Amount()).add(records, size)
    return amounts
