"""The contract of a count: the selected records of batches, as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from kraftops.engine.heavy_hitters import HeavyHitters
from kraftops.log.batch import Batch, Header
from kraftops.query.query import Query
from kraftops.records.meaning import Label

LONGEST_KEY = 256
"""Bytes of a key that is counted as it is; see `key_of`."""
MOST_LARGEST = 10
"""The largest records that are kept, and the largest batches: as many as a summary shows."""


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


class LargeBatch(NamedTuple):
    """One of the largest batches; *size* is in bytes, as stored."""

    size: int
    position: int
    base_offset: int
    records: int
    codec: str
    producer_id: int | None


class Tops(NamedTuple):
    """The keys, as `key_of` returns them, the number of records without, the largest records.

    *producers*, by the bytes of their records, and *batches* are those of tallies.
    """

    keys: HeavyHitters[bytes]
    keyless: int
    largest: list[LargeRecord]
    producers: HeavyHitters[int]
    batches: list[LargeBatch]


class BatchTally(NamedTuple):
    """Batches: number and bytes, control and transactional ones.

    *magics*, *sizes* in bytes and numbers of *records* have the number of batches of each.
    """

    amount: tuple[int, int]
    control: int
    transactional: int
    magics: dict[int, int]
    sizes: dict[int, int]
    records: dict[int, int]


class OffsetTally(NamedTuple):
    """Offsets of consecutive batches; *gaps* are the first ones, their number, missing offsets."""

    first: int
    last: int
    gaps: tuple[list[tuple[int, int]], int, int]
    backward: int
    removed: int


class HistoryTally(NamedTuple):
    """Numbers and bytes of records by time: buckets of 1 << *shift* ms from number *first* on."""

    shift: int
    first: int
    buckets: list[tuple[int, int]]


class ProducerTally(NamedTuple):
    """A producer with transactions: batches, records, committed and aborted transactions.

    *head* is the first transactional record before the first marker, *first_end* the timestamp of
    that marker, and *tail* the first transactional record after the last marker.
    """

    producer_id: int
    epoch: int
    numbers: tuple[int, int, int, int]
    head: tuple[int, int] | None
    first_end: int | None
    tail: tuple[int, int] | None


class TransactionTally(NamedTuple):
    """Transactions: their numbers, durations in ms, producers with and without transactions."""

    committed: int
    aborted: int
    durations: list[tuple[int, int]]
    producers: list[ProducerTally]
    idempotent: list[int]


class Tally(NamedTuple):
    """The numbers of batches in a row, of their selected records alone if there is a filter.

    *reach* is the highest end of all, exclusive, also of those without a match. *records* and
    *controls* by type are numbers and bytes. *epochs* have first offset, batches and records,
    *codecs* batches, bytes as stored and inflated. *errors* are the position of a batch, offset,
    size and reason of records that cannot be decoded.
    """

    reach: int | None
    batches: BatchTally
    records: tuple[int, int]
    offsets: OffsetTally | None
    times: tuple[int, int] | None
    history: HistoryTally
    epochs: list[tuple[int, int, int, int]]
    codecs: list[tuple[int, tuple[int, int, int]]]
    amounts: list[tuple[Label, int, int]]
    controls: list[tuple[int | None, tuple[int, int]]]
    errors: list[tuple[int, int, int, str]]
    transactions: TransactionTally


class LogCount(NamedTuple):
    """What a table has of a plain log: without transactions, control records and damage.

    *size* is that of its batches in bytes, *end* the offset after the last one, also without a
    match; *offsets* and *times* are the least and the highest of its selected batches.
    """

    size: int
    records: int
    offsets: tuple[int, int] | None
    end: int | None
    times: tuple[int, int] | None


class RecordCounter(Protocol):
    """A counter of the records of one file, given its batches in order."""

    def add_window(self, data: bytes, start: int, position: int) -> int:
        """Count the ordinary batches of *data* from *start* on; return the end of the last one.

        It may leave all batches to `add`. *position* is that of *start* in the file. Before
        another way counts a batch, and at the end, `tally` must be called.
        """

    def count_logs(self, buffer: bytes, stops: list[int]) -> Sequence[LogCount | None]:
        """Count each of many small logs on its own, if it is plain.

        They follow each other in *buffer*, each up to its index in *stops*. Of others, None is
        returned; the reference leaves all of them to `add`.
        """

    def tally(self) -> Tally | None:
        """Return what `add_window` counted since the last call."""

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
