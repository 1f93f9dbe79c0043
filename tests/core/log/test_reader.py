"""Batches of a source, and the end of reading."""

from io import BytesIO
from zlib import crc32

import pytest

from kraftops.log import legacy, reader
from kraftops.log.batch import Batch, Record, is_valid
from kraftops.log.reader import EndReason, LogEnd, LogReader
from tests.helpers.logs.segments import IN, batches_of, patched, reader_of, segments, source_of
from tests.helpers.logs.written import batch_bytes, message_bytes

ONE = batch_bytes([Record(0, 10, b"k", b"first")])
TWO = batch_bytes([Record(1, 20, b"k", b"second"), Record(2, 30, None, bytes(300))])
LEGACY = message_bytes(Record(3, 40, b"k", b"third"), 1)
LOG = ONE + TWO + LEGACY


def end_of(data: bytes) -> LogEnd:
    walk = reader_of(data)
    list(walk)
    assert walk.end is not None
    return walk.end


def test_batches_have_their_positions_and_bytes() -> None:
    found = batches_of(LOG)

    assert found == [
        Batch(0, len(ONE), ONE),
        Batch(len(ONE), len(TWO), TWO),
        Batch(len(ONE + TWO), len(LEGACY), LEGACY),
    ]
    assert end_of(LOG) == LogEnd(EndReason.END, len(LOG), 0)


@pytest.mark.parametrize("block", [1, 2, 7, 18, 61, 100, 1000])
def test_size_of_the_blocks_changes_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither that of the reader nor that of what a source cares to give."""
    monkeypatch.setattr(reader, "BLOCK", 50)
    for path in (*segments("craft/*/*.log"), IN / "dmg/garbage/00000000000000000000.log"):
        data = path.read_bytes()
        whole, small = reader_of(data), reader_of(data, block)

        assert list(small) == list(whole)
        assert small.end == whole.end


@pytest.mark.parametrize("cut", range(len(LOG)))
def test_cut_anywhere_keeps_the_whole_batches(cut: int) -> None:
    walk = reader_of(LOG[:cut])

    found = list(walk)

    assert found == [batch for batch in batches_of(LOG) if batch.position + batch.size <= cut]
    end = found[-1].position + found[-1].size if found else 0
    reason = EndReason.PARTIAL if cut > end else EndReason.END
    assert walk.end == LogEnd(reason, end, cut - end)


@pytest.mark.parametrize("block", [1, 100, 1 << 20])
@pytest.mark.parametrize("shrunk", [0, 5, 17, 18, 40, len(ONE), len(ONE) + 30, len(LOG) - 1])
def test_source_that_shrinks_ends_the_reading(
    shrunk: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source with fewer bytes than stated is read up to its end."""
    monkeypatch.setattr(reader, "BLOCK", 50)
    walk = LogReader(source_of(LOG[:shrunk], block), 0, len(LOG))

    found = list(walk)

    assert found == batches_of(LOG[:shrunk])
    assert walk.end == end_of(LOG[:shrunk])


@pytest.mark.parametrize("count", [18, 19, 1000, 3_000_000])
def test_zeros_behind_the_batches_are_padding(count: int) -> None:
    end = end_of(ONE + bytes(count))

    assert end == LogEnd(EndReason.PADDING, len(ONE), count, f"{count} bytes of zero padding")


def test_padding_is_looked_at_up_to_the_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows is of another part."""
    monkeypatch.setattr(reader, "BLOCK", 50)
    stop = len(ONE) + 120
    walk = LogReader(BytesIO(ONE + bytes(120) + b"x" * 200).read, 0, stop)

    assert len(list(walk)) == 1
    assert walk.end == LogEnd(EndReason.PADDING, len(ONE), 120, "120 bytes of zero padding")


def test_padding_is_counted_where_the_size_is_not_known() -> None:
    """As of an archive, in which also other bytes at the end are counted."""
    for behind, reason in ((bytes(200), EndReason.PADDING), (b"x" * 200, EndReason.BAD_LENGTH)):
        walk = LogReader(BytesIO(ONE + bytes(17) + behind).read, 0, None)

        assert len(list(walk)) == 1
        assert walk.end is not None
        assert walk.end[:3] == (reason, len(ONE), 217)


@pytest.mark.parametrize("count", [1, 12, 17])
def test_few_zeros_are_a_partial_batch(count: int) -> None:
    """Kafka looks at no fewer than 18 bytes."""
    assert end_of(ONE + bytes(count)) == LogEnd(EndReason.PARTIAL, len(ONE), count)


@pytest.mark.parametrize("at", [20, 999, 1 << 20, (1 << 20) + 70, (3 << 20) - 1])
def test_zeros_with_another_byte_are_no_padding(at: int) -> None:
    data = ONE + patched(bytes(3 << 20), at, b"\1")

    end = end_of(data)

    assert (end.reason, end.position, end.left) == (EndReason.BAD_LENGTH, len(ONE), 3 << 20)


@pytest.mark.parametrize("length", [0, 1, 13, -1, -(1 << 31)])
def test_impossible_length_ends_the_reading(length: int) -> None:
    data = ONE + patched(TWO, 8, length.to_bytes(4, signed=True)) + LEGACY

    walk = reader_of(data)
    found = list(walk)

    assert found == [Batch(0, len(ONE), ONE)]
    assert walk.end is not None
    assert (walk.end.reason, walk.end.left) == (EndReason.BAD_LENGTH, len(data) - len(ONE))
    assert f"a batch length of {length}," in walk.end.detail


def test_length_beyond_the_end_leaves_the_rest() -> None:
    data = ONE + patched(TWO, 8, (0x7FFFFFFF).to_bytes(4)) + LEGACY

    assert end_of(data) == LogEnd(EndReason.PARTIAL, len(ONE), len(data) - len(ONE))


@pytest.mark.parametrize("length", [14, 20, 48])
def test_batch_shorter_than_a_header_has_the_bytes_of_one(length: int) -> None:
    """Kafka reads its header over the end of the batch."""
    data = patched(TWO, 8, length.to_bytes(4)) + LEGACY

    batch = next(iter(reader_of(data)))

    assert (batch.size, batch.data) == (length + 12, data[:61])


@pytest.mark.parametrize("block", [1, 13, 64, 1 << 20])
def test_batch_too_large_to_hold_is_passed_with_its_checksum(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batches before and behind it are read as usual."""
    monkeypatch.setattr(reader, "BLOCK", 64)
    monkeypatch.setattr(reader, "LARGEST_BATCH", 200)
    large = batch_bytes([Record(5, 0, None, bytes(range(256)) * 40)])
    large_legacy = message_bytes(Record(6, 0, None, b"old" * 3000), 1)
    data = ONE + large + LEGACY + large_legacy + ONE

    walk = reader_of(data, block)
    first, second, third, fourth, fifth = walk

    assert (first.data, third.data[: third.size], fifth.data) == (ONE, LEGACY, ONE)
    assert second.position == len(ONE)
    assert (second.size, second.data) == (len(large), large[:61])
    assert is_valid(second, second.header.crc)
    assert (fourth.size, fourth.data) == (len(large_legacy), large_legacy[:61])
    assert fourth.crc == crc32(large_legacy[16:])
    assert legacy.is_valid(fourth)
    assert walk.end == LogEnd(EndReason.END, len(data), 0)


def test_damage_in_a_batch_too_large_to_hold_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK", 64)
    monkeypatch.setattr(reader, "LARGEST_BATCH", 200)
    large = batch_bytes([Record(5, 0, None, bytes(10_000))])

    (batch,) = reader_of(patched(large, 5_000, b"\1"))

    assert not is_valid(batch, batch.header.crc)


@pytest.mark.parametrize("left", [10, 61, 62, 500, 5_000])
def test_batch_too_large_to_hold_that_is_lost_on_the_way_is_partial(
    left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The walk ends where the batch begins, and says how much of it there is."""
    monkeypatch.setattr(reader, "BLOCK", 64)
    monkeypatch.setattr(reader, "LARGEST_BATCH", 400)
    data = ONE + batch_bytes([Record(5, 0, None, bytes(10_000))])
    walk = LogReader(source_of(data[: len(ONE) + left]), 0, len(data))

    found = list(walk)

    assert [batch.data for batch in found] == [ONE]
    assert walk.end == LogEnd(EndReason.PARTIAL, len(ONE), left)


# Blocks of batches


def test_window_has_whole_batches_and_advances() -> None:
    one, two = (batch_bytes([Record(n, 0, None, bytes(90))]) for n in range(2))
    found = LogReader(BytesIO(one + two + b"rest").read, 0, len(one + two) + 4)

    window = found.window()
    assert window is not None
    assert window[0][window[1] :].startswith(one + two)
    found.advance(len(one))
    assert (found.window() or (b"", 0, 0))[1:] == (len(one), len(one))
    found.advance(len(one + two))
    assert found.window() is None
    assert found.next_batch() is None
    assert found.end == LogEnd(EndReason.PARTIAL, len(one + two), 4)
    assert (found.window(), found.next_batch()) == (None, None)


def test_window_keeps_to_the_stop() -> None:
    one, two = (batch_bytes([Record(n, 0, None, bytes(90))]) for n in range(2))
    stop = len(one) + 30
    found = LogReader(BytesIO(one + two).read, 0, stop)

    window = found.window()

    assert window is not None
    assert len(window[0]) == stop


@pytest.mark.parametrize(
    "odd", [b"\0" * 11 + b"\x14" + b"\0" * 20, message_bytes(Record(0, 0, None, b"v"), 1)]
)
def test_window_leaves_odd_batches(odd: bytes) -> None:
    data = odd + batch_bytes([Record(1, 0, None, b"v")])
    found = LogReader(BytesIO(data).read, 0, len(data))

    assert found.window() is None
    batch = found.next_batch()

    assert batch is not None
    assert found.window() is not None
