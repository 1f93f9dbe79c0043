"""The meaning of a record: decoded fields, or what is known where nobody can read it."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kraftops.schema.read import Data

LARGEST_DECODED = 8 * 1024 * 1024
"""Bytes of key and value together; a batch of KRaft metadata has no more (`KafkaRaftClient`)."""
BASE64 = "base64"
"""The encoding of keys and values that are no text."""


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


class Meaning(NamedTuple):
    """The columns of a row that a decoder fills, from `kind` on.

    *key* and *value* are JSON texts; of kind `user` they are the text itself. Where an encoding is
    named, they are base64 of the bytes.
    """

    kind: str
    type: str | None = None
    version: int | None = None
    key: str | None = None
    value: str | None = None
    topic_id: str | None = None
    partition_id: int | None = None
    broker_id: int | None = None
    key_encoding: str | None = None
    value_encoding: str | None = None
    error: str | None = None


class Label(NamedTuple):
    """A record type by Kafka's name, and a version; None is the version of a tombstone."""

    type: str
    version: int | None


UNKNOWN = "UNKNOWN"
"""The type in the label of a record that cannot be read."""


def unknown_label(number: int | None, version: int | None) -> Label:
    """Return the label of a record type that is not known."""
    return Label(UNKNOWN if number is None else f"{UNKNOWN}({number})", version)


def refusal(key: bytes | None, value: bytes | None) -> str | None:
    """Return why a record is not decoded: its fields could take a hundred times its bytes."""
    size = len(key or b"") + len(value or b"")
    if size <= LARGEST_DECODED:
        return None
    return f"a record of {size} bytes is not decoded, only up to {LARGEST_DECODED}"


def base64_of(raw: bytes) -> str:
    """Return the base64 of bytes, without quotes."""
    return b64encode(raw).decode()
