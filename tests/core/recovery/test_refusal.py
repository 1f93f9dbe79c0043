"""Refusals have an exit code."""

import pytest

from kraftops.recovery.refusal import RecoveryRefused


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [("running", 3), ("not-found", 4), ("unreadable", 1), ("no-room", 1), ("damaged", 3)],
)
def test_exit_code_tells_whether_a_person_can_decide(code: str, exit_code: int) -> None:
    assert RecoveryRefused(code, "message").exit_code == exit_code
