"""The text of findings."""

import pytest

from kraftops.image.state.findings import Finding, FindingKind


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (Finding(FindingKind.STATE, "reason"), "reason"),
        (Finding(FindingKind.STATE, "reason", 7), "offset 7: reason"),
        (
            Finding(FindingKind.RECORD, "reason", 7, "0.log", 61),
            "0.log, offset 7, position 61: reason",
        ),
        (Finding(FindingKind.DAMAGE, "reason", None, "0.log", 61), "0.log, position 61: reason"),
    ],
)
def test_known_positions_come_before_the_reason(finding: Finding, text: str) -> None:
    assert str(finding) == text
