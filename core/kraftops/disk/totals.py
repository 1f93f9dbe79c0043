"""Sums of what log directories hold: by topic, by partition, by directory and by broker."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kraftops.disk.usage import DirectoryUsage, Growth, Replica, Space, sum_of


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

    @property
    def directory(self) -> DirectoryUsage:
        """One of the directories, for what all of them have."""
        return self.directories[0]


class DiskUsage:
    """What the log directories of some brokers hold, as `Total`s."""

    def __init__(self, usages: Iterable[DirectoryUsage]) -> None:
        """Sum up the usages of log directories."""
        self.directories = [_of_directories([usage]) for usage in usages]

    @property
    def lacks_rates(self) -> bool:
        """Whether segments were read, and the growth of no log is known."""
        replicas = [replica for total in self.directories for replica in total.replicas]
        has_segments = any(replica.segments for replica in replicas)
        return has_segments and not any(replica.growth for replica in replicas)

    @cached_property
    def partitions(self) -> list[Total]:
        """The replicas, the largest first."""
        replicas = (replica for total in self.directories for replica in total.replicas)
        return _largest_first(Total([replica]) for replica in replicas)

    @cached_property
    def topics(self) -> list[Total]:
        """The replicas of each topic, the largest first."""
        by_topic: dict[str, list[Replica]] = defaultdict(list)
        for total in self.partitions:
            by_topic[total.first.topic] += total.replicas
        return _largest_first(map(Total, by_topic.values()))

    @cached_property
    def brokers(self) -> list[Total]:
        """The directories of each broker, by its id."""
        by_broker: dict[int, list[DirectoryUsage]] = defaultdict(list)
        for total in self.directories:
            broker = total.directory.broker
            by_broker[-1 if broker is None else broker] += total.directories
        return [_of_directories(usages) for _, usages in sorted(by_broker.items())]


def _of_directories(usages: Sequence[DirectoryUsage]) -> Total:
    return Total([replica for usage in usages for replica in usage.replicas], usages)


def _largest_first(totals: Iterable[Total]) -> list[Total]:
    return sorted(
        totals, key=lambda total: (-total.space.taken, total.first.topic, total.first.partition)
    )
