"""Partitioning of internal topics by group or transactional id.

Source: Kafka's `GroupCoordinatorService.partitionFor` and `TransactionStateManager.partitionFor`.
"""

from kraftops.java.text import string_hash

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTION_TOPIC = "__transaction_state"
DEFAULT_PARTITIONS = 50
"""The default of `offsets.topic.num.partitions` and `transaction.state.log.num.partitions`."""

_MOST_INT = (1 << 31) - 1  # with it `Integer.MIN_VALUE` is 0, as by `Utils.abs`


def partition_of(name: str, partitions: int = DEFAULT_PARTITIONS) -> int:
    """Return the partition of a group or transactional id; *partitions* is at least 1."""
    code = string_hash(name)
    # Kafka's `Utils.abs`, which returns 0 for the least int; not `Utils.toPositive`, as for keys.
    return (min(code, (1 << 32) - code) & _MOST_INT) % partitions
