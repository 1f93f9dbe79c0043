"""Records of the group, transaction and share coordinators.

A key is its record type (int16) and its body at version 0; a value is its version (int16) and its
body; no value is a tombstone. The texts are those of Kafka's `DumpLogSegments` and
`CoordinatorRecordSerde`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module

from kraftops.errors import DecodeError, Underflow
from kraftops.memo import Memo
from kraftops.records.dialects import snake_case
from kraftops.records.meaning import Decoded, Unknown
from kraftops.schema.compile import CompiledMessage, compiled
from kraftops.schema.message import Message
from kraftops.schema.text import MALFORMED, renderer
from kraftops.schema.values import base64_text

COORDINATORS = {"offsets": "group", "transaction": "transaction", "share": "share"}
"""The table of each decoder."""

_Messages = Mapping[int, tuple[Message, Message]]


@cache
def messages(decoder: str) -> _Messages:
    """Return the (key, value) messages of a decoder by record type."""
    table = import_module(f"kraftops.schema.tables.{COORDINATORS[decoder]}").MESSAGES
    found: dict[int, list[Message]] = {}
    for message in table.values():
        found.setdefault(message.key, []).append(message)
    return {number: (key, value) for number, (key, value) in found.items()}


def type_names(decoder: str) -> dict[int, str]:
    """Return the names of a decoder's record types, as OFFSET_COMMIT, by number."""
    return {
        number: snake_case(key.name.removesuffix("Key"))
        for number, (key, _) in messages(decoder).items()
    }


def decode(
    key: bytes, value: bytes | None, decoder: str
) -> tuple[Decoded | Unknown, Decoded | Unknown | None]:
    """Return the meaning of key and value; of the value, None is a tombstone."""
    try:
        number = _int16(key, "key")
        if number not in messages(decoder):
            return Unknown(f"unknown record type {number}", key, number), _unread(value)
        key_message, value_message = messages(decoder)[number]
        data = _read(compiled(key_message, 0), key, "key", number)[0]
    except DecodeError as error:
        return Unknown(error.message, key), _unread(value)
    meaning = Decoded(key_message.name.removesuffix("Key"), 0, data)
    if value is None:
        return meaning, None
    version = None
    try:
        version = _version(value, value_message, number)
        data = _read(compiled(value_message, version), value, "value", version)[0]
    except DecodeError as error:
        return meaning, Unknown(error.message, value, number, version)
    return meaning, Decoded(meaning.type, version, data)


def key_type(key: bytes, decoder: str) -> tuple[str | None, int | None]:
    """Return the type that `decode` tells from a key, by name, and its number if it is known."""
    found = decode(key, None, decoder)[0]
    if isinstance(found, Unknown):
        return None if found.type is None else str(found.type), None
    return snake_case(found.type), _int16(key, "key")


def value_version(value: bytes | None, number: int, decoder: str) -> int | None:
    """Return the version of a value of a known type; None where there is none that is known."""
    try:
        return None if value is None else _version(value, messages(decoder)[number][1], number)
    except DecodeError:
        return None


def texts(key: bytes, value: bytes | None, offset: int, decoder: str) -> tuple[str, str | None]:
    """Return what Kafka's tool prints of key and value; trouble takes the key's place."""
    known = messages(decoder)
    try:
        number = _int16(key, "key")
        if number not in known:
            return f"Unknown record type {number} at offset {offset}, skipping.", None
        key_text = _key_texts(decoder)[key]
        if value is None:
            return key_text, "<DELETE>"
        return key_text, _value_text(value, known[number][1], number)
    except DecodeError as error:
        return f"Error at offset {offset}, skipping. {error.message}", None


def key_and_value_texts(key: bytes, value: bytes | None, decoder: str) -> tuple[str, str | None]:
    """Return the fields of key and value as JSON; of the value, None is a tombstone.

    Raises:
        DecodeError: one of them cannot be read.
    """
    number = _int16(key, "key")
    key_message, value_message = messages(decoder)[number]
    key_text = _text(compiled(key_message, 0), key, "key", number)
    if value is None:
        return key_text, None
    return key_text, _data_text(value, value_message, _version(value, value_message, number))


@cache
def _key_texts(decoder: str) -> Memo[str]:
    def make(key: bytes) -> str:
        number = _int16(key, "key")
        data = _text(compiled(messages(decoder)[number][0], 0), key, "key", number)
        return f'{{"type":"{number}","data":{data}}}'

    return Memo(make)


def _value_text(value: bytes, message: Message, number: int) -> str:
    version = _version(value, message, number)
    return f'{{"version":"{version}","data":{_data_text(value, message, version)}}}'


def _data_text(value: bytes, message: Message, version: int) -> str:
    face = compiled(message, version)
    data = _text(face, value, "value", version)
    if message.name == "GroupMetadataValue" and data.startswith('{"protocolType":"consumer",'):
        end = _read(face, value, "value", version)[1]
        data = _consumer_group_renderer(message, version)(value, 2, end)
    return data


def _text(face: CompiledMessage, raw: bytes, name: str, version: int) -> str:
    try:
        return face.text(raw, 2, len(raw))
    except MALFORMED:
        # Either damaged, which reading explains, or more bytes than the message, which is allowed.
        return face.text(raw, 2, _read(face, raw, name, version)[1])


def _read(
    face: CompiledMessage, raw: bytes, name: str, version: int
) -> tuple[dict[str, object], int]:
    try:
        return face.read(raw, 2)
    except DecodeError as error:
        cause = Underflow.cause if isinstance(error, Underflow) else error.message
        raise DecodeError(
            f"Could not read record with version {version} from {name}'s buffer due to: {cause}."
        ) from None


def _version(value: bytes, message: Message, number: int) -> int:
    version = _int16(value, "value")
    if not message.versions.has(version):
        raise DecodeError(f"Found an unknown record version {version} for {number} type")
    return version


def _int16(raw: bytes, name: str) -> int:
    if len(raw) < 2:
        raise DecodeError(f"Could not read version from {name}'s buffer.")
    return int.from_bytes(raw[:2], signed=True)


def _unread(value: bytes | None) -> Unknown | None:
    return None if value is None else Unknown("its key is unknown", value)


@cache
def _consumer_group_renderer(message: Message, version: int) -> Callable[[bytes, int, int], str]:
    """Return a renderer that shows what consumers put into their members' bytes."""
    protocol = import_module("kraftops.schema.tables.consumer").MESSAGES
    overrides = {
        "subscription": _embedded(protocol["ConsumerProtocolSubscription"]),
        "assignment": _embedded(protocol["ConsumerProtocolAssignment"]),
    }
    return renderer(message, version, overrides)


def _embedded(message: Message) -> Callable[[bytes], str]:
    def text(raw: bytes) -> str:
        stated = int.from_bytes(raw[:2], signed=True)
        version = min(max(stated, 0), message.versions.last or 0)  # as Kafka's reader takes it
        if len(raw) < 2:
            return base64_text(raw)
        face = compiled(message, version)
        try:
            data, end = face.read(raw, 2)
            if stated > version and any(map(data.get, ("ownedPartitions", "assignedPartitions"))):
                return base64_text(raw)  # Kafka reads the message, but no struct in it
            return face.text(raw, 2, end)
        except DecodeError:
            return base64_text(raw)

    return text
