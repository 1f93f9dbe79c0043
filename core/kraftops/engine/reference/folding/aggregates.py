"""Questions about all partitions together."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from operator import attrgetter

from kraftops.engine.metadata_state import (
    BrokerLoad,
    NewestRecord,
    PartitionState,
    ReplicaRole,
)
from kraftops.engine.reference.folding.partitions import is_suspect
from kraftops.engine.reference.folding.state import Partition, State, Topic

Chosen = dict[bytes, list[int]]
"""Numbers of partitions, in order, by topic id; no topic without any."""


def choose(
    state: State,
    is_chosen: Callable[[Partition], bool],
    topics: Sequence[bytes] | None = None,
) -> Chosen:
    chosen = {}
    for topic in _topics(state, topics):
        numbered = sorted(topic.partitions.items())
        numbers = [number for number, partition in numbered if is_chosen(partition)]
        if numbers:
            chosen[topic.id] = numbers
    return chosen


def _topics(state: State, ids: Sequence[bytes] | None) -> Iterable[Topic]:
    if ids is None:
        return state.topics.values()
    return (state.topics[topic_id] for topic_id in ids if topic_id in state.topics)


def suspects(state: State, directories: Mapping[int, Sequence[bytes]]) -> Chosen:
    ids_by_broker = {broker: frozenset(ids) for broker, ids in directories.items()}
    return choose(state, lambda partition: is_suspect(state.of_partition(partition), ids_by_broker))


def different(state: State, other: State) -> Chosen:
    numbers_by_topic = {}
    for topic in state.topics.values():
        counterpart = other.topics.get(topic.id)
        if counterpart is None:
            continue
        here, there = topic.partitions, counterpart.partitions
        numbers = [
            number
            for number in sorted(here.keys() | there.keys())
            if number not in here
            or number not in there
            or state.of_partition(here[number]) != other.of_partition(there[number])
        ]
        if numbers:
            numbers_by_topic[topic.id] = numbers
    return numbers_by_topic


def replica_counts(state: State) -> dict[int, dict[bytes, int]]:
    counts_by_broker: dict[int, dict[bytes, int]] = {}
    for topic in state.topics.values():
        for partition in topic.partitions.values():
            for broker in state.of_partition(partition).replicas:
                counts = counts_by_broker.setdefault(broker, {})
                counts[topic.id] = counts.get(topic.id, 0) + 1
    return counts_by_broker


def broker_loads(state: State) -> dict[int, BrokerLoad]:
    replicas: Counter[int] = Counter()
    leaders: Counter[int] = Counter()
    for topic in state.topics.values():
        for partition in topic.partitions.values():
            partition_state = state.of_partition(partition)
            replicas.update(partition_state.replicas)
            if partition_state.leader >= 0:
                leaders[partition_state.leader] += 1
    brokers = sorted(replicas.keys() | leaders.keys())
    return {broker: BrokerLoad(replicas[broker], leaders[broker]) for broker in brokers}


_HAS_ROLE: Mapping[ReplicaRole, Callable[[PartitionState, AbstractSet[int]], bool]] = {
    ReplicaRole.LEADER: lambda state, brokers: state.leader in brokers,
    ReplicaRole.FOLLOWER: lambda state, brokers: any(
        replica in brokers for replica in state.replicas if replica != state.leader
    ),
    ReplicaRole.OTHER_LEADER: lambda state, brokers: state.leader not in brokers,
    ReplicaRole.UNPREFERRED_LEADER: lambda state, _: state.replicas[:1] != [state.leader],
}


def with_role(
    state: State, role: ReplicaRole, brokers: AbstractSet[int], topics: Sequence[bytes] | None
) -> Chosen:
    has_role = _HAS_ROLE[role]
    return choose(state, lambda partition: has_role(state.of_partition(partition), brokers), topics)


def in_directory(state: State, directory: bytes, topics: Sequence[bytes] | None) -> Chosen:
    return choose(state, lambda part: directory in state.of_partition(part).directories, topics)


def directories(state: State) -> dict[bytes, dict[int, int]]:
    counts: Counter[tuple[bytes, int]] = Counter()
    for topic in state.topics.values():
        for partition in topic.partitions.values():
            partition_state = state.of_partition(partition)
            counts.update(zip(partition_state.directories, partition_state.replicas, strict=True))
    replicas_by_directory: dict[bytes, dict[int, int]] = {}
    for (directory, broker), count in sorted(counts.items()):
        replicas_by_directory.setdefault(directory, {})[broker] = count
    return replicas_by_directory


def under_min_isr(state: State, needed: Mapping[bytes, int], usual: int) -> Chosen:
    numbers_by_topic = {}
    for topic in state.topics.values():
        least = needed.get(topic.id, usual)
        numbers = [
            number
            for number, partition in sorted(topic.partitions.items())
            if (partition_state := state.of_partition(partition))
            and len(partition_state.isr) < max(min(least, len(partition_state.replicas)), 1)
        ]
        if numbers:
            numbers_by_topic[topic.id] = numbers
    return numbers_by_topic


def newest_below(state: State, topic_id: bytes | None, exact: State | None) -> NewestRecord | None:
    if topic_id is None:
        topics = list(state.topics.values())
    else:
        topics = [state.topics[topic_id]] if topic_id in state.topics else []
    changes = (newest for topic in topics for newest in _changes(topic, exact))
    # A record may have changed several partitions, one of them uncertainly.
    return max(changes, key=attrgetter("address", "is_certain", "records"), default=None)


def _changes(topic: Topic, exact: State | None) -> Iterator[NewestRecord]:
    there = topic if exact is None else exact.topics.get(topic.id)
    if there is None:
        return
    yield NewestRecord(there.address, 1)
    for number in topic.partitions:
        partition = there.partitions.get(number)
        if partition is not None:
            yield partition.newest
