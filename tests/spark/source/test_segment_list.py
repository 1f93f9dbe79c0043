"""The list of `kraftops spark index`: less is read, and a stale list drops no row."""

import os
import pickle
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from kraftops.dump.sources.names import expand
from kraftops.log.batch import Record
from kraftops.log.remote import filesystem
from kraftops.memory import USUAL
from kraftops.spark.dump.list_job import write_list
from kraftops.spark.source.segment_list import LIST_NAME, read_list
from tests.helpers.logs.written import batch_bytes
from tests.helpers.spark.streams import GrowingLog, Stream, table
from tests.helpers.tools.console import KRAFTOPS, run_here

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")


class Session:
    """Stands for Spark: splits are counted here."""

    cores = 2

    class settings:  # noqa: N801
        split_bytes = None
        tries = 4


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count splits in this process; the paths that were read."""
    paths: list[str] = []

    def run(_: Any, splits: Iterable[Any], work: Any, __: Any) -> list[Any]:
        splits = list(splits)
        paths.extend(part.range.path for split in splits for part in split.ranges)
        return [*pickle.loads(pickle.dumps(work))(pickle.loads(pickle.dumps(splits)))]

    monkeypatch.setattr("kraftops.spark.dump.list_job.run_by_range", run)
    return paths


def index(base: str) -> int:
    return write_list(Session(), base, expand([base], from_start=True), USUAL, lambda _: None)  # type: ignore[arg-type]


@pytest.fixture
def log(tmp_path: Path) -> GrowingLog:
    """A log of three segments: offsets 0 to 8."""
    log = GrowingLog(tmp_path / "orders-0")
    for _ in range(3):
        log.append(3)
        log.roll()
    return log


def read_files(capfd: pytest.CaptureFixture[str], path: Path, **options: str) -> tuple[str, Any]:
    capfd.readouterr()
    rows = table(str(path), **options)
    return capfd.readouterr().err, [row["offset"] for row in rows]


def test_the_list_answers_ends_and_counts(log: GrowingLog) -> None:
    base = log.folder.parent

    assert index(str(base)) == 4

    import pyarrow.parquet as pq

    rows = pq.read_table(base / LIST_NAME).to_pylist()
    assert [(row["topic"], row["partition"], row["records"]) for row in rows] == [
        ("orders", 0, 3),
        ("orders", 0, 3),
        ("orders", 0, 3),
        ("orders", 0, 0),
    ]
    assert [row["lastOffset"] for row in rows] == [2, 5, 8, None]
    assert [row["file"] for row in rows] == [
        f"orders-0/{base_offset:020}.log" for base_offset in (0, 3, 6, 9)
    ]


def test_only_new_and_changed_segments_are_read_again(log: GrowingLog, counted: list[str]) -> None:
    base = str(log.folder.parent)
    index(base)
    counted.clear()
    assert index(base) == 0
    log.append(1)

    assert index(base) == 1
    assert counted == [str(log.path)]
    assert read_list(base)[str(log.path)].lastOffset == 9


def test_segments_without_matching_times_or_offsets_are_left_out(
    log: GrowingLog, capfd: pytest.CaptureFixture[str]
) -> None:
    base = log.folder.parent
    log.append(1)
    index(str(base))

    assert read_files(capfd, base, offsets="9..")[1] == [9]
    said, offsets = read_files(capfd, base, since="2023-11-14T22:13:20.002Z")
    assert "4 files, 3 read" in said
    assert offsets == [2, 5, 8]


def test_segments_after_the_last_time_are_left_out(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The header of a batch has the time of its first record, which may not be the least."""
    folder = tmp_path / "orders-0"
    folder.mkdir()
    for base, times in ((0, [5_000, 1_000]), (2, [9_000, 8_000])):
        records = [Record(base + index, time, None, b"v") for index, time in enumerate(times)]
        (folder / f"{base:020}.log").write_bytes(batch_bytes(records))
    index(str(tmp_path))

    said, offsets = read_files(capfd, tmp_path, until="1970-01-01T00:00:02Z")

    assert "2 files, 1 read" in said
    assert offsets == [1]


def test_a_stream_leaves_out_what_the_list_rules_out(
    log: GrowingLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    index(str(log.folder.parent))
    stream = Stream(str(log.folder.parent), {"since": "2024-01-01T00:00:00Z", "decoder": "user"})
    monkeypatch.setattr("kraftops.spark.jobs.range_process.scan_batches", None)

    assert stream.step() == []  # without reading


@pytest.mark.parametrize("keeps_time", [False, True])
def test_a_list_drops_no_row_of_a_segment_that_was_written_anew_with_the_same_size(
    log: GrowingLog, capfd: pytest.CaptureFixture[str], *, keeps_time: bool
) -> None:
    base, path = log.folder.parent, log.folder / f"{0:020}.log"
    index(str(base))
    since = "2024-01-01T00:00:00Z"
    assert read_files(capfd, base, since=since)[1] == []
    before = path.stat()
    records = [Record(n, 1_800_000_000_000, None, b"v%d" % n) for n in range(3)]
    new = batch_bytes(records, leader_epoch=1)
    assert len(new) == before.st_size
    path.write_bytes(new)
    if keeps_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert read_files(capfd, base, since=since)[1][:3] == [0, 1, 2]


def test_damage_is_read_whatever_the_list_says(
    log: GrowingLog, capfd: pytest.CaptureFixture[str]
) -> None:
    path = log.folder / f"{0:020}.log"
    path.write_bytes(path.read_bytes() + b"\x01" * 40)
    index(str(log.folder.parent))

    said, _ = read_files(capfd, log.folder.parent, since="2024-01-01T00:00:00Z")

    assert "4 files, 2 read" in said


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more"])
def test_a_list_that_cannot_be_read_drops_nothing(log: GrowingLog, content: bytes) -> None:
    base = log.folder.parent
    (base / LIST_NAME).write_bytes(content)

    assert len(table(str(base), since="2023-01-01T00:00:00Z")) == 9
    assert index(str(base)) == 4


def test_the_list_of_a_bucket_is_beside_its_objects(
    log: GrowingLog, store: str, capfd: pytest.CaptureFixture[str]
) -> None:
    prefix = f"{store}/listed"
    system, place = filesystem(f"{prefix}/orders-0")
    for file in log.folder.iterdir():
        with system.open_output_stream(f"{place}/{file.name}") as out:
            out.write(file.read_bytes())
    assert index(prefix) == 4
    assert index(prefix) == 0

    capfd.readouterr()
    assert table(prefix, since="2024-01-01T00:00:00Z") == []
    assert "4 files, 1 read" in capfd.readouterr().err


def test_the_command_says_how_many_segments_it_read(
    log: GrowingLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kraftops.spark.session.session.started", lambda _: nullcontext(Session()))
    log.append(1)

    runs = [run_here("spark", "index", str(log.folder.parent), program=KRAFTOPS) for _ in "12"]

    assert [run.code for run in runs] == [0, 0]
    assert "4 segments listed, 4 of them read" in runs[0].err
    assert "4 segments listed, 0 of them read" in runs[1].err


def test_the_command_refuses_a_path_without_a_log(tmp_path: Path) -> None:
    run = run_here("spark", "index", str(tmp_path), program=KRAFTOPS)

    assert run.code == 1
    assert "holds no log" in run.err
