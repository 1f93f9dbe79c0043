"""The metadata log of a running cluster in parts, as dumps read files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kraftops.log.batch import Batch
from kraftops.log.ranges import ByteRange
from kraftops.log.streams import MemoryLog, OpenName
from kraftops.wire.quorum.live_log import Begins, CaughtUp, Event, LiveBatch

_MOST_BYTES = 2 << 20  # of a part, or one batch
_NOWHERE = -1  # the position of what is in no file


class LivePart(NamedTuple):
    """A part of the log; where it *begins_anew*, all that came before is void.

    Its name has the controller and what would be the file there; it can be opened again.
    """

    part: ByteRange
    begins_anew: bool


def live_parts(events: Iterable[Event]) -> Iterator[LivePart]:
    """Yield what events bring, at the latest when all that there is has been read.

    What follows another part directly begins where that ended, as in a file.

    Raises:
        WireError: what `kraftops.wire.quorum.live_log.LiveLog.read` raises.
    """
    gathering = _Gathering()
    for event in events:
        match event:
            case Begins():
                # What is left of the last one is void too, but who prints it has begun to.
                yield from gathering.taken()
                gathering = _Gathering(event)
            case LiveBatch():
                if not gathering.has_room_for(event):
                    yield from gathering.taken()
                gathering.add(event)
            case CaughtUp():
                yield from gathering.taken()


class _Gathering:
    """The batches of the next part, all of one snapshot, or of the log from one controller."""

    def __init__(self, begins: Begins | None = None) -> None:
        self._begins = begins
        self._is_first = True
        self._kind: tuple[object, bool] = (None, False)  # endpoint, and whether it is a snapshot
        self._name = ""
        self._start = 0
        self._size = 0
        self._batches: list[Batch] = []

    def has_room_for(self, event: LiveBatch) -> bool:
        """Tell whether a batch belongs to the same part."""
        kind = event.endpoint, event.is_of_snapshot
        return not self._batches or (kind == self._kind and self._size < _MOST_BYTES)

    def add(self, event: LiveBatch) -> None:
        """Add a batch, which there is room for."""
        kind = event.endpoint, event.is_of_snapshot
        if kind != self._kind:
            self._kind, self._start = kind, 0
            self._name = self._file_name(event)
        self._batches.append(event.batch._replace(position=_NOWHERE))
        self._size += event.batch.size

    def taken(self) -> Iterator[LivePart]:
        """Yield what was gathered, if anything was, and go on behind it."""
        if not self._batches:
            return
        batches, place = self._batches, str(self._kind[0])
        name = OpenName(f"{place}/{self._name}", place, lambda path: MemoryLog(path, batches))
        stop = self._start + self._size
        yield LivePart(ByteRange(name, self._start, stop, is_last=False), self._is_first)
        self._is_first = False
        self._start, self._size, self._batches = stop, 0, []

    def _file_name(self, event: LiveBatch) -> str:
        if event.is_of_snapshot and self._begins:
            return f"{self._begins.snapshot}.checkpoint"
        return f"{int.from_bytes(event.batch.data[:8]):020}.log"
