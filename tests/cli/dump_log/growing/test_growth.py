"""Counts of logs that grow."""

from pathlib import Path

import pytest

from kraftops.dump.sources.names import Source
from kraftops.dump.summary.logs import fields_of
from kraftops.errors import UsageError
from kraftops.log.batch import Record
from kraftops.query.query import Query
from kraftops_cli.dump_log.growing.run import GrowingSummaries, last_segments
from kraftops_cli.dump_log.plan import Plan
from kraftops_cli.dump_log.summary import plan_readings
from tests.helpers.logs.written import batch_bytes


def append(directory: Path, first: int, count: int, segment: int = 0) -> None:
    directory.mkdir(exist_ok=True)
    with (directory / f"{segment:020}.log").open("ab") as file:
        file.write(batch_bytes([Record(first + n, 5000, None, b"v") for n in range(count)]))


def growing(notes: list[str], *paths: Path) -> GrowingSummaries:
    plan = Plan(
        sources=tuple(Source(str(path), None, None, None, 0) for path in paths), query=Query()
    )
    return GrowingSummaries(plan, last_segments(plan_readings(plan)), {}, notes.append)


def counts(found: GrowingSummaries) -> dict[str, int]:
    return {
        log.name: int(fields["records"]["count"])
        for log, fields in fields_of(found.summaries).items()
    }


def test_only_new_batches_are_counted_from_segment_to_segment(tmp_path: Path) -> None:
    one, two, notes = tmp_path / "a-0", tmp_path / "b-7", []
    append(one, 0, 10)
    append(two, 0, 3)
    found = growing(notes, *sorted(tmp_path.glob("*/*.log")))

    assert found.grow(60) == (True, False)
    assert counts(found) == {"a-0": 10, "b-7": 3}
    assert found.grow(60) == (False, False)

    append(one, 10, 5)
    append(one, 15, 5, segment=15)
    whole = batch_bytes([Record(20, 5000, None, b"v")])
    with (one / f"{15:020}.log").open("ab") as file:
        file.write(whole[:-1])
    assert found.grow(60) == (True, False)
    assert counts(found) == {"a-0": 20, "b-7": 3}
    with (one / f"{15:020}.log").open("ab") as file:
        file.write(whole[-1:])
    found.grow(60)
    assert counts(found) == {"a-0": 21, "b-7": 3}
    assert fields_of(found.summaries)[next(iter(found.summaries))]["segments"] == 2
    assert notes == []


def test_look_ends_in_time_and_the_next_one_goes_on(tmp_path: Path) -> None:
    for number in range(3):
        append(tmp_path / f"a-{number}", 0, 1)
    found = growing([], *sorted(tmp_path.glob("*/*.log")))

    assert [found.grow(0) for _ in range(4)] == [(True, True)] * 3 + [(False, False)]
    assert counts(found) == {"a-0": 1, "a-1": 1, "a-2": 1}


def test_log_that_is_deleted_keeps_its_counts(tmp_path: Path) -> None:
    notes: list[str] = []
    append(tmp_path / "a-0", 0, 4)
    append(tmp_path / "b-0", 0, 4)
    found = growing(notes, *sorted(tmp_path.glob("*/*.log")))
    found.grow(60)
    (tmp_path / "a-0" / f"{0:020}.log").unlink()
    append(tmp_path / "b-0", 4, 1)

    assert found.grow(60).has_grown
    assert found.grow(60) == (False, False)
    assert counts(found) == {"a-0": 4, "b-0": 5}
    assert len(notes) == 1
    assert str(tmp_path / "a-0") in notes[0]


@pytest.mark.parametrize("name", ["-", "0.log.gz", "00000000000000000005-0000000001.checkpoint"])
def test_what_does_not_grow_is_refused(tmp_path: Path, name: str) -> None:
    path = name if name == "-" else str(tmp_path / name)
    if name != "-":
        Path(path).write_bytes(b"")
    plan = Plan(sources=(Source(path, None, None, None, 0),), query=Query())

    with pytest.raises(UsageError, match="--follow follows segments"):
        last_segments(plan_readings(plan))
