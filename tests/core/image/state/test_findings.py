"""The text of findings."""

import pytest

from kraftops.findings.finding import Finding
from kraftops.image.state.findings import DAMAGE, RECORD, STATE


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (Finding(STATE, "reason"), "reason"),
        (Finding(STATE, "reason", 7), "offset 7: reason"),
        (
            Finding(RECORD, "reason", 7, "0.log", 61),
            "0.log, offset 7, position 61: reason",
        ),
        (Finding(DAMAGE, "reason", None, "0.log", 61), "0.log, position 61: reason"),
    ],
)
def test_known_positions_come_before_the_reason(finding: Finding, text: str) -> None:
    assert str(finding) == text
