"""Workers that crash: the next try reads the split; a crash at every try is a row of damage."""

import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kraftops.dump.sources.names import Source
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.spark.dump import dump_job as dump_module
from kraftops.spark.dump.check_job import CheckWork
from kraftops.spark.dump.count_job import CountWork
from kraftops.spark.dump.count_job import count as count_splits
from kraftops.spark.dump.dump_job import Outcome, Output, dump
from kraftops.spark.dump.dump_task import DumpWork, WrittenPart
from kraftops.spark.jobs.planning import Split, plan_splits
from kraftops.spark.jobs.topic_ids import topic_ids
from kraftops.spark.session.session import Session
from tests.helpers.logs.corpus_rows import parsed
from tests.helpers.logs.segments import IN
from tests.helpers.spark.crash_folder import CRASH_FOLDER

LOG = str(IN / "meta/00000000000000000000.log")
CRASHING_SPLIT = 2

pytestmark = pytest.mark.spark


def tries() -> int:
    """Return how often the task was tried, in a worker."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.attemptNumber()


@dataclass(frozen=True)
class CrashingOnce(DumpWork):
    """Task that kills its worker in the middle of a split, in the first *crashes* tries."""

    crashes: int = 1

    def _write(self, split: Split, attempt: int, *, is_last: bool) -> WrittenPart:
        if split.number == CRASHING_SPLIT and not is_last and tries() < self.crashes:
            name = self.target.attempt_name("part-00002", ".txt", attempt)
            with self.target.writing(name) as file:
                file.write(b"half of it")
                file.flush()
                os.kill(os.getpid(), signal.SIGKILL)
        return DumpWork._write(self, split, attempt, is_last=is_last)


@dataclass(frozen=True)
class AlwaysCrashing(CrashingOnce):
    """Task that kills its worker at every try."""

    crashes: int = 1000


@dataclass(frozen=True)
class CrashingInFolder(DumpWork):
    """Task that kills its worker at a file in `CRASH_FOLDER`."""

    def _write(self, split: Split, attempt: int, *, is_last: bool) -> WrittenPart:
        if not is_last and any(CRASH_FOLDER in labelled.range.path for labelled in split.ranges):
            os.kill(os.getpid(), signal.SIGKILL)
        return DumpWork._write(self, split, attempt, is_last=is_last)


@dataclass(frozen=True)
class CrashingCheck(CheckWork):
    """Task that kills its worker at a file in `CRASH_FOLDER`."""

    def __call__(self, splits: Iterable[Split]) -> Iterator[object]:  # type: ignore[override]
        for split in splits:
            names = [labelled.range.path for labelled in split.ranges]
            if tries() < self.tries - 1 and any(CRASH_FOLDER in name for name in names):
                os.kill(os.getpid(), signal.SIGKILL)
            yield from CheckWork.__call__(self, [split])


@dataclass(frozen=True)
class CrashingCount(CountWork):
    """Task that kills its worker at a file in `CRASH_FOLDER`."""

    def __call__(self, splits: Iterable[Split]) -> Iterator[object]:  # type: ignore[override]
        for split in splits:
            names = [labelled.range.path for labelled in split.ranges]
            if tries() < self.tries - 1 and any(CRASH_FOLDER in name for name in names):
                os.kill(os.getpid(), signal.SIGKILL)
            yield from CountWork.__call__(self, [split])


def splits_of(path: str) -> list[Split]:
    """Return a few splits."""
    return plan_splits([Source(path, "metadata", None, None, 0)], 2, size=4000)


def run(
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    work: type[DumpWork],
    output: Path,
    form: str = "text",
) -> Outcome:
    """Dump with other work than usual."""
    monkeypatch.setattr(dump_module, "DumpWork", work)
    query = Query(decoder="metadata", deep_iteration=True, form=form)
    return dump(session, [splits_of(LOG)], query, Output(str(output)))


@pytest.mark.long
def test_split_that_crashes_once_is_tried_again(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run(session, monkeypatch, DumpWork, tmp_path / "whole")

    outcome = run(session, monkeypatch, CrashingOnce, tmp_path / "out")

    names = sorted(os.listdir(tmp_path / "whole"))
    assert sorted(os.listdir(tmp_path / "out")) == names
    for name in names:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not outcome.report.has_failed
    assert os.listdir(tmp_path) in (["whole", "out"], ["out", "whole"])


def test_split_that_crashes_at_every_try_is_a_row_of_damage(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run(session, monkeypatch, DumpWork, tmp_path / "whole", "json")

    outcome = run(session, monkeypatch, AlwaysCrashing, tmp_path / "out", "json")

    crashing = splits_of(LOG)[CRASHING_SPLIT].ranges[0].range
    damage = parsed((tmp_path / "out/part-00002.json").read_text())
    assert [(row["kind"], row["file"], row["position"]) for row in damage] == [
        ("damage", LOG, crashing.start)
    ]
    assert (
        f"up to position {crashing.stop} was not read: its worker died at 3 tries"
        in damage[0]["error"]
    )
    assert outcome.damaged == 1
    assert outcome.report.has_failed
    assert outcome.lines == [f"{LOG}: {damage[0]['error']}"]
    for name in os.listdir(tmp_path / "whole"):
        if name != "part-00002.json":
            assert (tmp_path / "out" / name).read_bytes() == (
                tmp_path / "whole" / name
            ).read_bytes()


def packed(tmp_path: Path) -> list[Split]:
    """Return splits of small files; one in the middle kills its reader."""
    names = [f"{number}/00000000000000000000.log" for number in (0, 1, CRASH_FOLDER, 3, 4)]
    for name in names:
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(Path(LOG).read_bytes())
    sources = [Source(str(tmp_path / name), "metadata", None, None, 0) for name in names]
    splits = plan_splits(sources, 2, size=310_000)
    assert [len(split.ranges) for split in splits] == [3, 2]
    return splits


@pytest.mark.parametrize(
    "form", [*(pytest.param(form, marks=pytest.mark.long) for form in ("text", "csv")), "parquet"]
)
def test_other_files_of_a_split_are_read_when_one_crashes(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: str
) -> None:
    splits = packed(tmp_path)
    query = Query(decoder="metadata", deep_iteration=True, form=form)
    path = splits[0].ranges[2].range.path
    dump(session, [splits], query, Output(str(tmp_path / "whole")))
    monkeypatch.setattr(dump_module, "DumpWork", CrashingInFolder)

    outcome = dump(session, [splits], query, Output(str(tmp_path / "out")))

    names = sorted(os.listdir(tmp_path / "whole"))
    assert sorted(os.listdir(tmp_path / "out")) == names
    lost = []
    for name in names:
        found, expected = records(tmp_path / "out" / name), records(tmp_path / "whole" / name)
        lost += [one for one in found if path in one]
        assert [one for one in found if path not in one] == [
            one for one in expected if path not in one
        ]
    assert len(lost) == 1
    assert lost == [f"{path}\n"] if form == "text" else "its worker died at 3 tries" in lost[0]
    assert outcome.damaged == 1
    assert outcome.lines == [
        f"{path}: position 0: what is here up to the end was not read: its worker died at 3 tries"
    ]


def records(path: Path) -> list[str]:
    """Return the records of a part as texts; in text, the block of each file."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return [str(row) for row in pq.read_table(path).to_pylist()]
    text = path.read_text()
    return text.split("Dumping ")[1:] if path.suffix == ".txt" else text.splitlines()


@pytest.mark.long
def test_table_has_the_other_files_when_one_crashes(session: Session, tmp_path: Path) -> None:
    from tests.helpers.spark.crashing_source import CrashingSource

    splits = packed(tmp_path)
    paths = [labelled.range.path for split in splits for labelled in split.ranges]
    session.spark.dataSource.register(CrashingSource)
    options = {"decoder": "metadata", "splitBytes": "310000", "tries": "4"}
    whole = session.spark.read.format("kraftops").options(**options).load(paths).collect()

    found = session.spark.read.format("crashing").options(**options).load(paths).collect()

    crashing = splits[0].ranges[2].range.path
    (lost,) = [row for row in found if row.file == crashing]
    assert (lost.kind, lost.position) == ("damage", 0)
    assert "its worker died at 3 tries" in lost.error
    assert [row for row in found if row.file != crashing] == [
        row for row in whole if row.file != crashing
    ]


@pytest.mark.long
def test_topic_ids_are_found_in_the_other_files(session: Session, tmp_path: Path) -> None:
    from tests.helpers.spark.crashing_source import with_crash

    splits = packed(tmp_path)
    query = Query(decoder="metadata", filter=Filter(topics=frozenset({"a.gzip"})))
    whole = topic_ids(session, splits, query)

    found = topic_ids(session, list(map(with_crash, splits)), query)

    assert found == whole
    assert found.topic_ids


def test_check_reads_the_other_files_when_one_crashes(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from kraftops.spark.dump import check_job as checking

    splits = packed(tmp_path)
    other = tmp_path / "3/00000000000000000000.log"
    other.write_bytes(other.read_bytes()[:-5])
    monkeypatch.setattr(checking, "CheckWork", CrashingCheck)

    found = checking.check(session, [splits], Query(decoder="metadata", check=True))

    crashing = splits[0].ranges[2].range.path
    assert [(row.file, "its worker died" in str(row.error)) for row in found.rows] == [
        (crashing, True),
        (str(other), False),
    ]


def test_summary_counts_the_other_files_when_one_crashes(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from kraftops.spark.dump import count_job as counting

    splits, query = packed(tmp_path), Query(decoder="metadata")
    before = count_splits(session, splits, query, frozenset()).summaries.values()
    whole = sum(summary.records.count for summary in before)
    monkeypatch.setattr(counting, "CountWork", CrashingCount)

    found = count_splits(session, splits, query, frozenset())

    summaries = found.summaries.values()
    assert sum(summary.damage.count for summary in summaries) == 1
    assert sum(summary.records.count for summary in summaries) * 5 == whole * 4
