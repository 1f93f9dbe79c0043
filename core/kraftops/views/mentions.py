"""The node that a record of the metadata log is about, in a few words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from kraftops.query.filters import Filter
from kraftops.query.row import Row
from kraftops.tree.names import entity_name, resource_name
from kraftops.views.log import LogQuestion, all_rows

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


def topic_names(rows: Iterable[Row], known: TopicNames, question: LogQuestion) -> TopicNames:
    """Return the names of the topics in rows; the log has those of deleted topics.

    Args:
        rows: the records.
        known: the names of the topics that exist.
        question: the log.
    """
    missing = {row.topic_id for row in rows if row.topic_id is not None} - known.keys()
    if not missing:
        return known
    query = replace(question.query, filter=Filter(types=frozenset({"topic"})))
    found = dict(known)
    for row in all_rows(question._replace(query=query, offsets=None)):
        if row.topic_id in missing and row.value:
            found[row.topic_id] = str(json.loads(row.value).get("name"))
    return found


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
