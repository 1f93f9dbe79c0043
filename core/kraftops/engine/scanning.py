"""The scan by the engine that is used; the reference reads the batches that it declines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from kraftops.engine.choice import engine_name
from kraftops.engine.scan_contract import Outcome, Request, Scan, Why
from kraftops.errors import SourceError
from kraftops.log.batch import HEADER_SIZE, Batch
from kraftops.log.reader import LogReader

if TYPE_CHECKING:
    from kraftops.engine.reference.scan import ReferenceScan


def open_scan(request: Request) -> EngineScan:
    """Return a scan of one file by the engine that is used.

    Raises:
        UsageError: see `engine_name`.
    """
    return EngineScan(request)


def line_count(text: bytes) -> int:
    """Return the number of ends of lines; the compiled engine counts ten times as fast as Python.

    Raises:
        UsageError: see `engine_name`.
    """
    if engine_name() == "native":
        from kraftops.engine import native

        return native.line_count(text)
    return text.count(b"\n")


class EngineScan:
    """The scan of a file by both engines."""

    def __init__(self, request: Request) -> None:
        """Begin a scan of a file."""
        self._request = request
        self.meter = request.query.budget.meter(request.turn)
        """Counts what the batches of the file inflate to."""
        self._is_native = engine_name() == "native"
        if self._is_native:
            from kraftops.engine import native

            self.engine: Scan = native.NativeScan(request, self.meter)
            """The scan of the engine alone; the reference reads what it declines."""
        else:
            self.engine = self._reference
        self.first_offset: int | None = None
        """The first and last offset; see `Scan`."""
        self.last_offset: int | None = None
        self._has_rest = False
        self.position = -1
        """The position up to which the file was read; -1 without positions."""

    def restart(self, request: Request) -> None:
        """Begin with another file, of which the same text is asked for: no path is in it."""
        self._request = request
        self.meter.restart()
        self.__dict__.pop("_reference", None)
        if not self._is_native:
            self.engine = self._reference
        self.first_offset = self.last_offset = None
        self.engine.first_offset = self.engine.last_offset = None
        self.position = -1

    def outcomes(self, reader: LogReader) -> Iterator[Outcome]:
        """Yield the outcomes of the batches of a file, up to bytes that are not a batch.

        Raises:
            SourceError: the file cannot be read.
        """
        try:
            yield from self._outcomes(reader)
        except SourceError:
            yield from self._rest()
            raise
        yield from self._rest()

    def _outcomes(self, reader: LogReader) -> Iterator[Outcome]:
        while True:
            if self.meter.is_spent:
                reader.stop_short()
                return
            window = reader.window()
            if window is None:
                batch = reader.next_batch()
                if batch is None:
                    return
                yield from self.batch(batch, waits=True)
                continue
            data, start, position = window
            outcome = self.engine.feed(data, start, position)
            reader.advance(outcome.next)
            self.position = position + outcome.next - start
            self._note_offsets(self.engine)
            del window, data
            is_stuck = outcome.why == Why.MORE and outcome.next == start
            is_declined = outcome.why == Why.DECLINED or is_stuck
            yield from self._in_order(outcome)
            del outcome
            if is_declined and (batch := reader.next_batch()):
                yield from self._add(batch, waits=True)

    def batch(self, batch: Batch, *, waits: bool = False) -> Iterator[Outcome]:
        """Yield the outcomes of one batch, of any kind; none once the budget is spent.

        If it *waits*, a few rows of columns come with those of the next batch: messages of magic 0
        and 1 are a batch each, and 16,384 Arrow batches of one row take 5 s and 400 MB.
        """
        if self.meter.is_spent:
            return
        if HEADER_SIZE <= batch.size == len(batch.data) and self._is_native:
            while True:
                outcome = self.engine.feed(batch.data, 0, batch.position)
                self._note_offsets(self.engine)
                if outcome.next == batch.size:
                    self.position = batch.position + batch.size
                yield from self._in_order(outcome)
                if outcome.next == batch.size:
                    return
                if outcome.why != Why.FULL:
                    break
        yield from self._add(batch, waits=waits)

    def _add(self, batch: Batch, *, waits: bool) -> Iterator[Outcome]:
        self._has_rest = waits
        reference = self._reference
        reference.first_offset, reference.last_offset = self.first_offset, self.last_offset
        for outcome in reference.add(batch, waits=waits):
            self._note_offsets(reference)
            if outcome.why != Why.FULL:
                self.position = batch.position + batch.size
            yield outcome
        self.engine.first_offset, self.engine.last_offset = self.first_offset, self.last_offset
        self.position = batch.position + batch.size

    def _in_order(self, outcome: Outcome) -> Iterator[Outcome]:
        """Yield an outcome after the rows that wait."""
        if outcome.rows or outcome.notes:
            yield from self._rest()
        yield outcome

    def _rest(self) -> Iterator[Outcome]:
        """Yield the rows of declined batches that wait."""
        if self._has_rest:
            self._has_rest = False
            yield from self._reference.rest()

    @cached_property
    def _reference(self) -> ReferenceScan:
        from kraftops.engine.reference.scan import ReferenceScan

        return ReferenceScan(self._request, self.meter)

    def _note_offsets(self, scan: Scan) -> None:
        self.first_offset, self.last_offset = scan.first_offset, scan.last_offset
