"""The decoder of user topics: keys and values by a class of Kafka's `tools.api` package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from kraftops.errors import DecodeError, Underflow
from kraftops.java.text import decode_utf8
from kraftops.log.batch import Record
from kraftops.records import decoder
from kraftops.records.internal_topics import DEFAULT_CLASS, USER
from kraftops.records.long_text import LongText, is_utf8
from kraftops.records.meaning import BASE64, Label, Meaning, base64_of

Decode = Callable[[bytes], str]


def _integer(width: int) -> Decode:
    def decode(raw: bytes) -> str:
        if len(raw) < width:
            raise Underflow(f"{len(raw)} bytes where a number has {width}")
        return str(int.from_bytes(raw[:width], signed=True))

    return decode


DECODERS: dict[str, Decode] = {
    "org.apache.kafka.tools.api.StringDecoder": decode_utf8,
    "org.apache.kafka.tools.api.IntegerDecoder": _integer(4),
    "org.apache.kafka.tools.api.LongDecoder": _integer(8),
    # Kafka's class prints the identity of a Java array instead of the bytes.
    "org.apache.kafka.tools.api.DefaultDecoder": bytes.hex,
}
"""Kafka's built-in decoder classes."""

_IN_PIECES = (DEFAULT_CLASS, "org.apache.kafka.tools.api.DefaultDecoder")
"""The classes with a text that can be made piece by piece."""
_NATIVE = dict(zip(DECODERS, ("text", "int32", "int64", "hex"), strict=True))


@dataclass(frozen=True, slots=True)
class UserDecoder:
    """A `kraftops.records.decoder.Decoder` of records without types; long ones stay views."""

    key_class: str = DEFAULT_CLASS
    value_class: str = DEFAULT_CLASS
    name: str = USER

    @property
    def has_types(self) -> bool:
        return False

    @property
    def has_topics(self) -> bool:
        """Whether records tell the ids of topics by name."""
        return False

    def configured(self, options: decoder.DecoderOptions) -> UserDecoder:
        return replace(
            self,
            key_class=options.key_class or self.key_class,
            value_class=options.value_class or self.value_class,
        )

    def type_names(self) -> tuple[str, ...]:
        """Return no names: records of users have no types."""
        return ()

    def shown_messages(self) -> decoder.ShownMessages:
        """Return no messages: keys and values of users are text."""
        return decoder.ShownMessages()

    def type_reader(self) -> Callable[[Record], str | None]:
        """Return a function to None: there are no types."""
        return lambda _: None

    def label_reader(self) -> decoder.ReadLabel:
        """Return a function to the same label for all records."""
        label = self.label_of(None, None)
        return lambda _: label

    def label_of(self, number: int | None, version: int | None) -> Label:  # noqa: ARG002 - there are no types
        return Label(self.name, None)

    def head_reader(self) -> decoder.ReadMeaning:
        meaning = Meaning(self.name)
        return lambda _: meaning

    def meaning_reader(self, *, show_secrets: bool) -> decoder.ReadMeaning:  # noqa: ARG002 - the secrets are unknown
        """Return a function to key and value as text, or as base64 if they are not text."""
        name = self.name
        shown_key = _text_reader(self.key_class)
        shown_value = _text_reader(self.value_class)

        def meaning(record: Record) -> Meaning:
            key, key_encoding = shown_key(record.key)
            value, value_encoding = shown_value(record.value)
            return Meaning(
                name, key=key, value=value, key_encoding=key_encoding, value_encoding=value_encoding
            )

        return meaning

    def text_reader(self) -> decoder.ReadTexts:
        key_text, value_text = _text_by(self.key_class), _text_by(self.value_class)

        def texts(record: Record, overrun: str) -> decoder.Texts:
            if overrun:
                raise DecodeError(overrun)
            _, _, key, value, _ = record
            return (
                None if key is None else key_text(key),
                None if value is None else value_text(value),
            )

        return texts

    def native_description(self) -> dict[str, Any]:
        return {"form": "user", "key": _NATIVE[self.key_class], "value": _NATIVE[self.value_class]}


DECODER = UserDecoder()


def _text_by(class_name: str) -> Decode:
    """Return a function from a key or value to its text by a class; a long text is a `LongText`."""
    show, is_text = DECODERS[class_name], class_name == DEFAULT_CLASS

    def text(raw: bytes) -> str:
        if not isinstance(raw, memoryview) or class_name not in _IN_PIECES:
            return show(raw)
        return LongText(raw, show, is_utf8=is_text)

    return text


def _text_reader(class_name: str) -> Callable[[bytes | None], tuple[str | None, str | None]]:
    """Return a function from a key or value to its text and the encoding of the text."""
    text, is_text = _text_by(class_name), class_name == DEFAULT_CLASS

    def text_or_base64(raw: bytes | None) -> tuple[str | None, str | None]:
        if raw is None:
            return None, None
        if is_text and isinstance(raw, memoryview) and not is_utf8(raw):
            return LongText(raw, base64_of), BASE64
        try:
            if is_text and not isinstance(raw, memoryview):
                return str(raw, "utf-8"), None
            return text(raw), None
        except (UnicodeDecodeError, DecodeError):
            return base64_of(raw), BASE64

    return text_or_base64
