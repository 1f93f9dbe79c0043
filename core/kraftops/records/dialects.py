"""The dialects of the metadata log: a table of messages and a framing for each."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from kraftops.errors import DecodeError, UsageError
from kraftops.schema.message import Message
from kraftops.schema.tables import messages
from kraftops.varint import read_uvarint

_new = tuple.__new__  # of a named tuple: half the time of its own constructor


class Frame(NamedTuple):
    """The numbers before a record's body, and where the body begins."""

    type: int
    version: int
    body: int


class Dialect(NamedTuple):
    """The framing of values, and the messages in them by record type.

    *frame* is the name of the framing, which is the name of a dialect.
    """

    messages: Mapping[int, Message]
    read_frame: Callable[[bytes], Frame]
    frame: str

    @property
    def is_released(self) -> bool:
        """Whether releases of Kafka write it; other dialects are only in texts of KIP-631."""
        return self.frame == KAFKA_DIALECT


def _number(value: bytes, pos: int, what: str) -> tuple[int, int]:
    try:
        number, pos = read_uvarint(value, pos)
    except DecodeError:
        raise DecodeError(f"Error while reading {what}") from None
    if number > 0x7FFF:
        raise DecodeError(f"Value for {what} was too large.")
    return (number & 0xFFFF ^ 0x8000) - 0x8000, pos  # Java's cast to short


def _kafka_frame(value: bytes) -> Frame:
    """Read frame version 1, type and version (`AbstractApiMessageSerde`)."""
    if len(value) > 2 and value[0] == 1 and value[1] < 128 and value[2] < 128:
        return _new(Frame, (value[1], value[2], 3))  # numbers of one byte, as nearly all are
    frame, pos = _number(value, 0, "frame version")
    if frame == 0:
        raise DecodeError(
            "Could not deserialize metadata record with frame version 0. Note that upgrades from "
            "the preview release of KRaft in 2.8 to newer versions are not supported."
        )
    if frame != 1:
        raise DecodeError(
            "Could not deserialize metadata record due to unknown frame version "
            f"{frame}(only frame version 1 is supported)"
        )
    number, pos = _number(value, pos, "type")
    version, pos = _number(value, pos, "version")
    return Frame(number, version, pos)


def _kip_631_frame(value: bytes) -> Frame:
    """Read frame type 0, type and version, as the published KIP-631 has them."""
    frame, pos = _number(value, 0, "frame type")
    if frame != 0:
        raise DecodeError(f"unknown frame type {frame} (KIP-631 has only 0)")
    number, pos = _number(value, pos, "type")
    version, pos = _number(value, pos, "version")
    return Frame(number, version, pos)


def _kip_631_draft_frame(value: bytes) -> Frame:
    """Read type and version, as the drafts of KIP-631 have them."""
    number, pos = _number(value, 0, "type")
    version, pos = _number(value, pos, "version")
    return Frame(number, version, pos)


KAFKA_DIALECT = "kafka"
"""The dialect that releases of Kafka write."""
DIALECTS = (KAFKA_DIALECT, "kip-631", "kip-631-draft")
"""The names of the dialects of the cluster metadata log."""
REMOTE_LOG_METADATA = "remote-log-metadata"
"""The name of the messages of `__remote_log_metadata`, in Kafka's framing."""
_DIALECTS = {
    KAFKA_DIALECT: ("metadata", _kafka_frame, KAFKA_DIALECT),
    "kip-631": ("kip_631", _kip_631_frame, "kip-631"),
    "kip-631-draft": ("kip_631_draft", _kip_631_draft_frame, "kip-631-draft"),
    REMOTE_LOG_METADATA: ("remote", _kafka_frame, KAFKA_DIALECT),
}
"""By name: the table of messages, the reader of frames, the name of the framing."""


@cache
def dialect(name: str) -> Dialect:
    """Return the dialect of this name.

    Raises:
        UsageError: there is none.
    """
    if name not in _DIALECTS:
        raise UsageError(f"no dialect {name!r}: choose from {', '.join(DIALECTS)}")
    table, read_frame, frame = _DIALECTS[name]
    by_number = {
        message.key: message for message in messages(table).values() if message.key is not None
    }
    return Dialect(by_number, read_frame, frame)


@cache
def type_name(message: Message) -> str:
    """Return Kafka's name of a record type, as `PARTITION_CHANGE_RECORD`."""
    return snake_case(message.name)


def snake_case(name: str) -> str:
    """Return a name in the form of Kafka's enumerations: OFFSET_COMMIT for OffsetCommit."""
    return "_".join(re.findall("[A-Z][a-z]*", name)).upper()
