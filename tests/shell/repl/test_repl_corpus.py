"""Sessions of Kafka's shell on a terminal print the same in ours."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.tools.console import METADATA_SHELL
from tests.helpers.tools.corpus import SHELL
from tests.helpers.tools.terminal_program import Screen

SESSIONS = [
    json.loads(path.read_text("utf-8")) | {"name": path.stem}
    for path in sorted((SHELL / "interactive").glob("*.json"))
]


def test_sessions_are_there() -> None:
    assert len(SESSIONS) == 15


def ours(session: dict[str, Any]) -> Screen:
    return Screen(
        METADATA_SHELL,
        "--snapshot",
        str(SHELL / "in" / session["file"]),
        term=session["term"],
        columns=session["width"],
        rows=50,
    )


def edited(step: dict[str, str]) -> str:
    """Return what Kafka's shell printed after a line, without what its line editor drew."""
    if "output" in step:
        return step["output"]
    typed = re.escape(step.get("input", ""))
    after = re.sub(f"^{typed}\x08*", "", step["screen"]) if typed else step["screen"]
    return after.partition("\n")[2] if "keys" in step else after.removeprefix("\n")


@pytest.mark.parametrize(
    "session",
    [pytest.param(one, id=one["name"]) for one in SESSIONS if one["term"] == "xterm"],
)
def test_terminal_shows_what_kafkas_shell_printed(session: dict[str, Any]) -> None:
    with ours(session) as screen:
        for step in session["steps"]:
            keys = step["keys"] if "keys" in step else f"{step['input']}\r"
            assert screen.run(keys) == edited(step), step
        screen.wait_for_editor()
        screen.send("exit\r" if session["end"] == "exit" else "\x04")

        assert screen.wait_for_end() == session["exit"]


@pytest.mark.parametrize(
    "session",
    [pytest.param(one, id=one["name"]) for one in SESSIONS if one["term"] == "dumb"],
)
def test_dumb_terminal_shows_what_kafkas_shell_printed(session: dict[str, Any]) -> None:
    """Where the last command killed Kafka's shell, ours has an answer and goes on."""
    steps = session["steps"] if session["end"] else session["steps"][:-1]
    with ours(session) as screen:
        screen.wait(lambda screen: screen.text.endswith(">> "))
        for step in steps:
            screen.clear()
            screen.send(f"{step['input']}\r")
            shown = screen.wait(lambda screen: screen.text.endswith("\n>> "))
            assert shown == f"{step['input']}\n{step['output']}>> ", step
        if not session["end"]:
            screen.clear()
            screen.send(f"{session['steps'][-1]['input']}\r")
            shown = screen.wait(lambda screen: screen.text.endswith("\n>> "))
            assert "Unexpected error" not in shown
        screen.send("\x04" if session["end"] == "ctrl-d" else "exit\r")

        assert screen.wait_for_end() == 0


def test_dumb_terminal_ends_with_an_interrupt() -> None:
    """As Kafka's shell does there."""
    with Screen(METADATA_SHELL, "-s", str(a_snapshot()), term="dumb") as screen:
        screen.wait(lambda screen: screen.text.endswith(">> "))
        screen.send("ab\x03")

        assert screen.wait_for_end() == 130


def a_snapshot() -> Path:
    return SHELL / "in" / SESSIONS[0]["file"]
