"""Log files: opened, read in order and at positions, and closed."""

import os
from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops.log import reader
from kraftops.log.batch import Record
from kraftops.log.log_file import LogFile
from kraftops.log.reader import EndReason, LogEnd
from tests.helpers.logs.segments import batches_of
from tests.helpers.logs.written import batch_bytes, message_bytes

ONE = batch_bytes([Record(0, 10, b"k", b"first")])


TWO = batch_bytes([Record(1, 20, b"k", b"second"), Record(2, 30, None, bytes(300))])


LEGACY = message_bytes(Record(3, 40, b"k", b"third"), 1)


LOG = ONE + TWO + LEGACY


def test_file_is_read_from_a_batch_to_a_byte(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(LOG)
    with LogFile(str(path)) as log:
        assert log.size == len(LOG)
        assert list(log.batches()) == batches_of(LOG)
        assert [batch.data for batch in log.batches(len(ONE))] == [TWO, LEGACY]
        assert [batch.data for batch in log.batches(len(ONE), len(ONE + TWO))] == [TWO]
        assert [batch.data for batch in log.batches(0, 1 << 40)] == [ONE, TWO, LEGACY]
        assert list(log.batches(len(LOG))) == []


def test_bytes_are_read_at_a_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK", 3)
    path = tmp_path / "0.log"
    path.write_bytes(b"0123456789")
    with LogFile(str(path)) as log:
        assert log.read_at(2, 5) == b"23456"
        assert log.read_at(8, 5) == b"89"
        assert log.read_at(20, 5) == b""
        assert log.read_at(2, 0) == b""


def test_reading_goes_on_after_a_read_at_another_position(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "BLOCK", 100)
    path = tmp_path / "0.log"
    path.write_bytes(LOG * 20)
    found = []
    with LogFile(str(path)) as log:
        for batch in log.batches():
            found.append(batch.data[: batch.size])
            assert log.read_at(0, len(ONE)) == ONE

    assert found == [ONE, TWO, LEGACY] * 20


def test_file_is_closed_and_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(LOG)
    before = path.stat()

    with LogFile(str(path)) as log:
        list(log.batches())

    with pytest.raises(ValueError, match="closed"):
        log.read_at(0, 1)
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def test_bytes_appended_later_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(ONE)
    with LogFile(str(path)) as log:
        walk = log.batches()
        with path.open("ab") as more:
            more.write(TWO)

        assert [batch.data for batch in walk] == [ONE]
        assert walk.end == LogEnd(EndReason.END, len(ONE), 0)


def test_missing_file_is_an_error_with_its_name(tmp_path: Path) -> None:
    path = str(tmp_path / "0.log")

    with pytest.raises(SourceError) as caught:
        LogFile(path)

    assert caught.value.message == f"cannot read {path}: No such file or directory"


def test_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="Is a directory"):
        LogFile(str(tmp_path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read all files")
def test_file_without_permission_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.touch(mode=0)

    with pytest.raises(SourceError, match="Permission denied"):
        LogFile(str(path))


def test_error_while_reading_is_an_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing disk shows only while reading."""
    path = tmp_path / "0.log"
    path.write_bytes(LOG)
    with LogFile(str(path)) as log:

        class FailingFile:
            def seek(self, _: int) -> None: ...

            def read(self, _: int) -> bytes:
                raise OSError(5, "Input/output error")

            def close(self) -> None: ...

        real = log._file
        monkeypatch.setattr(log, "_file", FailingFile())
        with pytest.raises(SourceError) as caught:
            list(log.batches())
        monkeypatch.setattr(log, "_file", real)

    assert caught.value.message == f"cannot read {path}: Input/output error"


HOLE = 64 << 20


def write_sparse(path: Path, last: bytes) -> int:
    """Write a log with a hole up to its last bytes, and return its size."""
    with path.open("wb") as file:
        file.write(ONE)
        file.seek(HOLE)
        file.write(last)
        file.truncate()
    if path.stat().st_blocks * 512 > HOLE // 2:
        pytest.skip("the file system makes no holes")
    return HOLE + len(last)


@pytest.mark.parametrize(
    ("last", "reason"), [(b"", EndReason.PADDING), (b"x", EndReason.BAD_LENGTH)]
)
def test_hole_is_not_read(
    last: bytes, reason: EndReason, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = write_sparse(tmp_path / "0.log", last)
    sizes = []
    read = LogFile._read

    def counted(log: LogFile, most: int) -> bytes:
        block = read(log, most)
        sizes.append(len(block))
        return block

    monkeypatch.setattr(LogFile, "_read", counted)
    with LogFile(str(tmp_path / "0.log")) as log:
        batches = log.batches()
        assert [batch.data for batch in batches] == [ONE]

    assert batches.end
    assert (batches.end.reason, batches.end.left) == (reason, size - len(ONE))
    assert sum(sizes) <= reader.BLOCK + 4096


def test_hole_of_a_file_that_shrinks_is_read_up_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    write_sparse(path, b"")
    with LogFile(str(path)) as log:
        batches = log.batches()
        os.truncate(path, HOLE // 2)
        assert [batch.data for batch in batches] == [ONE]

    assert batches.lost == HOLE // 2
    assert batches.end
    assert batches.end.left == HOLE // 2 - len(ONE)
