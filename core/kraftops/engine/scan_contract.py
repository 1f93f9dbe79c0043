"""The contract of a scan: whole batches in, text, JSON, CSV or columns out.

An engine makes a `Scan` from a `Request`; the caller feeds it the bytes of a source in order. A
call ends after output of a certain size, also inside a batch or a value; the next goes on there.

The header of a batch can tell all columns that are asked for: its own; of a batch without gaps
offset and sequence, of one with the append time the timestamp, of one without control records
`kind`. If its checksum matches, offsets are the only condition and nothing is checked, the records
are not read, and not even inflated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Protocol

from kraftops.memory import ALONE, Turn
from kraftops.query.query import Query

NO_PRODUCER = -1  # as Kafka stores it (`RecordBatch.NO_PRODUCER_ID`)
ABORT, COMMIT = 0, 1
"""Types of transaction markers (`ControlRecordType`)."""
MAX_OUTPUT = 1 << 20
"""The approximate bytes of output after which a call ends: it bounds what a thread holds."""
MAX_ROWS = 16384
"""The rows of columns after which a call ends, and of a record batch that is made of rows."""


@dataclass(frozen=True, slots=True)
class Request:
    """The request for a scan of one file.

    *path* is for messages and the column `file`. With *marks*, `Outcome.marks` has the ends of
    records in the output. *turn* is that of who reads it.
    """

    path: str
    query: Query
    marks: bool = False
    turn: Turn = ALONE

    @property
    def is_chosen(self) -> bool:
        """Whether text has the line of a batch only before a selected record."""
        return self.query.salvage or not self.query.filter.is_empty


class Why(IntEnum):
    """The reason why a call ended."""

    MORE = 0
    """The next batch is not whole in these bytes, or has an impossible length."""
    FULL = 1
    """There is enough output; call again with the same bytes, from `next`."""
    DECLINED = 2
    """The next batch is whole, and for the reference."""


class NoteKind(IntEnum):
    """The kind of a note."""

    FAILURE = 0
    """Kafka's tool dies of it."""
    FINDING = 1
    """Damage that Kafka's tool shows or overlooks."""
    LIMIT = 2
    """A batch that a budget leaves out, and that Kafka's tool reads."""


class Note(NamedTuple):
    """A problem of the batch at *position* of the file (-1: not in a file).

    *output_position* is the place in the output of the same call, in bytes or rows of columns.
    """

    kind: int
    position: int
    reason: str
    output_position: int = 0


class Column(NamedTuple):
    """A column in Arrow's layout, little-endian.

    *data* has the numbers (of bool: a bit each), or the bytes of all texts; *offsets* (int32) the
    begin of each text and the end of the last; *valid* a bit a row, the lowest first, or None if no
    value is null.
    """

    data: bytes
    offsets: bytes | None = None
    valid: bytes | None = None


Columns = dict[str, Column]
"""By name; `headers` has offsets into `headers.key` and `headers.value`.

Of kind `user`, `key` and `value` are bytes, and their encodings are null.
"""


class Outcome(NamedTuple):
    """The output of a call.

    *out* are bytes of text, JSON or CSV; the form `parquet` has *columns* of *rows* rows instead.
    *next* is the position in the bytes of the next batch, or of the unfinished one. *gaps* are
    pairs of int64: an offset, and the following one if it is not the next. *marks* (int32) are the
    ends in *out* of the lines of records, and, negative, of lines of batches before their records.
    """

    out: bytes
    next: int
    why: int
    notes: list[Note]
    gaps: bytes = b""
    marks: bytes = b""
    rows: int = 0
    columns: Columns | None = None


class SeenBatch(NamedTuple):
    """What a check looks at in a batch with a right checksum, whatever its magic.

    *epoch* is -1 for magic 0 and 1, which have none. *is_thinned* says that it has fewer records
    than offsets, as compaction leaves it. *marker* is the type of the transaction marker in it, or
    None.
    """

    position: int
    size: int
    base_offset: int
    last_offset: int
    max_timestamp: int
    epoch: int = -1
    producer_id: int = NO_PRODUCER
    last_sequence: int = -1
    is_transactional: bool = False
    is_thinned: bool = False
    is_empty: bool = False
    marker: int | None = None
    magic: int = 2


class Scan(Protocol):
    """The scan of a file, fed with its bytes in order."""

    first_offset: int | None
    """The first offset in Kafka's text; None if the request is_chosen, as for the last."""
    last_offset: int | None

    def feed(self, data: bytes, start: int, position: int) -> Outcome:
        """Read the whole batches in *data* from *start* on, which is at *position* of the file.

        After `Why.FULL`, the batch at `Outcome.next` must be the first of the next call.
        """

    def texts(self, buffer: bytes, stops: list[int]) -> Sequence[bytes | None]:
        """Return the text of each of many small logs, as `feed` of its bytes would.

        They follow each other in *buffer*, each up to its index in *stops*. It is None of a log
        with a note, a gap, or bytes that are not a batch of magic 2; the reference leaves all to
        `feed`.
        """

    def look(self, buffer: bytes, start: int, position: int) -> tuple[int, Sequence[SeenBatch]]:
        """Look at the sound batches in *buffer* from *start* on, at *position* of the file.

        They end, with the index after them, before a batch that is not whole or not of magic 2,
        that has a wrong checksum, or a record that `feed` would note; the reference has none.
        """

    def ends(
        self, buffer: bytes, stops: list[int], base_offsets: list[int]
    ) -> Sequence[int | None]:
        """Return the offset after the last batch of each of many small logs, if that is plain.

        They follow each other in *buffer*, each up to its index in *stops*. In a plain log are only
        batches of `look` without producers, from its base offset on, which leave out no offset. Of
        others it is None; the reference leaves all of them to `look`.
        """
