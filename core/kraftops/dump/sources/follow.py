"""Following a growing log: its new batches, part by part, from segment to segment."""

import os
from collections.abc import Callable, Iterator

from kraftops.errors import SourceError
from kraftops.log.batch import LOG_OVERHEAD, SMALLEST_LENGTH, Batch, is_valid
from kraftops.log.files import FileKind, file_name
from kraftops.log.log_file import LogFile
from kraftops.log.ranges import ByteRange

_MOST_BYTES = 8 << 20  # of a part: an existing log is printed part by part


class Growing:
    """A log that grows, from segment to segment."""

    def __init__(self, path: str, note: Callable[[str], None], start: int = 0) -> None:
        """Begin at byte *start* of the segment *path*; *note* gets lines about unusual events."""
        self._path = path
        self._position = start
        self._note = note

    def parts(self) -> Iterator[ByteRange]:
        """Yield the parts that have come since the last call.

        A part ends with a whole batch. Once a later segment exists, this one is complete: its
        remaining bytes are a part too, batches or not, and then the later segment is read.

        Raises:
            SourceError: a segment cannot be read.
        """
        while True:
            self._path = path = _present(self._path)
            position = self._position
            stop = _end_of_batches(path, position)
            if stop > position:
                self._position = stop
                yield ByteRange(path, position, stop, is_last=False)
                continue
            following = next_segment(path)
            if following is None:
                size = _size(path)
                if size < position:
                    self._note(f"{path}: it was cut from {position} to {size} bytes")
                    self._position = size
                return
            if _end_of_batches(path, position) == position:  # looked at after the roll
                size = _size(path)
                self._path, self._position = following, 0
                if position < size:
                    yield ByteRange(path, position, size)


def follow(
    path: str, wait: Callable[[], None], note: Callable[[str], None], start: int = 0
) -> Iterator[ByteRange]:
    """Yield the parts of a log from byte *start* of the segment *path* on, forever.

    *wait* is called when there is nothing new; parts and errors are those of `Growing`.
    """
    growing = Growing(path, note, start)
    while True:
        yield from growing.parts()
        wait()


def _present(path: str) -> str:
    """Return the present path of a segment: a server renames it before it deletes it."""
    renamed = f"{path}.deleted"
    return renamed if not os.path.exists(path) and os.path.exists(renamed) else path


def next_segment(path: str) -> str | None:
    """Return the next segment in the same directory; None if there is none yet."""
    name = file_name(path)
    if name is None or name.kind is not FileKind.LOG:
        return None
    directory = os.path.dirname(path)
    later = []
    for other in os.listdir(directory or "."):
        file = file_name(os.path.join(directory, other))
        if (
            file
            and file.kind is FileKind.LOG
            and not (file.renamed or file.archive)
            and other > os.path.basename(path)
        ):
            later.append(file.path)
    return min(later, default=None)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError as error:
        raise SourceError.of(path, error) from None


def _end_of_batches(path: str, position: int) -> int:
    """Return the end of the last whole batch from *position* on, at most some MB further."""
    with LogFile(path) as log:
        begun = last = position
        while position + LOG_OVERHEAD <= log.size and position - begun < _MOST_BYTES:
            head = log.read_at(position, LOG_OVERHEAD)
            if len(head) < LOG_OVERHEAD:
                break
            size = LOG_OVERHEAD + int.from_bytes(head[8:], signed=True)
            if size < LOG_OVERHEAD + SMALLEST_LENGTH or position + size > log.size:
                break
            last, position = position, position + size
        if position > begun and position == log.size and not is_whole_batch(log, last, position):
            return last  # the last batch is not completely written yet
        return position


def is_whole_batch(log: LogFile, start: int, stop: int) -> bool:
    """Tell whether the batch between two positions is written completely."""
    batch = Batch(start, stop - start, log.read_at(start, stop - start))
    if len(batch.data) < batch.size or batch.is_legacy:
        return len(batch.data) == batch.size
    return is_valid(batch, batch.header.crc)
