"""`--check` notes wrong checksums and unknown magics."""

import pytest

from kraftops.engine.reference.output import Output
from kraftops.engine.reference.selection import check_batch
from kraftops.errors import DecodeError
from kraftops.log.batch import Batch, Record
from kraftops.query.query import Query
from tests.helpers.logs.segments import patched
from tests.helpers.logs.written import batch_bytes, message_bytes

SOUND = batch_bytes([Record(0, 0, None, b"v")])
OLD = message_bytes(Record(0, 0, None, b"v"), 1)


def noted(data: bytes) -> list[str]:
    output = Output(marks=False)
    is_valid = check_batch(Batch(0, len(data), data), Query(check=True), output)
    assert is_valid is ("the CRC does not match" not in [note.reason for note in output.notes])
    return [note.reason for note in output.notes]


@pytest.mark.parametrize(
    ("data", "reasons"),
    [
        pytest.param(SOUND, [], id="sound"),
        pytest.param(SOUND[:-1] + b"\xff", ["the CRC does not match"], id="damaged"),
        pytest.param(patched(SOUND, 16, b"\3"), ["magic 3 is not known"], id="magic"),
        pytest.param(OLD, [], id="old"),
        pytest.param(OLD[:-1] + b"\xff", ["the CRC does not match"], id="damaged-old"),
    ],
)
def test_notes_what_is_wrong(data: bytes, reasons: list[str]) -> None:
    assert noted(data) == reasons


def test_batch_without_a_header_is_an_error() -> None:
    with pytest.raises(DecodeError):
        noted(SOUND[:20])
