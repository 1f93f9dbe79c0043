"""The files of a log, and the plans to read them."""

from pathlib import Path

import pytest

from kraftops.errors import SourceError, UsageError
from kraftops.image.load.sources import SourceFile, files_of, read_plans, whole_log_plans
from kraftops.image.replay.limits import Limits
from tests.helpers.logs.metadata_logs import no_ops, snapshot_bytes


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Return a log from offset 0 to 5 with snapshots at 2 and 4."""
    for base, count in ((0, 3), (3, 3)):
        (tmp_path / f"{base:020}.log").write_bytes(no_ops(base, count))
    for end in (2, 4):
        (tmp_path / f"{end:020}-{1:010}.checkpoint").write_bytes(snapshot_bytes(end=1))
    return tmp_path


def shown(plan: list[SourceFile]) -> list[str]:
    return [
        f"snapshot {one.end_offset}" if one.is_snapshot else f"log {int(Path(one.path).stem)}"
        for one in plan
    ]


def test_plans_begin_with_the_newest_snapshot(directory: Path) -> None:
    plans = list(read_plans(files_of([str(directory)]), Limits()))

    assert [shown(plan) for plan, _ in plans] == [
        ["snapshot 4", "log 3"],
        ["snapshot 2", "log 0", "log 3"],
        ["log 0", "log 3"],
    ]
    assert [len(findings) for _, findings in plans] == [0, 1, 2]


def test_snapshot_beyond_the_limits_is_left_out(directory: Path) -> None:
    plans = list(read_plans(files_of([str(directory)]), Limits(until=2)))

    assert shown(plans[0][0])[0] == "snapshot 2"


def test_snapshot_that_ends_at_the_limit_is_read(directory: Path) -> None:
    plans = list(read_plans(files_of([str(directory)]), Limits(until=3)))

    assert shown(plans[0][0])[0] == "snapshot 4"


def test_whole_log_begins_with_its_first_record(directory: Path) -> None:
    assert list(map(shown, whole_log_plans(files_of([str(directory)])))) == [["log 0", "log 3"]]


def test_whole_log_without_its_beginning_begins_with_a_snapshot(directory: Path) -> None:
    (directory / f"{0:020}.log").unlink()

    assert shown(next(whole_log_plans(files_of([str(directory)])))) == ["snapshot 4", "log 3"]


def test_limits_before_all_files_are_refused(directory: Path) -> None:
    (directory / f"{0:020}.log").unlink()

    with pytest.raises(UsageError, match="is the oldest snapshot"):
        next(read_plans(files_of([str(directory)]), Limits(until=0)))


def test_missing_directory_is_an_error(tmp_path: Path) -> None:
    files = files_of([str(tmp_path)])
    assert (files.snapshots, files.segments, files.is_directory) == ((), (), True)

    (tmp_path / "__cluster_metadata-0").write_text("no directory")
    with pytest.raises(SourceError):
        files_of([str(tmp_path)])
