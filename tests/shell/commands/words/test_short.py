"""The commands clear and ll."""

import pytest

from kraftops_shell.run import run_line
from tests.helpers.tools.memory_console import Streams
from tests.helpers.tools.shell_session import LOG, Shell
from tests.helpers.tree.small_trees import session


def test_ll_lists_details_in_both_forms() -> None:
    ours, kafkas = Shell(LOG), Shell(LOG, kafka=True)
    kafkas.session.is_on_terminal = True

    assert ours("ll", "/image").out == ours("ls", "-l", "/image").out
    assert "\ntopics " in kafkas("ll", "/image").out
    assert kafkas("ll", "/image").out == kafkas("ls", "-la", "/image").out


@pytest.mark.parametrize(("is_terminal", "erased"), [(True, b"\x1b[H\x1b[2J\x1b[3J"), (False, b"")])
def test_clear_clears_a_terminal_alone(
    is_terminal: bool, erased: bytes, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    one, _, _ = session({})
    one.console = Streams().console
    one.is_on_terminal = is_terminal

    assert run_line(one, ["clear"]) == 0

    assert capfdbinary.readouterr().out == erased
