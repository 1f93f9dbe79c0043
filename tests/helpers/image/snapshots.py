"""Snapshots of images, as a server would write them."""

from collections.abc import Iterator, Mapping

from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import Record
from kraftops.schema.compile import compiled
from kraftops.schema.tables import messages
from tests.helpers.logs.metadata_logs import snapshot_bytes
from tests.helpers.logs.written import batch_bytes

_BATCH = 5


def snapshot_of(image: MetadataImage, time: int = 0, epoch: int = 1) -> bytes:
    """Return a snapshot of the state of an image."""
    values = list(_values(image))
    batches = []
    for at in range(0, len(values), _BATCH):
        records = [
            Record(at + 1 + number, time, None, value)
            for number, value in enumerate(values[at : at + _BATCH])
        ]
        batches.append(batch_bytes(records, leader_epoch=epoch))
    return snapshot_bytes(*batches, end=len(values) + 1)


def _values(image: MetadataImage) -> Iterator[bytes]:
    if image.metadata_version:
        yield _record_value(image, image.metadata_version[1])
    for _, address in image.features.values():
        yield _record_value(image, address)
    yield from _brokers_and_topics(image)
    for nested in (image.configs, image.quotas, image.scram):
        for addresses in nested.values():
            yield from (_record_value(image, address) for address in addresses.values())
    for table in (image.acls, image.tokens, image.controllers):
        yield from (_record_value(image, address) for address in table.values())
    if image.producer_ids is not None:
        yield _record_value(image, image.producer_ids)


def _brokers_and_topics(image: MetadataImage) -> Iterator[bytes]:
    for broker in image.brokers.values():
        state = {name: one for name, one in image.broker_state(broker).items() if name[0] != "_"}
        yield _value("RegisterBrokerRecord", 4, state)
    for topic_id, topic in image.topics.items():
        yield _value("TopicRecord", 0, {"name": topic.name, "topicId": topic_id})
        for number, state in image.fold.partitions(topic_id):
            yield _value(
                "PartitionRecord",
                2,
                {
                    "partitionId": number,
                    "topicId": topic_id,
                    "replicas": state.replicas,
                    "isr": state.isr,
                    "removingReplicas": state.removing_replicas,
                    "addingReplicas": state.adding_replicas,
                    "leader": state.leader,
                    "leaderRecoveryState": state.leader_recovery_state,
                    "leaderEpoch": state.leader_epoch,
                    "partitionEpoch": state.partition_epoch,
                    "directories": state.directories,
                    "eligibleLeaderReplicas": state.eligible_leader_replicas,
                    "lastKnownElr": state.last_known_elr,
                },
            )


def _record_value(image: MetadataImage, address: int) -> bytes:
    value = image.record(address).value
    assert value is not None
    return value


def _value(name: str, version: int, data: Mapping[str, object]) -> bytes:
    message = messages("metadata")[name]
    assert message.key is not None
    return bytes([1, message.key, version]) + compiled(message, version).write(data)
