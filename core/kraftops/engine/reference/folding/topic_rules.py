"""The rules of records of topics and partitions, as in Kafka's `TopicsDelta` and `TopicDelta`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kraftops.engine.metadata_state import TOPIC_RESOURCE
from kraftops.engine.reference.folding import partitions
from kraftops.engine.reference.folding.state import Partition, State, Topic

if TYPE_CHECKING:
    from kraftops.records.kip_631_types import AnyPartitionChangeRecord, AnyTopicRecord
    from kraftops.records.metadata_types import ClearElrRecord, PartitionRecord, RemoveTopicRecord

_UNKNOWN_TOPIC = "there is no topic with this id"
_UNKNOWN_PARTITION = "there is no such partition"


def put_topic(state: State, data: AnyTopicRecord, address: int) -> None:
    """Apply a TopicRecord: it replaces a topic of the same id, with its partitions."""
    topic_id, name = data["topicId"], data["name"]
    state.unit.names.setdefault(name, name in state.topic_ids)
    old = _drop_topic(state, topic_id)
    namesake = state.topic_ids.get(name)
    state.changes.note("topics", (topic_id,), None if old is None else old.address, address)
    before = None if namesake is None else state.topics[namesake].address
    state.changes.note("topic-names", (name,), before, address)
    is_deleting = data.get("deleting", False)
    state.topics[topic_id] = Topic(topic_id, name, address, is_deleting=is_deleting)
    state.topic_ids[name] = topic_id


def remove_topic(state: State, data: RemoveTopicRecord, _address: int) -> str | None:
    """Apply a RemoveTopicRecord, which takes the topic's configurations too."""
    topic_id = data["topicId"]
    topic = _drop_topic(state, topic_id)
    # A topic that this unit has removed may be removed again.
    name = state.unit.topics[topic_id] if topic is None else topic.name
    if name is None:
        return _UNKNOWN_TOPIC
    resource = (TOPIC_RESOURCE, name)
    configs = state.tables.configs
    # Configurations that came in this unit stay, as they do in Kafka.
    if state.unit.configs.setdefault(resource, resource in configs):
        for key, before in configs.pop(resource, {}).items():
            state.changes.note("configs", (*resource, key), before, None)
    return None


def put_partition(state: State, data: PartitionRecord, address: int) -> str | None:
    topic = state.topics.get(data["topicId"])
    if topic is None:
        return _UNKNOWN_TOPIC
    state_made = partitions.registered(data)
    if isinstance(state_made, str):
        return state_made
    number = data["partitionId"]
    old = topic.partitions.get(number)
    before = None if old is None else old.address
    state.changes.note("partitions", (topic.id, number), before, address)
    topic.partitions[number] = Partition(state_made, address)
    return None


def change_partition(state: State, data: AnyPartitionChangeRecord, address: int) -> str | None:
    topic = state.topics.get(data["topicId"])
    if topic is None:
        return _UNKNOWN_TOPIC
    number = data["partitionId"]
    partition = topic.partitions.get(number)
    if partition is None:
        return _UNKNOWN_PARTITION
    after = partitions.changed(state.of_partition(partition), data)
    if isinstance(after, str):
        return after
    state.changes.note("partitions", (topic.id, number), partition.address, address)
    partition.change(after, address)
    return None


def clear_elr(state: State, data: ClearElrRecord, address: int) -> str | None:
    """Apply a ClearElrRecord: to the topic of its name, or to all topics if it has none."""
    name = data["topicName"]
    chosen: Iterable[Topic] = state.topics.values()
    if name:
        topic_id = state.topic_ids.get(name)
        if topic_id is None:
            # A topic that this unit has removed may be named.
            return None if state.unit.names.get(name) else "there is no topic with this name"
        chosen = [state.topics[topic_id]]
    for topic in chosen:
        for number, partition in topic.partitions.items():
            if not partition.has_elr and not state.is_seeded:
                continue
            state.changes.note("partitions", (topic.id, number), partition.address, address)
            before = state.of_partition(partition)
            if partition.has_elr:
                partition.change(partitions.without_elr(before), address)
            else:
                partition.may_change(before, address)
    return None


def leave_isrs(state: State, broker: int, address: int) -> None:
    """Take a broker out of all ISRs, by the record at *address*."""
    for topic in state.topics.values():
        for number, partition in topic.partitions.items():
            before = state.of_partition(partition)
            if broker in before.isr:
                state.changes.note("partitions", (topic.id, number), partition.address, address)
                partition.change(partitions.outside_isr(before, broker), address)


def _drop_topic(state: State, topic_id: bytes) -> Topic | None:
    """Take a topic and its partitions out of the state."""
    topic = state.topics.pop(topic_id, None)
    state.unit.topics.setdefault(topic_id, None if topic is None else topic.name)
    if topic is None:
        return None
    state.changes.note("topics", (topic_id,), topic.address, None)
    state.unit.names.setdefault(topic.name, True)
    if state.topic_ids.get(topic.name) == topic_id:
        state.changes.note("topic-names", (topic.name,), topic.address, None)
        del state.topic_ids[topic.name]
    for number, partition in topic.partitions.items():
        state.changes.note("partitions", (topic_id, number), partition.address, None)
    return topic
