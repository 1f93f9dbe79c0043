"""What decoders make of a record: its meaning, or what is known where there is none."""

from typing import NamedTuple

from kraftops.schema.read import Data

LARGEST_DECODED = 8 * 1024 * 1024
"""Bytes of key and value together; a batch of KRaft metadata has no more (`KafkaRaftClient`)."""


class Decoded(NamedTuple):
    """A key or value that was read: its record type by Kafka's name, its version, its fields."""

    type: str
    version: int
    data: Data


class Unknown(NamedTuple):
    """A key or value that nobody here can read, with all that is known of it."""

    reason: str
    raw: bytes | None
    type: int | None = None
    version: int | None = None


def refusal(key: bytes | None, value: bytes | None) -> str | None:
    """Return why a record is not decoded where its fields could take a hundred times its bytes."""
    size = len(key or b"") + len(value or b"")
    if size <= LARGEST_DECODED:
        return None
    return f"a record of {size} bytes is not decoded, only up to {LARGEST_DECODED}"
