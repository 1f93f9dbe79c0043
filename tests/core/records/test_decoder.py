"""The contract of all decoders: limits, copies of views, and unreadable records."""

import pickle

import pytest

from kraftops.errors import DecodeError
from kraftops.log.batch import Record
from kraftops.records.decoder import bounded_texts, refuse_large, unread_meaning, whole_record
from kraftops.records.decoders import decoder_named
from kraftops.records.internal_topics import decoder_names
from kraftops.records.meaning import LARGEST_DECODED

LARGE = Record(5, 0, b"k", bytes(LARGEST_DECODED))


@pytest.mark.parametrize("name", decoder_names())
def test_decoder_can_be_sent_to_a_worker(name: str) -> None:
    decoder = decoder_named(name)

    assert decoder.name == name
    assert pickle.loads(pickle.dumps(decoder)) == decoder


@pytest.mark.parametrize("name", sorted({*decoder_names()} - {"user"}))
def test_large_record_is_an_error_in_every_form(name: str) -> None:
    decoder = decoder_named(name)
    size = LARGEST_DECODED + 1

    for read in (decoder.meaning_reader(show_secrets=False), decoder.head_reader()):
        assert read(LARGE).error == f"a record of {size} bytes, decoded up to {LARGEST_DECODED}"
    with pytest.raises(DecodeError, match=f"a record of {size} bytes is not decoded, only up to"):
        decoder.text_reader()(LARGE, "")


def test_record_of_the_largest_size_is_read() -> None:
    largest = LARGE._replace(key=None)
    read = bounded_texts(lambda record, _: (None, str(len(record.value or b""))))

    refuse_large(largest)

    assert read(largest, "") == (None, str(LARGEST_DECODED))


def test_views_become_bytes() -> None:
    record = Record(0, 0, None, memoryview(b"value"))  # type: ignore[arg-type]

    assert isinstance(whole_record(record).value, bytes)
    assert whole_record(record).key is None


def test_unreadable_record_keeps_its_bytes_and_the_reason() -> None:
    meaning = unread_meaning("offsets", Record(7, 0, b"\0", None), "a short key", 3)

    assert (meaning.kind, meaning.type, meaning.error) == (
        "offsets",
        "UNKNOWN(3)",
        "a short key at offset 7",
    )
    assert (meaning.key, meaning.key_encoding) == ("AA==", "base64")
    assert (meaning.value, meaning.value_encoding) == (None, None)
