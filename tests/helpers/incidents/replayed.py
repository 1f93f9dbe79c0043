"""A metadata log as rows, replayed in a few lines that share nothing with an engine's fold."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kraftops.dump.scan.rows import scan
from kraftops.query.query import Query

_PARTITION = {
    "isr": "isr",
    "leader": "leader",
    "replicas": "replicas",
    "eligibleLeaderReplicas": "elr",
    "addingReplicas": "adding",
    "removingReplicas": "removing",
}


@dataclass
class Replayed:
    """The state behind some records, and what each changed: (offset, kind, what, before, after)."""

    topics: dict[str, str] = field(default_factory=dict)  # names by id
    names: dict[str, str] = field(default_factory=dict)  # also of deleted ones
    partitions: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    brokers: dict[int, dict[str, Any]] = field(default_factory=dict)
    configs: dict[tuple[int, str, str], str] = field(default_factory=dict)
    acls: dict[str, dict[str, Any]] = field(default_factory=dict)
    quotas: dict[tuple[str, str], float] = field(default_factory=dict)
    changes: list[tuple[int, str, Any, Any, Any]] = field(default_factory=list)

    def named(self, **fields: Any) -> list[tuple[str, int]]:
        """Return the partitions with these values, sorted."""
        return sorted(
            key for key, state in self.partitions.items()
            if all(state[name] == value for name, value in fields.items())
        )  # fmt: skip

    def take(self, offset: int, type_: str, value: dict[str, Any]) -> None:  # noqa: C901, PLR0912
        """Apply a record."""
        match type_:
            case "TOPIC_RECORD":
                self.topics[value["topicId"]] = self.names[value["topicId"]] = value["name"]
                self.changes.append((offset, "topic", value["name"], None, value["topicId"]))
            case "REMOVE_TOPIC_RECORD":
                name = self.topics.pop(value["topicId"])
                self.partitions = {k: s for k, s in self.partitions.items() if k[0] != name}
                self.configs = {k: v for k, v in self.configs.items() if k[:2] != (2, name)}
                self.changes.append((offset, "topic", name, value["topicId"], None))
            case "PARTITION_RECORD" | "PARTITION_CHANGE_RECORD":
                key = self.topics[value["topicId"]], value["partitionId"]
                empty = {"isr": [], "replicas": [], "elr": [], "adding": [], "removing": []}
                before = self.partitions.get(key)
                told = {
                    _PARTITION[name]: part for name, part in value.items() if name in _PARTITION
                }
                after = self.partitions[key] = {**(before or {**empty, "leader": -1}), **told}
                if type_ == "PARTITION_CHANGE_RECORD":
                    self.changes.append((offset, "partition", key, before, after))
            case "REGISTER_BROKER_RECORD":
                self.brokers[value["brokerId"]] = {"fenced": True, "rack": None, **value}
            case "BROKER_REGISTRATION_CHANGE_RECORD":
                if value.get("fenced"):
                    self.brokers[value["brokerId"]]["fenced"] = value["fenced"] > 0
            case "CONFIG_RECORD":
                config = value["resourceType"], value["resourceName"], value["name"]
                old = self.configs.pop(config, None)
                if value["value"] is not None:
                    self.configs[config] = value["value"]
                self.changes.append((offset, "config", config, old, value["value"]))
            case "ACCESS_CONTROL_ENTRY_RECORD":
                self.acls[value["id"]] = value
                self.changes.append((offset, "acl", value["id"], None, value))
            case "REMOVE_ACCESS_CONTROL_ENTRY_RECORD":
                gone = self.acls.pop(value["id"])
                self.changes.append((offset, "acl", value["id"], gone, None))
            case "CLIENT_QUOTA_RECORD":
                entity = json.dumps(value["entity"])
                old_quota = self.quotas.pop((entity, value["key"]), None)
                if not value["remove"]:
                    self.quotas[entity, value["key"]] = value["value"]
                new_quota = None if value["remove"] else value["value"]
                self.changes.append((offset, "quota", entity, old_quota, new_quota))


def replayed(log: Path, last: int = 1 << 40) -> Replayed:
    """Return the state of a log up to an offset."""
    state = Replayed()
    for row in scan(log, Query(decoder="metadata")):
        if row.offset is not None and row.offset <= last and row.value and row.type:
            state.take(row.offset, row.type, json.loads(row.value))
    return state
