"""The count by the engine that is used; the reference counts messages of magic 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from kraftops.engine.choice import engine_name
from kraftops.engine.count_contract import (
    Counted,
    CountRequest,
    LogCount,
    RecordCounter,
    Tally,
    Tops,
    Window,
)
from kraftops.log.batch import Batch, Header
from kraftops.log.legacy import LegacyHeader
from kraftops.memory import Meter

if TYPE_CHECKING:
    from kraftops.engine.reference.counting import ReferenceCounter


class EngineCounter:
    """A counter of the records of one file by both engines."""

    def __init__(self, request: CountRequest, meter: Meter) -> None:
        """Begin a count of a file; *meter* counts what its batches inflate to.

        Raises:
            UsageError: see `engine_name`.
        """
        self._request, self.meter = request, meter
        if engine_name() == "native":
            from kraftops.engine import native

            self._counter: RecordCounter = native.NativeCounter(request, meter)
        else:
            self._counter = self._reference

    def add_window(self, data: bytes, start: int, position: int) -> int:
        """Count the ordinary batches of a window; see `RecordCounter`."""
        return self._counter.add_window(data, start, position)

    def count_logs(self, buffer: bytes, stops: list[int]) -> Sequence[LogCount | None]:
        """Count each of many small logs that is plain; see `RecordCounter`."""
        return self._counter.count_logs(buffer, stops)

    def tally(self) -> Tally | None:
        """Return the numbers of the batches of windows; see `RecordCounter`."""
        return self._counter.tally()

    def add(
        self, batch: Batch, header: Header, buffer: bytes, pos: int, window: Window
    ) -> Counted | None:
        """Count the selected records of a batch; see `RecordCounter`."""
        return self._counter.add(batch, header, buffer, pos, window)

    def add_legacy(self, batch: Batch, head: LegacyHeader, window: Window) -> Counted:
        """Count the selected messages of a batch of magic 0 or 1.

        Raises:
            DecodeError: the batch cannot be read.
        """
        return self._reference.add_legacy(batch, head, window)

    def tops(self) -> list[Tops]:
        counters = [self._counter]
        if "_reference" in self.__dict__ and self._counter is not self._reference:
            counters.append(self._reference)
        return [counter.tops() for counter in counters]

    @cached_property
    def _reference(self) -> ReferenceCounter:
        from kraftops.engine.reference.counting import ReferenceCounter

        return ReferenceCounter(self._request, self.meter)
