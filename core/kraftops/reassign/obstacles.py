"""Why reassignments in flight do not move."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kraftops.display.sizes import size_text
from kraftops.placement.placement import Placement, Replicas, TopicPartition
from kraftops.reassign.copying import Copy, CopyState, growth_between

NO_LEADER, TARGET_DOWN, NO_BYTES = "no-leader", "target-down", "no-bytes"
DIRECTORY_FAILED, DIRECTORY_FULL = "directory-failed", "directory-full"
THROTTLE_TOO_LOW = "throttle-too-low"
CODES = NO_LEADER, TARGET_DOWN, DIRECTORY_FAILED, DIRECTORY_FULL, THROTTLE_TOO_LOW, NO_BYTES
"""The surest come first; `checkup/codes.txt` has what they mean."""


class Obstacle(NamedTuple):
    """A reason for which partitions do not move; *code* is one of `CODES`."""

    code: str
    text: str
    partitions: tuple[TopicPartition, ...]


class Pace(NamedTuple):
    """Two states of copies, the seconds in which nothing has moved, and throttles by broker."""

    older: CopyState
    newer: CopyState
    still_seconds: float
    throttles: Mapping[int, int]


def moving_between(
    broker: int, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, Replicas]:
    """Describe partitions that move between a broker's directories: it copies from itself."""
    return dict.fromkeys(partitions, Replicas((broker,), (), broker))


def obstacles_of(
    placement: Placement, moving: Mapping[TopicPartition, Replicas], pace: Pace
) -> list[Obstacle]:
    """Return what keeps reassignments from their end, in the order of `CODES`."""
    too_slow = _behind_throttles(pace)
    partitions: dict[tuple[str, str], list[TopicPartition]] = defaultdict(list)
    for copy in pace.newer.copied:
        cause = _cause(placement, copy, moving[copy[0]], pace, too_slow)
        if cause is not None:
            partitions[cause].append(copy[0])
    return [
        Obstacle(code, text, tuple(sorted({*stuck})))
        for (code, text), stuck in sorted(
            partitions.items(), key=lambda cause: CODES.index(cause[0][0])
        )
    ]


def _cause(
    placement: Placement, copy: Copy, replicas: Replicas, pace: Pace, too_slow: Mapping[int, str]
) -> tuple[str, str] | None:
    """Find the code and the words of what a copy waits for; None while it goes on."""
    broker = copy[1]
    if replicas.leader < 0:
        return NO_LEADER, "the partition has no leader to copy from"
    if not placement.is_running(broker):
        return TARGET_DOWN, f"broker {broker}, which gets replicas, is down"
    if cause := _cause_on_disk(copy, pace.newer):
        return cause
    if broker in too_slow:
        return THROTTLE_TOO_LOW, too_slow[broker]
    before, seconds = pace.older.copied.get(copy), pace.newer.seconds - pace.older.seconds
    if before is None or pace.newer.copied.get(copy, 0) > before or seconds <= 0:
        return None
    seconds = max(pace.still_seconds, seconds)
    return NO_BYTES, f"broker {broker} has got no bytes for {seconds:.0f} s"


def _cause_on_disk(copy: Copy, state: CopyState) -> tuple[str, str] | None:
    partition, broker = copy
    directories = state.directories.get(broker, [])
    own = next((d for d in directories if partition in d.replicas or partition in d.coming), None)
    failed = [directory.path for directory in directories if directory.is_failed]
    if failed and (own is None or own.is_failed):
        # The broker goes on without a directory that has failed (KIP-112), and so does the
        # controller with the replica that it has assigned to it (KIP-858).
        return DIRECTORY_FAILED, f"on broker {broker}, {', '.join(failed)} has failed"
    lack = state.lacks(copy)
    if own is not None and own.usable is not None and own.usable < lack:
        return (
            DIRECTORY_FULL,
            f"on broker {broker}, {own.path} has room for {size_text(own.usable)}",
        )
    return None


def _behind_throttles(pace: Pace) -> dict[int, str]:
    """Say which brokers' throttles are lower than what producers write in the meantime."""
    passed = pace.newer.seconds - pace.older.seconds
    if passed <= 0:
        return {}
    written: Counter[int] = Counter()
    for (_, broker), size in growth_between(pace.older, pace.newer).items():
        written[broker] += size
    return {
        broker: f"broker {broker} may copy {size_text(rate)} a second, and producers write"
        f" {size_text(round(written[broker] / passed))}"
        for broker, rate in pace.throttles.items()
        if written[broker] and written[broker] / passed >= rate
    }
