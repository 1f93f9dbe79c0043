"""The commands exit and history."""

import pytest

from kraftops_shell.run import run_line
from tests.helpers.tree.small_trees import session


def test_exit_ends_the_session() -> None:
    one, _, _ = session({})

    run_line(one, ["exit"])

    assert one.is_over


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["history"], "    0  ls\n    1  pwd\n"),
        (["history", "1"], "    1  pwd\n"),
        (["history", "0"], ""),
    ],
)
def test_history_has_the_last_lines_with_numbers(words: list[str], text: str) -> None:
    one, out, _ = session({})
    one.history.add("ls")
    one.history.add("pwd")

    run_line(one, words)

    assert out.text == text


def test_history_refuses_other_counts() -> None:
    one, _, err = session({})

    run_line(one, ["history", "x"])

    assert "could not convert 'x' to Integer" in err[0]
