"""The row: one record as people and tables see it, the same in JSON, CSV, Parquet and Spark."""

from typing import Any, NamedTuple

DAMAGE = "damage"
"""The kind of a row of bytes that are not a record."""


class Row(NamedTuple):
    """A record, or (of kind `damage`) bytes that are not a record.

    *topic* and *partition* are those of the log; *crc_valid* is of the batch: False means that
    nothing in it can be trusted. *key* and *value* are JSON texts; of kind `user` they are the text
    itself, and where an encoding is named, base64 of the bytes. Times are ms since the epoch, sizes
    bytes; None is not there.
    """

    file: str
    position: int | None
    base_offset: int | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    timestamp: int | None = None
    timestamp_type: str | None = None
    crc_valid: bool | None = None
    leader_epoch: int | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    sequence: int | None = None
    transactional: bool | None = None
    control: bool | None = None
    codec: str | None = None
    key_size: int | None = None
    value_size: int | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    kind: str = DAMAGE
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


def camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def parsed_json(text: str | None) -> Any:
    """Return the value of a JSON text; None of another text."""
    if text is None:
        return None
    import json  # heavy

    try:
        return json.loads(text)
    except ValueError:
        return None


COLUMNS = tuple(map(camel_case, Row._fields))
"""The names of the columns, in the order of the fields."""

TYPES = {
    "int64": ("position", "baseOffset", "offset", "timestamp", "producerId"),
    "int32": (
        *("partition", "leaderEpoch", "sequence", "keySize", "valueSize", "partitionId"),
        "brokerId",
    ),
    "int16": ("producerEpoch", "version"),
    "bool_": ("crcValid", "transactional", "control"),
}
"""Of the columns that are not strings, headers apart, by the name that Arrow has for them."""
