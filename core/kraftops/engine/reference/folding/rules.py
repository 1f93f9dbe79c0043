"""The rules of records, by type.

A rule returns None, or why its record cannot apply; the state is then unchanged.
"""

from collections.abc import Callable
from typing import Any

from kraftops.engine.reference.folding import table_rules as tables
from kraftops.engine.reference.folding import topic_rules as topics
from kraftops.engine.reference.folding.state import State
from kraftops.records import metadata_numbers as types

Rule = Callable[[State, Any, int], str | None]
"""Takes the state, the data of its type of record, and the address."""


def apply(state: State, number: int, data: Any, address: int) -> str | None:
    """Apply the record at *address*, of type *number*; return why it cannot, if it cannot."""
    rule = _RULES.get(number)
    return "no rule for this type of record" if rule is None else rule(state, data, address)


_RULES: dict[int, Rule] = {
    types.REGISTER_BROKER: tables.register_broker,
    types.UNREGISTER_BROKER: tables.unregister_broker,
    types.TOPIC: topics.put_topic,
    types.PARTITION: topics.put_partition,
    types.CONFIG: tables.put_config,
    types.PARTITION_CHANGE: topics.change_partition,
    types.FENCE_BROKER: tables.fence_broker,
    types.UNFENCE_BROKER: tables.fence_broker,
    types.REMOVE_TOPIC: topics.remove_topic,
    types.DELEGATION_TOKEN: tables.put_token,
    types.USER_SCRAM_CREDENTIAL: tables.put_scram,
    types.FEATURE_LEVEL: tables.put_feature,
    types.FAILED_REPLICAS: tables.note_failed_replicas,
    types.CLIENT_QUOTA: tables.put_quota,
    types.PRODUCER_IDS: tables.put_producer_ids,
    types.BROKER_REGISTRATION_CHANGE: tables.change_broker,
    types.ACCESS_CONTROL_ENTRY: tables.put_acl,
    types.REMOVE_ACCESS_CONTROL_ENTRY: tables.remove_acl,
    types.NO_OP: tables.do_nothing,
    types.ZK_MIGRATION_STATE: tables.do_nothing,
    types.REMOVE_USER_SCRAM_CREDENTIAL: tables.remove_scram,
    types.REMOVE_DELEGATION_TOKEN: tables.remove_token,
    types.REGISTER_CONTROLLER: tables.register_controller,
    types.CLEAR_ELR: topics.clear_elr,
}
