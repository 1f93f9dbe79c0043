"""Workers count splits, and the driver merges the counts by log."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kraftops.dump.summary.logs import Log
from kraftops.log.batch import Record
from kraftops.log.ranges import ByteRange
from kraftops.query.query import Query
from kraftops.spark.dump import count_job
from kraftops.spark.dump.count_job import Counted, CountWork, count
from kraftops.spark.jobs.planning import LabelledRange, Split
from tests.helpers.logs.summaries import as_json
from tests.helpers.logs.written import batch_bytes

NONE: frozenset[Log] = frozenset()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of two batches of one record each."""
    path = tmp_path / "0.log"
    path.write_bytes(b"".join(batch_bytes([Record(n, 0, None, b"v")]) for n in range(2)))
    return path


def split(number: int, *ranges: LabelledRange) -> Split:
    return Split(number, ranges, 0)


def halves(path: Path) -> tuple[ByteRange, ByteRange]:
    middle = path.stat().st_size // 2
    return ByteRange(str(path), 0, middle), ByteRange(str(path), middle, 2 * middle)


def loose(log: Path) -> Log:
    """Return the log of a file in a directory without the name of a topic."""
    return Log("user", directory=str(log.parent))


def records(counted: Counted) -> dict[Any, int]:
    return {log: summary.records.count for log, summary in counted.summaries.items()}


def test_ranges_of_a_log_are_counted_together(log: Path) -> None:
    first, second = halves(log)
    splits = [split(0, LabelledRange(first), LabelledRange(second)), split(1, LabelledRange(first))]

    counts = list(CountWork(Query(decoder="user"), 1, NONE)(splits))

    assert [records(one) for one in counts] == [
        {loose(log): 2},
        {loose(log): 1},
    ]


def test_logs_are_counted_apart_by_decoder_topic_and_partition(log: Path) -> None:
    part = ByteRange(str(log))
    ranges = [
        LabelledRange(part, "user", "t", 0),
        LabelledRange(part, "user", "t", 1),
        LabelledRange(part, "metadata", "t", 0),
    ]

    (counted,) = CountWork(Query(), 1, NONE)([split(0, *ranges)])

    assert [one[:3] for one in counted.summaries] == [
        ("user", "t", 0),
        ("user", "t", 1),
        ("metadata", "t", 0),
    ]
    assert set(records(counted).values()) == {2}


def test_unreadable_file_is_a_refusal_and_the_others_are_counted(log: Path) -> None:
    missing = LabelledRange(ByteRange(str(log.with_name("none.log"))))

    (counted,) = CountWork(Query(decoder="user"), 1, NONE)(
        [split(0, missing, LabelledRange(ByteRange(str(log))))]
    )

    assert list(records(counted).values()) == [2]
    assert len(counted.refusals) == 1
    assert "none.log" in counted.refusals[0]


def test_last_try_reports_damage_instead_of_reading(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count_job, "is_last_try", lambda tries: tries == 4)
    first, _ = halves(log)

    (counted,) = CountWork(Query(decoder="user"), 4, NONE)([split(0, LabelledRange(first))])

    assert list(records(counted).values()) == [0]
    (summary,) = counted.summaries.values()
    assert "its worker died at 3 tries" in str(as_json(summary.damage))


def test_driver_merges_the_counts_and_names_a_file_once(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(_: object, splits: Sequence[Split], work: CountWork, __: object) -> Iterator[Counted]:
        return work(splits)

    monkeypatch.setattr(count_job, "run_by_range", run)
    session: Any = SimpleNamespace(settings=SimpleNamespace(tries=1))
    missing = LabelledRange(ByteRange(str(log.with_name("none.log"))))
    first, second = map(LabelledRange, halves(log))

    splits = [split(0, first, missing), split(1, second, missing)]

    total = count(session, splits, Query(decoder="user"), frozenset({loose(log)}))

    assert records(total) == {loose(log): 2}
    assert total.summaries[loose(log)].tops is not None
    assert len(total.refusals) == 1
