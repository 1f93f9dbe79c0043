"""What each decoder makes of a record: JSON texts of key and value, and the ids in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from kraftops.engine.reference.payloads import shown_by
from kraftops.engine.reference.records import whole
from kraftops.errors import DecodeError
from kraftops.java.text import json_string
from kraftops.log.batch import Record
from kraftops.query.query import Query
from kraftops.query.row import BASE64, COLUMNS, CONTROL, USER, Meaning, Row, base64_of, id_fields
from kraftops.records.long_text import LongText, is_utf8
from kraftops.records.meaning import LARGEST_DECODED, Decoded, Unknown
from kraftops.records.secrets import (
    CONFIGURATION,
    REDACTED,
    SECRET_FIELDS,
    is_secret_config,
    may_hold_secrets,
)
from kraftops.schema.compile import compiled
from kraftops.schema.message import Message
from kraftops.schema.text import renderer

Read = Callable[[Record], Meaning]
_REDACTED = json_string(REDACTED.encode())
_VALUE_COLUMNS = frozenset(COLUMNS[Row._fields.index("key") :])


def reader(query: Query) -> Read:
    """Return a function of a record, of no control batch, to its meaning."""
    if is_shallow(query):
        return _shallow(query)
    if query.decoder == "metadata":
        return _bounded("metadata", _framed("metadata", query.dialect, query.show_secrets))
    if query.decoder == "remote":
        return _bounded("remote", _framed("remote", "remote-log-metadata", query.show_secrets))
    if query.decoder in ("offsets", "transaction", "share"):
        return _bounded(query.decoder, _coordinator(query.decoder))
    return _user(query)


def is_shallow(query: Query) -> bool:
    """Tell whether nobody looks at more of a record than what kind and type it is."""
    return (
        query.columns is not None
        and query.columns.isdisjoint(_VALUE_COLUMNS)
        and not query.check
        and not query.filter.needs_rows
    )


def _shallow(query: Query) -> Read:
    """Return a function to a meaning without keys, values and what is in them."""
    kind = query.decoder or USER
    if kind in ("metadata", "remote"):
        name = query.dialect if kind == "metadata" else "remote-log-metadata"
        return _bounded(kind, _framed_head(kind, name))
    if kind in ("offsets", "transaction", "share"):
        return _bounded(kind, _coordinator_head(kind))
    return lambda _: Meaning(kind)


def _framed_head(kind: str, dialect_name: str) -> Read:
    from kraftops.records.dialects import dialect, type_name

    spoken = dialect(dialect_name)

    def meaning(record: Record) -> Meaning:
        try:
            frame = spoken.read_frame(record.value or b"")
        except DecodeError:
            return Meaning(kind)
        message = spoken.messages.get(frame.type)
        return Meaning(kind, type_name(message) if message else str(frame.type), frame.version)

    return meaning


def _coordinator_head(decoder: str) -> Read:
    from kraftops.memo import Memo
    from kraftops.records.decoders.keyed import key_type, value_version

    types = Memo(lambda key: key_type(key, decoder))  # a few keys have most of the records

    def meaning(record: Record) -> Meaning:
        if record.key is None:
            return Meaning(decoder)
        name, number = types[record.key]
        if number is None:
            return Meaning(decoder, name)
        return Meaning(decoder, name, value_version(record.value, number, decoder))

    return meaning


def control(record: Record) -> Meaning:
    """Return the meaning of a record of a control batch."""
    return _bounded(CONTROL, _control)(record)


def _control(record: Record) -> Meaning:
    from kraftops.records.control import decode_text

    found = decode_text(record.key, record.value)
    if isinstance(found, Unknown):
        return _unknown(CONTROL, record, found.reason, found.type, found.version)
    name, version, text = found
    return Meaning(CONTROL, name, version, None, text)


def _bounded(kind: str, read: Read) -> Read:
    """Return *read*, but for records whose fields could take a hundred times their bytes."""

    def meaning(record: Record) -> Meaning:
        size = len(record.key or b"") + len(record.value or b"")
        if size > LARGEST_DECODED:
            return Meaning(kind, error=f"a record of {size} bytes, decoded up to {LARGEST_DECODED}")
        return read(whole(record))

    return meaning


def _unknown(
    kind: str, record: Record, reason: str, number: int | None = None, version: int | None = None
) -> Meaning:
    return Meaning(
        kind,
        None if number is None else str(number),
        version,
        key=None if record.key is None else base64_of(record.key),
        value=None if record.value is None else base64_of(record.value),
        key_encoding=None if record.key is None else BASE64,
        value_encoding=None if record.value is None else BASE64,
        error=f"{reason} at offset {record.offset}",
    )


def _framed(kind: str, dialect_name: str, show_secrets: bool) -> Read:
    from kraftops.records.dialects import dialect, type_name
    from kraftops.records.metadata import read_body

    spoken = dialect(dialect_name)

    def unread(record: Record, reason: str, number: int | None, version: int | None) -> Meaning:
        found = _unknown(kind, record, reason, number, version)
        message = None if number is None else spoken.messages.get(number)
        if message is None:
            return found
        if not show_secrets and may_hold_secrets(message.name):
            found = found._replace(value=_REDACTED, value_encoding=None)
        return found._replace(type=type_name(message))

    def meaning(record: Record) -> Meaning:
        value = record.value
        found = read_body(value, spoken)
        if isinstance(found, Unknown):
            return unread(record, found.reason, found.type, found.version)
        assert value is not None
        number, version, data = found
        message = spoken.messages[number]
        name = type_name(message)
        if not message.versions.has(version):
            reason = f"unknown version {version} of {message.name}"
            return unread(record, reason, number, version)
        body = spoken.read_frame(value).body
        secret: frozenset[str] = frozenset()
        if not show_secrets:
            secret = _secret_fields(message, data)
        text = _renderer(message, version, secret)(value, body, len(value))
        fields = _id_fields(message)
        ids = {column: data[field] for column, field in fields.items()}
        topic_id = ids.get("topicId")
        return Meaning(
            kind,
            name,
            version,
            None if record.key is None else base64_of(record.key),
            text,
            None if topic_id is None else _uuid(topic_id),
            _number(ids.get("partitionId")),
            _number(ids.get("brokerId")),
            None if record.key is None else BASE64,
        )

    return meaning


_id_fields = cache(id_fields)


def _secret_fields(message: Message, data: Mapping[str, object]) -> frozenset[str]:
    if message.name == CONFIGURATION and is_secret_config(str(data["name"])):
        return frozenset({"value"})
    return SECRET_FIELDS.get(message.name, frozenset())


def _uuid(raw: object) -> str:
    from kraftops.uuids import to_text

    assert isinstance(raw, bytes)
    return to_text(raw)


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


@cache
def _renderer(
    message: Message, version: int, secret: frozenset[str]
) -> Callable[[bytes, int, int], str]:
    """Return the renderer of a message, without its *secret* fields."""
    if not secret:
        return compiled(message, version).text
    return renderer(message, version, dict.fromkeys(secret, lambda _: _REDACTED))


def _coordinator(decoder: str) -> Read:
    from kraftops.records.decoders.keyed import decode, key_and_value_texts
    from kraftops.records.dialects import snake_case

    def meaning(record: Record) -> Meaning:
        key, value = record.key, record.value
        if key is None:
            return _unknown(decoder, record, "a record without a key")
        found_key, found_value = decode(key, value, decoder)
        if isinstance(found_key, Unknown):
            return _unknown(decoder, record, found_key.reason, found_key.type)
        name = snake_case(found_key.type)
        if isinstance(found_value, Unknown):
            reason, version = found_value.reason, found_value.version
            return _unknown(decoder, record, reason, None, version)._replace(type=name)
        key_text, value_text = key_and_value_texts(key, value, decoder)
        version = found_value.version if isinstance(found_value, Decoded) else None
        return Meaning(decoder, name, version, key_text, value_text)

    return meaning


def _user(query: Query) -> Read:
    shown_key, shown_value = _shown(query.key_decoder), _shown(query.value_decoder)
    is_whole = query.filter.needs_rows

    def meaning(record: Record) -> Meaning:
        if is_whole:
            record = whole(record)
        key, key_encoding = shown_key(record.key)
        value, value_encoding = shown_value(record.value)
        return Meaning(
            USER, key=key, value=value, key_encoding=key_encoding, value_encoding=value_encoding
        )

    return meaning


def _shown(decoder: str) -> Callable[[bytes | None], tuple[str | None, str | None]]:
    """Return a function of a key or value to its text, and the encoding of that."""
    from kraftops.records.decoders.user import DEFAULT_DECODER

    text, is_text = shown_by(decoder), decoder == DEFAULT_DECODER

    def shown(raw: bytes | None) -> tuple[str | None, str | None]:
        if raw is None:
            return None, None
        if isinstance(raw, memoryview):
            if is_text and not is_utf8(raw):
                return LongText(raw, base64_of), BASE64
        elif is_text:
            try:
                return raw.decode(), None
            except UnicodeDecodeError:
                return base64_of(raw), BASE64
        try:
            return text(raw), None
        except DecodeError:
            return base64_of(raw), BASE64

    return shown
