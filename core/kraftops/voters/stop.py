"""Whether brokers and controllers may stop: what partitions and the quorum would lose by it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.display.sizes import many
from kraftops.placement.placement import Placement, shown
from kraftops.placement.safety import Danger, MinIsr, new_dangers, new_dangers_by_broker
from kraftops.voters.rules import VoterSet, why_not_stop


class Stop(NamedTuple):
    """A stop of nodes at once; *quorum_reason* is why the controllers among them must stay.

    *dangers* are of partitions with several replicas: those of *single_replicas* go offline
    whenever their broker stops.
    """

    nodes: Sequence[int]
    dangers: Sequence[Danger]
    single_replicas: Sequence[Danger]
    quorum_reason: str | None
    allows_single_replica: bool

    @property
    def is_safe(self) -> bool:
        """Whether nothing is lost that is not allowed."""
        single = self.single_replicas and not self.allows_single_replica
        return not (self.dangers or single or self.quorum_reason)

    @property
    def offline(self) -> int:
        """The number of partitions with several replicas that would be offline."""
        return sum(danger.is_offline for danger in self.dangers)

    def reasons(self) -> list[str]:
        """Say how many partitions would be offline or under min ISR, and why the quorum is lost."""
        counts = {"offline": self.offline, "under min ISR": len(self.dangers) - self.offline}
        counts = {state: count for state, count in counts.items() if count}
        reasons = []
        if self.dangers:
            (state, count), *others = counts.items()
            texts = [f"{many(count, 'partition')} would be {state}"]
            reasons.append(", ".join([*texts, *(f"{count} {state}" for state, count in others)]))
        if self.single_replicas:
            partitions = [danger.partition for danger in self.single_replicas]
            reasons.append(
                f"{many(len(partitions), 'partition')} of a single replica would be offline:"
                f" {shown(partitions)}"
            )
        if self.quorum_reason:
            reasons.append(self.quorum_reason)
        return reasons


@dataclass(frozen=True, slots=True)
class StopRules:
    """What stops are judged by; *quorum* is None if it may not be seen."""

    placement: Placement
    min_isr: Mapping[str, MinIsr]
    quorum: VoterSet | None
    allows_single_replica: bool = False

    def stop(self, nodes: Collection[int]) -> Stop:
        """Judge a stop of nodes at once."""
        return self._judged(nodes, new_dangers(self.placement, nodes, self.min_isr))

    def stop_of_each(self) -> list[Stop]:
        """Judge the stop of each node alone."""
        by_broker = new_dangers_by_broker(self.placement, self.min_isr)
        nodes = by_broker.keys() | (self.quorum.voters if self.quorum else frozenset())
        return [self._judged([node], by_broker.get(node, [])) for node in sorted(nodes)]

    def _judged(self, nodes: Collection[int], dangers: Sequence[Danger]) -> Stop:
        return Stop(
            nodes=sorted(nodes),
            dangers=[danger for danger in dangers if not danger.is_single_replica],
            single_replicas=[danger for danger in dangers if danger.is_single_replica],
            quorum_reason=why_not_stop(self.quorum, nodes) if self.quorum else None,
            allows_single_replica=self.allows_single_replica,
        )


def without_topics(placement: Placement, topics: Collection[str]) -> Placement:
    if not topics:
        return placement
    partitions = {
        partition: replicas
        for partition, replicas in placement.partitions.items()
        if partition.topic not in topics
    }
    return Placement(placement.brokers, partitions)
