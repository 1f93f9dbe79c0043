"""The meaning of a record: its decoded fields, or the reason why it cannot be read."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kraftops.schema.message import Data

LARGEST_DECODED = 8 * 1024 * 1024
"""Bytes of key and value together; a batch of KRaft metadata has no more (`KafkaRaftClient`)."""
BASE64 = "base64"
"""The encoding of keys and values that are not text."""
IN_ROWS = "a record of {} bytes, decoded up to {}"
IN_TEXT = "a record of {} bytes is not decoded, only up to {}"
"""The error for a record that is too large, in rows and summaries and in Kafka's text."""


class Decoded(NamedTuple):
    """A decoded key or value: its record type by Kafka's name, its version and its fields."""

    type: str
    version: int
    data: Data


class Unknown(NamedTuple):
    """A key or value that cannot be read: the reason, the bytes, and type and version if known."""

    reason: str
    raw: bytes | None
    type: int | None = None
    version: int | None = None


class Meaning(NamedTuple):
    """The columns of a row that a decoder fills, from `kind` on.

    *key* and *value* are JSON, or text in rows of kind `user`; with an encoding, they are base64.
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


def unknown_name(number: int) -> str:
    """Return the name of an unknown record type, as Kafka has it for control records."""
    return f"{UNKNOWN}({number})"


def unknown_label(number: int | None, version: int | None) -> Label:
    return Label(UNKNOWN if number is None else unknown_name(number), version)


def size_error(key: bytes | None, value: bytes | None, wording: str = IN_TEXT) -> str | None:
    """Return the error for a record that is too large to be decoded; None for any other.

    Its decoded fields could take a hundred times its bytes. *wording* is `IN_TEXT` or `IN_ROWS`.
    """
    size = len(key or b"") + len(value or b"")
    return wording.format(size, LARGEST_DECODED) if size > LARGEST_DECODED else None


def base64_of(raw: bytes) -> str:
    return b64encode(raw).decode()
