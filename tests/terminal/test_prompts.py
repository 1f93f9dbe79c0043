"""Questions on a terminal of their own."""

import sys

import pytest

from tests.helpers.tools.terminal_program import Screen

PROGRAM = """
from kraftops_terminal.prompts import agreed, can_ask
print(can_ask(), agreed("Remove \\x1b[2J it?"))
"""


@pytest.mark.parametrize(
    ("keys", "is_agreed"),
    [("y\r", True), ("YES\r", True), ("\r", False), ("no\r", False), ("\x04", False)],
)
def test_only_yes_agrees(keys: str, is_agreed: bool) -> None:
    with Screen(sys.executable, "-c", PROGRAM) as screen:
        screen.wait_for("[y/N]: ")
        assert "Remove \\x1b[2J it?" in screen.raw
        screen.send(keys)
        assert screen.wait_for_end() == 0
        assert f"True {is_agreed}" in screen.text
