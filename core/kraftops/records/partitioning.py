"""Which partition of an internal topic keeps a group or a transactional id.

By Kafka's `GroupCoordinatorService.partitionFor` and `TransactionStateManager.partitionFor`.
"""

from __future__ import annotations

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTION_TOPIC = "__transaction_state"
DEFAULT_PARTITIONS = 50
"""Of `offsets.topic.num.partitions` and `transaction.state.log.num.partitions`."""

_MIN_INT = -(1 << 31)


def partition_of(name: str, partitions: int = DEFAULT_PARTITIONS) -> int:
    """Return the partition of a group or transactional id, of so many, at least one."""
    code = string_hash(name)
    # Kafka's `Utils.abs`: not the lower 31 bits, as `Utils.toPositive` has it for keys.
    return 0 if code == _MIN_INT else abs(code) % partitions


def string_hash(text: str) -> int:
    """Return Java's `String.hashCode`, an int32 of the UTF-16 units."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for at in range(0, len(units), 2):
        value = value * 31 + (units[at] << 8 | units[at + 1]) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value
