"""Files that are left out of a table before any is opened."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kraftops.dump.sources.names import expand
from kraftops.log.batch import Record
from kraftops.log.indexes import TimeEntry
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.spark.source.pruning import with_matching_rows
from tests.helpers.logs.written import batch_bytes, time_index_bytes

BASES = (0, 10, 20)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Two partitions of orders and one of bills: three segments each, a minute and ten records."""
    for partition in ("orders-0", "orders-1", "bills-0"):
        folder = tmp_path / partition
        folder.mkdir()
        for base in BASES:
            records = [Record(base + n, 60_000 + base * 1000 + n, None, b"x") for n in range(10)]
            (folder / f"{base:020}.log").write_bytes(batch_bytes(records))
            newest = TimeEntry(records[-1].timestamp, records[-1].offset)
            (folder / f"{base:020}.timeindex").write_bytes(time_index_bytes([newest], base))
    return tmp_path


def kept(directory: Path, selection: Filter, decoder: str | None = None) -> Mapping[str, list[int]]:
    """Return the base offsets that are left of each partition."""
    bases: dict[str, list[int]] = {}
    for source in with_matching_rows(expand([str(directory)]), Query(decoder, filter=selection)):
        path = Path(source.path)
        bases.setdefault(path.parent.name, []).append(int(path.stem))
    return bases


ALL = list(BASES)


@pytest.mark.parametrize(
    ("selection", "bases"),
    [
        (Filter(), {"bills-0": ALL, "orders-0": ALL, "orders-1": ALL}),
        (Filter(topics={"bills"}), {"bills-0": ALL}),
        (Filter(topics={"nosuch"}), {}),
        (Filter(where="topic = 'orders' and partition = 1"), {"orders-1": ALL}),
        (Filter(where="topic = 'nosuch' or partition >= 1"), {"orders-1": ALL}),
        (Filter(where="topic in ('bills') and value = 'x'"), {"bills-0": ALL}),
        (
            Filter(topics={"bills"}, first_offset=9, last_offset=10),
            {"bills-0": [0, 10]},
        ),
        (Filter(topics={"bills"}, first_offset=10), {"bills-0": [10, 20]}),
        (Filter(topics={"bills"}, last_offset=9), {"bills-0": [0]}),
        (Filter(topics={"bills"}, first_offset=1000), {"bills-0": [20]}),
        (Filter(topics={"bills"}, since=60_000 + 10_009), {"bills-0": [10, 20]}),
        (Filter(topics={"bills"}, since=60_000 + 10_010), {"bills-0": [20]}),
    ],
)
def test_only_files_with_matching_rows_are_kept(
    directory: Path, selection: Filter, bases: Mapping[str, list[int]]
) -> None:
    assert bases == kept(directory, selection)


def test_records_about_a_topic_in_other_logs_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "__consumer_offsets-7"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(b"")

    assert kept(tmp_path, Filter(topics={"orders"})) == {"__consumer_offsets-7": [0]}


def _torn(index: Path) -> None:
    index.write_bytes(index.read_bytes()[:-1])


def _of_another_segment(index: Path) -> None:
    index.write_bytes(time_index_bytes([TimeEntry(1, 19)], 0))


def _preallocated(index: Path) -> None:
    index.write_bytes(index.read_bytes() + bytes(120))


@pytest.mark.parametrize(
    "damage",
    [Path.unlink, _torn, _of_another_segment, _preallocated],
    ids=lambda call: call.__name__,
)
def test_a_time_index_that_tells_nothing_drops_no_file(
    directory: Path, damage: Callable[[Path], object]
) -> None:
    damage(directory / "bills-0" / f"{0:020}.timeindex")

    assert kept(directory, Filter(topics={"bills"}, since=1 << 50)) == {"bills-0": [0, 20]}
