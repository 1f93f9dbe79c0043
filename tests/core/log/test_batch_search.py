"""Batches in the middle of a log, whose payloads look like batches."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from kraftops.log import batch_search
from kraftops.log.batch import Record, batch_bytes
from kraftops.log.batch_search import batch_at, cut_by_size
from kraftops.log.heads import Head, heads
from kraftops.log.log_file import LogFile
from tests.helpers.logs.written import message_bytes

LARGEST = 2000


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_search, "LARGEST", LARGEST)
    monkeypatch.setattr(batch_search, "_WINDOWS", 1)


def log_of(path: Path, random: Random, payload: Callable[[Random, int], Record]) -> list[Head]:
    """Write a log of batches of different sizes, and return their heads."""
    content, offset = b"", 0
    while len(content) < 20_000:
        records = [payload(random, offset + number) for number in range(random.randint(1, 3))]
        content += batch_bytes(records)
        offset += len(records)
    path.write_bytes(content)
    with LogFile(str(path)) as log:
        found = list(heads(log, 0, log.size))
    assert found[-1].end == len(content)
    assert max(head.size for head in found) <= LARGEST
    return found


def inner(random: Random, offset: int) -> bytes:
    """Return batches with offsets of the log that they are in, or with later ones."""
    first = offset + random.choice([0, 0, 1, 1000])
    sizes = [random.randint(0, 60) for _ in range(random.randint(1, 4))]
    return b"".join(
        batch_bytes([Record(first + number, 0, None, bytes(size))])
        for number, size in enumerate(sizes)
    )


def as_value(random: Random, offset: int) -> Record:
    return Record(offset, 0, None, inner(random, offset))


def as_last_header(random: Random, offset: int) -> Record:
    """The bytes of the last header end with the batch, so that a chain in it goes on after it."""
    return Record(offset, 0, None, b"v", ((b"segment", inner(random, offset)),))


def as_zeros(random: Random, offset: int) -> Record:
    return Record(offset, 0, None, bytes(random.randint(0, 400)))


@pytest.mark.parametrize("payload", [as_value, as_last_header, as_zeros])
@pytest.mark.parametrize("seed", range(3))
def test_the_batch_at_any_byte_is_the_one_that_lengths_lead_to(
    tmp_path: Path, payload: Callable[[Random, int], Record], seed: int
) -> None:
    path = tmp_path / f"{0:020}.log"
    expected = log_of(path, Random(seed), payload)

    with LogFile(str(path)) as log:
        for head in Random(seed).sample(expected, 10):
            for near in (head.position, head.position + 20, head.end - 1):
                assert batch_at(log, near, log.size) == head


@pytest.mark.parametrize("target", [1, 3000, 7000, 100_000])
def test_ranges_begin_with_batches_and_are_the_whole_file(tmp_path: Path, target: int) -> None:
    path = tmp_path / f"{0:020}.log"
    expected = log_of(path, Random(7), as_last_header)

    with LogFile(str(path)) as log:
        parts = cut_by_size(log, target)

    assert {part.start for part in parts} <= {head.position for head in expected}
    assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
    assert (parts[0].start, parts[-1].stop) == (0, path.stat().st_size)
    assert (len(parts) > 2) is (target < 10_000)


def test_little_of_a_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_search, "_WINDOWS", 3)
    path = tmp_path / f"{0:020}.log"
    sizes: list[int] = []
    log_of(path, Random(1), as_value)

    with LogFile(str(path)) as log:
        read_at = log.read_at

        def counted(position: int, size: int) -> bytes:
            sizes.append(size)
            return read_at(position, size)

        monkeypatch.setattr(log, "read_at", counted)
        parts = cut_by_size(log, 1)

    assert len(parts) == 2
    assert sum(sizes) == 2 * LARGEST + 61


def test_no_range_begins_where_a_batch_is_larger_than_those_that_are_looked_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / f"{0:020}.log"
    large = [batch_bytes([Record(offset, 0, None, bytes(3 * LARGEST))]) for offset in range(9)]
    path.write_bytes(b"".join(large))

    with LogFile(str(path)) as log:
        assert len(cut_by_size(log, 5 * LARGEST)) == 1


def test_old_messages_stay_in_one_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value ends with its message, so that its own messages lead on."""
    monkeypatch.setattr(batch_search, "_WINDOWS", 2)
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(b"".join(message_bytes(Record(n, 0, None, bytes(300)), 1) for n in range(100)))

    with LogFile(str(path)) as log:
        assert len(cut_by_size(log, 1000)) == 1


def test_damage_before_a_byte_leaves_its_batch_unproven(tmp_path: Path) -> None:
    path = tmp_path / f"{0:020}.log"
    expected = log_of(path, Random(2), as_value)
    content, damaged = bytearray(path.read_bytes()), expected[len(expected) // 2]
    content[damaged.position + 30] ^= 1
    path.write_bytes(content)

    with LogFile(str(path)) as log:
        assert batch_at(log, damaged.end + 10, log.size) is None
