"""Rows are made of the records that match the filter, and as little as possible is read."""

from typing import Any

import pytest

from kraftops.engine.reference.selection import RowBuilder, is_shallow
from kraftops.log import legacy
from kraftops.log.batch import LOG_APPEND_TIME, Record, records
from kraftops.memory import USUAL
from kraftops.query.filters import Filter
from kraftops.query.query import Query
from kraftops.query.row import Row
from tests.helpers.logs.random_logs import leader_change, new_record
from tests.helpers.logs.segments import batches_of
from tests.helpers.logs.written import batch_bytes, message_bytes


def query(**conditions: Any) -> Query:
    return Query(decoder="user", form="json", filter=Filter(**conditions))


def record(offset: int = 0, time: int = 1000, value: bytes | None = b"v") -> Record:
    return Record(offset, time, b"k", value)


def row(asked: Query, data: Record, **batch: int) -> Row | None:
    """Return the row of the only record of a batch."""
    (found,) = batches_of(batch_bytes([data], **batch))
    builder = RowBuilder("f", asked)
    made = builder.row(found, found.header, data)
    assert builder.matches(found, found.header, data) is (made is not None)
    return made


@pytest.mark.parametrize(
    ("conditions", "matches"),
    [
        pytest.param({}, True, id="none"),
        pytest.param({"first_offset": 5, "last_offset": 5}, True, id="offset"),
        pytest.param({"first_offset": 6}, False, id="later-offset"),
        pytest.param({"since": 1000, "until": 1001}, True, id="time"),
        pytest.param({"until": 1000}, False, id="end-of-time"),
        pytest.param({"keys": frozenset({"k"})}, True, id="key"),
        pytest.param({"keys": frozenset({"l"})}, False, id="another-key"),
        pytest.param({"where": "value = 'v'"}, True, id="where"),
        pytest.param({"first_offset": 6, "where": "value = 'v'"}, False, id="all-must-match"),
    ],
)
def test_row_is_made_of_a_record_that_matches(conditions: dict[str, Any], matches: bool) -> None:
    found = row(query(**conditions), record(5))

    assert (found is not None) is matches
    assert not found or (found.offset, found.key, found.value) == (5, "k", "v")


def test_time_of_a_record_is_the_append_time_of_its_batch() -> None:
    (batch,) = batches_of(batch_bytes([record(), record(1, 3000)], attributes=LOG_APPEND_TIME))
    builder = RowBuilder("f", query(since=3000))

    assert builder.row(batch, batch.header, record()) is not None


def test_sequence_counts_from_the_first_record_and_wraps_around() -> None:
    last = (1 << 31) - 1
    (batch,) = batches_of(batch_bytes([record(9), record(10)], producer_id=1, base_sequence=last))
    builder = RowBuilder("f", query())

    rows = [builder.row(batch, batch.header, record(offset)) for offset in (9, 10)]

    assert [one.sequence for one in rows if one] == [last, 0]


def test_row_has_the_position_of_its_own_batch() -> None:
    batches = batches_of(batch_bytes([record()]) + batch_bytes([record(1)]))
    builder = RowBuilder("f", query())

    rows = [builder.row(batch, batch.header, record()) for batch in batches]

    assert [one.position for one in rows if one] == [0, batches[1].position]


class TestTypes:
    METADATA = Query(
        decoder="metadata", form="json", filter=Filter(types=frozenset({"topic", "leaderchange"}))
    )

    @pytest.mark.parametrize(("name", "matches"), [("TopicRecord", True), ("NoOpRecord", False)])
    def test_other_types_do_not_match(self, name: str, matches: bool) -> None:
        found = row(self.METADATA, Record(0, 0, None, new_record(name).value))

        assert (found is not None) is matches

    def test_control_record_has_a_type_of_its_own(self) -> None:
        (batch,) = batches_of(leader_change(0, 1))
        (change,) = records(batch)

        found = RowBuilder("f", self.METADATA).row(batch, batch.header, change)

        assert found is not None
        assert found.kind == "control"


class TestLegacy:
    @pytest.mark.parametrize(("magic", "times"), [(0, (None, None)), (1, (1000, "CreateTime"))])
    def test_message_of_magic_0_has_no_time(
        self, magic: int, times: tuple[int | None, str | None]
    ) -> None:
        (batch,) = batches_of(message_bytes(record(3), magic))
        head = legacy.header(batch)
        (message,) = legacy.records(batch, USUAL.meter())

        found = RowBuilder("f", query()).legacy_row(batch, head, message)

        assert found is not None
        assert (found.timestamp, found.timestamp_type) == times
        assert (found.offset, found.key, found.value, found.codec) == (3, "k", "v", "none")

    def test_message_that_overruns_its_set_has_an_error(self) -> None:
        (batch,) = batches_of(message_bytes(record(3), 1))
        (message,) = legacy.records(batch, USUAL.meter())
        overrun = message._replace(overrun="it is too long")

        found = RowBuilder("f", query()).legacy_row(batch, legacy.header(batch), overrun)

        assert found is not None
        assert (found.value, found.error) == (None, "it is too long")


@pytest.mark.parametrize(
    ("asked", "is_less"),
    [
        pytest.param({"columns": frozenset({"offset", "type"})}, True, id="type"),
        pytest.param({"columns": frozenset({"offset", "value"})}, False, id="value"),
        pytest.param({"columns": frozenset({"topicId"})}, False, id="id"),
        pytest.param({"columns": frozenset({"error"})}, False, id="error"),
        pytest.param({}, False, id="all-columns"),
        pytest.param({"columns": frozenset({"type"}), "check": True}, False, id="check"),
        pytest.param(
            {"columns": frozenset({"type"}), "filter": Filter(topics=frozenset({"a"}))},
            False,
            id="filter",
        ),
    ],
)
def test_messages_are_not_read_for_columns_of_the_frame(
    asked: dict[str, Any], is_less: bool
) -> None:
    metadata = Query(decoder="metadata", form="parquet", **asked)

    found = row(metadata, Record(0, 0, None, new_record("TopicRecord", name="a").value))

    assert is_shallow(metadata) is is_less
    assert found is not None
    assert (found.type, found.value is None) == ("TOPIC_RECORD", is_less)
