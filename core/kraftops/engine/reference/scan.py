"""The reference: reads batches one by one, by plain code that follows the formats."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import TYPE_CHECKING

from kraftops.engine.reference.output import Output
from kraftops.engine.scan_contract import Outcome, Request, Why
from kraftops.log.batch import HEADER_SIZE, LOG_OVERHEAD, Batch

if TYPE_CHECKING:
    from kraftops.engine.reference.row_scan import ColumnWriter, RowScan
    from kraftops.engine.reference.text_scan import TextScan

_LENGTH = Struct(">i").unpack_from


class ReferenceScan:
    """Reads the batches of one file, in order; see `kraftops.engine.scan_contract.Scan`."""

    def __init__(self, request: Request) -> None:
        """Make what *request* asks for."""
        self._out = Output(marks=request.marks)
        self._columns: ColumnWriter | None = None
        if request.query.format.is_text:
            from kraftops.engine.reference.text_scan import TextScan

            self._made: TextScan | RowScan = TextScan(request, self._out)
        else:
            from kraftops.engine.reference.row_scan import row_scan

            self._made, self._columns = row_scan(request, self._out)
        self._going: Iterator[None] | None = None  # on with the batch of the last call

    @property
    def first_offset(self) -> int | None:
        """See `Scan`."""
        return self._made.first_offset

    @first_offset.setter
    def first_offset(self, offset: int | None) -> None:
        self._made.first_offset = offset

    @property
    def last_offset(self) -> int | None:
        """See `Scan`."""
        return self._made.last_offset

    @last_offset.setter
    def last_offset(self, offset: int | None) -> None:
        self._made.last_offset = offset

    def feed(self, data: bytes, start: int, position: int) -> Outcome:
        """See `Scan`."""
        base, size = position - start, len(data)
        while start + HEADER_SIZE <= size:
            length: int = _LENGTH(data, start + 8)[0]
            end = start + LOG_OVERHEAD + length
            if end < start + HEADER_SIZE or end > size:
                break
            if self._going is None:
                batch = Batch(base + start, end - start, data[start:end])
                self._going = self._made.batch(batch)
            for _ in self._going:
                return self._outcome(start, Why.FULL)
            self._going = None
            start = end
            if self._is_full or self._out.notes:  # they are told where they belong
                return self._outcome(start, Why.FULL)
        return self._outcome(start, Why.MORE)

    def add(self, batch: Batch) -> Iterator[Outcome]:
        """Read a batch of any kind: of any magic, damaged, or too large to be held."""
        for _ in self._made.batch(batch):
            yield self._outcome(0, Why.FULL)
        yield self._outcome(0, Why.MORE)

    @property
    def _is_full(self) -> bool:
        return self._columns.is_full if self._columns else self._out.is_full

    def _outcome(self, following: int, why: Why) -> Outcome:
        outcome = self._out.take(following, why)
        return self._columns.take(outcome) if self._columns else outcome
