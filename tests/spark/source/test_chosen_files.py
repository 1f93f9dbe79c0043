"""Files and offsets that are chosen by options of Spark's own sources."""

import json
from pathlib import Path
from typing import Any

import pytest

from kraftops.errors import KraftopsError
from kraftops.log.batch import Record
from kraftops.log.indexes import TimeEntry
from tests.helpers.logs.written import batch_bytes, time_index_bytes
from tests.helpers.spark.counting_store import counting_store
from tests.helpers.spark.streams import GrowingLog, Stream, table

pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

TIME = 1_700_000_000_000


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Partitions of two topics, one of them two directories below the other."""
    for folder, counts in {"orders-0": (3, 4), "east/disk1/orders-1": (5,)}.items():
        log = GrowingLog(tmp_path / folder)
        for number, count in enumerate(counts):
            if number:
                log.roll()
            log.append(count)
    return tmp_path


def offsets(rows: list[dict[str, Any]]) -> dict[int, list[int]]:
    by_partition: dict[int, list[int]] = {}
    for row in rows:
        by_partition.setdefault(row["partition"], []).append(row["offset"])
    return by_partition


@pytest.mark.parametrize("is_stream", [False, True])
def test_partitions_at_any_depth_are_read(archive: Path, *, is_stream: bool) -> None:
    options = {"recursiveFileLookup": "true"}
    path = str(archive)
    rows = Stream(path, options).step() if is_stream else table(path, **options)

    assert offsets(rows) == {0: [*range(7)], 1: [*range(5)]}
    assert offsets(table(f"{archive}/orders-0", **options)) == {0: [*range(7)]}
    assert offsets(table(path)) == {0: [*range(7)]}


def test_objects_at_any_depth_are_read(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = {str(path.relative_to(archive)): path.read_bytes() for path in archive.rglob("*.log")}
    with counting_store({f"a/{key}": content for key, content in objects.items()}) as store:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "test")
        monkeypatch.setenv("AWS_ENDPOINT_URL", store.url)
        rows = table(f"s3://deep-{store.url[-5:]}/a", recursiveFileLookup="true")

    assert offsets(rows) == {0: [*range(7)], 1: [*range(5)]}


@pytest.mark.parametrize("is_stream", [False, True])
def test_files_are_chosen_by_their_names(archive: Path, *, is_stream: bool) -> None:
    options = {"pathGlobFilter": "*3.log", "decoder": "user"}
    path = str(archive / "orders-0")
    rows = Stream(path, options).step() if is_stream else table(path, **options)

    assert offsets(rows) == {0: [3, 4, 5, 6]}


def limits(**offsets: int) -> str:
    return json.dumps({"orders": {name[1:]: offset for name, offset in offsets.items()}})


def test_partitions_have_their_own_limits(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {"recursiveFileLookup": "true", "startingOffsets": limits(p0=4)}

    rows = table(str(archive), **options, endingOffsets=limits(p0=6, p1=2))

    assert offsets(rows) == {0: [4, 5], 1: [0, 1]}
    assert "3 files, 2 read" in capsys.readouterr().err
    assert offsets(table(str(archive), **options)) == {0: [4, 5, 6], 1: [*range(5)]}
    assert offsets(table(str(archive), **options, offsets="..4")) == {0: [4], 1: [*range(5)]}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"endingOffsets": "earliest"}, "endingOffsets of a table cannot be earliest"),
        ({"startingOffsets": limits(p0=-1)}, "startingOffsets of a table cannot be latest"),
        ({"endingOffsets": "7"}, "endingOffsets is earliest, latest or "),
        ({"startingOffsetsByTimestamp": "{}"}, "an option of spark.readStream"),
    ],
)
def test_limits_that_mean_nothing_are_refused(
    archive: Path, options: dict[str, str], reason: str
) -> None:
    with pytest.raises(KraftopsError, match=reason):
        table(str(archive), **options)


def test_a_stream_has_no_end(archive: Path) -> None:
    with pytest.raises(KraftopsError, match=r"endingOffsets is an option of spark\.read,"):
        Stream(str(archive), {"endingOffsets": limits(p0=4)}).step()


class TestStartsByTime:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """Ten batches of ten records in two segments, a second between records."""
        folder = tmp_path / "orders-0"
        folder.mkdir()
        for base in (0, 50):
            path = folder / f"{base:020}.log"
            for start in range(base, base + 50, 10):
                records = [
                    Record(offset, TIME + offset * 1000, None, b"v")
                    for offset in range(start, start + 10)
                ]
                with path.open("ab") as file:
                    file.write(batch_bytes(records))
            newest = TimeEntry(TIME + (base + 49) * 1000, base + 49)
            path.with_suffix(".timeindex").write_bytes(time_index_bytes([newest], base))
        return folder

    @pytest.mark.parametrize("offset", [0, 7, 49, 50, 73, 99])
    @pytest.mark.parametrize("has_index", [True, False])
    def test_the_first_record_is_not_before_the_time(
        self, folder: Path, offset: int, *, has_index: bool
    ) -> None:
        if not has_index:
            for path in folder.glob("*.timeindex"):
                path.unlink()
        times = limits(p0=TIME + offset * 1000 - 400)
        stream = Stream(str(folder), {"startingOffsetsByTimestamp": times})

        assert stream.offsets() == [*range(offset, 100)]

    def test_a_time_after_the_end_is_the_end(self, folder: Path) -> None:
        times = limits(p0=TIME + 1_000_000)
        stream = Stream(str(folder), {"startingOffsetsByTimestamp": times})

        assert stream.offsets() == []
        with (folder / f"{50:020}.log").open("ab") as file:
            file.write(batch_bytes([Record(100, TIME, None, b"late")]))
        assert stream.offsets() == [100]
