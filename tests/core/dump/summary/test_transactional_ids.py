"""The transactional ids of `__transaction_state`."""

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.dump.summary import transactional_ids
from kraftops.dump.summary.transactional_ids import STATES, TransactionalIds, read_id_change
from kraftops.errors import DecodeError
from kraftops.log.batch import Record
from kraftops.schema.codegen.read import default_data
from kraftops.schema.compile import compiled
from tests.helpers.logs.coordinators import messages
from tests.helpers.logs.summaries import as_json

KEY, VALUE = messages("transaction")[0]


def record(
    name: str, status: int | None, *, started: int = 100, updated: int = 150, **fields: Any
) -> Record:
    """Return a record of a transactional id; without a status it is a tombstone."""
    key = b"\0\0" + compiled(KEY, 0).write({"transactionalId": name})
    if status is None:
        return Record(0, 0, key, None)
    data = {
        **{field.name: default_data(field, 1) for field in VALUE.fields},
        "transactionStatus": status,
        "transactionStartTimestampMs": started,
        "transactionLastUpdateTimestampMs": updated,
        **fields,
    }
    return Record(0, 0, key, b"\0\1" + compiled(VALUE, 1).write(data))


def counted(*records: Record) -> TransactionalIds:
    found = TransactionalIds()
    for one in records:
        found.add(read_id_change(one))
    return found


def test_latest_state_of_each_id_counts() -> None:
    found = as_json(
        counted(
            record("b", 1),
            record("a", 0, started=-1),
            record(
                "b",
                4,
                producerId=7,
                producerEpoch=2,
                transactionTimeoutMs=60_000,
                transactionPartitions=[{"topic": "t", "partitionIds": [3, 1]}],
            ),
            record("c", 1),
            record("c", None),
        ),
        "transactionalIds",
    )

    assert (found["count"], found["exact"]) == (2, True)
    first, second = found["transactionalIds"]
    assert (first["transactionalId"], first["state"], first["started"]) == ("a", "Empty", None)
    assert second == {
        "transactionalId": "b",
        "state": "CompleteCommit",
        "producerId": 7,
        "producerEpoch": 2,
        "timeoutMs": 60_000,
        "partitionCount": 2,
        "partitions": [{"topic": "t", "partitions": [3, 1]}],
        "updatedMs": 150,
        "updated": "1970-01-01T00:00:00.150Z",
        "startedMs": 100,
        "started": "1970-01-01T00:00:00.100Z",
    }


def test_transactions_are_counted_where_they_end() -> None:
    found = as_json(
        counted(
            *[record("a", status) for status in (0, 1, 2, 4, 1, 3, 5, 1, 2, 4)],
            record("b", 4, updated=120),
            record("c", 5, updated=110),
            record("d", 4, started=-1),
            record("e", 1),
            record("f", 2),
        )
    )

    assert (found["committed"], found["aborted"]) == (4, 2)
    assert found["durationMs"] == {"min": 10, "median": 50, "max": 50, "exact": True}
    assert [one["transactionalId"] for one in found["open"]] == ["e", "f"]
    assert found["open"][0] == {
        "transactionalId": "e",
        "producerId": 0,
        "producerEpoch": 0,
        "firstOffset": None,
        "sinceMs": 100,
        "since": "1970-01-01T00:00:00.100Z",
    }


@pytest.mark.parametrize(("status", "state"), [*enumerate(STATES), (99, "Unknown(99)")])
def test_every_state_has_kafkas_name(status: int, state: str) -> None:
    (found,) = as_json(counted(record("a", status)), "transactionalIds")["transactionalIds"]

    assert found["state"] == state


def test_partitions_are_reported_up_to_a_bound() -> None:
    topics = [{"topic": f"t{number}", "partitionIds": list(range(50))} for number in range(50)]

    (found,) = as_json(counted(record("a", 1, transactionPartitions=topics)), "transactionalIds")[
        "transactionalIds"
    ]

    assert found["partitionCount"] == 2_500
    assert [len(one["partitions"]) for one in found["partitions"]] == [20] * 20


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"key": None}, id="no-key"),
        pytest.param({"key": b"\0\0\0\5a"}, id="short-key"),
        pytest.param({"key": b"\0\1\0\1a"}, id="unknown-type"),
        pytest.param({"value": b"\0"}, id="no-version"),
        pytest.param({"value": b"\0\7"}, id="unknown-version"),
        pytest.param({"value": b"\0\1\0\0"}, id="short-value"),
    ],
)
def test_record_that_cannot_be_read_is_an_error(change: dict[str, Any]) -> None:
    with pytest.raises(DecodeError):
        read_id_change(record("a", 1)._replace(**change))


EVENTS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.none() | st.integers(0, 7), st.integers(50, 300)),
    max_size=40,
)


@pytest.mark.parametrize("limit", [3, 1000])
@given(events=EVENTS, cuts=st.lists(st.integers(0, 40), max_size=4))
def test_ids_of_merged_parts_are_those_of_the_whole_log(
    limit: int, events: list[tuple[str, int | None, int]], cuts: list[int]
) -> None:
    records = [record(name, status, updated=time) for name, status, time in events]
    ends = [*sorted(cuts), len(records)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transactional_ids, "MOST_IDS", limit)
        whole, together = counted(*records), TransactionalIds()
        for begin, end in zip([0, *sorted(cuts)], ends, strict=True):
            together.merge(pickle.loads(pickle.dumps(counted(*records[begin:end]))))

    assert as_json(together) == as_json(whole)
    assert as_json(together, "transactionalIds") == as_json(whole, "transactionalIds")
    assert as_json(whole, "transactionalIds")["exact"] == (
        len({name for name, *_ in events}) <= limit
    )
