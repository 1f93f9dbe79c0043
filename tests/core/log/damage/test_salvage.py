"""Batches behind damage, and the gaps before them."""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from zlib import crc32

import pytest
from google_crc32c import value as crc32c
from hypothesis import assume, given
from hypothesis import strategies as st

from kraftops.errors import SourceError
from kraftops.log.batch import Batch, Record
from kraftops.log.damage import salvage
from kraftops.log.damage.salvage import Gap, salvaged
from kraftops.log.log_file import LogFile
from kraftops.memory import LEAST, Budget
from tests.helpers.logs.segments import IN, batches_of, patched
from tests.helpers.logs.written import batch_bytes, message_bytes, wrapper_bytes

FILES = sorted(
    path for path in IN.rglob("*") if path.is_file() and {".log", ".checkpoint"} & {*path.suffixes}
)
FEW_ZEROS = 18
"""Kafka looks at no fewer bytes; with fewer, `LogReader` takes zeros for the rest of a batch."""


def some_batch(offset: int, size: int = 40, count: int = 3, **fields: int) -> bytes:
    """Return a batch of *count* records whose values have *size* bytes that do not repeat."""
    values = random.Random(offset).randbytes(size)
    return batch_bytes(
        [Record(offset + n, 1_000 + n, b"k", values) for n in range(count)], **fields
    )


ONE, TWO, THREE, FOUR = (some_batch(offset) for offset in (10, 20, 30, 40))
OLD = message_bytes(Record(50, 5, b"key", b"of magic one"), 1)
OLDEST = message_bytes(Record(51, -1, b"key", b"of magic zero"), 0)
WRAPPER = wrapper_bytes([Record(n, n, b"k", b"v" * 30) for n in range(60, 64)], 1, 1)


def found_in(data: bytes, tmp_path: Path, budget: Budget = LEAST) -> list[Batch | Gap]:
    path = tmp_path / "0.log"
    path.write_bytes(data)
    with LogFile(str(path)) as log:
        return list(salvaged(log, meter=budget.meter()))


def gaps_in(data: bytes, tmp_path: Path) -> list[Gap]:
    found = found_in(data, tmp_path)
    check_tiles(found, data)
    return [item for item in found if isinstance(item, Gap)]


def check_tiles(found: list[Batch | Gap], data: bytes) -> None:
    """Check that batches and gaps are all of *data* but zeros at its end, and what they say."""
    end = 0
    for item, following in zip(found, [*found, None][1:], strict=True):
        assert item.position == end
        assert item.size > 0
        end += item.size
        if isinstance(item, Batch):
            assert item.data[: item.size] == data[item.position : end]
            assert is_whole(data, item.position) == item.size
        else:
            assert not isinstance(following, Gap)
            assert item.reason
            if following is None:
                assert item.next_offset is None
    assert data[end:] == bytes(len(data) - end)
    assert end == len(data) or len(data) - end >= FEW_ZEROS


def is_whole(data: bytes, at: int) -> int:
    """Return the size of the whole batch at a position, by the formats' words; 0 if none is.

    The magic is outside the checksum of magic 2; Kafka reads higher ones as 2.
    """
    if at + 26 > len(data) or data[at + 16] > 127:
        return 0
    is_old = data[at + 16] < 2
    length = int.from_bytes(data[at + 8 : at + 12], signed=True)
    end = at + 12 + length
    if length < (14 if is_old else 49) or end > len(data):
        return 0
    if is_old:
        is_right = data[at + 12 : at + 16] == crc32(data[at + 16 : end]).to_bytes(4)
    else:
        is_right = data[at + 17 : at + 21] == crc32c(data[at + 21 : end]).to_bytes(4)
    return end - at if is_right else 0


def by_force(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield position and size of every whole batch that is in no other, tried at every byte."""
    at = 0
    while at < len(data):
        size = is_whole(data, at)
        if size:
            yield at, size
        at += size or 1


# Real files


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_every_batch_with_a_right_checksum_is_found(path: Path) -> None:
    data = path.read_bytes()
    with LogFile(str(path)) as log:
        found = list(salvaged(log))

    assert [item[:2] for item in found if isinstance(item, Batch)] == list(by_force(data))
    check_tiles(found, data)


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_batches_are_those_of_the_reader(path: Path) -> None:
    """Up to the end of the reader, except for batches with a wrong checksum."""
    data = path.read_bytes()
    with LogFile(str(path)) as log:
        found = {item.position: item for item in salvaged(log) if isinstance(item, Batch)}

    assert [batch for batch in batches_of(data) if is_whole(data, batch.position)] == [
        found[batch.position] for batch in batches_of(data) if is_whole(data, batch.position)
    ]


@pytest.mark.parametrize(
    ("name", "gap"),
    [
        pytest.param("crc", Gap(109, 125, "a wrong checksum", 2, 7), id="crc"),
        pytest.param("len-49", Gap(109, 125, "a wrong checksum", 2, 7), id="length-too-small"),
        pytest.param(
            "len-0", Gap(109, 125, "a batch length of 0, smaller than any batch's", 2, 7), id="zero"
        ),
        pytest.param(
            "len-48", Gap(109, 125, "a batch of 60 bytes, smaller than its header", 2, 7), id="48"
        ),
        pytest.param(
            "len-max",
            Gap(109, 125, "a batch of 2147483659 bytes where 375 are left", 2, 7),
            id="max",
        ),
        pytest.param("magic--1", Gap(109, 125, "a batch of magic -1", 2, 7), id="magic"),
        pytest.param(
            "hole", Gap(109, 300, "a batch length of 0, smaller than any batch's", 2, 7), id="hole"
        ),
        pytest.param(
            "trunc-b1+12", Gap(109, 12, "12 bytes, fewer than any batch has", 2, None), id="cut"
        ),
        pytest.param("m0-crc", Gap(0, 65, "a wrong checksum", None, 1), id="first"),
    ],
)
def test_gap_has_position_reason_and_offsets(name: str, gap: Gap) -> None:
    with LogFile(str(IN / "dmg" / name / "00000000000000000000.log")) as log:
        assert [item for item in salvaged(log) if isinstance(item, Gap)] == [gap]


# What gaps are


def test_undamaged_log_has_no_gap(tmp_path: Path) -> None:
    data = ONE + TWO + OLD + OLDEST + WRAPPER

    assert found_in(data, tmp_path) == batches_of(data)


def test_empty_log_has_no_batches(tmp_path: Path) -> None:
    assert found_in(b"", tmp_path) == []


@pytest.mark.parametrize("count", [18, 19, 5_000, 3_000_000])
def test_zeros_at_the_end_are_padding(count: int, tmp_path: Path) -> None:
    assert found_in(ONE + bytes(count), tmp_path) == batches_of(ONE)


@pytest.mark.parametrize("count", [1, 17])
def test_few_zeros_are_a_partial_batch(count: int, tmp_path: Path) -> None:
    reason = "1 byte, fewer than any batch has"
    (gap,) = gaps_in(ONE + bytes(count), tmp_path)

    assert gap[:2] == (len(ONE), count)
    assert count == 17 or gap.reason == reason


def test_zeros_behind_damage_are_padding_too(tmp_path: Path) -> None:
    """But a batch that is cut short by zeros has all the bytes that it says."""
    (torn,) = gaps_in(ONE + TWO[:-30] + bytes(30 + 5_000), tmp_path)
    (garbage,) = gaps_in(ONE + b"garbage" * 20 + bytes(5_000), tmp_path)
    (few,) = gaps_in(ONE + b"garbage" * 20 + bytes(17), tmp_path)

    assert torn[:2] == (len(ONE), len(TWO))
    assert garbage[:2] == (len(ONE), 140)
    assert few[:2] == (len(ONE), 157)


def test_zeros_before_a_batch_are_a_gap(tmp_path: Path) -> None:
    (gap,) = gaps_in(bytes(3_000_000) + ONE, tmp_path)

    assert gap == Gap(0, 3_000_000, "a batch length of 0, smaller than any batch's", None, 10)
    assert gap.missing is None


def test_offsets_that_are_missing_are_counted(tmp_path: Path) -> None:
    (gap,) = gaps_in(ONE + patched(TWO, 70, b"?") + THREE, tmp_path)

    assert (gap.last_offset, gap.next_offset, gap.missing) == (12, 30, 17)


@pytest.mark.parametrize(
    ("behind", "offset"),
    [(OLD, 50), (OLDEST, 51), (WRAPPER, 60), (some_batch(7 << 40), 7 << 40)],
    ids=["magic-1", "magic-0", "wrapper", "far"],
)
def test_offset_behind_a_gap_is_that_of_the_next_record(
    behind: bytes, offset: int, tmp_path: Path
) -> None:
    (gap,) = gaps_in(ONE + TWO[5:] + behind, tmp_path)

    assert (gap.last_offset, gap.next_offset) == (12, offset)


def test_offset_of_a_wrapper_that_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    broken = message_bytes(Record(63, 0, None, b"no gzip"), 1, 1)

    (gap,) = gaps_in(ONE + TWO[5:] + broken, tmp_path)

    assert (gap.size, gap.next_offset, gap.missing) == (len(TWO) - 5, None, None)


def test_damage_next_to_damage_is_one_gap(tmp_path: Path) -> None:
    (gap,) = gaps_in(ONE + patched(TWO, 70, b"?") + patched(THREE, 8, b"?") + FOUR, tmp_path)

    assert gap[:2] == (len(ONE), len(TWO + THREE))


def test_range_is_read_as_if_it_were_all(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(ONE + TWO[7:] + THREE + FOUR)
    begin, end = len(ONE), len(ONE + TWO[7:] + THREE)
    with LogFile(str(path)) as log:
        assert [item[:2] for item in salvaged(log, begin, end)] == [
            (begin, len(TWO) - 7),
            (end - len(THREE), len(THREE)),
        ]
        assert [item[:2] for item in salvaged(log, end)] == [(end, len(FOUR))]
        assert [item[:2] for item in salvaged(log, end, end + 50)] == [(end, 50)]
        assert list(salvaged(log, log.size, 1 << 40)) == []


# Batches inside of batches


def nested(offset: int, *payload: bytes) -> bytes:
    return batch_bytes([Record(offset, 5, None, b"".join(payload) + b"and more")])


def test_payload_of_a_whole_batch_is_left_alone(tmp_path: Path) -> None:
    data = ONE + nested(20, TWO, THREE) + FOUR

    assert found_in(data, tmp_path) == batches_of(data)


NOT_LENGTH = [pytest.param((17, b"?"), id="crc"), pytest.param((-1, b"?"), id="payload")]
LENGTH = [
    pytest.param((8, b"\0\0\0\0"), id="no-length"),
    pytest.param((8, b"\0\0\1\0"), id="other-length"),
    pytest.param((16, b"\xff"), id="magic"),
]


@pytest.mark.parametrize("damage", [*NOT_LENGTH, *LENGTH])
def test_payload_of_a_damaged_batch_with_other_offsets_is_no_batch(
    damage: tuple[int, bytes], tmp_path: Path
) -> None:
    outer = nested(20, some_batch(0), some_batch(5), some_batch(0))
    damaged = patched(outer, damage[0] % len(outer), damage[1])

    (gap,) = gaps_in(ONE + damaged + FOUR, tmp_path)

    assert gap[:2] == (len(ONE), len(outer))


@pytest.mark.parametrize("damage", NOT_LENGTH)
def test_payload_of_a_damaged_last_batch_is_no_batch(
    damage: tuple[int, bytes], tmp_path: Path
) -> None:
    """The length of the damaged batch must be right for that."""
    outer = nested(20, some_batch(0), some_batch(5))

    (gap,) = gaps_in(ONE + patched(outer, damage[0] % len(outer), damage[1]), tmp_path)

    assert gap[:2] == (len(ONE), len(outer))


def test_payload_with_following_offsets_is_taken_for_a_batch(tmp_path: Path) -> None:
    """Nothing tells it from a real one whose neighbours are damaged."""
    outer = patched(nested(20, some_batch(25)), 8, b"?")

    found = found_in(ONE + outer + FOUR, tmp_path)

    assert [item.position for item in found if isinstance(item, Batch)] == [
        0,
        (ONE + outer).index(some_batch(25)),
        len(ONE + outer),
    ]


def test_payload_is_no_batch_where_the_damaged_one_leads_to_a_lower_offset(tmp_path: Path) -> None:
    outer = patched(nested(20, some_batch(1_000)), -1 % 100, b"?")

    (gap,) = gaps_in(ONE + outer + FOUR, tmp_path)

    assert gap[:2] == (len(ONE), len(outer))


def test_length_that_leads_over_a_batch_to_the_next_hides_none(tmp_path: Path) -> None:
    """One flipped bit can do that among batches of the same size."""
    long = patched(TWO, 8, (len(TWO + THREE) - 12).to_bytes(4))

    found = found_in(ONE + long + THREE + FOUR, tmp_path)

    assert [type(item) for item in found] == [Batch, Gap, Batch, Batch]


# Offsets, which no checksum guards


def with_offset(batch: bytes, offset: int) -> bytes:
    return offset.to_bytes(8, signed=True) + batch[8:]


@pytest.mark.parametrize(
    ("number", "offset"),
    [
        (number, offset)
        for number in range(4)
        for offset in (-5, 0, 15, 35, 1 << 20, 1 << 60)
        if (number, offset) != (0, 35)  # a first offset is believed where later ones go on from it
    ],
)
def test_wrong_offset_costs_no_other_batch(number: int, offset: int, tmp_path: Path) -> None:
    """Even where there is a gap right behind it."""
    batches = [ONE, TWO, THREE, FOUR, some_batch(50), some_batch(60)]
    batches[number] = with_offset(batches[number], offset)
    batches[number + 1] = patched(batches[number + 1], 8, b"??")

    found = found_in(b"".join(batches), tmp_path)

    del batches[number + 1]
    assert [item.data for item in found if isinstance(item, Batch)] == batches


def test_offsets_are_not_checked_after_a_wrong_one(tmp_path: Path) -> None:
    """Or every gap would be searched to the end for one that goes on from them."""
    first, second = with_offset(ONE, 1 << 60), with_offset(TWO, 1 << 59)

    found = found_in(first + second + b"?" * 99 + first + b"?" * 99 + ONE + b"?" + TWO, tmp_path)

    assert [item.size for item in found if isinstance(item, Gap)] == [99, 99, 1]


# Any damage


Byte = tuple[int, tuple[int, int] | None]
"""A byte of a damaged log, and which one of which batch it is."""


@st.composite
def logs(draw: st.DrawFn) -> list[bytes]:
    """Return batches of all kinds, whose offsets go up."""
    offset, found = draw(st.integers(1_000, 1 << 40)), []
    for _ in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(["plain", "gzip", "lz4", "zstd", "magic 0", "magic 1", "set"]))
        count = draw(st.integers(1, 4))
        value = draw(st.binary(max_size=60) | st.just(bytes(80)) | st.just(b"v" * 300))
        records = [Record(offset + n, 1_000, b"k", value) for n in range(count)]
        if kind.startswith("magic"):
            found.append(message_bytes(records[0], int(kind[-1])))
        elif kind == "set":
            found.append(wrapper_bytes(records, 1, 1))
        else:
            attributes = {"plain": 0, "gzip": 1, "lz4": 3, "zstd": 4}[kind]
            found.append(batch_bytes(records, attributes=attributes))
        offset += count + draw(st.sampled_from([0, 0, 1, 50]))
    return found


@st.composite
def damaged(draw: st.DrawFn) -> tuple[list[bytes], list[Byte]]:
    """Return batches, and the bytes of a log of them to which something was done."""
    batches = draw(logs())
    log: list[Byte] = [
        (byte, (number, at))
        for number, batch in enumerate(batches)
        for at, byte in enumerate(batch)
    ]
    for _ in range(draw(st.integers(0, 4))):
        begin = draw(st.integers(0, len(log)))
        end = min(begin + draw(st.integers(1, 200)), len(log))
        kind = draw(st.sampled_from(["flip", "insert", "zero", "overwrite", "delete", "truncate"]))
        new: list[Byte] = []
        if kind == "flip":
            end = min(begin + 1, end)
            new = [(byte ^ 1 << draw(st.integers(0, 7)), None) for byte, _ in log[begin:end]]
        elif kind == "zero":
            new = [(0, None)] * (end - begin)
        elif kind == "overwrite":
            noise = draw(st.binary(min_size=end - begin, max_size=end - begin))
            new = [(byte, None) for byte in noise]
        elif kind == "truncate":
            end = len(log)
        elif kind == "insert":
            end = begin
            # A whole batch too, as from a payload: its offset is lower than all others.
            noise = draw(st.binary(max_size=99) | st.just(ONE))
            new = [(byte, None) for byte in noise]
        log[begin:end] = new
    return batches, log


def intact(batches: list[bytes], log: list[Byte]) -> list[tuple[int, int]]:
    """Return position and size of the batches that nothing was done to."""
    found = []
    for position, (_, owner) in enumerate(log):
        if owner is not None and owner[1] == 0:
            number, size = owner[0], len(batches[owner[0]])
            whole = [(number, at) for at in range(size)]
            if [owner for _, owner in log[position : position + size]] == whole:
                found.append((position, size))
    return found


@given(made=damaged(), block=st.sampled_from([64, 1_000, 1 << 20]))
def test_every_undamaged_batch_is_found(made: tuple[list[bytes], list[Byte]], block: int) -> None:
    batches, log = made
    data = bytes(byte for byte, _ in log)
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as directory:
        patch.setattr(salvage, "BLOCK", block)
        patch.setattr(salvage, "_FIRST_CHUNK", 8)
        patch.setattr(salvage, "_CHUNK", 32)
        found = found_in(data, Path(directory))

    check_tiles(found, data)
    got = [item[:2] for item in found if isinstance(item, Batch)]
    # With a wrong offset a batch is as good as before, but those behind it may not seem to go on.
    assume(
        all(
            all(owner for _, owner in log[at : at + 8]) or data.startswith(ONE, at) for at, _ in got
        )
    )
    # The zero that ends most batches may be gone: the one that the next begins with completes it.
    expected = [
        (position, size)
        for position, size in intact(batches, log)
        if not any(other < position < other + length for other, length in got)
    ]
    assert [span for span in got if span in expected] == expected
    assert len(expected) >= len(intact(batches, log)) - 1


# Time and memory


def test_batch_too_large_to_hold_is_passed_with_its_checksum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(salvage, "BLOCK", 64)
    monkeypatch.setattr(salvage, "LARGEST_BATCH", 500)
    large = some_batch(20, size=1_000)

    first, second, third = found_in(ONE + large + FOUR, tmp_path)

    assert isinstance(second, Batch)
    assert second == Batch(len(ONE), len(large), large[:61], crc32c(large[21:]))
    assert [first[2], third[2]] == [ONE, FOUR]


def test_batch_beyond_a_quarter_of_the_budget_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(salvage, "BLOCK", 64)
    large = some_batch(20, size=1_000)

    first, second, third = found_in(ONE + large + FOUR, tmp_path, Budget(2000))

    assert second == Batch(len(ONE), len(large), large[:61], crc32c(large[21:]))
    assert [first[2], third[2]] == [ONE, FOUR]


def test_large_batches_are_found_behind_damage(tmp_path: Path) -> None:
    data = b"?" * 70 + some_batch(20, size=3_000_000, count=1) + b"?" + some_batch(30, size=70_000)

    assert [gap.size for gap in gaps_in(data, tmp_path)] == [70, 1]


def test_large_set_of_old_messages_is_found_behind_damage(tmp_path: Path) -> None:
    noise = random.Random(1)
    records = [Record(n, n, noise.randbytes(9), noise.randbytes(300_000)) for n in range(60, 70)]
    data = b"?" * 70 + wrapper_bytes(records, 1, 1) + b"?" + message_bytes(records[-1], 0)

    assert [gap.size for gap in gaps_in(data, tmp_path)] == [70, 1]


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(random.Random(5).randbytes(1 << 20), id="random"),
        pytest.param(bytes(1 << 20), id="zeros"),
        pytest.param((b"what nobody wrote " * (1 << 16))[: 1 << 20], id="text"),
    ],
)
def test_garbage_is_searched_fast(block: bytes, tmp_path: Path) -> None:
    """6 seconds a gigabyte; the bound leaves room for a slow machine."""
    started = process_time()
    (gap,) = gaps_in_large(block * 32 + ONE, tmp_path)

    assert gap.size == 32 << 20
    assert process_time() - started < 8


def gaps_in_large(data: bytes, tmp_path: Path) -> list[Gap]:
    return [item for item in found_in(data, tmp_path) if isinstance(item, Gap)]


def test_bytes_made_to_look_like_large_batches_cost_no_more_than_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header every 61 bytes, each of a batch of all that follows: else 17,000 checksums."""
    monkeypatch.setattr(salvage, "_BUDGET", 0)
    monkeypatch.setattr(salvage, "_BUDGET_PER_BYTE", 1)
    checked = 0
    real = salvage._Window.crc

    def crc(window: salvage._Window, position: int, size: int, magic: int) -> int:
        nonlocal checked
        checked += size
        return real(window, position, size, magic)

    monkeypatch.setattr(salvage._Window, "crc", crc)
    head = ONE[:61]
    fakes = b"".join(patched(head, 8, (1 << 20).to_bytes(4)) for _ in range(1 << 14))

    (gap,) = gaps_in_large(fakes + bytes(2 << 20) + FOUR, tmp_path)

    assert gap.size == len(fakes) + (2 << 20)
    assert checked < 10 * len(fakes)


def test_file_that_shrinks_ends_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(ONE + TWO + THREE)
    with LogFile(str(path)) as log:
        os.truncate(path, len(ONE) + 100)

        found = list(salvaged(log))

    assert [item[:2] for item in found] == [(0, len(ONE)), (len(ONE), 100)]


def test_error_while_reading_is_an_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(ONE)
    with LogFile(str(path)) as log:
        monkeypatch.setattr(log, "read_at", failing)
        with pytest.raises(SourceError):
            list(salvaged(log))


def failing(position: int, size: int) -> bytes:
    raise SourceError(f"cannot read {size} bytes at {position}")


def test_batch_with_its_first_bytes_in_a_hole_is_found_without_reading_the_hole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, hole = batch_bytes([Record(0, 1, b"k", b"v")]), 64 << 20
    path = tmp_path / "0.log"
    with path.open("wb") as file:
        file.seek(hole)
        file.write(first[8:])  # after the bytes of its offset, which are zeros
        file.truncate(2 * hole)
    if path.stat().st_blocks * 512 > hole:
        pytest.skip("the file system makes no holes")
    sizes = []
    pread = os.pread

    def counted(descriptor: int, size: int, position: int) -> bytes:
        block = pread(descriptor, size, position)
        sizes.append(len(block))
        return block

    monkeypatch.setattr(os, "pread", counted)
    with LogFile(str(path)) as log:
        gap, batch = salvaged(log)

    assert isinstance(gap, Gap)
    assert isinstance(batch, Batch)
    assert (gap.position, gap.size) == (0, hole - 8)
    assert (batch.position, batch.data) == (hole - 8, first)
    assert sum(sizes) < 16 << 20
