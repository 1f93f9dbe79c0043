"""Possible batches in damaged bytes."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.log.batch import Record
from kraftops.log.damage.candidates import Candidate, candidates
from tests.helpers.logs.segments import ATTRIBUTES_AT, COUNT_AT, patched
from tests.helpers.logs.written import batch_bytes, message_bytes, wrapper_bytes

RECORDS = [Record(7 + n, 5, b"key", b"value") for n in range(3)]
NEW = batch_bytes(RECORDS)
WRAPPER = wrapper_bytes(RECORDS, 1, 1)
OLD = message_bytes(RECORDS[0], 1)
OLDEST = message_bytes(Record(7, -1, None, b"value"), 0)
LARGE = batch_bytes([Record(7, 5, None, random.Random(1).randbytes(2_000_000))])


def no_more(at: int, size: int) -> bytes:
    raise AssertionError(f"{size} bytes at {at} are asked for")


def found_in(data: bytes, begin: int = 0, end: int | None = None) -> list[Candidate]:
    stop = len(data) if end is None else end
    return list(candidates(data, begin, stop, len(data), no_more))


@pytest.mark.parametrize("zeros", [0, 1, 7, 8, 63, 64, 65, 200, 1000])
@pytest.mark.parametrize(
    ("batch", "magic", "offset"),
    [(NEW, 2, 7), (WRAPPER, 1, 9), (OLD, 1, 7), (OLDEST, 0, 7)],
    ids=["magic-2", "wrapper", "magic-1", "magic-0"],
)
def test_batch_is_found_among_zeros(batch: bytes, magic: int, offset: int, zeros: int) -> None:
    data = bytes(zeros) + batch + bytes(zeros)

    assert Candidate(zeros, len(batch), magic, offset) in found_in(data)


def test_only_those_that_begin_in_the_part_are_found() -> None:
    data = NEW * 3

    assert [one.start for one in found_in(data, 1, 2 * len(NEW))] == [len(NEW)]
    assert [one.start for one in found_in(data, len(NEW), len(NEW) + 1)] == [len(NEW)]


@pytest.mark.parametrize("batch", [NEW, WRAPPER, OLD, OLDEST])
def test_cut_batch_is_no_candidate(batch: bytes) -> None:
    assert found_in(batch[:-1]) == []


@pytest.mark.parametrize(
    "change",
    [(8, b"\0\0\0\0"), (8, b"\x7f"), (16, b"\3"), (16, b"\xff")],
    ids=["no-length", "long", "magic-3", "magic--1"],
)
def test_impossible_header_is_no_candidate(change: tuple[int, bytes]) -> None:
    assert found_in(patched(NEW, *change)) == []


def test_old_message_must_add_up() -> None:
    assert found_in(patched(OLD, 29, b"\4")) == []
    assert found_in(patched(OLDEST, 18, b"\xff\xff\xff\xfe")) == []


def test_value_size_behind_the_bytes_is_asked_for() -> None:
    message = message_bytes(Record(7, 5, bytes(500), b"value"), 1)
    asked = []

    def read_far(at: int, size: int) -> bytes:
        asked.append((at, size))
        return message[at : at + size]

    found = list(candidates(message[:100], 0, 50, len(message), read_far))

    assert [one.start for one in found] == [0]
    assert asked == [(530, 4)]


@pytest.mark.parametrize(
    "change",
    [(ATTRIBUTES_AT, b"\1"), (ATTRIBUTES_AT + 1, b"\5"), (COUNT_AT, b"\0\0\0\2"), (0, b"\xff")],
    ids=["attributes", "codec", "count", "offset"],
)
def test_large_batch_must_be_plausible(change: tuple[int, bytes]) -> None:
    """A small one need not: its checksum costs nothing."""
    assert [one.start for one in found_in(LARGE, 0, 1)] == [0]
    assert found_in(patched(LARGE, *change), 0, 1) == []
    assert [one.start for one in found_in(patched(NEW, *change), 0, 1)] == [0]


@given(noise=st.binary(max_size=300), behind=st.binary(max_size=100))
def test_batch_is_found_in_any_noise(noise: bytes, behind: bytes) -> None:
    data = noise + OLDEST + behind

    found = list(candidates(data, 0, len(data), len(data), lambda _, size: bytes(size)))

    assert Candidate(len(noise), len(OLDEST), 0, 7) in found
