"""Records of brokers in racks, and of a topic with replicas on them."""

from typing import Any

from tests.helpers.logs.random_logs import MetadataRecord, new_record, uuid

TOPIC = new_record("TopicRecord", name="t", topicId=uuid(1))


def partition(number: int, **fields: Any) -> MetadataRecord:
    """Return the record of a partition of the topic."""
    usual = {"replicas": [1, 2, 3], "isr": [1, 2, 3], "leader": 1, "leaderEpoch": 0}
    changes = {"partitionEpoch": 0, "removingReplicas": [], "addingReplicas": []}
    return new_record(
        "PartitionRecord", partitionId=number, topicId=uuid(1), **(usual | changes | fields)
    )


def broker(number: int, rack: str | None = None, *, fenced: bool = False) -> MetadataRecord:
    """Return the registration of a broker."""
    return new_record(
        "RegisterBrokerRecord",
        brokerId=number,
        incarnationId=uuid(number),
        brokerEpoch=1,
        endPoints=[],
        features=[],
        rack=rack,
        fenced=fenced,
    )
