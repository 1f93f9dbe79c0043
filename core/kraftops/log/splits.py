"""Cut a log file into ranges that begin at batch boundaries."""

from struct import Struct
from typing import NamedTuple

from kraftops.log.batch import LOG_OVERHEAD, SMALLEST_LENGTH
from kraftops.log.reader import LogFile

_BLOCK = 64 * 1024
_LENGTH = Struct(">i").unpack_from


class Split(NamedTuple):
    """A byte range of a file, from a batch's first byte to the next split's."""

    path: str
    start: int
    stop: int


def plan_splits(path: str, target_bytes: int) -> list[Split]:
    """Return splits of about *target_bytes* that together are the whole file.

    Only the lengths of the batches are followed, from the first on: a payload may look like a
    batch, so that no other way is safe. Behind a length that cannot be, all belongs to one split.

    Raises:
        SourceError: the file cannot be read.
    """
    with LogFile(path) as log:
        cuts = [0]
        position = base = 0
        block = b""
        while position + LOG_OVERHEAD <= log.size:
            at = position - base
            if at + LOG_OVERHEAD > len(block):
                base, at = position, 0
                block = log.read_at(position, _BLOCK)
                if len(block) < LOG_OVERHEAD:
                    break
            length: int = _LENGTH(block, at + 8)[0]
            if length < SMALLEST_LENGTH:
                break
            if position >= cuts[-1] + target_bytes:
                cuts.append(position)
            position += LOG_OVERHEAD + length
        return [
            Split(path, start, stop)
            for start, stop in zip(cuts, [*cuts[1:], log.size], strict=True)
        ]
