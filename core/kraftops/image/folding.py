"""What the changes of all partitions amount to, found in one pass over the log.

To ask for one state after the other reads each change where it lies, and most of them lie apart:
with many changes all of the log would be read over and over. Most changes say only who is in sync
and who leads, so that the last one counts and how many there were.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping

from kraftops.errors import DecodeError
from kraftops.image import frames
from kraftops.image.partition import KEPT_LEADER, int32
from kraftops.image.recordtypes import PARTITION_CHANGE
from kraftops.image.store import POSITION_BITS, RecordStore
from kraftops.memo import Memo
from kraftops.schema.read import Data
from kraftops.varint import read_varint

_PAD = bytes(64)  # behind a batch, so that its last record can be looked at like all others
_OTHERS = ("replicas", "removingReplicas", "addingReplicas", "directories")
_LAST_COUNTS = ("isr", "eligibleLeaderReplicas", "lastKnownElr")
_KEPT_RECOVERY = -1


class Fold:
    """The first *count* changes of a partition, taken together."""

    __slots__ = ("count", "fields", "leaders")

    def __init__(self) -> None:
        self.count = 0
        self.leaders = 0
        self.fields: Data = {}

    def applied(self, state: Data) -> Data:
        """Return the state after these changes of one that its own record made."""
        return (
            state
            | self.fields
            | {
                "leaderEpoch": int32(state["leaderEpoch"], self.leaders),
                "partitionEpoch": int32(state["partitionEpoch"], self.count),
            }
        )


def folds(
    store: RecordStore,
    changes: Mapping[bytes, array[int]],
    read: Callable[[bytes], Data | None],
) -> dict[bytes, Fold]:
    """Return what the changes of partitions amount to, by the partitions' keys.

    Each goes as far as the changes are simple.

    Args:
        store: has the records.
        changes: their addresses, in order, by the partitions' keys.
        read: makes data of a change's value, None of what cannot be read.

    Raises:
        SourceError: a file cannot be read any more.
    """
    tails = [Memo(_simple(read, version)) for version in range(_VERSIONS)]
    looked_up = Memo(frames.kafka_frame)
    found: dict[bytes, Fold] = {}
    for number in store.numbers():
        base, held = number << POSITION_BITS, store.batch(number)
        b, p, end = held.data + _PAD, held.start, len(held.data)
        while p < end:
            n = b[p]
            if n < 128:
                q, e = p + 2, p + 1 + (n >> 1)
            elif b[p + 1] < 128:
                q, e = p + 3, p + 2 + ((n & 127 | b[p + 1] << 7) >> 1)
            else:
                p = _behind_long_record(b, p)  # too long to be simple
                continue
            while b[q] > 127:  # the time
                q += 1
            q += 1
            while b[q] > 127:  # the offset
                q += 1
            q += 1
            body, size, sort = looked_up[b[q : q + frames.FRAME]]
            if sort >= frames.CHANGES and q + size == e:
                body += q
                key = b[body : body + frames.KEY]
                chain = changes.get(key)
                if chain is not None:
                    fold = found.get(key)
                    if fold is None:
                        fold = found[key] = Fold()
                    count = fold.count
                    if count < len(chain) and chain[count] == base + p:
                        simple = tails[sort - frames.CHANGES][b[body + frames.KEY : e - 1]]
                        if simple is not None:
                            fields, leaders = simple
                            # Mostly what is said is said again: then all can have one dict.
                            is_all = fields.keys() >= fold.fields.keys()
                            fold.fields = fields if is_all else fold.fields | fields
                            fold.leaders += leaders
                            fold.count = count + 1
            p = e
    return found


def _behind_long_record(b: bytes, p: int) -> int:
    """Return the position behind a record; the end of the bytes where it is none."""
    try:
        size, start = read_varint(b, p)
    except DecodeError:
        return len(b)
    return start + size if size > 0 else len(b)


_VERSIONS = frames.KNOWN_VERSIONS[PARTITION_CHANGE] + 1


def _simple(
    read: Callable[[bytes], Data | None], version: int
) -> Callable[[bytes], tuple[Data, int] | None]:
    """Return what tells of a change's bytes behind the key which fields it sets.

    Beside them is how many leaders there are among them; None is for those that set other fields.
    """
    head = bytes([1, PARTITION_CHANGE, version]) + bytes(frames.KEY)

    def simple(tail: bytes) -> tuple[Data, int] | None:
        data = read(head + tail)
        if data is None or any(data.get(field) is not None for field in _OTHERS):
            return None
        fields = {field: data[field] for field in _LAST_COUNTS if data.get(field) is not None}
        recovery = data.get("leaderRecoveryState", _KEPT_RECOVERY)
        if recovery != _KEPT_RECOVERY:
            fields["leaderRecoveryState"] = recovery
        leader = data.get("leader", KEPT_LEADER)
        return (fields, 0) if leader == KEPT_LEADER else (fields | {"leader": leader}, 1)

    return simple
