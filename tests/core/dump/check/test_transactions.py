"""Producer snapshots, as a check reads them."""

from pathlib import Path

import pytest

from kraftops.dump.check.findings import Findings
from kraftops.dump.check.transactions import (
    Producer,
    Producers,
    snapshot_differences,
    snapshot_producers,
)
from kraftops.engine.scan_contract import SeenBatch
from kraftops.log.indexes import AbortedTxn
from kraftops.log.producers import ProducerState
from kraftops.memory import Budget
from tests.helpers.logs.written import producers_bytes

ONE = ProducerState(1, 0, 0, 5, 0, 1, 0, -1)


@pytest.mark.parametrize(("count", "is_read"), [(20, True), (21, False)])
def test_snapshot_beyond_a_quarter_of_the_budget_is_not_read(
    tmp_path: Path, count: int, *, is_read: bool
) -> None:
    path = tmp_path / "00000000000000000009.snapshot"
    path.write_bytes(producers_bytes([ONE] * count))
    budget = Budget(4 * len(producers_bytes([ONE] * 20)))
    findings = Findings()

    found = snapshot_producers(str(path), budget, findings)

    assert found == ([ONE] * count if is_read else None)
    size = path.stat().st_size
    reason = f"it is not read: {size} bytes are more than a quarter of --max-memory"
    assert [finding.text for finding in findings.all()] == ([] if is_read else [reason])


def differences(state: ProducerState) -> list[str]:
    """Return what is wrong with a producer in a snapshot of the offsets before 20.

    The log begins at 10; producer 1 has sequence 3 at offset 19, and a transaction open from 12.
    """
    producers = Producers()
    producers.begin(10, [ONE._replace(first_txn_offset=12), ONE._replace(producer_id=3)])
    producers.last[1] = Producer(19, 3)
    return list(snapshot_differences([state], 20, producers, is_exact=True))


SAME = ONE._replace(last_sequence=3, last_offset=19, first_txn_offset=12)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (SAME, ""),
        (SAME._replace(last_offset=20), "offset 20 is not before 20, where the snapshot ends"),
        (SAME._replace(first_txn_offset=20), "offset 20 is not before 20"),
        (SAME._replace(last_offset=18), "sequence 3 at offset 18, where the log has 3 at 19"),
        (SAME._replace(last_sequence=4), "sequence 4 at offset 19, where the log has 3 at 19"),
        (SAME._replace(last_offset=0), "sequence 3 at offset 0"),
        (SAME._replace(last_offset=-1), ""),  # it has only begun a transaction
        (SAME._replace(first_txn_offset=-1), "an open transaction from -1, where the log has 12"),
        (SAME._replace(producer_id=2, last_offset=9), ""),  # its batches are deleted
        (SAME._replace(producer_id=2, last_offset=10), "offset 10, where the log has none of its"),
    ],
)
def test_snapshot_is_compared_with_the_log_up_to_its_offset(
    state: ProducerState, reason: str
) -> None:
    (difference,) = differences(state) or [""]

    assert difference.partition(": ")[2].startswith(reason)
    assert bool(difference) is bool(reason)


def test_producer_without_an_open_transaction_has_none() -> None:
    producers = Producers()

    producers.begin(0, [ONE, ONE._replace(producer_id=2, first_txn_offset=0)])

    assert producers.open == {2: 0}
    assert producers.is_complete


def test_aborted_transaction_is_stable_up_to_the_first_open_one_or_behind_its_marker() -> None:
    producers = Producers()
    begun = SeenBatch(0, 100, 5, 6, 0, producer_id=1, is_transactional=True)
    other = begun._replace(base_offset=7, last_offset=7, producer_id=2)
    marker = begun._replace(base_offset=8, last_offset=8, marker=0)
    for batch in (begun, other):
        assert producers.add(batch) is None

    first = producers.add(marker)
    second = producers.add(marker._replace(base_offset=9, last_offset=9, producer_id=2))

    assert first == AbortedTxn(0, 1, 5, 8, 7)
    assert second == AbortedTxn(0, 2, 7, 9, 10)
    assert producers.open == {}
