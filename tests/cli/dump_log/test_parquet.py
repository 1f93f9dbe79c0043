"""Dumps into a Parquet file: all rows, the first or the last ones."""

from pathlib import Path
from typing import Any

import pytest

from kraftops.dump.report import Report
from kraftops.dump.sources.names import Source
from kraftops.fileio.output import OutputError
from kraftops.log.batch import Record
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops_cli.dump_log.parquet import LimitedBatches, run_parquet, write_parquet_file
from kraftops_cli.dump_log.plan import Plan, Run
from kraftops_cli.terminal.streams import Terminal
from tests.helpers.logs.written import batch_bytes

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
QUERY = Query(decoder="user", form="parquet")


def plan(folder: Path, *names: str, **limits: Any) -> Plan:
    sources = tuple(Source(str(folder / name), None, None, None, 0) for name in names)
    return Plan(sources=sources, query=QUERY, output=str(folder / "out.parquet"), jobs=1, **limits)


def write(folder: Path, name: str, first: int, count: int) -> None:
    records = [Record(first + at, 0, None, b"v") for at in range(count)]
    (folder / name).write_bytes(b"".join(batch_bytes([record]) for record in records))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with logs a, of offsets 0 to 2, and b, of offsets 3 to 5."""
    write(tmp_path, "a.log", 0, 3)
    write(tmp_path, "b.log", 3, 3)
    return tmp_path


def offsets(folder: Path) -> list[int]:
    table = pq.read_table(folder / "out.parquet")
    return list(table.column("offset").to_pylist())


def run(asked: Plan) -> tuple[int, Report]:
    report = Report()
    return run_parquet(Run(asked, Terminal("kafka-dump-log"), report)), report


@pytest.mark.parametrize(
    ("limits", "found"),
    [
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"limit": 4}, [0, 1, 2, 3]),
        ({"limit": 0}, []),
        ({"tail": 2}, [4, 5]),
        ({"tail": 9}, [0, 1, 2, 3, 4, 5]),
    ],
    ids=str,
)
def test_file_has_the_rows_of_the_limits(
    folder: Path, limits: dict[str, int], found: list[int]
) -> None:
    code, _ = run(plan(folder, "a.log", "b.log", **limits))

    assert (code, offsets(folder)) == (0, found)


def test_file_after_the_limit_is_not_opened(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = run(plan(folder, "a.log", "none.log", limit=3))

    assert (code, offsets(folder), report.refused) == (0, [0, 1, 2], 0)
    assert capsys.readouterr().err == ""


def test_unreadable_file_is_reported_and_the_next_one_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = run(plan(folder, "none.log", "b.log", limit=2))

    assert (code, offsets(folder), report.refused) == (1, [3, 4], 1)
    assert "none.log" in capsys.readouterr().err


def test_earlier_file_stays_when_the_dump_fails(folder: Path) -> None:
    asked = plan(folder, "a.log")
    (folder / "out.parquet").write_bytes(b"earlier")

    def failing() -> object:
        raise OutputError("no")
        yield

    with pytest.raises(OutputError):
        write_parquet_file(asked, failing())  # type: ignore[arg-type]

    assert (folder / "out.parquet").read_bytes() == b"earlier"


def test_limit_counts_over_all_ranges(folder: Path) -> None:
    asked = plan(folder, "a.log", "b.log", limit=4)
    limited = LimitedBatches(asked)
    counts = []
    for path in asked.paths:
        assert not limited.is_done
        batches = limited.batches(ByteRange(path), QUERY, Report())
        counts.append(sum(batch.num_rows for batch in batches))

    assert counts == [3, 1]
    assert limited.is_done
