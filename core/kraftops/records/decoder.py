"""The contract of a decoder: how the records of one kind of topic are read, shown and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

from kraftops.errors import DecodeError
from kraftops.log.batch import Record
from kraftops.records.dialects import SHIPPED
from kraftops.records.meaning import (
    BASE64,
    LARGEST_DECODED,
    Label,
    Meaning,
    base64_of,
    refusal,
)

Texts = tuple[str | None, str | None]
"""The texts of key and value as Kafka's tool prints them; None is not printed."""
ReadMeaning = Callable[[Record], Meaning]
ReadLabel = Callable[[Record], Label]
ReadTexts = Callable[[Record, str], Texts]
"""The second argument says why the record's value cannot be had, or is empty.

It raises `DecodeError` where Kafka's tool dies.
"""


class Choice(NamedTuple):
    """The options that only some decoders look at."""

    dialect: str = SHIPPED
    key_class: str = ""
    value_class: str = ""


class Decoder(Protocol):
    """Reads the records of one kind of topic. It is small, immutable and picklable.

    The methods return functions, so that tables are looked up once and not for each record.
    """

    @property
    def name(self) -> str:
        """The kind of its rows; `kraftops.query.query.Query.decoder` names it so."""

    @property
    def has_types(self) -> bool:
        """Whether records have types; those of users have none."""

    @property
    def has_topics(self) -> bool:
        """Whether records tell the ids of topics by name."""

    @property
    def max_inflated_bytes(self) -> int:
        """How many bytes a batch may inflate to, unless a user says otherwise."""

    def __hash__(self) -> int:
        """Return the same for equal decoders."""

    def configured(self, choice: Choice) -> Decoder:
        """Return the decoder for a choice of options."""

    def type_names(self) -> Iterable[str]:
        """Return the names of all record types."""

    def type_reader(self) -> Callable[[Record], str | None]:
        """Return a function to the type of a record, read from as few of its bytes as can be."""

    def label_reader(self) -> ReadLabel:
        """Return a function to the label of a record, by which a summary counts."""

    def head_reader(self) -> ReadMeaning:
        """Return a function to kind, type and version of a record, and nothing else."""

    def meaning_reader(self, *, show_secrets: bool, whole: bool) -> ReadMeaning:
        """Return a function to the meaning of a record.

        Unless it is wanted *whole*, a long key or value may be a `LongText`.
        """

    def text_reader(self) -> ReadTexts:
        """Return a function to what Kafka's tool prints of a record."""

    def native(self) -> dict[str, Any]:
        """Return the description that the compiled engine's `Decoder` takes."""


def bounded_meaning(kind: str, read: ReadMeaning) -> ReadMeaning:
    """Return *read* for records up to the largest that are decoded; others have an error."""

    def meaning(record: Record) -> Meaning:
        size = len(record.key or b"") + len(record.value or b"")
        if size > LARGEST_DECODED:
            return Meaning(kind, error=f"a record of {size} bytes, decoded up to {LARGEST_DECODED}")
        return read(whole_record(record))

    return meaning


def bounded_texts(read: ReadTexts) -> ReadTexts:
    """Return *read* for records up to the largest that are decoded; others raise `DecodeError`."""

    def texts(record: Record, overrun: str) -> Texts:
        refuse_large(record)
        return read(whole_record(record), overrun)

    return texts


def refuse_large(record: Record) -> None:
    """Refuse a record that is too large to be decoded.

    Raises:
        DecodeError: it is.
    """
    reason = refusal(record.key, record.value)
    if reason is not None:
        raise DecodeError(reason)


def whole_record(record: Record) -> Record:
    """Return a record with key and value as bytes; long ones may have been views."""
    key, value = record.key, record.value
    if isinstance(key, memoryview) or isinstance(value, memoryview):
        key = None if key is None else bytes(key)
        value = None if value is None else bytes(value)
        return record._replace(key=key, value=value)
    return record


def unread_meaning(
    kind: str, record: Record, reason: str, number: int | None = None, version: int | None = None
) -> Meaning:
    """Return the meaning of a record that cannot be read: its bytes and the *reason*."""
    key, value = record.key, record.value
    return Meaning(
        kind,
        None if number is None else str(number),
        version,
        key=None if key is None else base64_of(key),
        value=None if value is None else base64_of(value),
        key_encoding=None if key is None else BASE64,
        value_encoding=None if value is None else BASE64,
        error=f"{reason} at offset {record.offset}",
    )
