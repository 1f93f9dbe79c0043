"""What Kafka's tool prints of keys and values, by decoder."""

from __future__ import annotations

from collections.abc import Callable

from kraftops.engine.reference.records import whole
from kraftops.errors import DecodeError
from kraftops.log.batch import Record
from kraftops.query.query import Query
from kraftops.records.long_text import LongText
from kraftops.records.meaning import refusal

Texts = tuple[str | None, str | None]
Decode = Callable[[Record, str], Texts]


def payload_decoder(query: Query) -> Decode | None:
    """Return a function of a record to the texts of key and value, each None where none is shown.

    Its second argument says why the record's value cannot be had, or is empty. It raises
    `DecodeError` where Kafka's tool dies. There is no such function where keys and values are not
    asked for.
    """
    if query.decoder is None:
        return None
    if query.decoder == "user":
        return _user(query)
    if query.decoder == "metadata":
        return _bounded(_metadata(query))
    if query.decoder == "remote":
        return _bounded(_remote)
    return _bounded(_coordinator(query.decoder))


def _bounded(decode: Decode) -> Decode:
    """Return *decode*, but for records whose fields could take a hundred times their bytes."""

    def texts(record: Record, overrun: str) -> Texts:
        refuse_large(record)
        return decode(whole(record), overrun)

    return texts


def refuse_large(record: Record) -> None:
    """Refuse a record that is not decoded.

    Raises:
        DecodeError: it is one.
    """
    too_large = refusal(record.key, record.value)
    if too_large is not None:
        raise DecodeError(too_large)


def _user(query: Query) -> Decode:
    key_text, value_text = shown_by(query.key_decoder), shown_by(query.value_decoder)

    def texts(record: Record, overrun: str) -> Texts:
        if overrun:
            raise DecodeError(overrun)
        _, _, key, value, _ = record
        return (
            None if key is None else key_text(key),
            None if value is None else value_text(value),
        )

    return texts


def shown_by(decoder: str) -> Callable[[bytes], str]:
    """Return a function of a key or value, be it long, to its text by one of Kafka's decoders."""
    from kraftops.records.decoders.user import DECODERS, DEFAULT_DECODER, IN_PIECES

    show, is_utf8 = DECODERS[decoder], decoder == DEFAULT_DECODER

    def text(raw: bytes) -> str:
        if not isinstance(raw, memoryview):
            return show(raw)
        return LongText(raw, show, is_utf8=is_utf8) if decoder in IN_PIECES else show(raw)

    return text


def _metadata(query: Query) -> Decode:
    from kraftops.records.dialects import dialect
    from kraftops.records.metadata import payload_text

    spoken = dialect(query.dialect)

    def texts(record: Record, overrun: str) -> Texts:
        if overrun:
            return None, f"Error at {record.offset}, skipping. {overrun}"
        return None, payload_text(record.value, record.offset, spoken)

    return texts


def _remote(record: Record, overrun: str) -> Texts:
    from kraftops.records.remote_text import payload_text

    if overrun:
        return None, f"Error at offset {record.offset}, skipping. {overrun}"
    return None, payload_text(record.value, record.offset)


def _coordinator(decoder: str) -> Decode:
    from kraftops.records.decoders.keyed import texts as coordinator_texts

    def texts(record: Record, overrun: str) -> Texts:
        offset, _, key, value, _ = record
        if key is None:
            raise DecodeError(f"the record has no key: is {decoder} the right decoder?")
        if overrun:
            return f"Error at offset {offset}, skipping. {overrun}", None
        return coordinator_texts(key, value, offset, decoder)

    return texts
