"""The node that a record of the metadata log is about, and what its codes mean, in words."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from kraftops.answers.fields import text
from kraftops.query.conditions.outcomes import TRUE, outcomes_of
from kraftops.query.conditions.rows import row_values
from kraftops.query.conditions.syntax import Condition
from kraftops.query.filters import Filter
from kraftops.query.row import Row
from kraftops.tree.names import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
    RECOVERY_STATES,
    RESOURCE_TYPES,
    SCRAM_MECHANISMS,
    SECURITY_PROTOCOLS,
    entity_name,
    resource_name,
)
from kraftops.tree.node import json_text
from kraftops.views.log import LogQuestion, all_rows

ABOUT = text("about", "what it is about: orders-0, broker 3; of tables and conditions only")
TopicNames = Mapping[str, str]
"""Names of topics by the texts of their ids."""


def mention(row: Row, names: TopicNames) -> str:
    """Return what a record is about: `orders-0`, `broker 3`, `TOPIC:orders retention.ms`.

    It is empty for a record that is about the whole cluster, or that cannot be read.
    """
    if row.topic_id is not None:
        topic = names.get(row.topic_id, row.topic_id)
        return topic if row.partition_id is None else f"{topic}-{row.partition_id}"
    named = _MENTIONS.get(row.type or "")
    if named and row.value:
        try:
            return named(json.loads(row.value))
        except (KeyError, TypeError, ValueError):
            return ""  # a record of another version
    has_broker = row.broker_id is not None and row.broker_id >= 0
    return f"broker {row.broker_id}" if has_broker else ""


def topic_names(rows: Iterable[Row], existing: TopicNames, question: LogQuestion) -> TopicNames:
    """Return the names of the topics in rows; the log has those of deleted topics.

    Args:
        rows: the records.
        existing: the names of the topics that exist.
        question: the log.
    """
    missing = {row.topic_id for row in rows if row.topic_id is not None} - existing.keys()
    return {**existing, **_topic_names_in(question)} if missing else existing


def offsets_mentioning(
    question: LogQuestion, condition: Condition, existing: TopicNames
) -> frozenset[int]:
    """Return the offsets of the records of a question for which a condition on `about` is true."""
    names = {**existing, **_topic_names_in(question)}
    outcomes = outcomes_of(condition)

    def holds(row: Row) -> bool:
        values, about = row_values(row), (mention(row, names),)
        return outcomes(lambda path: about if path[0] == ABOUT.name else values(path)) == TRUE

    rows = all_rows(question)
    return frozenset(row.offset for row in rows if row.offset is not None and holds(row))


def _topic_names_in(question: LogQuestion) -> dict[str, str]:
    query = replace(question.query, filter=Filter(types=frozenset({"topic"})))
    return {
        row.topic_id: str(json.loads(row.value).get("name"))
        for row in all_rows(question._replace(query=query, offsets=None))
        if row.topic_id is not None and row.value
    }


def decoded_value(row: Row) -> str | None:
    """Return the value of a record as JSON, with the names of its codes instead of numbers."""
    codes = _CODES.get(row.type or "")
    if codes is None or not row.value:
        return row.value
    value = json.loads(row.value)
    if not isinstance(value, dict):  # redacted
        return row.value
    _decode(value, codes)
    return json_text(value)


def _decode(value: Any, codes: Mapping[str, Mapping[int, str]]) -> None:
    """Replace the codes of an object, and of the objects in its lists, by their names."""
    for name, part in value.items():
        if name in codes:
            value[name] = codes[name].get(part, part)
        elif isinstance(part, list):
            for inner in part:
                if isinstance(inner, dict):
                    _decode(inner, codes)


def _config(value: Any) -> str:
    return f"{resource_name((value['resourceType'], value['resourceName']))} {value['name']}"


def _quota(value: Any) -> str:
    parts = tuple((part["entityType"], part["entityName"]) for part in value["entity"])
    return f"{entity_name(parts)} {value['key']}"


_MENTIONS: Mapping[str, Callable[[Any], str]] = {
    "CONFIG_RECORD": _config,
    "CLIENT_QUOTA_RECORD": _quota,
    "FEATURE_LEVEL_RECORD": lambda value: str(value["name"]),
    "ACCESS_CONTROL_ENTRY_RECORD": lambda value: f"ACL of {value['principal']}",
    "REMOVE_ACCESS_CONTROL_ENTRY_RECORD": lambda value: f"ACL {value['id']}",
    "USER_SCRAM_CREDENTIAL_RECORD": lambda value: f"user {value['name']}",
    "REMOVE_USER_SCRAM_CREDENTIAL_RECORD": lambda value: f"user {value['name']}",
    "DELEGATION_TOKEN_RECORD": lambda value: f"token {value['tokenId']}",
    "REMOVE_DELEGATION_TOKEN_RECORD": lambda value: f"token {value['tokenId']}",
    "REGISTER_CONTROLLER_RECORD": lambda value: f"controller {value['controllerId']}",
    "CLEAR_ELR_RECORD": lambda value: str(value["topicName"]),
    "LEADER_CHANGE": lambda value: f"controller {value['leaderId']}",
}
_RECOVERY = {"leaderRecoveryState": dict(enumerate(RECOVERY_STATES))}
_PROTOCOLS = {"securityProtocol": dict(enumerate(SECURITY_PROTOCOLS))}
_CODES: Mapping[str, Mapping[str, Mapping[int, str]]] = {
    "PARTITION_RECORD": _RECOVERY,
    "PARTITION_CHANGE_RECORD": _RECOVERY,
    "CONFIG_RECORD": {"resourceType": RESOURCE_TYPES},
    "ACCESS_CONTROL_ENTRY_RECORD": {
        "resourceType": dict(enumerate(ACL_RESOURCES)),
        "patternType": dict(enumerate(ACL_PATTERNS)),
        "operation": dict(enumerate(ACL_OPERATIONS)),
        "permissionType": dict(enumerate(ACL_PERMISSIONS)),
    },
    "USER_SCRAM_CREDENTIAL_RECORD": {"mechanism": SCRAM_MECHANISMS},
    "REMOVE_USER_SCRAM_CREDENTIAL_RECORD": {"mechanism": SCRAM_MECHANISMS},
    "REGISTER_BROKER_RECORD": _PROTOCOLS,
    "REGISTER_CONTROLLER_RECORD": _PROTOCOLS,
    # BrokerRegistrationFencingChange and BrokerRegistrationInControlledShutdownChange
    "BROKER_REGISTRATION_CHANGE_RECORD": {
        "fenced": {-1: "UNFENCE", 0: "NONE", 1: "FENCE"},
        "inControlledShutdown": {0: "NONE", 1: "IN_CONTROLLED_SHUTDOWN"},
    },
}
"""The names of codes in values, by record types and fields."""
