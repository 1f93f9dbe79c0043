"""Logs from standard input and from archives."""

import gzip
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from threading import Thread
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import SourceError
from kraftops.log import reader, streams
from kraftops.log.batch import Batch
from kraftops.log.damage.salvage import Gap, salvaged
from kraftops.log.log_file import LogFile
from kraftops.log.reader import EndReason, LogEnd, LogReader
from kraftops.log.streams import LogStream, open_log
from tests.helpers.logs.archived_logs import BATCHES, FILES, LOG, NOISE, PACKERS, each_archive
from tests.helpers.logs.segments import batches_of, patched, reader_of


def cut_source(data: bytes, sizes: list[int]) -> Callable[[int], bytes]:
    """Return a function that reads on in *data*, in blocks of these sizes over and over."""
    stream, most = io.BytesIO(data), cycle(sizes)
    return lambda size: stream.read(min(size, next(most)))


def walk(path: Path, start: int = 0, stop: int | None = None) -> tuple[list[Batch], LogEnd]:
    """Return the batches of a log that is no plain file, and how it ends."""
    with open_log(str(path)) as log:
        assert isinstance(log, LogStream)
        batches = log.batches(start, stop)
        found = list(batches)
    assert batches.end
    assert batches.lost == 0
    return found, batches.end


@pytest.fixture
def packed(tmp_path: Path) -> Callable[[bytes, str], Path]:
    """A function that writes what an archive is to hold."""

    def write(raw: bytes, ending: str) -> Path:
        path = tmp_path / f"00000000000000000000.log{ending}"
        path.write_bytes(raw)
        return path

    return write


# An end that nobody knows


@given(
    name=st.sampled_from(sorted(FILES)),
    cut=st.integers(0, 5_000),
    sizes=st.lists(st.integers(1, 5_000), min_size=1),
    largest=st.sampled_from([100, 1 << 28]),
)
def test_stream_has_the_batches_and_the_end_of_the_file(
    name: str, cut: int, sizes: list[int], largest: int
) -> None:
    """Wherever the file is cut, and in whatever blocks it comes."""
    data = FILES[name][: -cut or None]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "LARGEST_BATCH", largest)
        of_file = LogReader(cut_source(data, sizes), 0, len(data))
        of_stream = LogReader(cut_source(data, sizes), 0, None)

        assert list(of_stream) == list(of_file)
    assert of_stream.end == of_file.end
    assert of_stream.lost == of_file.lost == 0


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(bytes(17), id="too few bytes"),
        pytest.param(bytes(3_000_000), id="zeros"),
        pytest.param(bytes(2_000_000) + b"\1" + bytes(1_000_000), id="zeros and something"),
        pytest.param(bytes(20) + b"text" * 500_000, id="a bad length"),
        pytest.param(BATCHES[0][:70], id="a part of a batch"),
        pytest.param(patched(BATCHES[0], 8, (1 << 30).to_bytes(4)) * 9, id="a length beyond all"),
    ],
)
def test_stream_ends_as_the_file_does(tail: bytes) -> None:
    of_file = reader_of(LOG + tail)
    of_stream = LogReader(cut_source(LOG + tail, [65_536]), 0, None)

    assert len(list(of_stream)) == len(list(of_file)) == len(BATCHES)
    assert of_stream.end == of_file.end
    assert of_stream.lost == 0


# Archives


# Damaged archives


@each_archive
def test_archive_that_inflates_beyond_all_measure_is_cut(
    ending: str, packed: Callable[[bytes, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """32 KB of zstd may hold a gigabyte of zeros, which a search for batches keeps on the disk."""
    monkeypatch.setattr(streams, "_ANY_RATIO_BYTES", 1 << 21)
    monkeypatch.setattr(streams, "MOST_RATIO", 1)
    path = packed(PACKERS[ending](LOG + bytes(3 << 20)), ending)

    found, end = walk(path)
    with LogStream(str(path)) as log, log.spooled() as spooled:
        size, damage = spooled.size, spooled.damage

    assert len(found) == len(BATCHES)
    assert (end.reason, end.detail) == (EndReason.DAMAGED_ARCHIVE, damage)
    assert damage == "it inflates to more than 2097152 bytes"
    assert size <= 1 << 21


def test_zeros_of_an_archive_take_no_disk(packed: Callable[[bytes, str], Path]) -> None:
    content = LOG + bytes(9 << 20) + LOG + bytes(5 << 20)
    path = packed(PACKERS[".gz"](content), ".gz")

    with LogStream(str(path)) as log, log.spooled() as spooled:
        kept = spooled.read_at(0, len(content) + 1)
        on_disk = os.fstat(spooled._file.fileno()).st_blocks * 512

    assert kept == content
    assert on_disk < 4 << 20


# Standard input


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], int]]:
    """A function that has standard input give these bytes, a few at a time, and returns its fd."""
    threads: list[Thread] = []
    opened: list[int] = []

    def give(data: bytes) -> int:
        reading, writing = os.pipe()

        def write() -> None:
            with open(writing, "wb", buffering=0) as out:
                for at in range(0, len(data), 5_000):
                    out.write(data[at : at + 5_000])
                    sleep(0.001)

        threads.append(Thread(target=write))
        threads[-1].start()
        opened.append(reading)
        monkeypatch.setattr(streams, "_STDIN_FD", reading)
        return reading

    yield give
    for thread in threads:
        thread.join(10)
    for fd in opened:
        os.close(fd)


def test_standard_input_has_the_batches_of_the_log(stdin: Callable[[bytes], int]) -> None:
    stdin(LOG + b"rest")

    found, end = walk(Path("-"))

    assert found == batches_of(LOG)
    assert end == LogEnd(EndReason.PARTIAL, len(LOG), 4)


def test_standard_input_that_does_not_wait_is_waited_for(stdin: Callable[[bytes], int]) -> None:
    os.set_blocking(stdin(LOG), False)

    assert walk(Path("-"))[0] == batches_of(LOG)


def test_standard_input_stays_open_and_is_read_once(stdin: Callable[[bytes], int]) -> None:
    fd = stdin(LOG)
    with open_log("-") as log:
        list(log.batches())
        with pytest.raises(SourceError, match="only once"):
            log.batches()

    assert os.read(fd, 1) == b""
    assert walk(Path("-")) == ([], LogEnd(EndReason.END, 0, 0))


def test_standard_input_is_read_from_a_batch_to_a_byte(stdin: Callable[[bytes], int]) -> None:
    stdin(LOG)
    start = len(BATCHES[0])

    found, end = walk(Path("-"), start, start + len(BATCHES[1]) + 7)

    assert [batch.data for batch in found] == [BATCHES[1]]
    assert end == LogEnd(EndReason.PARTIAL, start + len(BATCHES[1]), 7)


def test_standard_input_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_STDIN_FD", 999)

    with pytest.raises(SourceError, match="cannot read standard input: Bad file descriptor"):
        walk(Path("-"))


def test_standard_input_of_a_process_is_read() -> None:
    code = (
        "import sys; from kraftops.log.streams import open_log\n"
        "print(sum(1 for _ in open_log('-').batches()), sorted({'lzma', 'backports', 'compression',"
        "'select', 'gzip', 'cramjam'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], input=LOG, capture_output=True, check=True)

    assert done.stdout.decode() == f"{len(BATCHES)} []\n"


# Which is which


@pytest.mark.parametrize(
    ("name", "is_stream"),
    [
        ("0.log", False),
        ("0.checkpoint", False),
        ("0.gz.log", False),
        ("-.log", False),
        ("0.log.gz", True),
        ("0.checkpoint.zst", True),
        ("anything.xz", True),
    ],
)
def test_archives_are_known_by_their_ending(name: str, is_stream: bool, tmp_path: Path) -> None:
    path = tmp_path / name
    path.touch()

    with open_log(str(path)) as log:
        assert isinstance(log, LogStream) is is_stream
        assert log.path == str(path)
        assert (log.size is None) is is_stream


# Streams that are spooled


@each_archive
def test_spooled_archive_can_be_salvaged_like_its_log(
    ending: str, packed: Callable[[bytes, str], Path], tmp_path: Path
) -> None:
    damaged = LOG[:5_000] + NOISE + LOG[5_000:]
    plain = tmp_path / "1.log"
    plain.write_bytes(damaged)

    with LogFile(str(plain)) as log:
        expected = list(salvaged(log))
    with open_log(str(packed(PACKERS[ending](damaged), ending))) as stream:
        assert isinstance(stream, LogStream)
        with stream.spooled() as spooled:
            found = list(salvaged(spooled))

    assert found == expected
    assert any(isinstance(one, Gap) for one in found)
    assert not spooled.damage


def test_cut_archive_is_spooled_up_to_the_cut(packed: Callable[[bytes, str], Path]) -> None:
    path = packed(gzip.compress(LOG)[:-9], ".gz")

    with LogStream(str(path)) as stream, stream.spooled() as spooled:
        assert "cut short" in spooled.damage
        assert LOG.startswith(spooled.read_at(0, spooled.size))
        assert spooled.size > len(LOG) - 1_000


def test_standard_input_is_spooled_once_and_needs_room(
    stdin: Callable[[bytes], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin(LOG)
    with LogStream("-") as stream:
        with stream.spooled() as spooled:
            assert spooled.read_at(100, len(LOG)) == LOG[100:]
        with pytest.raises(SourceError, match="only once"):
            stream.spooled()

    def full(**_: object) -> io.FileIO:
        return open("/dev/full", "wb", buffering=0)

    stdin(LOG)
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with LogStream("-") as stream, pytest.raises(SourceError) as caught:
        stream.spooled()
    assert caught.value.message == (
        "cannot keep standard input to salvage it: No space left on device"
    )
