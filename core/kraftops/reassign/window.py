"""The window of moves in flight: which ones come next when others have ended."""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kraftops.placement.placement import Replicas, TopicPartition
from kraftops.placement.plan import Move

WINDOW_BYTES = 100 << 30
"""Bytes of copies in flight. What is in flight is lost by a cancel, and takes room twice."""


class Window(NamedTuple):
    """Most partitions, and bytes of copies, that are in flight at once."""

    partitions: int
    bytes: int = WINDOW_BYTES


def next_moves(
    moves: Sequence[Move],
    moving: Mapping[TopicPartition, Replicas],
    sizes: Mapping[TopicPartition, int],
    window: Window,
) -> list[Move]:
    """Choose the moves that may begin beside those in flight, in the order to begin them.

    Brokers that get the fewest bytes come first, and of their moves the largest: begun last, it
    alone would be waited for. A broker that gets nothing may always get one move, also one larger
    than the window.
    """
    loads: Counter[int] = Counter()
    copies = 0
    for partition, replicas in moving.items():
        missing = [broker for broker in replicas.adding if broker not in replicas.isr]
        # At least a byte: an empty partition, or one of unknown size, occupies its brokers too.
        loads.update(dict.fromkeys(missing, max(sizes.get(partition, 0), 1)))
        copies += sizes.get(partition, 0) * len(missing)
    queues: dict[tuple[int, ...], deque[Move]] = defaultdict(deque)
    for move in sorted(moves, key=lambda queued: -sizes.get(queued.partition, 0)):
        queues[tuple(sorted(move.added))].append(move)
    chosen: list[Move] = []
    while queues and len(moving) + len(chosen) < window.partitions:
        added, queue = min(
            queues.items(),
            key=lambda queued: (max((loads[b] for b in queued[0]), default=0), queued[0]),
        )
        size = sizes.get(queue[0].partition, 0)
        is_idle = not any(loads[broker] for broker in added)
        if not is_idle and copies + size * len(added) > window.bytes:
            break  # smaller ones do not overtake: it would never fit
        chosen.append(queue.popleft())
        if not queue:
            del queues[added]
        loads.update(dict.fromkeys(added, max(size, 1)))
        copies += size * len(added)
    return chosen
