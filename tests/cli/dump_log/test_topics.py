"""Topics in a filter, looked up before a dump or during it."""

import pytest

from kraftops.dump.sources.names import Source
from kraftops.errors import UsageError
from kraftops.log.ranges import ByteRange
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops_cli.dump_log.plan import Plan
from kraftops_cli.dump_log.topics import with_topics, with_topics_of

MISSING = "missing/00000000000000000000.log"
ID = "kXi3rXSkSLiQ7Vb4ZwJyHg"


def plan(path: str, decoder: str | None, topic: str | None = "orders") -> Plan:
    topics = frozenset() if topic is None else frozenset({topic})
    query = Query(decoder=decoder, filter=Filter(topics=topics))
    return Plan(sources=(Source(path, None, None, None, 0),), query=query)


def test_name_cannot_be_looked_up_in_standard_input() -> None:
    with pytest.raises(UsageError, match="topics cannot be looked up in standard input"):
        with_topics(plan("-", "metadata"))


@pytest.mark.parametrize(
    ("decoder", "topic"),
    [
        pytest.param("metadata", ID, id="an id needs no look-up"),
        pytest.param("offsets", "orders", id="other logs have names, and no ids"),
        pytest.param("metadata", None, id="no topic in the filter"),
    ],
)
def test_standard_input_is_read_without_a_lookup(decoder: str, topic: str | None) -> None:
    before = plan("-", decoder, topic)

    assert with_topics(before).query.filter.topic_ids == frozenset()


def test_file_that_cannot_be_read_is_left_to_the_dump() -> None:
    before = plan(MISSING, "metadata")

    assert with_topics(before) == before


@pytest.mark.parametrize("decoder", ["offsets", "user"])
def test_part_of_another_log_is_not_read_for_topics(decoder: str) -> None:
    query = plan(MISSING, decoder).query

    assert with_topics_of(ByteRange(MISSING), query) is query


def test_log_of_the_topic_is_read_whole_and_others_by_their_records() -> None:
    query = plan(MISSING, "user").query

    assert query.for_source(None, "/d/orders-0/0.log").filter == Filter()
    assert query.for_source(None, "/d/orders-0").filter == query.filter
    assert query.for_source(None, "/d/payments-0/0.log").filter == query.filter
    metadata = plan(MISSING, "metadata", "__cluster_metadata").query
    assert metadata.for_source(None, "/d/__cluster_metadata-0/0.log").filter == metadata.filter
