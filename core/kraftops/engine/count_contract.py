"""The contract of a count: the selected records of batches, as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from kraftops.engine.heavy_hitters import HeavyHitters
from kraftops.log.batch import Batch, Header
from kraftops.query.query import Query
from kraftops.records.meaning import Label

LONGEST_KEY = 256
"""Bytes of a key that is counted as it is; see `key_of`."""
MOST_LARGEST = 10
"""The largest records that are kept."""


@dataclass(frozen=True, slots=True)
class CountRequest:
    """The request for counts of one file; with *tops*, also of its keys and largest records.

    With `Query.check`, records are decoded to find those that cannot be.
    """

    path: str
    query: Query
    tops: bool = False


class Window(NamedTuple):
    """The selected records that are counted: at most *most* after the first *skip*."""

    skip: int
    most: int


class Counted(NamedTuple):
    """The counted records of a batch: their number and bytes, and the number of skipped ones.

    *offsets* and *times* are the least and the highest. *amounts* are numbers and bytes by label,
    of data records. *numbers* are the places in the batch, None if all its records are counted.
    *errors* are offset, size and reason of records that cannot be decoded.
    """

    records: int
    size: int
    skipped: int
    offsets: tuple[int, int] | None
    times: tuple[int, int] | None
    amounts: list[tuple[Label, int, int]]
    numbers: list[int] | None
    errors: list[tuple[int, int, str]]


class LargeRecord(NamedTuple):
    """One of the largest records; sizes are bytes, None of null. *position* is of its batch."""

    size: int
    position: int
    offset: int
    timestamp: int
    key_size: int | None
    value_size: int | None
    label: Label


class Tops(NamedTuple):
    """The keys, as `key_of` returns them, the number of records without, the largest records."""

    keys: HeavyHitters[bytes]
    keyless: int
    largest: list[LargeRecord]


class RecordCounter(Protocol):
    """A counter of the records of one file, given its batches of magic 2 in order."""

    def add(
        self, batch: Batch, header: Header, buffer: bytes, pos: int, window: Window
    ) -> Counted | None:
        """Count the selected records in *buffer*, the inflated records of a batch from *pos* on.

        None stands for damaged records: they are not exactly those that the header counts.
        """

    def tops(self) -> Tops:
        """Return keys and largest records so far."""


def key_of(key: bytes) -> tuple[bytes, int]:
    """Return the first bytes of a counted key, and its whole size."""
    if len(key) <= LONGEST_KEY:
        return key, len(key)
    return key[:LONGEST_KEY], int.from_bytes(key[LONGEST_KEY : LONGEST_KEY + 8])
