"""Producer snapshots, as a check reads them."""

from pathlib import Path

import pytest

from kraftops.dump.check.findings import Findings
from kraftops.dump.check.transactions import snapshot_producers
from kraftops.log.producers import ProducerState
from kraftops.memory import set_max_memory
from tests.helpers.logs.written import producers_bytes

ONE = ProducerState(1, 0, 0, 5, 0, 1, 0, -1)


@pytest.mark.parametrize(("count", "is_read"), [(20, True), (21, False)])
def test_snapshot_beyond_a_quarter_of_the_budget_is_not_read(
    tmp_path: Path, count: int, *, is_read: bool
) -> None:
    path = tmp_path / "00000000000000000009.snapshot"
    path.write_bytes(producers_bytes([ONE] * count))
    set_max_memory(4 * len(producers_bytes([ONE] * 20)))
    findings = Findings()

    found = snapshot_producers(str(path), findings)

    assert found == ([ONE] * count if is_read else None)
    size = path.stat().st_size
    reason = f"it is not read: {size} bytes are more than a quarter of --max-memory"
    assert [finding.text for finding in findings.all()] == ([] if is_read else [reason])
