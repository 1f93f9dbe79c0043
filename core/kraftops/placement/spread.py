"""Spread of replicas over brokers and racks: where a replica goes, and how loads are evened out.

Two rules, in this order: the replicas of a partition keep to as many racks as they can, and no
broker has two replicas more than another that could take one of them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kraftops.placement.placement import BrokerPlace, TopicPartition

Slot = tuple[TopicPartition, int]
"""A replica of a partition: its position in the list of replicas."""


class Spread:
    """The replica lists of partitions, as a plan changes them; all choices are deterministic."""

    def __init__(
        self,
        brokers: Mapping[int, BrokerPlace],
        allowed: Iterable[int],
        lists: Mapping[TopicPartition, tuple[int, ...]],
    ) -> None:
        """Begin with the present *lists*; only *allowed* brokers take further replicas.

        Without any rack, all brokers are in one. Otherwise, those without are in a rack of their
        own, as for Kafka's placement of new topics.
        """
        self.lists = {partition: [*found] for partition, found in lists.items()}
        self.allowed = sorted(allowed)
        self._racks = {broker: place.rack for broker, place in brokers.items()}
        self.loads = Counter(dict.fromkeys(self.allowed, 0))
        for found in lists.values():
            self.loads.update(found)

    def replace(self, slot: Slot) -> None:
        """Give a replica to the best of the allowed brokers, one of which must be free for it."""
        replicas = self.lists[slot[0]]
        racks = self._racks_of_others(slot)
        fit = [broker for broker in self.allowed if broker not in replicas]
        self._put(slot, self._best(fit, racks))

    def even_out(self, slots: Iterable[Slot]) -> None:
        """Move these replicas among the allowed brokers until no move makes it better."""
        slots = sorted(slots)
        by_broker: dict[int, dict[Slot, None]] = {broker: {} for broker in self.allowed}
        for slot in slots:
            by_broker.setdefault(self._broker(slot), {})[slot] = None
        is_better = True
        while is_better:
            is_better = self._level(by_broker)
            for slot in slots:
                is_better |= self._mend_rack(slot, by_broker)

    def choose_leaders(self, partitions: Iterable[TopicPartition]) -> None:
        """Put that replica first that leads the fewest partitions, in each of *partitions*."""
        chosen = sorted(partitions)
        leaders = Counter(replicas[0] for replicas in self.lists.values() if replicas)
        for partition in chosen:
            replicas = self.lists[partition]
            leaders[replicas[0]] -= 1
            best = min(replicas, key=lambda each: (leaders[each], replicas.index(each)))
            at = replicas.index(best)
            replicas[0], replicas[at] = best, replicas[0]
            leaders[best] += 1

    def _level(self, by_broker: dict[int, dict[Slot, None]]) -> bool:
        """Shift replicas from brokers with many to brokers with at least two fewer."""
        has_moved = False
        closed: set[int] = set()  # from which no broker with fewer replicas can be reached
        while True:
            full = [broker for broker, found in by_broker.items() if found and broker not in closed]
            if not full:
                return has_moved
            start = max(full, key=lambda each: (self.loads[each], -each))
            way = self._way_down(start, by_broker)
            if isinstance(way, set):
                closed |= {each for each in way if self.loads[each] <= self.loads[start]}
                continue
            # From its end: each broker on the way has its place free before the next comes.
            for slot, broker in reversed(way):
                self._move(slot, broker, by_broker)
            has_moved = True

    def _way_down(
        self, start: int, by_broker: dict[int, dict[Slot, None]]
    ) -> list[tuple[Slot, int]] | set[int]:
        """Return the shortest chain of moves to a broker with two replicas fewer.

        Without one, return the brokers that can be reached.
        """
        limit = self.loads[start] - 2
        if not any(self.loads[each] <= limit for each in self.allowed):
            return {start}
        reached: dict[int, tuple[Slot, int] | None] = {start: None}
        waiting = deque([start])
        missing = sorted(set(self.allowed) - {start}, key=lambda each: (self.loads[each], each))
        while waiting and missing:
            broker = waiting.popleft()
            for slot in by_broker.get(broker, ()):
                way = self._chain(reached, broker)
                if any(slot[0] == used[0] for used, _ in way):
                    continue  # two moves of one partition may break its racks
                for other in self._fitting(slot, missing):
                    if self.loads[other] <= limit:
                        return [*way, (slot, other)]
                    reached[other] = (slot, broker)
                    missing.remove(other)
                    waiting.append(other)
        return set(reached)

    def _chain(
        self, reached: Mapping[int, tuple[Slot, int] | None], broker: int
    ) -> list[tuple[Slot, int]]:
        """Return the moves by which *broker* was reached: replicas, and where each goes."""
        moves = []
        while (step := reached[broker]) is not None:
            moves.append((step[0], broker))
            broker = step[1]
        return [*reversed(moves)]

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

    def _fitting(self, slot: Slot, brokers: Sequence[int]) -> Iterator[int]:
        """Yield the brokers that can have a replica, in a rack that is no worse than its own."""
        racks = self._racks_of_others(slot)
        here = racks[self._racks.get(self._broker(slot))]
        replicas = self.lists[slot[0]]
        for broker in [*brokers]:
            if broker not in replicas and racks[self._racks.get(broker)] <= here:
                yield broker

    def _best(self, brokers: Iterable[int], racks: Counter[str | None]) -> int:
        """Return the broker with the fewest others in its rack, of these the least loaded."""
        return min(brokers, key=lambda b: (racks[self._racks.get(b)], self.loads[b], b))

    def _racks_of_others(self, slot: Slot) -> Counter[str | None]:
        """Return the number of the partition's other replicas by rack."""
        partition, position = slot
        return Counter(
            self._racks.get(broker)
            for at, broker in enumerate(self.lists[partition])
            if at != position
        )

    def _broker(self, slot: Slot) -> int:
        return self.lists[slot[0]][slot[1]]

    def _move(self, slot: Slot, broker: int, by_broker: dict[int, dict[Slot, None]]) -> None:
        del by_broker[self._broker(slot)][slot]
        self._put(slot, broker)
        by_broker[broker][slot] = None

    def _put(self, slot: Slot, broker: int) -> None:
        self.loads[self._broker(slot)] -= 1
        self.lists[slot[0]][slot[1]] = broker
        self.loads[broker] += 1
