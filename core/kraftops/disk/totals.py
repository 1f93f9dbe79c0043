"""Sums of what log directories hold: by topic, by broker, and of all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kraftops.disk.growth import Growth
from kraftops.disk.space import Space, sum_of
from kraftops.disk.usage import DirectoryUsage, Replica, elsewhere_of


@dataclass(frozen=True)
class Total:
    """Some replicas, and what else counts with them; sums are made when they are first needed."""

    replicas: Sequence[Replica]
    directories: Sequence[DirectoryUsage] = ()

    @cached_property
    def space(self) -> Space:
        """The sum of all bytes."""
        spaces = [replica.space for replica in self.replicas]
        return sum_of([*spaces, *(directory.rest for directory in self.directories)])

    @cached_property
    def growth(self) -> Growth | None:
        """The sum of the rates that are known; None if none is."""
        rates = [replica.growth for replica in self.replicas if replica.growth]
        if not rates:
            return None
        return Growth(sum(rate.written for rate in rates), sum(rate.net for rate in rates))

    @property
    def first(self) -> Replica:
        """One of the replicas, for what all of them have."""
        return self.replicas[0]


@dataclass(frozen=True)
class DiskUsage:
    """What the log directories of some brokers hold."""

    directories: Sequence[DirectoryUsage]

    @cached_property
    def replicas(self) -> list[Replica]:
        """All replicas, the largest first."""
        replicas = [replica for usage in self.directories for replica in usage.replicas]
        return sorted(
            replicas,
            key=lambda replica: (-replica.space.total, replica.topic, replica.partition),
        )

    @cached_property
    def topics(self) -> list[Total]:
        """The replicas of each topic, the largest first."""
        by_topic: dict[str, list[Replica]] = defaultdict(list)
        for replica in self.replicas:
            by_topic[replica.topic].append(replica)
        return _largest_first(map(Total, by_topic.values()))

    @cached_property
    def brokers(self) -> list[tuple[int | None, Total]]:
        """The directories of each broker, by its id."""
        by_broker: dict[int | None, list[DirectoryUsage]] = defaultdict(list)
        for directory in self.directories:
            by_broker[directory.broker].append(directory)
        return [
            (broker, _of_directories(directories))
            for broker, directories in sorted(by_broker.items(), key=lambda pair: pair[0] or -1)
        ]

    @cached_property
    def elsewhere(self) -> dict[str, int]:
        """Bytes that take room on the volume of a directory, and are in none of them."""
        return elsewhere_of(self.directories)

    @cached_property
    def all(self) -> Total:
        """Everything."""
        return _of_directories(self.directories)


def _of_directories(directories: Sequence[DirectoryUsage]) -> Total:
    return Total([replica for usage in directories for replica in usage.replicas], directories)


def _largest_first(totals: Iterable[Total]) -> list[Total]:
    return sorted(totals, key=lambda total: (-total.space.total, total.first.topic))
