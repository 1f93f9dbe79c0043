"""Bad input: all readable records are printed, and all damage is reported."""

import struct
from functools import cache
from pathlib import Path

import pytest

from kraftops.log import batch as v2
from kraftops.log.batch import Record
from kraftops.log.codecs import CODECS
from kraftops.varint import varint_bytes
from tests.helpers.logs.coordinators import COORDINATORS
from tests.helpers.logs.segments import (
    ATTRIBUTES_AT,
    COUNT_AT,
    IN,
    batch_around,
    batches_of,
    patched,
    plain_record,
    record_around,
    resealed,
)
from tests.helpers.logs.written import batch_bytes, message_bytes, wrapper_bytes
from tests.helpers.tools.dump_file import LOG_NAME, QUERIES, dump_bytes

GOOD = batch_bytes([Record(0, 10, b"k", b"good")])
LAST = batch_bytes([Record(9, 90, b"k", b"last")])
SMALL = {
    "craft/control": "records",
    "craft/magic0": "text",
    "craft/magic1": "text",
    "craft/magic-mixed": "text",
    "craft/v2-odd": "text",
    "craft/meta-bad": "metadata",
    "craft/meta-txn": "metadata",
    "craft/rlmm": "remote",
    "craft/share-all": "share",
    "craft/txn-all": "transaction",
    "v3.9.1/transaction_state": "transaction",
    "user/latz": "text",
    "user/txn": "text",
    "user/lz4": "text",
}
"""Real logs of a kilobyte or two, by folder, with their decoders."""


def files(folder: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((IN / folder).glob("*.log"))]


def own_lines(data: bytes, directory: Path, query: str) -> list[str]:
    """Return the lines of *data* but what is said of its end."""
    lines = dump_bytes(data, directory, QUERIES[query]).lines
    return [line for line in lines if not line.startswith("Found ")]


@pytest.mark.slow
@pytest.mark.parametrize("deep", [False, True], ids=["shallow", "deep"])
@pytest.mark.parametrize("folder", SMALL)
def test_cut_at_every_byte_keeps_the_batches_before_it(
    folder: str, deep: bool, tmp_path: Path
) -> None:
    """A cut is no error; the remaining bytes are counted, as in Kafka's tool."""
    query = SMALL[folder] if deep else "batches"

    @cache
    def whole(end: int) -> tuple[list[str], list[str]]:
        return own_lines(data[:end], tmp_path, query), notes_of(end)

    def notes_of(end: int) -> list[str]:
        return dump_bytes(data[:end], tmp_path, QUERIES[query]).notes

    data = files(folder)[0][:2_000]
    ends = [0, *(batch.position + batch.size for batch in batches_of(data))]
    for cut in range(len(data)):
        end = max(end for end in ends if end <= cut)

        found = dump_bytes(data[:cut], tmp_path, QUERIES[query])

        lines, notes = whole(end)
        rest = [f"Found {cut - end} invalid bytes at the end of {LOG_NAME}"] if cut > end else []
        assert found.lines == lines + rest
        assert found.notes == notes


@pytest.mark.parametrize("name", QUERIES)
def test_wrong_decoder_gets_to_the_end(name: str, tmp_path: Path) -> None:
    """Every record of every kind of log has a line, with every decoder."""
    for folder in SMALL:
        for data in files(folder):
            plain = dump_bytes(data, tmp_path, QUERIES["records"])
            found = dump_bytes(data, tmp_path, QUERIES[name])

            def batches(lines: list[str]) -> list[str]:
                return [line for line in lines if line.startswith(("baseOffset: ", "offset: "))]

            assert batches(found.lines) == batches(plain.lines)


def test_flipped_bit_of_a_payload_shows_in_the_batch(tmp_path: Path) -> None:
    at = GOOD.index(b"good")

    found = dump_bytes(patched(GOOD, at, b"G") + LAST, tmp_path, QUERIES["text"])

    first, record, second, _ = found.lines
    assert first.endswith("isvalid: false")
    assert record.endswith(" payload: Good")
    assert second.endswith("isvalid: true")
    assert not found.has_failed


@pytest.mark.parametrize("length", [0, 1, 13, -1, -5, -(1 << 31)])
def test_impossible_length_ends_the_file_with_a_note(length: int, tmp_path: Path) -> None:
    bad = patched(LAST, 8, struct.pack(">i", length))

    found = dump_bytes(GOOD + bad + LAST, tmp_path)

    assert len(found.lines) == 2
    left = 2 * len(LAST)
    assert found.notes == [
        (
            f"{tmp_path / LOG_NAME}: position {len(GOOD)}: a batch length of {length}, "
            f"smaller than any batch's; {left} bytes are not read"
        )
    ]
    assert found.has_failed


def test_length_of_2_gib_leaves_the_rest_as_invalid_bytes(tmp_path: Path) -> None:
    bad = patched(LAST, 8, b"\x7f\xff\xff\xff")

    found = dump_bytes(GOOD + bad, tmp_path)

    assert found.lines[2:] == [f"Found {len(LAST)} invalid bytes at the end of {LOG_NAME}"]
    assert not found.has_failed


@pytest.mark.parametrize("count", [18, 100, 4096, 3 << 20])
def test_zero_padding_is_a_note(count: int, tmp_path: Path) -> None:
    """As left by a server that did not close its segment."""
    found = dump_bytes(GOOD + bytes(count), tmp_path)

    assert len(found.lines) == 2
    note = f"{tmp_path / LOG_NAME}: position {len(GOOD)}: {count} bytes of zero padding"
    assert found.notes == [note]
    assert not found.has_failed


def test_file_of_nothing_but_zeros_is_padding(tmp_path: Path) -> None:
    found = dump_bytes(bytes(1000), tmp_path)

    assert (found.lines, found.has_failed) == ([], False)
    assert found.notes == [f"{tmp_path / LOG_NAME}: position 0: 1000 bytes of zero padding"]


@pytest.mark.parametrize(
    "data",
    [b"this is a text file and no segment at all\n" * 20, b"\x7fELF" + bytes(range(256)) * 4],
    ids=["text", "program"],
)
def test_file_that_is_no_segment_is_reported(data: bytes, tmp_path: Path) -> None:
    for name in QUERIES:
        found = dump_bytes(data, tmp_path, QUERIES[name])

        assert found.lines == [f"Found {len(data)} invalid bytes at the end of {LOG_NAME}"] or (
            found.has_failed and found.notes
        )


START = b"\0\0\0"
BAD_RECORDS = [
    pytest.param(b"\xff" * 20, id="varint that never ends"),
    pytest.param(varint_bytes(1 << 30) + START, id="length beyond the batch"),
    pytest.param(varint_bytes(-5) + bytes(20), id="negative length"),
    pytest.param(bytes(20), id="zeros"),
    pytest.param(record_around(START + varint_bytes((1 << 31) - 1)), id="key of 2 GiB"),
    pytest.param(record_around(START + b"\1" + varint_bytes(99)), id="value beyond the batch"),
    pytest.param(record_around(START + b"\1\1" + varint_bytes((1 << 31) - 1)), id="2^31 headers"),
    pytest.param(record_around(START + b"\1\1" + varint_bytes(-1)), id="-1 headers"),
]


@pytest.mark.parametrize("codec", range(len(CODECS)), ids=CODECS)
@pytest.mark.parametrize("bad", BAD_RECORDS)
def test_impossible_record_loses_only_the_rest_of_its_batch(
    bad: bytes, codec: int, tmp_path: Path
) -> None:
    """The records before it and the batches after it are printed; one line gives the reason."""
    good = plain_record(0, b"before")
    body = good + bad
    if codec:
        from tests.helpers.logs.written import compress

        body = compress(codec, body)
    data = batch_around(body, 2, attributes=codec) + LAST
    for name in ("text", "metadata", "records"):
        found = dump_bytes(data, tmp_path, QUERIES[name])

        assert [line.split(" ")[0] for line in found.lines] == [
            "baseOffset:",
            "|",
            "baseOffset:",
            "|",
        ]
        assert len(found.notes) == 1
        assert found.notes[0].startswith(f"{tmp_path / LOG_NAME}: position 0: ")
        assert found.has_failed


@pytest.mark.parametrize("count", [1, 3, 1_000, (1 << 31) - 1, -1, -(1 << 31)])
@pytest.mark.parametrize("codec", [0, 1], ids=["none", "gzip"])
def test_wrong_record_count_is_reported(count: int, codec: int, tmp_path: Path) -> None:
    two = batch_bytes([Record(0, 0, None, b"a"), Record(1, 0, None, b"b")], attributes=codec)
    data = resealed(patched(two, COUNT_AT, struct.pack(">i", count))) + LAST
    for name in ("text", "metadata", "records"):
        found = dump_bytes(data, tmp_path, QUERIES[name])

        shown = sum(line.startswith("| offset: ") for line in found.lines)
        assert shown == (1 if count < 0 else min(count, 2) + 1)
        assert len(found.notes) == 1
        assert found.has_failed


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_unknown_codec_loses_one_batch(codec: int, tmp_path: Path) -> None:
    data = resealed(patched(GOOD, ATTRIBUTES_AT, struct.pack(">h", codec))) + LAST

    found = dump_bytes(data, tmp_path)

    assert found.lines[0].endswith(f" <undecodable: unknown codec {codec}>")
    assert [line.split(" ")[0] for line in found.lines[1:]] == ["baseOffset:", "|"]
    assert found.notes == [f"{tmp_path / LOG_NAME}: position 0: unknown codec {codec}"]
    assert found.has_failed


@pytest.mark.parametrize("codec", range(1, len(CODECS)), ids=CODECS[1:])
def test_wrong_codec_loses_one_batchs_records(codec: int, tmp_path: Path) -> None:
    data = resealed(patched(GOOD, ATTRIBUTES_AT, struct.pack(">h", codec))) + LAST

    found = dump_bytes(data, tmp_path)

    assert [line.split(" ")[0] for line in found.lines] == ["baseOffset:", "baseOffset:", "|"]
    assert f"compresscodec: {CODECS[codec]} " in found.lines[0]
    assert len(found.notes) == 1
    assert found.has_failed


@pytest.mark.parametrize("codec", [1, 2, 3], ids=CODECS[1:4])
@pytest.mark.parametrize("magic", [0, 1])
def test_damaged_wrapper_loses_one_batchs_records(magic: int, codec: int, tmp_path: Path) -> None:
    wrapper = wrapper_bytes([Record(0, 5, None, b"old" * 50)], magic, codec)
    at = len(wrapper) - 8
    data = patched(wrapper, at, bytes(8)[: len(wrapper) - at]) + LAST

    found = dump_bytes(data, tmp_path)

    assert found.lines[0].startswith("offset: 0 ")
    assert "isvalid: false" in found.lines[0]
    assert found.lines[-1].startswith("| offset: 9 ")


@pytest.mark.parametrize("magic", [3, 127, 128, 255])
def test_other_magics_lose_nothing_else(magic: int, tmp_path: Path) -> None:
    data = patched(GOOD, 16, bytes([magic])) + LAST

    found = dump_bytes(data, tmp_path)

    assert found.lines[-2].startswith("baseOffset: 9 ")
    assert found.lines[-1].startswith("| offset: 9 ")
    assert f"magic: {magic} " in found.lines[0] or found.lines[0].startswith("offset: 0 ")


@pytest.mark.parametrize("length", range(14, 50))
def test_batch_shorter_than_its_header_loses_nothing_else(length: int, tmp_path: Path) -> None:
    short = patched(GOOD, 8, struct.pack(">i", length))[: length + 12]
    for name in QUERIES:
        found = dump_bytes(short + LAST, tmp_path, QUERIES[name])

        assert found.lines[0].startswith("baseOffset: 0 ")
        assert " isvalid: false" in found.lines[0] or length == 49
        assert any(line.startswith("baseOffset: 9 ") for line in found.lines)


def test_control_bit_on_data_is_reported_record_by_record(tmp_path: Path) -> None:
    data = batch_bytes(
        [Record(0, 0, b"key", b"value"), Record(1, 0, None, b"v")], attributes=v2.CONTROL
    )

    found = dump_bytes(data + LAST, tmp_path)

    assert [line.split(" ")[0] for line in found.lines] == [
        "baseOffset:",
        "|",
        "|",
        "baseOffset:",
        "|",
    ]
    assert len(found.notes) == 2
    assert found.has_failed


@pytest.mark.parametrize("name", COORDINATORS)
def test_record_without_a_key_is_reported_and_the_next_is_read(name: str, tmp_path: Path) -> None:
    """Kafka's tool ends with an exception at the first one."""
    data = batch_bytes([Record(0, 0, None, b"v"), Record(1, 0, b"\0\x63", b"v")])

    found = dump_bytes(data, tmp_path, QUERIES[name])

    first, second = found.lines[1:]
    assert " <undecodable: " in first
    assert second.endswith(" key: Unknown record type 99 at offset 1, skipping.")
    assert len(found.notes) == 1
    assert found.has_failed


def test_damage_of_old_messages_is_reported(tmp_path: Path) -> None:
    message = message_bytes(Record(0, 5, b"key", b"value"), 1)
    bad = patched(message, 26, b"\x7f\xff\xff\xff")

    found = dump_bytes(bad + LAST, tmp_path, QUERIES["text"])

    assert [line.split(" ")[0] for line in found.lines] == ["offset:", "baseOffset:", "|"]
    assert len(found.notes) == 1
    assert found.has_failed
