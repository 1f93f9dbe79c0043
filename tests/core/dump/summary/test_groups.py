"""The groups of `__consumer_offsets`."""

import pickle
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.dump.summary import groups
from kraftops.dump.summary.groups import Groups, read_group_change
from kraftops.errors import DecodeError
from kraftops.log.batch import Record
from kraftops.schema.codegen.read import default_data
from kraftops.schema.compile import compiled
from tests.helpers.logs.coordinators import messages
from tests.helpers.logs.summaries import as_json

MEMBER = {
    "memberId": "m",
    "groupInstanceId": None,
    "clientId": "c",
    "clientHost": "h",
    "rebalanceTimeout": 1,
    "sessionTimeout": 1,
    "subscription": b"",
    "assignment": b"",
}


def record(
    number: int, key: Mapping[str, Any], value: Mapping[str, Any] | None, offset: int = 0
) -> Record:
    """Return a record of a type; of its value, what is not given is made up."""
    key_message, value_message = messages("offsets")[number]
    raw_key = number.to_bytes(2) + compiled(key_message, 0).write({"groupId": "g", **key})
    if value is None:
        return Record(offset, 0, raw_key, None)
    version = value_message.versions.last or 0
    filled = {field.name: default_data(field, version) for field in value_message.fields}
    raw = compiled(value_message, version).write({**filled, **value})
    return Record(offset, 0, raw_key, version.to_bytes(2) + raw)


def commit(offset: int, at: int, group: str = "g", partition: int = 0, number: int = 1) -> Record:
    key = {"group": group, "topic": "t", "partition": partition}
    return record(number, key, {"offset": offset, "commitTimestamp": 5, "leaderEpoch": 3}, at)


def tombstone(at: int, group: str = "g", partition: int = 0) -> Record:
    return record(1, {"group": group, "topic": "t", "partition": partition}, None, at)


def groups_of(*records: Record) -> list[dict[str, Any]]:
    found = Groups()
    for one in records:
        change = read_group_change(one)
        if change:
            found.add(change, -1)
    rows: list[dict[str, Any]] = as_json(found)["groups"]
    return rows


def test_latest_offset_of_each_partition_counts() -> None:
    (found,) = groups_of(
        commit(5, 0), commit(6, 1), commit(7, 2, partition=10), commit(1, 3, partition=9)
    )

    assert found == {
        "group": "g",
        "kind": "simple",
        "state": "Empty",
        "epoch": None,
        "members": 0,
        "protocolType": None,
        "offsets": [
            {
                "topic": "t",
                "partition": partition,
                "offset": offset,
                "leaderEpoch": 3,
                "committedMs": 5,
                "committed": "1970-01-01T00:00:00.005Z",
                "endOffset": None,
                "endFile": None,
                "lag": None,
            }
            for partition, offset in ((0, 6), (9, 1), (10, 7))
        ],
    }


def test_tombstones_leave_nothing() -> None:
    found = groups_of(
        commit(5, 0), tombstone(1), commit(5, 2, "h"), commit(5, 3, "h", 1), tombstone(4, "h")
    )

    assert [(one["group"], len(one["offsets"])) for one in found] == [("h", 1)]


def test_old_form_of_a_commit_is_of_the_same_partition() -> None:
    (found,) = groups_of(commit(5, 0), commit(6, 1, number=0))

    assert [(one["offset"], one["leaderEpoch"]) for one in found["offsets"]] == [(6, None)]


def test_bytes_behind_a_key_change_nothing() -> None:
    """Kafka ignores these bytes."""
    first = commit(5, 0)
    assert first.key is not None

    (found,) = groups_of(first, commit(6, 1)._replace(key=first.key + b"?"))

    assert [one["offset"] for one in found["offsets"]] == [6]


MEMBER_KEY = {"memberId": "m"}
CURRENT = {"memberEpoch": 3, "state": 0}


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param(
            [record(2, {"group": "g"}, {"generation": 4, "protocolType": "connect"})],
            ("classic", "Empty", 4, 0, "connect"),
            id="classic-empty",
        ),
        pytest.param(
            [
                record(
                    2,
                    {"group": "g"},
                    {"generation": 4, "protocolType": "consumer", "members": [MEMBER] * 3},
                )
            ],
            ("classic", "Stable", 4, 3, "consumer"),
            id="classic-stable",
        ),
        pytest.param(
            [record(3, {}, {"epoch": 3})], ("consumer", "Empty", 3, 0, None), id="consumer-empty"
        ),
        pytest.param(
            [record(3, {}, {"epoch": 3}), record(5, MEMBER_KEY, {})],
            ("consumer", "Assigning", 3, 1, None),
            id="consumer-without-target",
        ),
        pytest.param(
            [
                record(3, {}, {"epoch": 3}),
                record(5, MEMBER_KEY, {}),
                record(6, {}, {"assignmentEpoch": 3}),
            ],
            ("consumer", "Reconciling", 3, 1, None),
            id="consumer-member-has-nothing",
        ),
        pytest.param(
            [
                record(3, {}, {"epoch": 3}),
                record(5, MEMBER_KEY, {}),
                record(6, {}, {"assignmentEpoch": 3}),
                record(8, MEMBER_KEY, CURRENT),
            ],
            ("consumer", "Stable", 3, 1, None),
            id="consumer-stable",
        ),
        pytest.param(
            [
                record(3, {}, {"epoch": 3}),
                record(5, MEMBER_KEY, {}),
                record(6, {}, {"assignmentEpoch": 3}),
                record(8, MEMBER_KEY, {**CURRENT, "state": 1}),
            ],
            ("consumer", "Reconciling", 3, 1, None),
            id="consumer-member-must-revoke",
        ),
        pytest.param(
            [
                record(3, {}, {"epoch": 4}),
                record(5, MEMBER_KEY, {}),
                record(6, {}, {"assignmentEpoch": 3}),
                record(8, MEMBER_KEY, CURRENT),
            ],
            ("consumer", "Assigning", 4, 1, None),
            id="consumer-assigning",
        ),
        pytest.param(
            [
                record(3, {}, {"epoch": 4}),
                record(5, MEMBER_KEY, {}),
                record(5, MEMBER_KEY, None, 9),
            ],
            ("consumer", "Empty", 4, 0, None),
            id="consumer-member-left",
        ),
        pytest.param(
            [record(11, {}, {"epoch": 2}), record(10, MEMBER_KEY, {})],
            ("share", "Stable", 2, 1, None),
            id="share",
        ),
        pytest.param(
            [record(17, {}, {"epoch": 2}), record(19, MEMBER_KEY, {"userEndpoint": None})],
            ("streams", "NotReady", 2, 1, None),
            id="streams-without-topology",
        ),
        pytest.param(
            [
                record(17, {}, {"epoch": 3}),
                record(19, MEMBER_KEY, {"userEndpoint": None}),
                record(20, {}, {"assignmentEpoch": 3}),
                record(22, MEMBER_KEY, CURRENT),
                record(23, {}, {"epoch": 1}),
            ],
            ("streams", "Stable", 3, 1, None),
            id="streams-stable",
        ),
        pytest.param(
            [
                record(2, {"group": "g"}, {"generation": 4, "members": [MEMBER]}),
                record(2, {"group": "g"}, None, 1),
                record(3, {}, {"epoch": 5}, 2),
            ],
            ("consumer", "Empty", 5, 0, None),
            id="converted",
        ),
    ],
)
def test_group_has_the_state_that_kafka_reports(
    records: list[Record], expected: tuple[Any, ...]
) -> None:
    (found,) = groups_of(*records)

    names = ("kind", "state", "epoch", "members", "protocolType")
    assert tuple(found[name] for name in names) == expected


@pytest.mark.parametrize("number", sorted(messages("offsets")))
def test_tombstone_of_any_type_leaves_no_group(number: int) -> None:
    key = {"group": "g", "topic": "t", "partition": 0, "memberId": "m", "regularExpression": "r"}

    assert groups_of(record(number, key, None)) == []


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"key": None}, id="no-key"),
        pytest.param({"key": b"\0"}, id="short-key"),
        pytest.param({"key": b"\0\1\0\5abc"}, id="short-group"),
        pytest.param({"key": b"\0\1\xff\xff"}, id="null-group"),
        pytest.param({"key": b"\0\1\0\1g\0\1t\0\0"}, id="short-partition"),
        pytest.param({"key": b"\0\x63\0\1g"}, id="unknown-type"),
        pytest.param({"value": b""}, id="no-version"),
        pytest.param({"value": b"\0\x63"}, id="unknown-version"),
        pytest.param({"value": b"\0\4\0\0"}, id="short-value"),
    ],
)
def test_record_that_cannot_be_read_is_an_error(change: dict[str, Any]) -> None:
    with pytest.raises(DecodeError):
        read_group_change(commit(5, 0)._replace(**change))


# Transactions

Event = tuple[str, int, int]
"""`commit`, `tombstone`, `txn` (a commit in a transaction), `end` or `abort`; partition; producer."""
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["commit", "tombstone", "txn", "txn", "end", "abort"]),
        st.integers(0, 3),
        st.integers(0, 2),
    ),
    max_size=30,
)


def counted(events: list[Event], start: int = 0) -> Groups:
    found = Groups()
    for at, (kind, partition, producer_id) in enumerate(events, start):
        if kind in ("end", "abort"):
            found.add_marker(producer_id, is_commit=kind == "end")
            continue
        group = f"g{partition % 2}"
        one = tombstone(at, group, partition)
        if kind != "tombstone":
            one = commit(at * 10, at, group, partition)
        change = read_group_change(one)
        assert change
        found.add(change, producer_id if kind == "txn" else -1)
    return found


def by_hand(events: list[Event]) -> tuple[dict[int, int], int]:
    """Return the offset of each partition as Kafka's coordinator has it, and the pending ones."""
    offsets: dict[int, int] = {}
    pending: dict[int, list[tuple[int, int]]] = {}
    for at, (kind, partition, producer_id) in enumerate(events):
        if kind == "commit":
            offsets[partition] = at * 10
        elif kind == "txn":
            pending.setdefault(producer_id, []).append((partition, at * 10))
        elif kind == "tombstone":
            offsets.pop(partition, None)
            pending = {
                one: [entry for entry in entries if entry[0] != partition]
                for one, entries in pending.items()
            }
        else:
            for one, offset in pending.pop(producer_id, ()):
                if kind == "end" and offset > offsets.get(one, -1):
                    offsets[one] = offset
    return offsets, sum(map(len, pending.values()))


def offsets_in(found: dict[str, Any]) -> dict[int, int]:
    return {
        one["partition"]: one["offset"] for group in found["groups"] for one in group["offsets"]
    }


@given(events=EVENTS)
def test_offsets_of_transactions_count_when_they_are_committed(events: list[Event]) -> None:
    offsets, _ = by_hand(events)

    assert offsets_in(as_json(counted(events))) == offsets


def test_pending_offsets_are_counted() -> None:
    found = counted([("txn", 0, 1), ("txn", 1, 1), ("txn", 1, 2), ("end", 0, 2)])

    assert as_json(found)["pendingOffsets"] == 2


@given(events=EVENTS, cuts=st.lists(st.integers(0, 30), max_size=4))
def test_merged_groups_equal_those_of_the_whole_log(events: list[Event], cuts: list[int]) -> None:
    ends = [*sorted(cuts), len(events)]
    together = Groups()
    for begin, end in zip([0, *sorted(cuts)], ends, strict=True):
        together.merge(pickle.loads(pickle.dumps(counted(events[begin:end], begin))))

    assert as_json(together) == as_json(counted(events))


def test_of_many_keys_whole_groups_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MOST_KEYS", 50)
    found = Groups()
    for number in range(2_000):
        change = read_group_change(commit(number, number, f"g{number % 100}", number % 10))
        assert change
        found.add(change, -1)

    told = as_json(found)

    assert not told["exact"]
    assert 0 < told["count"] <= 50
    assert all(len(group["offsets"]) == 1 for group in told["groups"])
    assert all(one["offsets"][0]["offset"] >= 1_900 for one in told["groups"])


def test_pending_offsets_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "_MOST_PENDING", 5)

    found = counted([("txn", 0, producer % 3) for producer in range(50)])

    assert as_json(found)["pendingOffsets"] == 5
    assert not as_json(found)["exact"]
