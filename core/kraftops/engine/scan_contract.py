"""What an engine does: whole batches in, text, JSON, CSV or columns out.

An engine makes a `Scan` of a `Request`; a scan is fed the bytes of a source in order. It gives its
output by size: a call ends in the middle of a batch, or of a value, and the next one goes on there.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Protocol

from kraftops.query.query import Query

MOST_OUTPUT = 1 << 20
"""Bytes of output after which a call ends, about."""
MOST_ROWS = 16384
"""Rows of columns after which a call ends."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a scan makes of the batches of one file.

    *path* is for messages and for the column `file`. With *marks*, `Outcome.marks` says where
    records end in the output, and no record is cut.
    """

    path: str
    query: Query
    marks: bool = False

    @property
    def is_chosen(self) -> bool:
        """Whether the line of a batch, in text, is there only with a record that is asked for."""
        return self.query.salvage or not self.query.filter.is_empty


class Why(IntEnum):
    """Why a call ended."""

    MORE = 0
    """The next batch is not whole in these bytes, or has a length that no batch has."""
    FULL = 1
    """There is enough output; call again with the same bytes, from `next`."""
    DECLINED = 2
    """The next batch is whole, and for the reference."""


class NoteKind(IntEnum):
    """What a note is; see `kraftops.dump.report.Report`."""

    FAILURE = 0
    """Kafka's tool dies of it."""
    FINDING = 1
    """Damage that it shows, or does not see."""


class Note(NamedTuple):
    """Something wrong with the batch at *position* of the file (-1: in no file).

    *at* is how many bytes of the output, or rows of columns, the same call had made before it.
    """

    kind: int
    position: int
    reason: str
    at: int = 0


class Column(NamedTuple):
    """A column as Arrow lays it out, little-endian.

    *data* has the numbers (of bool: a bit each), or the bytes of all texts; *offsets* (int32) where
    each text begins and the last ends; *valid* a bit a row, lowest first, None where all are there.
    """

    data: bytes
    offsets: bytes | None = None
    valid: bytes | None = None


Columns = dict[str, Column]
"""By name; `headers` has offsets into `headers.key` and `headers.value`."""


class Outcome(NamedTuple):
    """What a call made.

    *out* are bytes of text, JSON or CSV; where the form is `parquet`, *columns* are given instead,
    of *rows* rows. *next* is where in the bytes the next batch begins, or the one that is not done.
    *gaps* are pairs of int64: an offset, and one that follows it though it is not the next.
    *marks* (int32): where in *out* a record's line ends, or, negative, that of a batch whose
    records follow.
    """

    out: bytes
    next: int
    why: int
    notes: list[Note]
    gaps: bytes = b""
    marks: bytes = b""
    rows: int = 0
    columns: Columns | None = None


class Scan(Protocol):
    """Reads the batches of one file, in order."""

    first_offset: int | None
    """Of all records that were printed as Kafka's text, in no chosen one, as is the last."""
    last_offset: int | None

    def feed(self, data: bytes, start: int, position: int) -> Outcome:
        """Read the whole batches in *data* from *start* on, whose place in the file is *position*.

        After `Why.FULL`, the batch at `Outcome.next` must be the first of the next call.
        """
