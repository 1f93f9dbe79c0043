"""The text of findings."""

import pytest

from kraftops.findings.finding import Finding, Place
from kraftops.image.state.findings import DAMAGE, RECORD, STATE, log_finding


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (log_finding(STATE, "reason"), "reason"),
        (log_finding(STATE, "reason", Place(offset=7)), "offset 7: reason"),
        (
            log_finding(RECORD, "reason", Place(offset=7, file="0.log", position=61)),
            "0.log, offset 7, position 61: reason",
        ),
        (
            log_finding(DAMAGE, "reason", Place(file="0.log", position=61)),
            "0.log, position 61: reason",
        ),
    ],
)
def test_known_positions_come_before_the_reason(finding: Finding, text: str) -> None:
    assert str(finding) == text
