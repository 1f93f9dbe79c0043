"""Labels, and the limit of a decoded record's size."""

import pytest

from kraftops.records.meaning import (
    IN_ROWS,
    LARGEST_DECODED,
    Label,
    base64_of,
    size_error,
    unknown_label,
)


@pytest.mark.parametrize(
    ("key", "value"), [(None, None), (b"k", None), (b"k", bytes(LARGEST_DECODED - 1))]
)
def test_record_up_to_the_limit_has_no_error(key: bytes | None, value: bytes | None) -> None:
    assert size_error(key, value) is None
    assert size_error(key, value, IN_ROWS) is None


def test_text_and_rows_have_their_own_error_for_a_large_record() -> None:
    value = bytes(LARGEST_DECODED)

    assert size_error(b"k", value) == (
        "a record of 8388609 bytes is not decoded, only up to 8388608"
    )
    assert size_error(b"k", value, IN_ROWS) == "a record of 8388609 bytes, decoded up to 8388608"


def test_unknown_type_is_labelled_by_its_number() -> None:
    assert unknown_label(99, 2) == Label("UNKNOWN(99)", 2)
    assert unknown_label(None, None) == Label("UNKNOWN", None)


def test_bytes_have_a_base64() -> None:
    assert base64_of(b"\xff\0") == "/wA="
