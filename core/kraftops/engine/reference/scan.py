"""The reference's scan: it reads batches one by one, in plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import TYPE_CHECKING

from kraftops.engine.reference.output import Output
from kraftops.engine.reference.text_scan import TextScan
from kraftops.engine.scan_contract import Outcome, Request, SeenBatch, Why
from kraftops.log.batch import HEADER_SIZE, LOG_OVERHEAD, Batch
from kraftops.memory import Meter

if TYPE_CHECKING:
    from kraftops.engine.reference.row_scan import ColumnWriter, RowScan

_LENGTH = Struct(">i").unpack_from


class ReferenceScan:
    """The scan of a file by the reference; see `kraftops.engine.scan_contract.Scan`."""

    def __init__(self, request: Request, meter: Meter) -> None:
        """Begin a scan of a file; *meter* counts what its batches inflate to."""
        self._out = Output(marks=request.marks)
        self._columns: ColumnWriter | None = None
        if request.query.output_format.is_text:
            self._form: TextScan | RowScan = TextScan(request, self._out, meter)
        else:
            from kraftops.engine.reference.row_scan import row_scan  # with the module json

            self._form, self._columns = row_scan(request, self._out, meter)
        self._unfinished: Iterator[None] | None = None  # the batch in which the last call ended

    @property
    def first_offset(self) -> int | None:
        """See `Scan`."""
        return self._form.first_offset

    @first_offset.setter
    def first_offset(self, offset: int | None) -> None:
        self._form.first_offset = offset

    @property
    def last_offset(self) -> int | None:
        """See `Scan`."""
        return self._form.last_offset

    @last_offset.setter
    def last_offset(self, offset: int | None) -> None:
        self._form.last_offset = offset

    def texts(self, buffer: bytes, stops: list[int]) -> list[None]:  # noqa: ARG002 - as in `Scan`
        """See `Scan`."""
        return [None] * len(stops)

    def look(
        self,
        buffer: bytes,  # noqa: ARG002 - as in `Scan`
        start: int,
        position: int,  # noqa: ARG002 - as in `Scan`
    ) -> tuple[int, Sequence[SeenBatch]]:
        """See `Scan`."""
        return start, ()

    def ends(
        self,
        buffer: bytes,  # noqa: ARG002 - as in `Scan`
        stops: list[int],
        base_offsets: list[int],  # noqa: ARG002 - as in `Scan`
    ) -> list[None]:
        """See `Scan`."""
        return [None] * len(stops)

    def feed(self, data: bytes, start: int, position: int) -> Outcome:
        """See `Scan`."""
        base, size = position - start, len(data)
        while start + HEADER_SIZE <= size:
            length: int = _LENGTH(data, start + 8)[0]
            end = start + LOG_OVERHEAD + length
            if end < start + HEADER_SIZE or end > size:
                break
            if self._unfinished is None:
                batch = Batch(base + start, end - start, data[start:end])
                self._unfinished = self._form.batch(batch)
            for _ in self._unfinished:
                return self._outcome(start, Why.FULL)
            self._unfinished = None
            start = end
            if self._is_full or self._out.notes:  # the output ends where a note belongs
                return self._outcome(start, Why.FULL)
        return self._outcome(start, Why.MORE)

    def add(self, batch: Batch, *, waits: bool = False) -> Iterator[Outcome]:
        """Read a batch of any kind: of any magic, damaged, or too large.

        If it *waits*, a few rows of columns of an old one are left to the next call, or to `rest`.
        """
        for _ in self._form.batch(batch):
            yield self._outcome(0, Why.FULL)
        may_wait = waits and batch.is_legacy and self._columns and not self._columns.has_views
        if not may_wait or self._out.notes:
            yield self._outcome(0, Why.MORE)

    def rest(self) -> Iterator[Outcome]:
        if self._columns and self._columns.has_rows:
            yield self._outcome(0, Why.MORE)

    @property
    def _is_full(self) -> bool:
        return self._columns.is_full if self._columns else self._out.is_full

    def _outcome(self, following: int, why: Why) -> Outcome:
        outcome = self._out.take(following, why)
        return self._columns.take(outcome) if self._columns else outcome
