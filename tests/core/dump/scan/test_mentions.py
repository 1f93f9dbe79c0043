"""Whether a log has records that a query chooses."""

from pathlib import Path

import pytest

from kraftops.dump.scan.mentions import may_have_records
from kraftops.errors import UsageError
from kraftops.log.batch import Record
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from tests.helpers.logs.segments import patched
from tests.helpers.logs.written import batch_bytes

NOTHING = Query("user", filter=Filter(keys=frozenset({"nothing"})))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "0.log"
    path.write_bytes(b"".join(batch_bytes([Record(n, 0, b"k%d" % n, b"v")]) for n in range(3)))
    return path


def test_records_are_found_behind_the_limit_of_a_query(path: Path) -> None:
    query = Query("user", filter=Filter(keys=frozenset({"k2"})), max_bytes=10)

    assert may_have_records(ByteRange(str(path)), query)
    assert not may_have_records(ByteRange(str(path)), NOTHING)


def test_damage_leaves_it_open(path: Path) -> None:
    path.write_bytes(patched(path.read_bytes(), 68, b"?"))

    assert may_have_records(ByteRange(str(path)), NOTHING)


def test_missing_file_leaves_it_open(path: Path) -> None:
    assert may_have_records(ByteRange(str(path.with_name("1.log"))), NOTHING)


def test_file_of_another_kind_is_refused(path: Path) -> None:
    with pytest.raises(UsageError):
        may_have_records(ByteRange(str(path.with_name("0.index"))), NOTHING)
