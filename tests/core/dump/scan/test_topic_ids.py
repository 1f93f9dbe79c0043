"""All ids of a topic name in the course of a log."""

from pathlib import Path

import pytest

from kraftops.dump.scan.mentions import with_topic_ids
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.uuids import to_text
from tests.helpers.logs.metadata_logs import feature, records_batch, snapshot_bytes, write_log

FIRST, SECOND, OTHER = (bytes([number]) * 16 for number in (1, 2, 3))


def topic(name: str, identity: bytes) -> tuple[str, dict[str, object]]:
    return "TopicRecord", {"name": name, "topicId": identity}


def removal(identity: bytes) -> tuple[str, dict[str, object]]:
    return "RemoveTopicRecord", {"topicId": identity}


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    """A log in which `t` was deleted and created again, the second time in another segment."""
    folder = write_log(
        tmp_path,
        {
            0: [records_batch(0, feature("metadata.version", 7), topic("t", FIRST))],
            2: [records_batch(2, removal(FIRST), topic("other", OTHER), topic("t", SECOND))],
        },
    )
    return sorted(map(str, folder.iterdir()))


def ids(asked: Filter, paths: list[str]) -> set[str]:
    return set(with_topic_ids(Query(filter=asked), map(ByteRange, paths)).filter.topic_ids)


def test_topic_that_was_made_twice_has_two_ids(paths: list[str]) -> None:
    assert ids(Filter(topics=frozenset({"t"})), paths) == {to_text(FIRST), to_text(SECOND)}


def test_several_topics(paths: list[str]) -> None:
    found = ids(Filter(topics=frozenset({"t", "other", "none"})), paths)

    assert found == {to_text(one) for one in (FIRST, SECOND, OTHER)}


def test_unknown_name_and_id_have_no_ids(paths: list[str]) -> None:
    assert ids(Filter(topics=frozenset({"T", to_text(FIRST)})), paths) == set()


def test_snapshots_are_looked_into(tmp_path: Path) -> None:
    data = snapshot_bytes(records_batch(0, topic("t", FIRST)))
    folder = write_log(tmp_path, snapshots={(5, 1): data})

    assert ids(Filter(topics=frozenset({"t"})), [str(next(folder.iterdir()))]) == {to_text(FIRST)}


def test_file_that_cannot_be_read_is_passed(paths: list[str], tmp_path: Path) -> None:
    missing = str(tmp_path / "none" / "0.log")

    assert to_text(FIRST) in ids(Filter(topics=frozenset({"t"})), [missing, *paths])


def test_nothing_is_read_where_no_topic_is_asked_for() -> None:
    query = Query(filter=Filter(types=frozenset({"topic"})))

    assert with_topic_ids(query, iter(())) is query


def test_rest_of_the_filter_stays(paths: list[str]) -> None:
    asked = Filter(topics=frozenset({"t"}), first_offset=3)

    found = with_topic_ids(Query(filter=asked), map(ByteRange, paths)).filter

    assert (found.topics, found.first_offset) == (asked.topics, 3)
