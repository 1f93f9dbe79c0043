"""The run of a line: the command, its errors, and the exit code in both forms."""

import pytest

from kraftops_shell.run import run_line
from tests.helpers.tree.small_trees import session


def test_command_gets_its_arguments() -> None:
    one, out, _ = session({"a": 1, "b": 2})

    assert run_line(one, ["cat", "b"]) == 0
    assert out.text == "2\n"


def test_empty_line_does_nothing() -> None:
    one, out, err = session({})

    assert run_line(one, []) == 0
    assert (out.text, err) == ("", [])


def test_tree_is_refreshed_before_a_command() -> None:
    one, out, _ = session({})
    after, _, _ = session({"a": 1})

    def refresh() -> None:
        one.root = after.root

    one.refresh = refresh

    run_line(one, ["cat", "a"])

    assert out.text == "1\n"


@pytest.mark.parametrize(("kafka", "code"), [(True, 0), (False, 1)])
def test_failed_command_has_code_1_in_our_form_only(*, kafka: bool, code: int) -> None:
    one, _, _ = session({}, kafka=kafka)

    assert run_line(one, ["cat", "gone"]) == code
    assert run_line(one, ["pwd"]) == 0


def test_unknown_command_is_an_error_message() -> None:
    one, out, err = session({})

    run_line(one, ["nope"])

    assert out.text == ""
    assert len(err) == 1
    assert "nope" in err[0]
