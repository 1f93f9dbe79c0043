"""A log that grows while it is read."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from kraftops.dump.report import Report
from kraftops.dump.scan.part_rows import part_rows
from kraftops.dump.sources.follow import follow, next_segment
from kraftops.errors import SourceError
from kraftops.log.batch import Record
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from tests.helpers.logs.written import batch_bytes, message_bytes


class Enough(Exception):
    """The end of the changes of a log."""


class Log:
    """A log with a list of changes; one happens each time the reader waits."""

    def __init__(self, directory: Path, *changes: Callable[["Log"], None]) -> None:
        self.directory = directory
        self.path = self.segment(0)
        self.path.touch()
        self.next_offset = 0
        self.waits = 0
        self.notes: list[str] = []
        self._changes: Iterator[Callable[[Log], None]] = iter(changes)

    def segment(self, offset: int) -> Path:
        return self.directory / f"{offset:020}.log"

    def batch(self, count: int = 1) -> bytes:
        first = self.next_offset
        self.next_offset += count
        return batch_bytes([Record(first + n, 5, None, b"v") for n in range(count)])

    def write(self, data: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(data)

    def append(self, count: int = 1) -> None:
        self.write(self.batch(count))

    def roll(self) -> None:
        self.path = self.segment(self.next_offset)
        self.path.touch()

    def wait(self) -> None:
        self.waits += 1
        change = next(self._changes, None)
        if change is None:
            raise Enough
        change(self)

    def parts(self, start: int = 0) -> list[ByteRange]:
        found: list[ByteRange] = []
        with suppress(Enough):
            found.extend(follow(str(self.segment(0)), self.wait, self.notes.append, start))
        return found


def offsets(parts: list[ByteRange]) -> list[int | None]:
    """Return the offsets of the rows of all parts."""
    return [row.offset for part in parts for row in part_rows(part, Query(form="json"), Report())]


def both(*changes: Callable[[Log], None]) -> Callable[[Log], None]:
    """Return changes that happen together."""

    def change(log: Log) -> None:
        for one in changes:
            one(log)

    return change


append, roll = Log.append, Log.roll


def nothing(_: Log) -> None:
    pass


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param([append, append], id="appended"),
        pytest.param([nothing, append, nothing, nothing, append], id="pauses"),
        pytest.param([append, roll, append], id="rolled"),
        pytest.param([both(append, roll, append)], id="rolled at once"),
        pytest.param([both(append, roll), append, both(roll, append)], id="rolled twice"),
        pytest.param([both(append, roll, append, roll, append)], id="two rolls at once"),
        pytest.param([both(*[append] * 50, roll, *[append] * 50)], id="many"),
    ],
)
def test_followed_log_has_every_batch_once(
    changes: list[Callable[[Log], None]], tmp_path: Path
) -> None:
    log = Log(tmp_path, *changes)

    parts = log.parts()

    assert offsets(parts) == list(range(log.next_offset))
    assert log.notes == []


def test_existing_batches_of_a_followed_log_come_first(tmp_path: Path) -> None:
    log = Log(tmp_path, append)
    log.append(3)

    parts = log.parts()

    assert offsets(parts) == [0, 1, 2, 3]
    assert [part.start for part in parts] == [0, parts[0].stop]


def test_following_starts_at_any_batch(tmp_path: Path) -> None:
    log = Log(tmp_path, append)
    log.append()
    start = log.path.stat().st_size
    log.append()

    assert offsets(log.parts(start)) == [1, 2]


def test_large_log_comes_in_parts(tmp_path: Path) -> None:
    log = Log(tmp_path)
    for number in range(20):
        log.write(batch_bytes([Record(number, 0, None, bytes(1 << 20))]))

    parts = log.parts()

    assert len(parts) == 3
    assert offsets(parts) == list(range(20))


@pytest.mark.parametrize("cut", [1, 11, 12, 40, 61, 68])
def test_batch_is_read_when_it_is_whole(cut: int, tmp_path: Path) -> None:
    log = Log(tmp_path)
    data = log.batch()
    changes = [lambda log: log.write(data[:cut]), nothing, lambda log: log.write(data[cut:])]
    log = Log(tmp_path, *changes)

    parts = log.parts()

    assert [(part.start, part.stop) for part in parts] == [(0, len(data))]
    assert log.waits == 4


def test_batch_whose_bytes_are_not_all_written_is_waited_for(tmp_path: Path) -> None:
    """The file has its final size, and ends with zeros."""
    log = Log(tmp_path)
    first, data = log.batch(), log.batch()

    def fill(log: Log) -> None:
        with log.path.open("r+b") as file:
            file.seek(len(first))
            file.write(data)

    log = Log(tmp_path, lambda log: log.write(first + data[:65] + bytes(len(data) - 65)), fill)

    assert offsets(log.parts()) == [0, 1]
    assert log.waits == 3


def test_space_that_is_set_aside_is_no_batch(tmp_path: Path) -> None:
    """As with `log.preallocate`."""
    log = Log(tmp_path)
    data = log.batch()

    def fill(log: Log) -> None:
        with log.path.open("r+b") as file:
            file.write(data)

    log = Log(tmp_path, lambda log: log.write(bytes(5000)), fill)

    assert offsets(log.parts()) == [0]
    assert log.notes == []


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_of_older_formats_are_followed(magic: int, tmp_path: Path) -> None:
    log = Log(tmp_path, lambda log: log.write(message_bytes(Record(0, 5, None, b""), magic)))

    assert offsets(log.parts()) == [0]


def test_damage_at_the_end_of_a_segment_is_a_part(tmp_path: Path) -> None:
    log = Log(
        tmp_path, both(append, lambda log: log.write(b"garbage"), nothing), both(roll, append)
    )

    parts = log.parts()

    assert offsets(parts) == [0, None, 1]
    assert parts[1].is_last


def test_batch_with_a_wrong_checksum_is_read_when_the_segment_is_rolled(tmp_path: Path) -> None:
    log = Log(tmp_path)
    data = log.batch()
    log = Log(tmp_path, lambda log: log.write(data[:-2] + b"X\0"), nothing, both(roll, append))

    assert len(offsets(log.parts())) == 2


def test_log_that_is_cut_goes_on_from_there(tmp_path: Path) -> None:
    """As a follower's log after the election of a new leader."""

    def cut(log: Log) -> None:
        os.truncate(log.path, log.path.stat().st_size // 2)
        log.next_offset = 1

    log = Log(tmp_path, append, append, cut, append)

    assert offsets(log.parts()) == [0, 1, 1]
    assert len(log.notes) == 1
    assert "it was cut from " in log.notes[0]


def test_segment_that_is_renamed_to_be_deleted_is_read_to_its_end(tmp_path: Path) -> None:
    def retire(log: Log) -> None:
        old = log.path
        log.append()
        log.roll()
        old.rename(f"{old}.deleted")
        log.append()

    log = Log(tmp_path, append, retire)
    found: list[int | None] = []

    with suppress(Enough):
        for part in follow(str(log.path), log.wait, log.notes.append):
            found += offsets([part])

    assert found == [0, 1, 2]


def test_segment_that_is_gone_is_an_error(tmp_path: Path) -> None:
    log = Log(tmp_path, append, lambda log: log.path.unlink())

    with pytest.raises(SourceError, match="No such file"):
        for _ in follow(str(log.path), log.wait, log.notes.append):
            pass


def test_next_segment_is_the_nearest_later_one(tmp_path: Path) -> None:
    names = ["00.log", "05.log", "07.log", "06.log.gz", "06.index", "06.log.deleted", "06.log.swap"]
    for name in names:
        (tmp_path / name).touch()

    assert next_segment(str(tmp_path / "05.log")) == str(tmp_path / "07.log")
    assert next_segment(str(tmp_path / "07.log")) is None
    assert next_segment(str(tmp_path / "06.index")) is None
