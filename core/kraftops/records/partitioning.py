"""Which partition of an internal topic keeps a group or a transactional id.

By Kafka's `GroupCoordinatorService.partitionFor` and `TransactionStateManager.partitionFor`.
"""

from __future__ import annotations

from kraftops.java.text import string_hash

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTION_TOPIC = "__transaction_state"
DEFAULT_PARTITIONS = 50
"""Of `offsets.topic.num.partitions` and `transaction.state.log.num.partitions`."""

_MOST_INT = (1 << 31) - 1


def partition_of(name: str, partitions: int = DEFAULT_PARTITIONS) -> int:
    """Return the partition of a group or transactional id, of so many, at least one."""
    code = string_hash(name)
    # Kafka's `Utils.abs`: not the lower 31 bits, as `Utils.toPositive` has it for keys; the least
    # int, which has no positive one, is 0.
    return (min(code, (1 << 32) - code) & _MOST_INT) % partitions
