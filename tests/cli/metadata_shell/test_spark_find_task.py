"""The work of find on Spark writes the lines of the shell's find, and tells how it ended."""

import pickle
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO

import pytest

from kraftops.errors import RefusedError, SourceError, UsageError
from kraftops_cli.metadata_shell import spark_find_task
from kraftops_cli.metadata_shell.request import ShellRequest
from kraftops_cli.metadata_shell.spark_find_task import FindOutcome, FindWork, call_of
from tests.helpers.tools.shell_session import LOG, NOW, Shell

OURS = ShellRequest(str(LOG), (), False, None, None, None, "kafka", False, False, False)


def work(*words: str, is_escaping: bool = False, memory: int = 0) -> FindWork:
    return FindWork(replace(OURS, words=words), NOW, is_escaping, memory)


def found(*words: str, is_escaping: bool = False) -> tuple[list[str], FindOutcome]:
    """Return the lines of find in a worker, and how it ended."""
    out = BytesIO()
    sent = pickle.loads(pickle.dumps(work(*words, is_escaping=is_escaping)))
    outcome = pickle.loads(pickle.dumps(sent(out)))
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


def test_a_worker_with_less_memory_than_the_state_takes_refuses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spark_find_task, "free_memory", lambda: 1 << 30)

    assert isinstance(work("find", "/", memory=1 << 30)(BytesIO()), FindOutcome)
    refusal = work("find", "/", memory=3 << 30)(BytesIO())

    assert isinstance(refusal, RefusedError)
    assert refusal.message == f"{LOG}: its state takes 3.0 GiB or more, a worker has 1.0 GiB"


def test_a_terminal_gets_escaped_names() -> None:
    assert found("find", "/image", is_escaping=True)[0] == found("find", "/image")[0]


def test_a_log_that_cannot_be_read_is_told() -> None:
    request = replace(OURS, source="/nowhere.log", words=("find", "/"))

    outcome = FindWork(request, NOW)(BytesIO())

    assert isinstance(outcome, SourceError)
    assert "cannot read /nowhere.log" in outcome.message


@pytest.mark.parametrize("words", [("ls", "/"), ("cat", "/image")])
def test_other_commands_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="there is only find"):
        call_of(replace(OURS, words=words))
