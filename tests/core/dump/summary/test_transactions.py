"""Producers and their transactions."""

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.dump.summary import transactions
from kraftops.dump.summary.transactions import Transactions
from kraftops.log.batch import (
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    Header,
)
from tests.helpers.logs.summaries import as_json

Event = tuple[int, str]
"""A producer id, and `data`, `plain` (not in a transaction), `commit` or `abort`."""
EVENTS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["data", "data", "plain", "commit", "abort"])),
    max_size=40,
)


def header(
    offset: int,
    producer_id: int,
    *,
    attributes: int = TRANSACTIONAL,
    times: tuple[int, int] | None = None,
    epoch: int = 0,
    count: int = 1,
) -> Header:
    first, last = times or (1_000 + offset * offset, 1_000 + offset * offset)
    return Header(
        offset, 100, 0, 2, 0, attributes, count - 1, first, last, producer_id, epoch, 0, count
    )


def counted(events: list[Event], start: int = 0) -> Transactions:
    found = Transactions()
    for offset, (producer_id, kind) in enumerate(events, start):
        if kind in ("commit", "abort"):
            marker = header(offset, producer_id, attributes=TRANSACTIONAL | CONTROL)
            found.add_marker(marker, is_commit=kind == "commit")
        else:
            attributes = TRANSACTIONAL if kind == "data" else 0
            found.add_batch(header(offset, producer_id, attributes=attributes))
    return found


def by_hand(events: list[Event]) -> dict[str, Any]:
    """Return what the transactions are, said in the plainest way."""
    began: dict[int, int] = {}
    took = []
    for offset, (producer_id, kind) in enumerate(events):
        if kind == "data":
            began.setdefault(producer_id, offset)
        elif kind != "plain" and producer_id in began:
            took.append(offset * offset - began.pop(producer_id) ** 2)
    kinds = [kind for _, kind in events]
    took.sort()
    return {
        "committed": kinds.count("commit"),
        "aborted": kinds.count("abort"),
        "open": sorted((offset, producer_id) for producer_id, offset in began.items()),
        "took": [took[0], took[(len(took) - 1) // 2], took[-1]] if took else [None] * 3,
    }


@given(events=EVENTS)
def test_transactions_are_counted_from_batches_and_markers(events: list[Event]) -> None:
    found, expected = as_json(counted(events)), by_hand(events)

    assert (found["committed"], found["aborted"]) == (expected["committed"], expected["aborted"])
    assert [(one["firstOffset"], one["producerId"]) for one in found["open"]] == expected["open"]
    took = found["durationMs"]
    assert [took["min"], took["median"], took["max"]] == expected["took"]


@given(events=EVENTS, cuts=st.lists(st.integers(0, 40), max_size=4))
def test_transactions_go_on_from_part_to_part(events: list[Event], cuts: list[int]) -> None:
    ends = [*sorted(cuts), len(events)]
    together = Transactions()
    for begin, end in zip([0, *sorted(cuts)], ends, strict=True):
        together.merge(pickle.loads(pickle.dumps(counted(events[begin:end], begin))))

    whole = counted(events)
    assert as_json(together) == as_json(whole)
    assert as_json(together, "producers") == as_json(whole, "producers")


@given(events=EVENTS, cut=st.integers(0, 40), limit=st.integers(1, 3))
def test_of_many_producers_some_are_reported_in_full(
    events: list[Event], cut: int, limit: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transactions, "MOST_PRODUCERS", limit)
        whole, together = counted(events), counted(events[:cut])
        together.merge(counted(events[cut:], cut))
    found, everything = as_json(whole, "producers"), as_json(counted(events), "producers")

    assert as_json(together, "producers") == found
    assert len(found["producers"]) == min(limit, len(everything["producers"]))
    assert all(one in everything["producers"] for one in found["producers"])
    assert found["exact"] == (
        everything["transactional"] <= limit and everything["idempotent"] <= limit
    )


def test_producers_are_reported_with_their_numbers() -> None:
    found = Transactions()
    found.add_batch(header(0, 7, epoch=3, count=5))
    found.add_batch(header(5, 7, epoch=3, count=2))
    found.add_batch(header(7, 9, attributes=0))
    found.add_batch(header(8, 9, attributes=0))
    found.add_marker(header(9, 7, epoch=4, attributes=TRANSACTIONAL | CONTROL), is_commit=True)
    found.add_batch(header(10, 7, epoch=5))

    assert as_json(found, "producers") == {
        "transactional": 1,
        "idempotent": 1,
        "exact": True,
        "producers": [
            {
                "producerId": 7,
                "producerEpoch": 5,
                "batches": 3,
                "records": 8,
                "committed": 1,
                "aborted": 0,
                "open": True,
            }
        ],
    }


@pytest.mark.parametrize(
    ("attributes", "since"),
    [
        pytest.param(0, 500, id="of-the-first-record"),
        pytest.param(LOG_APPEND_TIME, 900, id="of-the-log"),
        pytest.param(DELETE_HORIZON, 900, id="where-the-first-is-the-horizon"),
    ],
)
def test_transaction_is_open_since_its_first_record(attributes: int, since: int) -> None:
    found = Transactions()
    found.add_batch(header(5, 7, attributes=TRANSACTIONAL | attributes, times=(500, 900)))
    found.add_batch(header(6, 7, times=(100, 2_000)))

    assert as_json(found)["open"] == [
        {
            "transactionalId": None,
            "producerId": 7,
            "producerEpoch": 0,
            "firstOffset": 5,
            "sinceMs": since,
            "since": f"1970-01-01T00:00:00.{since}Z",
        }
    ]


def test_clocks_that_disagree_make_no_negative_durations() -> None:
    found = Transactions()
    found.add_batch(header(0, 7, times=(9_000, 9_000)))
    found.add_marker(header(1, 7, times=(1_000, 1_000)), is_commit=False)

    assert as_json(found)["durationMs"] == {"min": 0, "median": 0, "max": 0, "exact": True}
