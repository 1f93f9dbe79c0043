"""Decoders of coordinators' topics: a record type before the key, a version before the value.

A key is its record type (int16) and its body at version 0; a value is its version (int16) and its
body; no value is a tombstone. The texts are from Kafka's `DumpLogSegments` and
`CoordinatorRecordSerde`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.errors import DecodeError, Underflow
from kraftops.log.batch import Record
from kraftops.memo import Memo
from kraftops.records import decoder
from kraftops.records.dialects import snake_case
from kraftops.records.meaning import Decoded, Label, Meaning, Unknown, unknown_label, unknown_name
from kraftops.schema.codegen.values import base64_text
from kraftops.schema.compile import MALFORMED, CompiledMessage, compiled
from kraftops.schema.message import Message
from kraftops.schema.tables import messages

if TYPE_CHECKING:
    from kraftops.schema.message import Data

_Messages = Mapping[int, tuple[Message, Message]]


class Embedded(NamedTuple):
    """Fields of type bytes that hold messages, if the JSON text of the value *begins* so.

    *table* is that of the messages, *fields* are pairs of a field and its message.
    """

    value: str
    begins: str
    table: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class KeyedDecoder:
    """A `kraftops.records.decoder.Decoder` of a coordinator's records.

    *table* has the messages: a key and a value for each record type.
    """

    name: str
    table: str
    embedded: Embedded | None = None

    @property
    def has_types(self) -> bool:
        return True

    @property
    def has_topics(self) -> bool:
        """Whether records tell the ids of topics by name."""
        return False

    def configured(self, options: decoder.DecoderOptions) -> KeyedDecoder:  # noqa: ARG002 - nothing to choose
        return self

    def messages(self) -> _Messages:
        return _messages(self.table)

    def numbered_names(self) -> dict[int, str]:
        """Return the names of the record types by number, such as OFFSET_COMMIT."""
        return {
            number: snake_case(key.name.removesuffix("Key"))
            for number, (key, _) in self.messages().items()
        }

    def type_names(self) -> Iterable[str]:
        return self.numbered_names().values()

    def shown_messages(self) -> decoder.ShownMessages:
        keys, values = zip(*self.messages().values(), strict=True)
        embedded = _embedded_messages(self.embedded) if self.embedded else {}
        return decoder.ShownMessages(keys, values, embedded)

    def type_reader(self) -> Callable[[Record], str | None]:
        """Return a function to the type of a record, by the first bytes of its key."""
        names = self.numbered_names()

        def read(record: Record) -> str | None:
            return names.get(int.from_bytes((record.key or b"\xff\xff")[:2], signed=True))

        return read

    def label_reader(self) -> decoder.ReadLabel:
        """Return a function to the label of a record, by the first bytes of key and value."""
        labels = Memo(self._label)

        def label(record: Record) -> Label:
            if record.key is None or len(record.key) < 2:
                return unknown_label(None, None)
            return labels[bytes(record.key[:2]) + bytes((record.value or b"")[:2])]

        return label

    def label_of(self, number: int | None, version: int | None) -> Label:
        """Return the label of a record type by its number; None stands for an unreadable key."""
        name = self.numbered_names().get(-1 if number is None else number)
        return unknown_label(number, version) if name is None else Label(name, version)

    def head_reader(self) -> decoder.ReadMeaning:
        kind = self.name
        types = Memo(self._key_type)  # most records have one of a few keys

        def meaning(record: Record) -> Meaning:
            if record.key is None:
                return Meaning(kind)
            name = types[record.key]
            return Meaning(kind, name, None if name is None else _head(record.value))

        return decoder.bounded_meaning(kind, meaning)

    def meaning_reader(self, *, show_secrets: bool) -> decoder.ReadMeaning:  # noqa: ARG002 - no secrets
        kind = self.name

        def meaning(record: Record) -> Meaning:
            key, value = record.key, record.value
            if key is None:
                return decoder.unread_meaning(kind, record, "a record without a key")
            found_key, found_value = self.decode(key, value)
            if isinstance(found_key, Unknown):
                version = None if found_key.type is None else _head(value)
                return decoder.unread_meaning(
                    kind, record, found_key.reason, found_key.type, version
                )
            name = snake_case(found_key.type)
            if isinstance(found_value, Unknown):
                unread = decoder.unread_meaning(
                    kind, record, found_value.reason, None, _head(value)
                )
                key_text, _ = self._field_texts(key, None)
                return unread._replace(type=name, key=key_text, key_encoding=None)
            key_text, value_text = self._field_texts(key, value)
            version = found_value.version if isinstance(found_value, Decoded) else None
            return Meaning(kind=kind, type=name, version=version, key=key_text, value=value_text)

        return decoder.bounded_meaning(kind, meaning)

    def text_reader(self) -> decoder.ReadTexts:
        def texts(record: Record, overrun: str) -> decoder.Texts:
            if record.key is None:
                raise DecodeError(f"the record has no key: is {self.name} the right decoder?")
            if overrun:
                return f"Error at offset {record.offset}, skipping. {overrun}", None
            return self.texts(record.key, record.value, record.offset)

        return decoder.bounded_texts(texts)

    def native_description(self) -> dict[str, Any]:
        names = self.numbered_names()
        return {
            "form": "keyed",
            "kind": self.name,
            "types": [
                {
                    "number": number,
                    "name": names[number],
                    "key": key,
                    "value": value,
                    "embedded": self._native_embedded(value),
                }
                for number, (key, value) in self.messages().items()
            ],
        }

    def decode(
        self, key: bytes, value: bytes | None
    ) -> tuple[Decoded | Unknown, Decoded | Unknown | None]:
        """Return the meaning of key and value; None stands for a tombstone."""
        messages = self.messages()
        try:
            number = _int16(key, "key")
            if number not in messages:
                return Unknown(f"unknown record type {number}", key, number), _unread(value)
            key_message, value_message = messages[number]
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

    def read_value(self, number: int, value: bytes) -> Data:
        """Return the value of a record with a key of type *number*.

        Raises:
            DecodeError: it cannot be read.
        """
        messages = self.messages().get(number)
        if messages is None:
            raise DecodeError(f"unknown record type {number}")
        version = int.from_bytes(value[:2], signed=True)
        if len(value) < 2 or not messages[1].versions.has(version):
            raise DecodeError(f"unknown version {version} of {messages[1].name}")
        return compiled(messages[1], version).read(value, 2)[0]

    def texts(self, key: bytes, value: bytes | None, offset: int) -> tuple[str, str | None]:
        """Return Kafka's texts of key and value; an error replaces both."""
        messages = self.messages()
        try:
            number = _int16(key, "key")
            if number not in messages:
                return f"Unknown record type {number} at offset {offset}, skipping.", None
            key_text = _key_texts(self.table)[key]
            if value is None:
                return key_text, "<DELETE>"
            message = messages[number][1]
            version = _version(value, message, number)
            data = self._data_text(value, message, version)
        except DecodeError as error:
            return f"Error at offset {offset}, skipping. {error.message}", None
        return key_text, f'{{"version":"{version}","data":{data}}}'

    def _label(self, head: bytes) -> Label:
        version = int.from_bytes(head[2:], signed=True) if len(head) == 4 else None
        return self.label_of(int.from_bytes(head[:2], signed=True), version)

    def _key_type(self, key: bytes) -> str | None:
        key_decoded = self.decode(key, None)[0]
        if isinstance(key_decoded, Unknown):
            return None if key_decoded.type is None else unknown_name(key_decoded.type)
        return snake_case(key_decoded.type)

    def _field_texts(self, key: bytes, value: bytes | None) -> tuple[str, str | None]:
        """Return the fields of key and value as JSON; a value of None stands for a tombstone.

        Raises:
            DecodeError: key or value cannot be read.
        """
        number = _int16(key, "key")
        key_message, value_message = self.messages()[number]
        key_text = _text(compiled(key_message, 0), key, "key", number)
        if value is None:
            return key_text, None
        version = _version(value, value_message, number)
        return key_text, self._data_text(value, value_message, version)

    def _data_text(self, value: bytes, message: Message, version: int) -> str:
        reader = compiled(message, version)
        data = _text(reader, value, "value", version)
        embedded = self.embedded
        if embedded and message.name == embedded.value and data.startswith(embedded.begins):
            end = _read(reader, value, "value", version)[1]
            data = _embedding_renderer(message, version, embedded)(value, 2, end)
        return data

    def _native_embedded(self, message: Message) -> tuple[str, list[tuple[str, Message]]] | None:
        embedded = self.embedded
        if not embedded or message.name != embedded.value:
            return None
        return embedded.begins, list(_embedded_messages(embedded).items())


def key_head(key: bytes | None) -> tuple[int, int]:
    """Return the type of a key, and the end of its first field, a string in all types.

    Raises:
        DecodeError: the key holds no such field.
    """
    if key is None:
        raise DecodeError("a record without a key")
    end = 4 + int.from_bytes(key[2:4], signed=True)
    if not 4 <= end <= len(key):
        raise DecodeError("a key that is cut short")
    return int.from_bytes(key[:2], signed=True), end


@cache
def _messages(table: str) -> _Messages:
    by_number: dict[int, list[Message]] = {}
    for message in messages(table).values():
        assert message.key is not None
        by_number.setdefault(message.key, []).append(message)
    return {number: (key, value) for number, (key, value) in by_number.items()}


@cache
def _key_texts(table: str) -> Memo[str]:
    messages = _messages(table)

    def make(key: bytes) -> str:
        number = _int16(key, "key")
        data = _text(compiled(messages[number][0], 0), key, "key", number)
        return f'{{"type":"{number}","data":{data}}}'

    return Memo(make)


def _text(reader: CompiledMessage, raw: bytes, name: str, version: int) -> str:
    try:
        return reader.text(raw, 2, len(raw))
    except MALFORMED:
        # Damaged, and then reading raises the reason, or longer than the message, as is allowed.
        return reader.text(raw, 2, _read(reader, raw, name, version)[1])


def _read(reader: CompiledMessage, raw: bytes, name: str, version: int) -> tuple[Data, int]:
    try:
        return reader.read(raw, 2)
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


def _head(value: bytes | None) -> int | None:
    """Return the int16 version at the start of a value, known or not; None without one."""
    return None if value is None or len(value) < 2 else int.from_bytes(value[:2], signed=True)


def _int16(raw: bytes, name: str) -> int:
    if len(raw) < 2:
        raise DecodeError(f"Could not read version from {name}'s buffer.")
    return int.from_bytes(raw[:2], signed=True)


def _unread(value: bytes | None) -> Unknown | None:
    return None if value is None else Unknown("its key is unknown", value)


def _embedded_messages(embedded: Embedded) -> dict[str, Message]:
    by_name = messages(embedded.table)
    return {field: by_name[name] for field, name in embedded.fields}


@cache
def _embedding_renderer(
    message: Message, version: int, embedded: Embedded
) -> Callable[[bytes, int, int], str]:
    """Return a renderer that shows the messages in the bytes fields of a value."""
    from kraftops.schema.codegen.text import renderer

    overrides = {
        field: partial(_embedded_text, inner)
        for field, inner in _embedded_messages(embedded).items()
    }
    return renderer(message, version, overrides)


def _embedded_text(message: Message, raw: bytes) -> str:
    stated = int.from_bytes(raw[:2], signed=True)
    version = min(max(stated, 0), message.versions.last or 0)  # as Kafka's reader does
    if len(raw) < 2:
        return base64_text(raw)
    reader = compiled(message, version)
    try:
        data, end = reader.read(raw, 2)
        if stated > version and any(map(data.get, ("ownedPartitions", "assignedPartitions"))):
            return base64_text(raw)  # Kafka reads the message, but no struct in it
        return reader.text(raw, 2, end)
    except DecodeError:
        return base64_text(raw)
