"""Logs without the files beside them: plain ones, and others that look like them."""

import os
from pathlib import Path

from kraftops.log.batch import TRANSACTIONAL, Record
from tests.helpers.logs.written import batch_bytes, message_bytes


def batch(first: int, *, count: int = 2, attributes: int = 0, **fields: int) -> bytes:
    records = [Record(first + delta, 1_700_000_000_000, b"k", b"v" * 9) for delta in range(count)]
    return batch_bytes(records, attributes=attributes, **fields)


PLAIN: dict[str, dict[int, bytes]] = {
    "one": {0: batch(0)},
    "packed": {0: b"".join(batch(2 * codec, attributes=codec) for codec in range(5))},
    "segments": {5: batch(5) + batch(7), 9: batch(9, leader_epoch=3), 11: b""},
    "empty": {0: b""},
}
OTHERS: dict[str, dict[int, bytes]] = {
    "gap": {0: batch(0) + batch(3)},
    "gap-between": {0: batch(0), 4: batch(4)},
    "behind-its-name": {3: batch(4)},
    "torn": {0: batch(0) + batch(2)[:-1]},
    "zeros": {0: batch(0) + bytes(70)},
    "damaged": {0: batch(0) + batch(2)[:-1] + b"?" + batch(4)},
    "idempotent": {0: batch(0, producer_id=7, producer_epoch=0, base_sequence=0)},
    "open": {0: batch(0, attributes=TRANSACTIONAL, producer_id=7, producer_epoch=0)},
    "old": {0: message_bytes(Record(0, 1, None, b"x"), 1)},
    "large": {0: batch(0, count=9000)},
    "__consumer_offsets": {0: batch(0)},
}


def write(folder: Path, logs: dict[str, dict[int, bytes]]) -> None:
    """Write the segments of partition 0 of topics, as if long ago: no check waits for a server."""
    for topic, segments in logs.items():
        (folder / f"{topic}-0").mkdir(parents=True)
        for offset, content in segments.items():
            path = folder / f"{topic}-0" / f"{offset:020}.log"
            path.write_bytes(content)
            os.utime(path, (0, 0))
        os.utime(folder / f"{topic}-0", (0, 0))
