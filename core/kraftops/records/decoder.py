"""The contract of a decoder: how the records of one kind of topic are read, shown and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kraftops.errors import DecodeError
from kraftops.log.batch import Record
from kraftops.records.dialects import KAFKA_DIALECT
from kraftops.records.meaning import (
    BASE64,
    IN_ROWS,
    Label,
    Meaning,
    base64_of,
    size_error,
    unknown_name,
)

if TYPE_CHECKING:
    from kraftops.schema.message import Message

Texts = tuple[str | None, str | None]
"""The texts of key and value as Kafka's tool prints them; None is not printed."""
ReadMeaning = Callable[[Record], Meaning]
ReadLabel = Callable[[Record], Label]
ReadTexts = Callable[[Record, str], Texts]
"""The second argument is the reason why the record's value is missing, or empty.

It raises `DecodeError` where Kafka's tool fails.
"""


class ShownMessages(NamedTuple):
    """The messages that a decoder shows as JSON, as keys and as values of rows.

    *embedded* are messages in fields of type bytes, by the field's name.
    """

    keys: Iterable[Message] = ()
    values: Iterable[Message] = ()
    embedded: Mapping[str, Message] = {}


class DecoderOptions(NamedTuple):
    """The options that only some decoders use."""

    dialect: str = KAFKA_DIALECT
    key_class: str = ""
    value_class: str = ""


class Decoder(Protocol):
    """A reader of the records of one kind of topic: small, immutable and picklable.

    The methods return functions, which look up tables once and not for each record.
    """

    @property
    def name(self) -> str:
        """The name in `kraftops.query.query.Query.decoder`, and the `kind` of the rows."""

    @property
    def has_types(self) -> bool:
        """Whether records have types; records of users have none."""

    @property
    def has_topics(self) -> bool:
        """Whether records map names of topics to ids."""

    def __hash__(self) -> int: ...
    def configured(self, options: DecoderOptions) -> Decoder: ...
    def type_names(self) -> Iterable[str]: ...
    def shown_messages(self) -> ShownMessages: ...
    def type_reader(self) -> Callable[[Record], str | None]:
        """Return a function to the type of a record, which reads as few bytes as possible."""

    def label_reader(self) -> ReadLabel:
        """Return a function to the label of a record, for the counts of a summary."""

    def label_of(self, number: int | None, version: int | None) -> Label:
        """Return the label of a record type by its number; None stands for an unreadable one."""

    def head_reader(self) -> ReadMeaning:
        """Return a function to a meaning with only kind, type and version."""

    def meaning_reader(self, *, show_secrets: bool) -> ReadMeaning:
        """Return a function to the meaning of a record; a long key or value may be a `LongText`."""

    def text_reader(self) -> ReadTexts:
        """Return a function to the texts that Kafka's tool prints for a record."""

    def native_description(self) -> dict[str, Any]:
        """Return the decoder's description for the compiled engine."""


def bounded_meaning(kind: str, read: ReadMeaning) -> ReadMeaning:
    """Return *read* with a limit of size; a larger record has a meaning with an error."""

    def meaning(record: Record) -> Meaning:
        error = size_error(record.key, record.value, IN_ROWS)
        return Meaning(kind, error=error) if error else read(whole_record(record))

    return meaning


def bounded_texts(read: ReadTexts) -> ReadTexts:
    """Return *read* with a limit of size; a larger record raises `DecodeError`."""

    def texts(record: Record, overrun: str) -> Texts:
        refuse_large(record)
        return read(whole_record(record), overrun)

    return texts


def refuse_large(record: Record) -> None:
    """Refuse a record that is too large to be decoded.

    Raises:
        DecodeError: it is.
    """
    error = size_error(record.key, record.value)
    if error is not None:
        raise DecodeError(error)


def whole_record(record: Record) -> Record:
    """Return a record with key and value as bytes, not as views."""
    key, value = record.key, record.value
    if isinstance(key, memoryview) or isinstance(value, memoryview):
        key = None if key is None else bytes(key)
        value = None if value is None else bytes(value)
        return record._replace(key=key, value=value)
    return record


def unread_meaning(
    kind: str, record: Record, reason: str, number: int | None = None, version: int | None = None
) -> Meaning:
    """Return the meaning of an unreadable record: its bytes as base64, and the *reason*."""
    key, value = record.key, record.value
    return Meaning(
        kind,
        None if number is None else unknown_name(number),
        version,
        key=None if key is None else base64_of(key),
        value=None if value is None else base64_of(value),
        key_encoding=None if key is None else BASE64,
        value_encoding=None if value is None else BASE64,
        error=f"{reason} at offset {record.offset}",
    )
