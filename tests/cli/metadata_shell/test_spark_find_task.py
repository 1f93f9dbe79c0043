"""The work of find on Spark writes the lines of the shell's find, and tells how it ended."""

import pickle
from collections.abc import Sequence
from io import BytesIO

import pytest

from kraftops.errors import SourceError, UsageError
from kraftops_cli.metadata_shell.spark_find_task import (
    FindOutcome,
    FindRequest,
    FindWork,
    call_of,
)
from tests.helpers.tools.shell_session import LOG, NOW, Shell

OURS = FindRequest(str(LOG), None, None, "kafka", False, False, "1", NOW)


def found(*words: str, request: FindRequest = OURS) -> tuple[list[str], FindOutcome]:
    """Return the lines of find in a worker, and how it ended."""
    out = BytesIO()
    outcome = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(FindWork(words, request)))(out)))
    assert isinstance(outcome, FindOutcome)
    return out.getvalue().decode().splitlines(), outcome


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["find"], id="all"),
        pytest.param(["find", "/image/topics"], id="topics"),
        pytest.param(["find", "/", "-name", "*o*", "-type", "f"], id="tests"),
        pytest.param(["find", "/image", "-maxdepth", "2"], id="depth"),
        pytest.param(["find", "/image/c*", "/local"], id="targets"),
        pytest.param(["find", "/", "-newer-than", "100"], id="age"),
    ],
)
def test_lines_are_those_of_the_shell(words: Sequence[str]) -> None:
    lines, outcome = found(*words)

    assert lines == Shell()(*words).lines
    assert (outcome.code, outcome.errors) == (0, [])


def test_a_target_that_does_not_exist_is_an_error() -> None:
    lines, outcome = found("find", "/nowhere", "/image/topics", "-maxdepth", "0")

    assert lines == ["/image/topics"]
    assert outcome.code == 1
    assert outcome.errors == ["find: /nowhere: no such file or directory. [not-found]"]


def test_a_terminal_gets_escaped_names() -> None:
    request = OURS._replace(is_escaping=True)

    assert found("find", "/image", request=request)[0] == found("find", "/image")[0]


def test_a_log_that_cannot_be_read_is_told() -> None:
    outcome = FindWork(("find", "/"), OURS._replace(source="/nowhere.log"))(BytesIO())

    assert isinstance(outcome, SourceError)
    assert "cannot read /nowhere.log" in outcome.message


@pytest.mark.parametrize("words", [("ls", "/"), ("cat", "/image")])
def test_other_commands_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="there is only find"):
        call_of(words, OURS)
