"""The rows of logs for programs, without a command line."""

import pytest

import kraftops
from tests.helpers.logs.segments import IN

META = IN / "meta"


@pytest.mark.parametrize("name", ["TOPIC_RECORD", "TopicRecord", "topic"])
def test_types_may_be_spelled_in_any_way(name: str) -> None:
    asked = kraftops.Query(decoder="metadata", filter=kraftops.Filter(types=frozenset({name})))

    rows = list(kraftops.scan(META / "00000000000000000000.log", asked))

    assert {row.type for row in rows} == {"TOPIC_RECORD"}


def test_rows_of_several_files_come_in_order() -> None:
    paths = [META / "00000000000000000000.log", META / "00000000000000000391-0000000001.checkpoint"]

    rows = list(kraftops.scan(paths, kraftops.Query(decoder="metadata")))

    assert list(dict.fromkeys(row.file for row in rows)) == list(map(str, paths))
    assert [row.offset for row in rows[:5]] == [0, 1, 2, 3, 4]


def test_exports_are_there_and_others_are_not() -> None:
    for name in kraftops.__all__:
        assert getattr(kraftops, name) is not None

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kraftops.nothing  # noqa: B018 - it is the look-up that fails
