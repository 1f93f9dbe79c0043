"""A task of a dump writes a part, and reports a limited number of findings."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from kraftops.fileio.output import OutputError
from kraftops.log.batch import Record
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops.spark.dump import dump_task
from kraftops.spark.dump.dump_task import DumpWork, WrittenPart
from kraftops.spark.dump.targets import Target
from kraftops.spark.jobs.planning import LabelledRange, Split
from tests.helpers.logs.segments import patched, resealed
from tests.helpers.logs.written import batch_bytes

ATTEMPT = 17
GOOD = batch_bytes([Record(0, 0, None, b"v")])
DAMAGED = resealed(patched(GOOD, 57, (2).to_bytes(4)))


class Task:
    """A task in a directory."""

    def __init__(self, folder: Path, query: Query, tries: int = 1) -> None:
        self.folder = folder / "out"
        self.folder.mkdir()
        target = Target(str(self.folder), str(self.folder), "run")
        self._work = DumpWork(query, target, tries)

    def dump(self, *paths: Path, decoder: str | None = None) -> WrittenPart:
        ranges = tuple(LabelledRange(ByteRange(str(path)), decoder) for path in paths)
        (found,) = self._work([Split(1, ranges, 0)])
        return found

    def text(self, part: WrittenPart) -> str:
        return (self.folder / part.name).read_text()


@pytest.fixture(autouse=True)
def _in_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark = pytest.importorskip("pyspark")
    context = SimpleNamespace(taskAttemptId=lambda: ATTEMPT, attemptNumber=lambda: 0)
    monkeypatch.setattr(pyspark.TaskContext, "get", lambda: context)


def log(folder: Path, *batches: bytes, name: str = "0.log") -> Path:
    path = folder / name
    path.write_bytes(b"".join(batches))
    return path


def lines_of(part: WrittenPart) -> list[str]:
    return [line for found in part.part_results for line in found.report.take_lines()]


@pytest.mark.parametrize("form", ["json", "csv"])
def test_part_has_the_rows_of_all_ranges(tmp_path: Path, form: str) -> None:
    first, second = log(tmp_path, GOOD, GOOD), log(tmp_path, GOOD, name="1.log")
    task = Task(tmp_path, Query(decoder="user", form=form))

    part = task.dump(first, second)

    assert (part.number, part.records) == (1, 3)
    assert part.name == f"part-00001-run-{ATTEMPT}.{form}"
    assert len(task.text(part).splitlines()) == 3 + (form == "csv")
    assert lines_of(part) == []


def test_parquet_part_counts_rows(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    task = Task(tmp_path, Query(form="parquet"))

    part = task.dump(log(tmp_path, GOOD, GOOD), decoder="user")

    table = pq.read_table(task.folder / part.name)
    assert (part.records, table.column("kind").to_pylist()) == (2, ["user", "user"])


@pytest.mark.parametrize("form", ["text", "json", "parquet"])
def test_damage_has_its_lines(tmp_path: Path, form: str) -> None:
    task = Task(tmp_path, Query(decoder="user", deep_iteration=True, form=form))

    part = task.dump(log(tmp_path, DAMAGED, DAMAGED))

    assert len(lines_of(part)) == 2


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_unreadable_file_is_refused_and_the_next_one_written(tmp_path: Path, form: str) -> None:
    task = Task(tmp_path, Query(decoder="user", form=form))

    part = task.dump(tmp_path / "none.log", log(tmp_path, GOOD))

    assert part.records == 1
    assert sum(found.report.refused for found in part.part_results) == 1


def test_lines_about_damage_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump_task, "MOST_LINES", 3)
    task = Task(tmp_path, Query(decoder="user", form="json"))

    part = task.dump(log(tmp_path, *[DAMAGED] * 2), log(tmp_path, *[DAMAGED] * 3, name="1.log"))

    assert len(lines_of(part)) == 3
    assert part.more_lines == 2


@pytest.mark.parametrize("form", ["text", "json", "parquet"])
def test_last_try_writes_the_crash_instead_of_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr(dump_task, "is_last_try", lambda tries: tries == 4)
    path = log(tmp_path, GOOD)
    task = Task(tmp_path, Query(decoder="user", form=form), tries=4)

    part = task.dump(path)

    assert "its worker died at 3 tries" in lines_of(part)[0]
    if form == "text":
        assert task.text(part) == f"Dumping {path}\n"
    elif form == "json":
        assert json.loads(task.text(part))["kind"] == "damage"
    else:
        assert part.records == 1


def test_small_file_of_a_log_directory_is_a_json_object(tmp_path: Path) -> None:
    path = tmp_path / "meta.properties"
    path.write_text("version=1\nnode.id=3\n")
    task = Task(tmp_path, Query(form="json"))

    part = task.dump(path)

    assert json.loads(task.text(part))["file"] == str(path)
    assert part.records == 1


@pytest.mark.parametrize(("attempt", "is_told"), [(0, False), (2, True), (3, True)])
def test_part_that_cannot_be_written_is_no_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attempt: int, *, is_told: bool
) -> None:
    """Tries on a full disk would end in a last one, which says that a worker died."""
    pyspark = pytest.importorskip("pyspark")
    context = SimpleNamespace(attemptNumber=lambda: attempt, taskAttemptId=lambda: 7)
    monkeypatch.setattr(pyspark.TaskContext, "get", lambda: context)
    target = Target(str(tmp_path / "out"), str(tmp_path / "none"), "run")
    split = Split(0, (LabelledRange(ByteRange(str(tmp_path / "x.log"))),), 0)
    work = DumpWork(Query(), target, 4)

    if is_told:
        (part,) = work([split])
        assert part.failure.startswith(f"cannot write {tmp_path / 'out'}")
    else:
        with pytest.raises(OutputError, match="cannot write"):
            list(work([split]))
