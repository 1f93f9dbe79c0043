"""Decoders of topics with framed values: a record type and a version before the message.

The topics are `__cluster_metadata`, in Kafka's dialect and KIP-631's, and `__remote_log_metadata`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from kraftops.errors import DecodeError
from kraftops.java.text import json_string
from kraftops.log.batch import Record
from kraftops.records import decoder
from kraftops.records.dialects import KAFKA_DIALECT, Dialect, dialect, type_name
from kraftops.records.meaning import BASE64, Label, Meaning, Unknown, base64_of, unknown_label
from kraftops.records.metadata import payload_text, read_body
from kraftops.records.secrets import rules
from kraftops.schema.compile import compiled
from kraftops.schema.message import Message
from kraftops.uuids import to_text

_REDACTED = json_string(rules.REDACTED.encode())
_ID_COLUMNS = ("topicId", "partitionId", "brokerId")
_BROKER_ID = {"FenceBrokerRecord": "id", "UnfenceBrokerRecord": "id"}
_ID_SLOTS = {column: slot for slot, column in enumerate(_ID_COLUMNS)}  # of the compiled engine
_NAME_SLOT, _RESOURCE_TYPE_SLOT = 3, 4

PayloadText = Callable[[bytes | None, int, Dialect], str]
"""A function from a value, its offset and the framing to Kafka's text."""


@dataclass(frozen=True, slots=True)
class FramedDecoder:
    """A `kraftops.records.decoder.Decoder` of framed values; *dialect* names their framing.

    With *has_dialects*, the options can choose another. *error_lead* is Kafka's text before the
    offset of an unreadable value. *templates* returns, for the compiled engine, the texts of the
    record types that are not shown as JSON.
    """

    name: str
    dialect: str = KAFKA_DIALECT
    has_dialects: bool = False
    has_topics: bool = False
    payload_text: PayloadText = payload_text
    error_lead: str = "Error at"
    templates: Callable[[], Mapping[int, Any]] = dict

    @property
    def has_types(self) -> bool:
        return True

    @property
    def framing(self) -> Dialect:
        """The framing of values; raises `UsageError` where there is no such dialect."""
        return dialect(self.dialect)

    def configured(self, options: decoder.DecoderOptions) -> FramedDecoder:
        return replace(self, dialect=options.dialect) if self.has_dialects else self

    def type_names(self) -> Iterable[str]:
        return map(type_name, self.framing.messages.values())

    def shown_messages(self) -> decoder.ShownMessages:
        return decoder.ShownMessages(values=self.framing.messages.values())

    def type_reader(self) -> Callable[[Record], str | None]:
        framing = self.framing

        def read(record: Record) -> str | None:
            try:
                message = framing.messages.get(framing.read_frame(record.value or b"").type)
            except DecodeError:
                return None
            return type_name(message) if message else None

        return read

    def label_reader(self) -> decoder.ReadLabel:
        framing = self.framing

        def label(record: Record) -> Label:
            try:
                number, version, _ = framing.read_frame(record.value or b"")
            except DecodeError:
                return unknown_label(None, None)
            return self.label_of(number, version)

        return label

    def label_of(self, number: int | None, version: int | None) -> Label:
        """Return the label of a record type by its number; None stands for an unreadable frame."""
        message = None if number is None else self.framing.messages.get(number)
        return Label(type_name(message), version) if message else unknown_label(number, version)

    def head_reader(self) -> decoder.ReadMeaning:
        kind, framing = self.name, self.framing

        def meaning(record: Record) -> Meaning:
            try:
                frame = framing.read_frame(record.value or b"")
            except DecodeError:
                return Meaning(kind)
            return Meaning(kind, *self.label_of(frame.type, frame.version))

        return decoder.bounded_meaning(kind, meaning)

    def meaning_reader(self, *, show_secrets: bool) -> decoder.ReadMeaning:
        kind, framing = self.name, self.framing

        def unread(record: Record, unknown: Unknown) -> Meaning:
            meaning = decoder.unread_meaning(
                kind, record, unknown.reason, unknown.type, unknown.version
            )
            message = None if unknown.type is None else framing.messages.get(unknown.type)
            if message is None:
                return meaning
            if not show_secrets and rules.may_hold_secrets(message.name):
                meaning = meaning._replace(value=_REDACTED, value_encoding=None)
            return meaning._replace(type=type_name(message))

        def meaning(record: Record) -> Meaning:
            value = record.value
            body = read_body(value, framing)
            if isinstance(body, Unknown):
                return unread(record, body)
            assert value is not None  # nothing can be read from it
            number, version, data = body
            message = framing.messages[number]
            if not message.versions.has(version):
                reason = f"unknown version {version} of {message.name}"
                return unread(record, Unknown(reason, value, number, version))
            secret = frozenset[str]() if show_secrets else _secret_fields(message, data)
            text = _renderer(message, version, secret)(
                value, framing.read_frame(value).body, len(value)
            )
            ids = {column: data[field] for column, field in _cached_id_fields(message).items()}
            topic_id = ids.get("topicId")
            return Meaning(
                kind=kind,
                type=type_name(message),
                version=version,
                key=None if record.key is None else base64_of(record.key),
                value=text,
                topic_id=to_text(topic_id) if isinstance(topic_id, bytes) else None,
                partition_id=_integer(ids.get("partitionId")),
                broker_id=_integer(ids.get("brokerId")),
                key_encoding=None if record.key is None else BASE64,
            )

        return decoder.bounded_meaning(kind, meaning)

    def text_reader(self) -> decoder.ReadTexts:
        """Return a function to Kafka's text of a record, which shows only the value."""
        framing, text, lead = self.framing, self.payload_text, self.error_lead

        def texts(record: Record, overrun: str) -> decoder.Texts:
            if overrun:
                return None, f"{lead} {record.offset}, skipping. {overrun}"
            return None, text(record.value, record.offset, framing)

        return decoder.bounded_texts(texts)

    def native_description(self) -> dict[str, Any]:
        framing, templates = self.framing, self.templates()
        return {
            "form": "framed",
            "kind": self.name,
            "framing": framing.frame,
            "types": [
                {
                    "number": number,
                    "name": type_name(message),
                    "message": message,
                    "slots": _slots(message),
                    "secret": _native_secrets(message),
                    "configs": _native_configs() if message.name == rules.CONFIGURATION else None,
                    "text": templates.get(number),
                }
                for number, message in framing.messages.items()
            ],
        }


def id_fields(message: Message) -> dict[str, str]:
    """Return the fields of a message that fill `topicId`, `partitionId` and `brokerId`."""
    names = {field.name for field in message.fields}
    fields = {column: column for column in _ID_COLUMNS if column in names}
    if _BROKER_ID.get(message.name) in names:
        fields["brokerId"] = _BROKER_ID[message.name]
    return fields


_cached_id_fields = cache(id_fields)


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _secret_fields(message: Message, data: Mapping[str, object]) -> frozenset[str]:
    if message.name == rules.CONFIGURATION:
        code = data["resourceType"]
        assert isinstance(code, int)
        return frozenset({"value"} if rules.is_secret_config(code, str(data["name"])) else ())
    return rules.SECRET_FIELDS.get(message.name, frozenset())


@cache
def _renderer(
    message: Message, version: int, secret: frozenset[str]
) -> Callable[[bytes, int, int], str]:
    """Return the renderer of a message that redacts its *secret* fields."""
    if not secret:
        return compiled(message, version).text
    from kraftops.schema.codegen.text import renderer

    return renderer(message, version, dict.fromkeys(secret, lambda _: _REDACTED))


def _slots(message: Message) -> list[tuple[str, int]]:
    slots = [(field, _ID_SLOTS[column]) for column, field in id_fields(message).items()]
    if message.name != rules.CONFIGURATION:
        return slots
    return [*slots, ("name", _NAME_SLOT), ("resourceType", _RESOURCE_TYPE_SLOT)]


def _native_configs() -> tuple[dict[int, list[str]], int, Sequence[str]]:
    """Describe public configuration keys for the crate: by resource type, the servers', SCRAM's."""
    public = {code: [*names] for code, names in rules.public_configs().items()}
    return public, rules.BROKER, rules.LISTENER_MECHANISM_CONFIGS


def _native_secrets(message: Message) -> list[str]:
    if message.name == rules.CONFIGURATION:
        return ["value"]
    return sorted(rules.SECRET_FIELDS.get(message.name, ()))
