"""The metadata log of an incident with known times, for tests of reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kraftops.log.batch import CONTROL, Record
from kraftops.schema.compile import compiled
from kraftops.schema.tables import messages
from tests.helpers.logs.random_logs import LogBatch, MetadataRecord, new_record, uuid
from tests.helpers.logs.written import batch_bytes

MINUTE = 60_000
START = 1_795_000_020_000
"""A full minute, in ms."""
SECRET = "hunter2-opensesame"
HOSTILE = '</script><img src=x onerror="alert(1)">\u202e\x1b[31m\u2028'
TOPIC, OTHER = uuid(101), uuid(102)


def at(minute: float) -> int:
    """Return a time of the incident in ms."""
    return START + round(minute * MINUTE)


def leader_batch(offset: int, leader: int, epoch: int, minute: float) -> bytes:
    """Return a batch that names a new leader of the quorum."""
    data = {"version": 1, "leaderId": leader, "voters": [], "grantingVoters": []}
    value = compiled(messages("control")["LeaderChangeMessage"], 1).write(data)
    record = Record(offset, at(minute), bytes(2) + (2).to_bytes(2), value)
    return batch_bytes([record], attributes=CONTROL, leader_epoch=epoch)


def broker(number: int, **changes: Any) -> MetadataRecord:
    """Return the registration of a broker."""
    listener = {"name": "PLAINTEXT", "host": f"b{number}", "port": 9092, "securityProtocol": 0}
    data = {"brokerId": number, "brokerEpoch": number, "endPoints": [listener], "rack": "r1"}
    return new_record("RegisterBrokerRecord", **{**data, "fenced": False, **changes})


def fencing(number: int, fenced: int) -> MetadataRecord:
    """Return the change of a broker to fenced (1) or not (-1)."""
    change = "BrokerRegistrationChangeRecord"
    return new_record(change, brokerId=number, brokerEpoch=number, fenced=fenced)


def config(value: str | None, name: str, resource: str = "orders", kind: int = 2) -> MetadataRecord:
    """Return a configuration."""
    return new_record(
        "ConfigRecord", resourceType=kind, resourceName=resource, name=name, value=value
    )


def change(number: int, **changes: Any) -> MetadataRecord:
    """Return the change of a partition of the topic."""
    return new_record("PartitionChangeRecord", topicId=TOPIC, partitionId=number, **changes)


def _partition(number: int, topic: bytes = TOPIC) -> MetadataRecord:
    return new_record(
        "PartitionRecord",
        topicId=topic,
        partitionId=number,
        replicas=[1, 2, 3],
        isr=[1, 2, 3],
        leader=1,
        directories=[uuid(7)] * 3,
    )


INCIDENT: Sequence[tuple[float, Sequence[MetadataRecord]]] = (
    (0, [new_record("FeatureLevelRecord", name="metadata.version", featureLevel=25)]),
    (0, [broker(1), broker(2), broker(3)]),
    (1, [new_record("TopicRecord", name="orders", topicId=TOPIC), _partition(0), _partition(1)]),
    (1, [new_record("TopicRecord", name=HOSTILE, topicId=OTHER), _partition(0, OTHER)]),
    (2, [config("2", "min.insync.replicas")]),
    (3, [config(SECRET, "ssl.keystore.password", "1", 4)]),
    (
        3,
        [
            new_record(
                "UserScramCredentialRecord",
                name="alice",
                mechanism=1,
                salt=SECRET.encode(),
                storedKey=SECRET.encode(),
                serverKey=SECRET.encode(),
                iterations=4096,
            )
        ],
    ),
    # Broker 1 goes: two elections, then broker 2 leaves the ISR of partition 0.
    (10, [fencing(1, 1)]),
    (10, [change(0, isr=[2, 3], leader=2), change(1, isr=[2, 3], leader=3)]),
    (12, [change(0, isr=[3], leader=3)]),  # under min ISR
    (13, [change(0, leader=-1)]),  # offline
    (15, [change(0, isr=[2], leader=2, leaderRecoveryState=1)]),  # an unclean election
    (16, [change(0, isr=[2, 3], leaderRecoveryState=0)]),
    (20, [fencing(1, -1)]),
    (20, [change(0, isr=[1, 2, 3]), change(1, isr=[1, 2, 3])]),
    (21, [fencing(1, 1)]),
    (22, [fencing(1, -1)]),
    (23, [fencing(1, 1)]),
    (24, [fencing(1, -1)]),
    (25, [config("5000", "retention.ms"), config("1", "min.insync.replicas")]),
    (26, [config("9000", "retention.ms")]),
    (29, [new_record("RemoveTopicRecord", topicId=OTHER)]),
    (30, [new_record("NoOpRecord")]),
)


Incident = Sequence[tuple[float, Sequence[MetadataRecord]]]


def incident_bytes(incident: Incident = INCIDENT) -> bytes:
    """Return the segment of an incident, with new leaders of the quorum at minutes 0, 11, 11.5."""
    parts, offset, epoch = [leader_batch(0, 100, 1, 0)], 1, 1
    leaders = [(11.0, 101), (11.5, 102), (11.75, 100)]
    for minute, records in incident:
        while leaders and leaders[0][0] <= minute:
            epoch += 1
            parts.append(leader_batch(offset, leaders[0][1], epoch, leaders[0][0]))
            del leaders[0]
            offset += 1
        timed = [record._replace(timestamp=at(minute)) for record in records]
        parts.append(bytes(LogBatch(offset, timed, epoch)))
        offset += len(records)
    return b"".join(parts)


def incident_directory(folder: Path, incident: Incident = INCIDENT) -> Path:
    """Write the log of a controller; return its log directory."""
    partition = folder / "__cluster_metadata-0"
    partition.mkdir(parents=True)
    (partition / f"{0:020}.log").write_bytes(incident_bytes(incident))
    (folder / "meta.properties").write_text("version=1\ncluster.id=abc\nnode.id=100\n")
    return folder
