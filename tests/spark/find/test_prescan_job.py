"""The prescan cuts the files of a log, and reads the ranges one by one."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kraftops.image.load.sources import SourceFile
from kraftops.image.replay.limits import Limits
from kraftops.log.ranges import ByteRange
from kraftops.spark.find import prescan_job
from kraftops.spark.find.prescan_job import CutWork, PrescanWork, prescanned
from kraftops.spark.find.scan_job import SearchedLog, scan_log
from tests.helpers.engine.fold_records import U, partition, topic
from tests.helpers.logs.random_logs import log_batches, log_bytes

BATCHES = log_batches([topic()], [partition(), partition(1)], [topic(U, "b")])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log_bytes(BATCHES))
    return path


def session(size: int) -> Any:
    return SimpleNamespace(settings=SimpleNamespace(split_bytes=size))


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The inputs of tasks, which run in this process."""
    found: list[Any] = []

    def run(
        _: object, inputs: Sequence[Any], work: Callable[[Iterable[Any]], Any], *__: Any
    ) -> Any:
        found.extend(inputs)
        return work(inputs)

    monkeypatch.setattr(prescan_job, "run", run)
    monkeypatch.setattr(prescan_job, "runs_here", lambda *_: True)
    monkeypatch.setattr(prescan_job, "reading_whole_log", lambda *_: nullcontext())
    return found


def searched(path: Path) -> SearchedLog:
    return SearchedLog((str(path),), Limits(), "kafka")


def test_file_is_cut_between_batches(log: Path) -> None:
    (ranges,) = CutWork(1)([SourceFile(str(log))])

    ends = [sum(len(bytes(one)) for one in BATCHES[: end + 1]) for end in range(3)]
    assert [(part.start, part.stop) for part in ranges][:2] == [(0, ends[0]), (ends[0], ends[1])]
    assert ranges[-1].start == ends[1]


@pytest.mark.parametrize("name", ["-", "0.log.gz", "none.log"])
def test_file_that_cannot_be_cut_has_no_ranges(tmp_path: Path, name: str) -> None:
    path = name if name == "-" else str(tmp_path / name)

    assert list(CutWork(1)([SourceFile(path)])) == [[]]


def test_results_of_ranges_cover_the_file(log: Path, tasks: list[Any]) -> None:
    found = prescanned(session(1), searched(log), None)

    (results,) = found.values()
    assert list(found) == [str(log)]
    assert [part for part, _ in results] == [part for part, _ in tasks]
    assert all(scanned is not None for _, scanned in results)
    assert scan_log(searched(log), found) == scan_log(searched(log))


def test_log_of_a_single_range_is_not_prescanned(log: Path, tasks: list[Any]) -> None:
    assert prescanned(session(1 << 20), searched(log), None) == {}
    assert tasks == []


def test_damaged_range_has_no_result(log: Path) -> None:
    data = bytearray(log.read_bytes())
    data[-1] ^= 1
    log.write_bytes(data)
    middle = len(bytes(BATCHES[0]))
    ranges = [ByteRange(str(log), 0, middle), ByteRange(str(log), middle, len(data))]

    first, second = PrescanWork("kafka")((part, False) for part in ranges)

    assert first is not None
    assert (first.start, first.stop) == (0, middle)
    assert second is None
