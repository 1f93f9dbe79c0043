"""How far the copies of reassignments in flight are, by the sizes that brokers tell."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kraftops.errors import AnswerError, WireError
from kraftops.placement.disks import LogDirectory, sizes_of
from kraftops.placement.placement import Placement, Replicas, TopicPartition
from kraftops.reassign.access import ClusterAccess
from kraftops.wire.admin.log_dirs import ask_log_dirs

Copy = tuple[TopicPartition, int]
"""A replica that is being made: its partition, and the broker that gets it."""
_RATE_SECONDS = 30.0
"""Time over which a rate is taken: brokers fetch in bursts, the more so with a throttle."""


@dataclass(frozen=True, slots=True)
class CopyState:
    """Copies at one moment, in *seconds* of a clock: bytes that each has, and those it will have.

    *sources* are the sizes of partitions on their leaders, *directories* those of the brokers that
    get replicas and have answered.
    """

    seconds: float
    copied: Mapping[Copy, int] = field(default_factory=dict)
    sources: Mapping[TopicPartition, int] = field(default_factory=dict)
    directories: Mapping[int, list[LogDirectory]] = field(default_factory=dict)

    @property
    def total_bytes(self) -> int:
        """The bytes that all copies will have."""
        return sum(max(self.sources.get(copy[0], 0), size) for copy, size in self.copied.items())

    @property
    def bytes_left(self) -> int:
        return sum(self.lacks(copy) for copy in self.copied)

    def of(self, partitions: Container[TopicPartition]) -> CopyState:
        copied = {copy: size for copy, size in self.copied.items() if copy[0] in partitions}
        return CopyState(self.seconds, copied, self.sources, self.directories)

    def lacks(self, copy: Copy) -> int:
        return max(self.sources.get(copy[0], 0) - self.copied[copy], 0)


def copies_of(moving: Mapping[TopicPartition, Replicas]) -> list[Copy]:
    """Pair each partition in flight with the brokers that join it and are not in its ISR."""
    return [
        (partition, broker)
        for partition, replicas in moving.items()
        for broker in replicas.adding
        if broker not in replicas.isr
    ]


def look_at_copies(
    access: ClusterAccess, placement: Placement, moving: Mapping[TopicPartition, Replicas]
) -> CopyState:
    """Ask the brokers that take part for the sizes of partitions; silent ones are left out."""
    copies = copies_of(moving)
    asked: dict[int, set[TopicPartition]] = defaultdict(set)
    for partition, broker in copies:
        asked[broker].add(partition)
        asked[moving[partition].leader].add(partition)
    directories = directories_of(access, placement, asked)
    sizes = {broker: sizes_of({broker: of_broker}) for broker, of_broker in directories.items()}
    sources = {
        partition: size
        for partition, _ in copies
        if (size := sizes.get(moving[partition].leader, {}).get(partition)) is not None
    }
    copied = {copy: sizes.get(copy[1], {}).get(copy[0], 0) for copy in copies}
    targets = {broker for _, broker in copies}
    return CopyState(
        time.monotonic(),
        copied,
        sources,
        {broker: of_broker for broker, of_broker in directories.items() if broker in targets},
    )


def copies_between(broker: int, directories: Sequence[LogDirectory], source: str) -> CopyState:
    """Measure replicas on their way out of log directory *source*, in bytes."""
    original = next(
        (directory for directory in directories if directory.path == source), LogDirectory(source)
    )
    copied = {
        (partition, broker): replica.size
        for directory in directories
        for partition, replica in directory.coming.items()
        if partition in original.replicas
    }
    sources = {partition: original.replicas[partition].size for partition, _ in copied}
    others = [directory for directory in directories if directory.path != source]
    return CopyState(time.monotonic(), copied, sources, {broker: others})


def directories_of(
    access: ClusterAccess,
    placement: Placement,
    asked: Mapping[int, Iterable[TopicPartition] | None],
) -> dict[int, list[LogDirectory]]:
    """Ask brokers that run for their directories, with their replicas of partitions or all."""
    directories = {}
    for broker, partitions in asked.items():
        if not placement.is_running(broker):
            continue
        try:
            directories[broker] = access.ask_broker(broker, ask_log_dirs, partitions)
        except AnswerError:
            return {}  # not permitted by one, and so by all
        except WireError:
            continue  # it restarts
    return directories


class CopyMeter:
    """The pace of copies: their rate, the time left, and for how long nothing has moved."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Make one; *clock* returns seconds."""
        self._clock = clock
        self._states: deque[CopyState] = deque()
        self._in_flight: object = None
        self._moved_at = clock()

    @property
    def first(self) -> CopyState | None:
        """The first state of those that the rate is taken of."""
        return self._states[0] if self._states else None

    @property
    def newest(self) -> CopyState | None:
        """The last state; None if copies were not looked at."""
        return self._states[-1] if self._states else None

    @property
    def still_seconds(self) -> float:
        """The seconds since a byte was copied, or a reassignment began or ended."""
        return self._clock() - self._moved_at

    def add(self, state: CopyState) -> None:
        older = self.newest
        if older is None or copied_between(older, state):
            self._moved_at = self._clock()
        self._states.append(state)
        while len(self._states) > 2 and self._states[1].seconds < state.seconds - _RATE_SECONDS:
            self._states.popleft()

    def note(self, in_flight: object) -> None:
        """Note what is in flight or waits: any change of it counts as a movement."""
        if in_flight != self._in_flight:
            self._in_flight, self._moved_at = in_flight, self._clock()

    @property
    def rate(self) -> float:
        """Bytes per second that were copied of late."""
        states = [*self._states]
        return self._per_second(sum(map(copied_between, states, states[1:])))

    @property
    def net_rate(self) -> float:
        """The rate minus what producers write to the copied partitions in the meantime."""
        if self.first is None or self.newest is None:
            return 0.0
        return self.rate - self._per_second(sum(growth_between(self.first, self.newest).values()))

    def _per_second(self, size: int) -> float:
        passed = self._states[-1].seconds - self._states[0].seconds if self._states else 0.0
        return size / passed if passed > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The time for what is in flight; None while it does not get less."""
        if self.newest is None or self.net_rate <= 0:
            return None
        return self.newest.bytes_left / self.net_rate


def copied_between(older: CopyState, newer: CopyState) -> int:
    """Sum bytes copied between two states; a copy that has ended counts whole."""
    copied = 0
    for copy, size in older.copied.items():
        if copy in newer.copied:
            copied += max(newer.copied[copy] - size, 0)
        else:
            copied += older.lacks(copy)
    return copied


def growth_between(older: CopyState, newer: CopyState) -> dict[Copy, int]:
    return {
        copy: max(newer.sources[copy[0]] - older.sources[copy[0]], 0)
        for copy in newer.copied
        if copy in older.copied and copy[0] in older.sources and copy[0] in newer.sources
    }
