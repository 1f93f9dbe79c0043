"""The data of users in a cluster: written, and read back.

kafka-python does so, in a process of its own: it warns where tests allow no warnings.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOPIC, GROUP, USER = "kept", "readers", "alice"
PARTITIONS = 3
RECORDS = 300

AUTHORIZED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "super.users": "User:ANONYMOUS",
}
"""Settings of nodes that keep ACLs."""


def fill(address: str, replicas: int = 1) -> None:
    """Make a topic with records and a configuration, an ACL, a user, committed offsets."""
    _run("fill", address, replicas)


def add_topic(address: str, name: str, partitions: int = 1, replicas: int = 1) -> None:
    """Create a topic; its partitions have leaders."""
    _run("add_topic", address, name, partitions, replicas)


def produce(address: str, topic: str, count: int = RECORDS, acks: int | str = "all") -> None:
    """Append records, in turn to all partitions; all in-sync replicas have them, or the leader."""
    _run("produce", address, topic, count, acks)


def contents(address: str) -> dict[str, Any]:
    """Return all that is there: topics, configurations, ACLs, users, offsets, records."""
    found: dict[str, Any] = _run("contents", address)
    return found


def records(address: str, topic: str) -> list[tuple[int, int, str]]:
    """Return partition, offset and value of all records of a topic."""
    rows: list[list[Any]] = _run("records", address, topic)
    return [(partition, offset, value) for partition, offset, value in rows]


def _run(*call: object) -> Any:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", __name__, json.dumps(call)],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@contextmanager
def _admin(address: str) -> Iterator[Any]:
    from kafka import KafkaAdminClient

    client = KafkaAdminClient(bootstrap_servers=address, client_id="contents")
    try:
        yield client
    finally:
        client.close()


def _patiently(ask: Callable[[], Any], limit: float = 60) -> Any:
    """Ask again while the coordinator is not there, or a broker does not know the topic yet."""
    from kafka.errors import KafkaError

    end = time.monotonic() + limit
    while True:
        try:
            return ask()
        except (KafkaError, ValueError):  # of a configuration that it does not find
            if time.monotonic() > end:
                raise
        time.sleep(0.2)


def _fill(address: str, replicas: int = 1) -> None:
    from kafka import TopicPartition
    from kafka.admin import (
        ACL,
        ACLOperation,
        ACLPermissionType,
        ConfigResource,
        ResourcePattern,
        ResourceType,
        ScramMechanism,
        UserScramCredentialUpsertion,
    )
    from kafka.structs import OffsetAndMetadata

    with _admin(address) as admin:
        _add_topic(address, TOPIC, PARTITIONS, replicas)
        retention = ConfigResource("TOPIC", TOPIC, {"retention.ms": "987654321"})
        _patiently(lambda: admin.alter_configs([retention]))
        pattern = ResourcePattern(ResourceType.TOPIC, TOPIC)
        admin.create_acls(
            [ACL("User:bob", "*", ACLOperation.READ, ACLPermissionType.ALLOW, pattern)]
        )
        credential = UserScramCredentialUpsertion(
            USER, ScramMechanism.SCRAM_SHA_256, b"secret", 4096
        )
        admin.alter_user_scram_credentials([credential])
        _produce(address, TOPIC)
        offsets = {TopicPartition(TOPIC, n): OffsetAndMetadata(7 + n, "", -1) for n in range(3)}
        _patiently(lambda: admin.alter_group_offsets(GROUP, offsets))


def _add_topic(address: str, name: str, partitions: int = 1, replicas: int = 1) -> None:
    with _admin(address) as admin:
        topic = {name: {"num_partitions": partitions, "replication_factor": replicas}}
        admin.create_topics(topic, wait_for_metadata=True)


def _produce(address: str, topic: str, count: int = RECORDS, acks: int | str = "all") -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=address, acks=acks, max_block_ms=60_000)
    try:
        for number in range(count):
            producer.send(topic, b"value %d" % number, partition=number % PARTITIONS)
        producer.flush(60)
    finally:
        producer.close(10)


def _contents(address: str) -> dict[str, Any]:
    from kafka.admin import (
        ACLFilter,
        ACLOperation,
        ACLPermissionType,
        ACLResourcePatternType,
        ConfigResource,
        ResourcePatternFilter,
        ResourceType,
    )

    with _admin(address) as admin:
        topics = sorted(name for name in admin.list_topics() if not name.startswith("__"))
        configs = admin.describe_configs([ConfigResource("TOPIC", name) for name in topics])
        any_pattern = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
        acls, _ = admin.describe_acls(
            ACLFilter(None, None, ACLOperation.ANY, ACLPermissionType.ANY, any_pattern)
        )
        users = admin.describe_user_scram_credentials()
        offsets = _patiently(lambda: admin.list_group_offsets([GROUP]))[GROUP]
        return {
            "topics": topics,
            "configs": str(configs),
            "acls": sorted(map(repr, acls)),
            "users": str(users),
            "offsets": sorted((str(where), one.offset) for where, one in offsets.items()),
            "records": {name: _records(address, name) for name in topics},
        }


def _records(address: str, topic: str) -> list[tuple[int, int, str]]:
    """Return partition, offset and value of all records of a topic."""
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(bootstrap_servers=address, enable_auto_commit=False)
    try:
        parts = [TopicPartition(topic, n) for n in consumer.partitions_for_topic(topic) or ()]
        consumer.assign(parts)
        consumer.seek_to_beginning()
        ends = consumer.end_offsets(parts)
        found: list[tuple[int, int, str]] = []
        while any(consumer.position(part) < ends[part] for part in parts):
            for batch in consumer.poll(timeout_ms=5_000).values():
                found += [(one.partition, one.offset, one.value.decode()) for one in batch]
        return sorted(found)
    finally:
        consumer.close(autocommit=False)


if __name__ == "__main__":
    name, *arguments = json.loads(sys.argv[1])
    json.dump(globals()[f"_{name}"](*arguments), sys.stdout)
