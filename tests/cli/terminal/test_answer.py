from __future__ import annotations

import json

import pytest

from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.failure import Failure, fail
from kraftops_cli.terminal.streams import Terminal


@pytest.fixture
def terminal() -> Terminal:
    terminal = Terminal("kafka-tool")
    terminal.command = "count"
    return terminal


def _unused() -> str:
    raise AssertionError("the form that is not asked for was made")


def test_json_is_one_object_with_the_command(
    terminal: Terminal, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    terminal.is_json = True
    print_answer(terminal, (), {"count": 3}, _unused)
    terminal.end_answer()
    terminal.flush()

    assert capfdbinary.readouterr().out == b'{"command": "count", "formatVersion": 2, "count": 3}\n'


def test_failure_after_the_answer_is_in_the_same_object(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    terminal = Terminal("kafka-tool", is_json=True)
    terminal.command = "count"
    print_answer(terminal, (), {"count": 3}, _unused)

    assert fail(terminal, Failure("failed", "it ends", "try again")) == 1
    terminal.end_answer()
    terminal.flush()

    assert json.loads(capfdbinary.readouterr().out) == {
        "command": "count",
        "formatVersion": 2,
        "error": "failed",
        "message": "it ends",
        "hint": "try again",
        "count": 3,
    }


@pytest.mark.parametrize("text", ["one\ntwo\n", ["one\n", "two\n"]])
def test_text_is_written_as_it_is(
    terminal: Terminal, capfdbinary: pytest.CaptureFixture[bytes], text: str | list[str]
) -> None:
    print_answer(terminal, (), {}, lambda: text)
    terminal.flush()

    assert capfdbinary.readouterr().out == b"one\ntwo\n"
