"""Logs in archives, whole, damaged and cut short."""

import gzip
import lzma
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import SourceError
from kraftops.log.archives import inflated_blocks
from kraftops.log.batch import Batch, Record
from kraftops.log.log_file import LogFile
from kraftops.log.reader import BLOCK, EndReason, LogEnd
from kraftops.log.streams import LogStream, open_log
from tests.helpers.logs.archived_logs import BATCHES, FILES, LOG, NOISE, PACKERS, each_archive
from tests.helpers.logs.segments import batches_of, reader_of
from tests.helpers.logs.written import batch_bytes


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


@each_archive
@given(
    name=st.sampled_from(sorted(FILES)),
    cuts=st.lists(st.integers(0, 20_000), max_size=3).map(sorted),
    padding=st.sampled_from([0, 1, 4, 512]),
)
def test_archive_has_the_batches_of_the_log(
    ending: str, name: str, cuts: list[int], padding: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Archives of one or several members or frames, also empty ones, with or without padding."""
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
def test_archive_may_be_read_again(ending: str, packed: Callable[[bytes, str], Path]) -> None:
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


@each_archive
@given(cut=st.integers(0, 10_000), spare=st.integers(0, 50))
def test_cut_archive_is_read_up_to_the_cut(
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


def test_cut_gzip_is_read_as_far_as_zlib_reads_it(
    packed: Callable[[bytes, str], Path],
) -> None:
    whole = gzip.compress(LOG)

    found, end = walk(packed(whole[:-9], ".gz"))

    assert found == batches_of(LOG)
    assert (end.reason, end.left) == (EndReason.DAMAGED_ARCHIVE, 0)


@each_archive
@given(at=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_bytes_before_damage_in_an_archive_are_read(
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
