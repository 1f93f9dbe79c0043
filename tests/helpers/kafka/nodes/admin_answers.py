"""The answers of brokers about topics, configurations, ACLs and quotas, and changes of these."""

from typing import Any

from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.bootstrap import connect

TOPIC, PREFIX = "seen", "pay"
_ANY = 1
_DYNAMIC_TOPIC_CONFIG, _DYNAMIC_DEFAULT_BROKER_CONFIG = 1, 3
ENTITIES: list[list[tuple[str, str | None]]] = [
    [("user", "bob")],
    [("user", None), ("client-id", "app")],
    [("ip", None)],
]


def ask(address: str, api: str, **fields: Any) -> Any:
    """Return the answer of a broker."""
    with connect(parse_bootstrap(address), Settings(timeout=60), Deadline(60)) as connection:
        return connection.ask(api, **fields)


def fill(address: str) -> None:
    """Make a topic with configurations, configurations of all brokers, ACLs and quotas."""
    config = {"name": "retention.ms", "value": "987654"}
    more = {"name": "min.insync.replicas", "value": "2"}
    topic = {"name": TOPIC, "num_partitions": 12, "replication_factor": 2, "assignments": []}
    made = ask(
        address, "CreateTopics", topics=[{**topic, "configs": [config, more]}], timeout_ms=60_000
    )
    assert [one.error_code for one in made.topics] == [0]
    change = {"name": "log.retention.ms", "config_operation": 0, "value": "7654321"}
    resource = {"resource_type": 4, "resource_name": "", "configs": [change]}
    set_all = ask(address, "IncrementalAlterConfigs", resources=[resource], validate_only=False)
    assert [one.error_code for one in set_all.responses] == [0]
    acls = [acl(2, TOPIC, 3, "User:bob", 3, 3), acl(3, PREFIX, 4, "User:*", 2, 2)]
    assert [one.error_code for one in ask(address, "CreateAcls", creations=acls).results] == [0, 0]
    entries = [
        {
            "entity": [{"entity_type": kind, "entity_name": name} for kind, name in entity],
            "ops": [{"key": _key(entity), "value": 100.0 + at, "remove": False}],
        }
        for at, entity in enumerate(ENTITIES)
    ]
    altered = ask(address, "AlterClientQuotas", entries=entries, validate_only=False)
    assert {one.error_code for one in altered.entries} == {0}


def acl(
    kind: int, name: str, pattern: int, principal: str, operation: int, permission: int
) -> dict[str, Any]:
    """Return an ACL for all hosts, its codes as numbers."""
    return {
        "resource_type": kind,
        "resource_name": name,
        "resource_pattern_type": pattern,
        "principal": principal,
        "host": "*",
        "operation": operation,
        "permission_type": permission,
    }


def _key(entity: list[tuple[str, str | None]]) -> str:
    return "connection_creation_rate" if entity[0][0] == "ip" else "producer_byte_rate"


def partitions(address: str) -> dict[tuple[str, int], tuple[int, int, list[int], list[int]]]:
    """Return leader, leader epoch, ISR and replicas of all partitions."""
    answer = ask(address, "Metadata", topics=None, allow_auto_topic_creation=False)
    return {
        (topic.name, one.partition_index): (
            *(one.leader_id, one.leader_epoch, sorted(one.isr_nodes), list(one.replica_nodes)),
        )
        for topic in answer.topics
        for one in topic.partitions
    }


def configs(address: str, topics: list[str]) -> dict[tuple[str, str, str], str | None]:
    """Return the dynamic configurations of topics and of all brokers, by type, name and key."""
    resources = [(2, name) for name in topics] + [(4, "")]
    answer = ask(
        address,
        "DescribeConfigs",
        resources=[
            {"resource_type": kind, "resource_name": name, "configuration_keys": None}
            for kind, name in resources
        ],
    )
    kinds = {2: ("TOPIC", _DYNAMIC_TOPIC_CONFIG), 4: ("BROKER", _DYNAMIC_DEFAULT_BROKER_CONFIG)}
    return {
        (kinds[result.resource_type][0], result.resource_name, one.name): one.value
        for result in answer.results
        for one in result.configs
        if one.config_source == kinds[result.resource_type][1]
    }


def acls(address: str) -> list[tuple[int, str, int, str, str, int, int]]:
    """Return all ACLs: resource, pattern, principal, host, operation and permission."""
    answer = ask(
        address,
        "DescribeAcls",
        resource_type_filter=_ANY,
        resource_name_filter=None,
        pattern_type_filter=_ANY,
        principal_filter=None,
        host_filter=None,
        operation=_ANY,
        permission_type=_ANY,
    )
    return sorted(
        (
            *(found.resource_type, found.resource_name, found.pattern_type),
            *(one.principal, one.host, one.operation, one.permission_type),
        )
        for found in answer.resources
        for one in found.acls
    )


def quotas(address: str) -> dict[tuple[frozenset[tuple[str, str | None]], str], float]:
    """Return all quotas by entity and key."""
    answer = ask(address, "DescribeClientQuotas", components=[], strict=False)
    return {
        (frozenset((part.entity_type, part.entity_name) for part in one.entity), value.key): (
            value.value
        )
        for one in answer.entries
        for value in one.values
    }
