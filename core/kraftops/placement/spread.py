"""Spread of replicas over brokers and racks: where a replica goes, and how loads are evened out.

Three rules, in this order: the replicas of a partition keep to as many racks as they can; brokers
have about the same bytes; no broker has two replicas more than another that could take one of them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from kraftops.placement.placement import BrokerPlace, TopicPartition

Slot = tuple[TopicPartition, int]
"""A replica of a partition: its position in the list of replicas."""
_TOLERANCE = 0.05
"""The part of the mean by which a broker's bytes may differ: partitions grow while they are copied,
and to copy more for less than that is not worth it."""


class Spread:
    """The replica lists of partitions, as a plan changes them; all choices are deterministic."""

    def __init__(
        self,
        brokers: Mapping[int, BrokerPlace],
        allowed: Iterable[int],
        lists: Mapping[TopicPartition, tuple[int, ...]],
        sizes: Mapping[TopicPartition, int],
    ) -> None:
        """Begin with the present *lists*; only *allowed* brokers take further replicas.

        Partitions without a size count as empty, so that without any the numbers alone matter.

        Without any rack, all brokers are in one. Otherwise, those without are in a rack of their
        own, as for Kafka's placement of new topics.
        """
        self.lists = {partition: [*replicas] for partition, replicas in lists.items()}
        self.allowed = sorted(allowed)
        self._racks = {broker: place.rack for broker, place in brokers.items()}
        self._sizes = sizes
        self.loads = Counter(dict.fromkeys(self.allowed, 0))
        self.bytes = Counter(self.loads)
        for partition, replicas in lists.items():
            self.loads.update(replicas)
            self.bytes.update(dict.fromkeys(replicas, sizes.get(partition, 0)))
        self._lower = self._mean = self._upper = 0.0

    def largest_first(self, slot: Slot) -> tuple[int, Slot]:
        return -self._size(slot), slot

    def replace(self, slot: Slot) -> None:
        """Give a replica to the best of the allowed brokers, one of which must be free for it."""
        replicas = self.lists[slot[0]]
        racks = self._racks_of_others(slot)
        fit = [broker for broker in self.allowed if broker not in replicas]
        self._put(slot, self._best(fit, racks))

    def add(self, partition: TopicPartition) -> Slot:
        """Give a further replica to the best of the allowed brokers, one of which must be free."""
        slot = (partition, len(self.lists[partition]))
        racks = self._racks_of_others(slot)
        free = [broker for broker in self.allowed if broker not in self.lists[partition]]
        self.lists[partition].append(self._best(free, racks))
        self._count(slot, 1)
        return slot

    def drop(self, partition: TopicPartition, values: Mapping[int, int]) -> None:
        """Take away a replica of the least of these *values*, then of a full rack and broker."""

        def worth(slot: Slot) -> tuple[int, ...]:
            broker = self._broker(slot)
            crowd = self._racks_of_others(slot)[self._racks.get(broker)]
            return values[broker], -crowd, -self.bytes[broker], -self.loads[broker], -slot[1]

        slots = [(partition, position) for position in range(len(self.lists[partition]))]
        slot = min(slots, key=worth)
        self._count(slot, -1)
        del self.lists[partition][slot[1]]

    def even_out(self, slots: Iterable[Slot]) -> None:
        """Move these replicas among the allowed brokers until no move makes it better."""
        # The smallest first: numbers are evened out by as few bytes as possible.
        slots = sorted(slots, key=lambda slot: (self._size(slot), slot))
        self._mean = sum(self.bytes[broker] for broker in self.allowed) / max(len(self.allowed), 1)
        self._lower, self._upper = self._mean * (1 - _TOLERANCE), self._mean * (1 + _TOLERANCE)
        by_broker: dict[int, dict[Slot, None]] = {broker: {} for broker in self.allowed}
        for slot in slots:
            by_broker.setdefault(self._broker(slot), {})[slot] = None
        is_better = True
        while is_better:
            is_better = self._shift(by_broker, self.bytes, self._byte_step)
            is_better |= self._shift(by_broker, self.loads, self._level_step)
            for slot in slots:
                is_better |= self._mend_rack(slot, by_broker)

    def choose_leaders(self, partitions: Iterable[TopicPartition]) -> None:
        """Put that replica first that leads the fewest partitions, in each of *partitions*."""
        chosen = sorted(partitions)
        leaders = Counter(replicas[0] for replicas in self.lists.values() if replicas)
        for partition in chosen:
            replicas = self.lists[partition]
            leaders[replicas[0]] -= 1
            best = min(replicas, key=lambda broker: (leaders[broker], replicas.index(broker)))
            position = replicas.index(best)
            replicas[0], replicas[position] = best, replicas[0]
            leaders[best] += 1

    def _shift(
        self,
        by_broker: dict[int, dict[Slot, None]],
        weights: Mapping[int, int],
        next_move: Callable[[int, Iterable[Slot]], tuple[Slot, int] | None],
    ) -> bool:
        """Move replicas from the brokers with the most, while there is a next move from one.

        Each move brings two brokers closer to each other, so it ends.
        """
        has_moved = False
        closed: set[int] = set()
        while full := [
            broker for broker in by_broker if by_broker[broker] and broker not in closed
        ]:
            start = max(full, key=lambda broker: (weights[broker], -broker))
            move = next_move(start, by_broker[start])
            if move is None:
                closed.add(start)
            else:
                self._move(*move, by_broker)
                has_moved = True
        return has_moved

    def _byte_step(self, start: int, slots: Iterable[Slot]) -> tuple[Slot, int] | None:
        """Find the best move from a broker that makes bytes more even; None without one."""
        largest_first = sorted(slots, key=self.largest_first)
        by_rack: dict[str | None, list[Slot]] = {}  # those that a rack can have
        for other in sorted(self.allowed, key=lambda broker: (self.bytes[broker], broker)):
            here, there = self.bytes[start], self.bytes[other]
            if here <= there or (here <= self._upper and there >= self._lower):
                return None  # and so for all others, which have more
            rack = self._racks.get(other)
            if rack not in by_rack:
                by_rack[rack] = [slot for slot in largest_first if self._suits(slot, rack)]
            fitting = [slot for slot in by_rack[rack] if 0 < self._size(slot) < here - there]
            # The largest that passes no mean; else the smallest, which passes it by the least.
            goal = min(here - self._mean, self._mean - there)
            within = [slot for slot in fitting if self._size(slot) <= goal]
            for slot in (*within, *reversed(fitting[: len(fitting) - len(within)])):
                if other not in self.lists[slot[0]]:
                    return slot, other
        return None

    def _keeps_bytes(self, slot: Slot, other: int) -> bool:
        """Tell whether bytes stay about even, or become no less even, by a move."""
        size = self._size(slot)
        here, there = self.bytes[self._broker(slot)], self.bytes[other]
        return not size or (
            there + size <= max(here, self._upper) and here - size >= min(there, self._lower)
        )

    def _level_step(self, start: int, slots: Iterable[Slot]) -> tuple[Slot, int] | None:
        """Find a move to a broker with two replicas fewer that keeps bytes about even.

        No chain over a third broker: it would copy more than even numbers are worth.
        """
        limit = self.loads[start] - 2
        emptier = [broker for broker in self.allowed if self.loads[broker] <= limit]
        emptiest_first = sorted(emptier, key=lambda broker: (self.loads[broker], broker))
        for slot in slots if emptier else ():
            suits: dict[str | None, bool] = {}
            for other in emptiest_first:
                if self._keeps_bytes(slot, other) and other not in self.lists[slot[0]]:
                    rack = self._racks.get(other)
                    if rack not in suits:
                        suits[rack] = self._suits(slot, rack)
                    if suits[rack]:
                        return slot, other
        return None

    def _mend_rack(self, slot: Slot, by_broker: dict[int, dict[Slot, None]]) -> bool:
        """Move a replica to a rack with fewer of the others, if that has become possible."""
        racks = self._racks_of_others(slot)
        replicas = self.lists[slot[0]]
        here = racks[self._racks.get(self._broker(slot))]
        if not here:
            return False
        fit = [b for b in self.allowed if b not in replicas and racks[self._racks.get(b)] < here]
        if not fit:
            return False
        self._move(slot, self._best(fit, racks), by_broker)
        return True

    def _suits(self, slot: Slot, rack: str | None) -> bool:
        """Tell whether a rack has no more of a partition's other replicas than a replica's own."""
        here = self._racks.get(self._broker(slot))
        if here == rack:
            return True
        racks = [self._racks.get(replica) for replica in self.lists[slot[0]]]
        return racks.count(rack) < racks.count(here)  # which counts the replica itself

    def _best(self, brokers: Iterable[int], racks: Counter[str | None]) -> int:
        """Choose the broker with the fewest others in its rack, of these the least loaded."""
        return min(
            brokers, key=lambda b: (racks[self._racks.get(b)], self.bytes[b], self.loads[b], b)
        )

    def _racks_of_others(self, slot: Slot) -> Counter[str | None]:
        partition, position = slot
        return Counter(
            self._racks.get(broker)
            for index, broker in enumerate(self.lists[partition])
            if index != position
        )

    def _size(self, slot: Slot) -> int:
        return self._sizes.get(slot[0], 0)

    def _broker(self, slot: Slot) -> int:
        return self.lists[slot[0]][slot[1]]

    def _move(self, slot: Slot, broker: int, by_broker: dict[int, dict[Slot, None]]) -> None:
        del by_broker[self._broker(slot)][slot]
        self._put(slot, broker)
        by_broker[broker][slot] = None

    def _put(self, slot: Slot, broker: int) -> None:
        self._count(slot, -1)
        self.lists[slot[0]][slot[1]] = broker
        self._count(slot, 1)

    def _count(self, slot: Slot, sign: int) -> None:
        """Count a replica to its broker, or off it."""
        self.loads[self._broker(slot)] += sign
        self.bytes[self._broker(slot)] += sign * self._size(slot)
