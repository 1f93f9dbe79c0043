"""The metadata log of a running cluster in parts, which dumps read like files."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kraftops.log.batch import Batch
from kraftops.log.files import METADATA_TOPIC
from kraftops.log.ranges import ByteRange
from kraftops.log.streams import MemoryLog, OpenName
from kraftops.wire.quorum.live_log import CaughtUp, Event, LiveBatch, Started

_MAX_PART_BYTES = 2 << 20  # as of a file (`PART_BYTES`), unless one batch is larger
_NO_POSITION = -1  # of batches that come over the network: they lie in no file


class LivePart(NamedTuple):
    """A part of the log; *is_restart* makes all parts before it void.

    Its name has the controller and the name of the file there; it can be opened repeatedly.
    """

    part: ByteRange
    is_restart: bool


def live_parts(events: Iterable[Event]) -> Iterator[LivePart]:
    """Yield the batches of events in parts, at the latest when the log is caught up.

    A part begins at the position at which the part before it ends, as in a file.

    Raises:
        WireError: as `kraftops.wire.quorum.live_log.LiveLog.read`.
    """
    builder = _PartBuilder()
    for event in events:
        match event:
            case Started():
                # The batches before are void, too, but the dump has begun to print their log.
                yield from builder.take()
                builder = _PartBuilder(event)
            case LiveBatch():
                if not builder.has_room_for(event):
                    yield from builder.take()
                builder.add(event)
            case CaughtUp():
                yield from builder.take()


class _PartBuilder:
    """Builder of parts; a part belongs to one snapshot, or to the log of one controller."""

    def __init__(self, start: Started | None = None) -> None:
        self._snapshot = start.snapshot if start else None
        self._is_first = True
        self._file: tuple[object, bool] = (None, False)  # endpoint, and whether it is a snapshot
        self._name = ""
        self._start = 0
        self._size = 0
        self._batches: list[Batch] = []

    def has_room_for(self, event: LiveBatch) -> bool:
        """Tell whether a batch belongs to the same part."""
        file = event.endpoint, event.is_of_snapshot
        return not self._batches or (file == self._file and self._size < _MAX_PART_BYTES)

    def add(self, event: LiveBatch) -> None:
        """Add a batch that has room."""
        file = event.endpoint, event.is_of_snapshot
        if file != self._file:
            self._file, self._start = file, 0
            self._name = self._file_name(event)
        self._batches.append(event.batch._replace(position=_NO_POSITION))
        self._size += event.batch.size

    def take(self) -> Iterator[LivePart]:
        """Yield the part, if it has batches, and begin the next one after it."""
        if not self._batches:
            return
        batches, endpoint = self._batches, str(self._file[0])
        name = OpenName(
            f"{endpoint}/{self._name}",
            endpoint,
            lambda path: MemoryLog(path, batches),
            (METADATA_TOPIC, 0),
        )
        stop = self._start + self._size
        yield LivePart(ByteRange(name, self._start, stop, is_last=False), self._is_first)
        self._is_first = False
        self._start, self._size, self._batches = stop, 0, []

    def _file_name(self, event: LiveBatch) -> str:
        if event.is_of_snapshot and self._snapshot:
            return f"{self._snapshot}.checkpoint"
        return f"{int.from_bytes(event.batch.data[:8]):020}.log"
