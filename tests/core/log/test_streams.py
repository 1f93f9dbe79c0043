"""Logs from standard input and from archives."""

import gzip
import io
import lzma
import os
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from threading import Thread
from time import sleep
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import SourceError
from kraftops.log import reader, streams
from kraftops.log.archives import inflated_blocks
from kraftops.log.batch import Batch, Record, batch_bytes
from kraftops.log.codecs import compress
from kraftops.log.log_file import LogFile
from kraftops.log.reader import BLOCK, EndReason, LogEnd, LogReader
from kraftops.log.salvage import Gap, salvaged
from kraftops.log.streams import LogStream, open_log
from tests.helpers.logs.segments import IN, batches_of, patched, reader_of

ZSTD = 4
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": lambda data: compress(ZSTD, data),
    ".xz": lzma.compress,
}
each_archive = pytest.mark.parametrize("ending", PACKERS)
BATCHES = [batch_bytes([Record(n, n * 10, b"key", bytes(range(n, n + 40)))]) for n in range(200)]
LOG = b"".join(BATCHES)
NOISE = random.Random(1).randbytes(2_000)
FILES = {
    "/".join(path.parts[-2:]): path.read_bytes()
    for pattern in ("craft/m*/*.log", "dmg/*/*.log", "user/lz4/*.log", "snap/*.log")
    for path in sorted(IN.glob(pattern))
}
"""Real logs and damaged ones."""


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


@each_archive
@given(
    name=st.sampled_from(sorted(FILES)),
    cuts=st.lists(st.integers(0, 20_000), max_size=3).map(sorted),
    padding=st.sampled_from([0, 1, 4, 512]),
)
def test_archive_has_the_batches_of_the_log(
    ending: str, name: str, cuts: list[int], padding: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of one member or frame or several, empty ones too, with or without padding."""
    data, pack = FILES[name], PACKERS[ending]
    members = [pack(data[a:b]) for a, b in zip([0, *cuts], [*cuts, None], strict=True)]
    path = tmp_path_factory.mktemp("archive") / f"0.log{ending}"
    path.write_bytes(bytes(padding).join(members) + bytes(padding))

    found, end = walk(path)

    of_file = reader_of(data)
    assert found == list(of_file)
    assert end == of_file.end


@each_archive
@pytest.mark.parametrize("start", [0, len(BATCHES[0]), len(LOG), len(LOG) + 5])
@pytest.mark.parametrize("stop", [None, 0, 1, 150, 12_000, len(LOG), 1 << 40])
def test_archive_is_read_from_a_batch_to_a_byte_of_the_log(
    ending: str, start: int, stop: int | None, packed: Callable[[bytes, str], Path], tmp_path: Path
) -> None:
    path = packed(PACKERS[ending](LOG), ending)
    (tmp_path / "plain.log").write_bytes(LOG)
    with LogFile(str(tmp_path / "plain.log")) as log:
        expected = list(log.batches(start, stop))

    assert walk(path, start, stop)[0] == expected


@each_archive
def test_archive_may_be_walked_again(ending: str, packed: Callable[[bytes, str], Path]) -> None:
    with LogStream(str(packed(PACKERS[ending](LOG), ending))) as log:
        assert next(iter(log.batches())).data == BATCHES[0]
        assert [batch.data for batch in log.batches()] == BATCHES


def test_skippable_frame_of_zstd_is_skipped(packed: Callable[[bytes, str], Path]) -> None:
    """Parallel compressors write them."""
    skippable = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"
    frame = PACKERS[".zst"](LOG)

    found, end = walk(packed(skippable + frame + skippable, ".zst"))

    assert found == batches_of(LOG)
    assert end.reason is EndReason.END


@each_archive
def test_archive_is_inflated_in_bounded_blocks(
    ending: str, packed: Callable[[bytes, str], Path]
) -> None:
    size = 40 * BLOCK
    path = packed(PACKERS[ending](bytes(size)), ending)
    tracemalloc.start()
    try:
        with LogFile(str(path)) as file:
            sizes = [len(block) for block in inflated_blocks(file, ending)]
        found, end = walk(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert sum(sizes) == size
    assert 0 < min(sizes) <= max(sizes) <= BLOCK
    assert (found, end.reason, end.left) == ([], EndReason.PADDING, size)
    assert peak < 20 * BLOCK  # of which xz takes 8 for itself


# Damaged archives


@each_archive
@given(cut=st.integers(0, 10_000), spare=st.integers(0, 50))
def test_archive_that_is_cut_short_gives_what_is_there(
    ending: str, cut: int, spare: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = PACKERS[ending](LOG[:7_000]) + PACKERS[ending](LOG[7_000:])
    size = max(0, len(whole) - 1 - (spare or cut))
    path = tmp_path_factory.mktemp("cut") / f"0.log{ending}"
    path.write_bytes(whole[:size])

    found, end = walk(path)

    assert found == batches_of(LOG)[: len(found)]
    if size == len(PACKERS[ending](LOG[:7_000])):
        assert end.reason is EndReason.PARTIAL
        return
    assert (end.reason, end.position) == (EndReason.DAMAGED_ARCHIVE, sum(b.size for b in found))
    assert f"byte {size} of the archive: " in end.detail
    assert end.detail.endswith("cut short")


def test_gzip_that_is_cut_short_gives_all_that_zlib_has_of_it(
    packed: Callable[[bytes, str], Path],
) -> None:
    whole = gzip.compress(LOG)

    found, end = walk(packed(whole[:-9], ".gz"))

    assert found == batches_of(LOG)
    assert (end.reason, end.left) == (EndReason.DAMAGED_ARCHIVE, 0)


@each_archive
@given(at=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_what_lies_before_damage_in_an_archive_is_read(
    ending: str, at: int, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """All the batches, and more, that the bytes before the damage alone would give."""
    path = tmp_path_factory.mktemp("damaged") / f"0.log{ending}"
    raw = bytearray(PACKERS[ending](LOG[:7_000]) + PACKERS[ending](LOG[7_000:]))
    at %= len(raw)
    path.write_bytes(raw[:at])
    before, _ = walk(path)
    raw[at] ^= 1 << bit
    path.write_bytes(raw)

    found, _ = walk(path)

    assert found[: len(before)] == before


@each_archive
def test_damage_far_into_an_archive_costs_nothing_before_it(
    ending: str, packed: Callable[[bytes, str], Path]
) -> None:
    """Not even what is inflated together with it."""
    batches = [
        batch_bytes([Record(n, 0, None, NOISE[n : n + 1_000] + bytes(20_000))]) for n in range(300)
    ]
    raw = b"".join(PACKERS[ending](batch) for batch in batches)

    found, end = walk(packed(raw + b"no archive at all", ending))

    assert [batch.data for batch in found] == batches
    assert (end.reason, end.left) == (EndReason.DAMAGED_ARCHIVE, 0)
    assert int(end.detail.split()[1]) in range(len(raw), len(raw) + 12)


@each_archive
@pytest.mark.parametrize(
    "raw",
    [pytest.param(b"", id="nothing"), pytest.param(LOG, id="a log"), pytest.param(b"PK", id="zip")],
)
def test_file_that_is_no_archive_has_no_batches(
    ending: str, raw: bytes, packed: Callable[[bytes, str], Path]
) -> None:
    found, end = walk(packed(raw, ending))

    assert found == []
    assert (end.reason, end.position, end.left) == (EndReason.DAMAGED_ARCHIVE, 0, 0)


def test_damage_of_the_log_before_that_of_its_archive_is_the_end(
    packed: Callable[[bytes, str], Path],
) -> None:
    """Both are told."""
    raw = gzip.compress(BATCHES[0] + bytes(8) + b"\xff" * 100)

    found, end = walk(packed(raw[:-3], ".gz"))

    assert len(found) == 1
    assert (end.reason, end.left) == (EndReason.BAD_LENGTH, 108)
    assert "a batch length of -1" in end.detail
    assert "cut short" in end.detail


def test_zeros_to_the_end_of_a_damaged_archive_are_no_padding(
    packed: Callable[[bytes, str], Path],
) -> None:
    raw = gzip.compress(BATCHES[0] + bytes(100))

    _, end = walk(packed(raw[:-3], ".gz"))

    assert (end.reason, end.left) == (EndReason.DAMAGED_ARCHIVE, 100)


def test_xz_that_wants_too_much_memory_is_refused(packed: Callable[[bytes, str], Path]) -> None:
    """Its dictionary is 1 GiB; a kilobyte can say so."""
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]
    raw = bytearray(lzma.compress(LOG, filters=filters))
    raw[16] = 36  # of the dictionary's size: 1 GiB
    raw[20:24] = crc32(raw[12:20]).to_bytes(4, "little")

    found, end = walk(packed(bytes(raw), ".xz"))

    assert found == []
    assert "Memory usage limit" in end.detail


@pytest.mark.parametrize("name", ["gone.log.gz", "directory.zst"])
def test_archive_that_cannot_be_opened_is_an_error_with_its_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "directory.zst").mkdir()

    with pytest.raises(SourceError, match=name):
        open_log(str(tmp_path / name))


def test_archive_that_cannot_be_read_is_an_error(
    packed: Callable[[bytes, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise SourceError("cannot read it: Input/output error")

    monkeypatch.setattr(LogFile, "read_at", fail)
    with (
        open_log(str(packed(gzip.compress(LOG), ".gz"))) as log,
        pytest.raises(SourceError, match="Input/output error"),
    ):
        list(log.batches())


def test_file_of_an_archive_is_closed(packed: Callable[[bytes, str], Path]) -> None:
    with open_log(str(packed(gzip.compress(LOG), ".gz"))) as log:
        pass

    with pytest.raises(ValueError, match="closed"):
        list(log.batches())


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
def test_archive_that_is_kept_can_be_salvaged_like_the_log_in_it(
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
