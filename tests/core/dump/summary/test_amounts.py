"""Types and versions of records."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.dump.summary.amounts import framed_amounts
from kraftops.errors import DecodeError
from kraftops.log.batch import Batch, Record, batch_bytes, inflated, record_bytes
from kraftops.records.decoder import Decoder, DecoderOptions
from kraftops.records.decoders import decoder_named
from kraftops.records.decoders.framed import FramedDecoder
from kraftops.records.meaning import Label
from kraftops.varint import uvarint_bytes, varint_bytes
from tests.helpers.logs.segments import record_around


def framed(name: str, dialect: str) -> FramedDecoder:
    found: Decoder = decoder_named(name, DecoderOptions(dialect))
    assert isinstance(found, FramedDecoder)
    return found


def counts(decoder: str, dialect: str, records: list[Record]) -> dict[Label, tuple[int, int]]:
    data = batch_bytes(records)
    batch = Batch(0, len(data), data)
    buffer, pos = inflated(batch, batch.header)
    found = framed_amounts(framed(decoder, dialect), buffer, pos, len(records))
    return {label: (amount.count, amount.size) for label, amount in found.items()}


def frame(number: int, version: int, body: bytes = b"", frame_version: int = 1) -> bytes:
    return b"".join(map(uvarint_bytes, (frame_version, number, version))) + body


VALUES = st.one_of(
    st.none(),
    st.binary(max_size=8),
    st.builds(
        frame,
        st.sampled_from([2, 3, 5, 6, 20, 127, 128, 300, 70_000]),
        st.sampled_from([0, 1, 2, 130]),
        st.binary(max_size=5) | st.just(bytes(100)) | st.just(bytes(9_000)),
    ),
)
RECORDS = st.lists(
    st.builds(
        Record,
        st.just(0),
        st.integers(0, 1 << 40),
        st.none() | st.binary(max_size=200),
        VALUES,
        st.just(()) | st.just(((b"header", None),)),
    ),
    min_size=1,
    max_size=20,
).map(lambda records: [one._replace(offset=number * 50) for number, one in enumerate(records)])


@pytest.mark.parametrize(
    ("decoder", "dialect"),
    [("metadata", "kafka"), ("metadata", "kip-631-draft"), ("remote", "kafka")],
)
@given(records=RECORDS)
def test_counts_are_those_of_the_records_one_by_one(
    decoder: str, dialect: str, records: list[Record]
) -> None:
    label_of = framed(decoder, dialect).label_reader()
    expected: Counter[Label] = Counter()
    sizes: Counter[Label] = Counter()
    for one in records:
        label = label_of(one)
        expected[label] += 1
        sizes[label] += len(record_bytes(one, records[0].offset, records[0].timestamp))

    found = counts(decoder, dialect, records)

    assert found == {label: (expected[label], sizes[label]) for label in expected}


@pytest.mark.parametrize(
    ("decoder", "record", "label"),
    [
        pytest.param("metadata", (None, frame(5, 2)), ("PARTITION_CHANGE_RECORD", 2), id="known"),
        pytest.param("metadata", (None, frame(5, 99)), ("PARTITION_CHANGE_RECORD", 99), id="newer"),
        pytest.param("metadata", (None, frame(6, 1)), ("UNKNOWN(6)", 1), id="unknown"),
        pytest.param("metadata", (None, frame(5, 2, b"", 2)), ("UNKNOWN", None), id="frame"),
        pytest.param("metadata", (None, None), ("UNKNOWN", None), id="null"),
        pytest.param(
            "remote", (None, frame(0, 0)), ("REMOTE_LOG_SEGMENT_METADATA_RECORD", 0), id="remote"
        ),
        pytest.param("offsets", (b"\0\1", b"\0\4"), ("OFFSET_COMMIT", 4), id="offsets"),
        pytest.param("offsets", (b"\0\1", None), ("OFFSET_COMMIT", None), id="tombstone"),
        pytest.param("offsets", (b"\0\0", b"\0\0"), ("LEGACY_OFFSET_COMMIT", 0), id="legacy"),
        pytest.param("offsets", (b"\0\x63", b"\0\4"), ("UNKNOWN(99)", 4), id="unknown-key"),
        pytest.param("offsets", (None, b"\0\4"), ("UNKNOWN", None), id="no-key"),
        pytest.param("offsets", (b"\0\1", b"\0"), ("OFFSET_COMMIT", None), id="short-value"),
        pytest.param("transaction", (b"\0\0", b"\0\1"), ("TRANSACTION_LOG", 1), id="transaction"),
        pytest.param("share", (b"\0\1", b"\0\0"), ("SHARE_UPDATE", 0), id="share"),
        pytest.param("user", (b"\0\1", b"\0\0"), ("user", None), id="user"),
    ],
)
def test_label_has_kafkas_name(
    decoder: str, record: tuple[bytes | None, bytes | None], label: tuple[str, int | None]
) -> None:
    assert decoder_named(decoder).label_reader()(Record(0, 0, *record)) == label


@pytest.mark.parametrize(
    ("body", "count"),
    [
        pytest.param(record_around(b"\0\0\0\1\x06\1\5\2\0") + b"?", 1, id="bytes-too-many"),
        pytest.param(record_around(b"\0\0\0\1\x06\1\5\2\0")[:-2], 1, id="cut-short"),
        pytest.param(record_around(b"\0\0\0\1\x06\1\5\2\0"), 2, id="one-too-few"),
        pytest.param(varint_bytes(-5) + bytes(20), 1, id="negative"),
        pytest.param(varint_bytes(1 << 30) + bytes(20), 1, id="too-large"),
        pytest.param(b"\xff" * 20, 1, id="no-number"),
    ],
)
def test_records_that_do_not_fill_their_batch_are_an_error(body: bytes, count: int) -> None:
    with pytest.raises(DecodeError):
        framed_amounts(framed("metadata", "kafka"), body, 0, count)
