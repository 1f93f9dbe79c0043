"""Our own pager on a terminal: pages, their status line, and the end of the text."""

import signal
import sys
from pathlib import Path

import pytest

from kraftops_terminal.pager.pages import folded
from tests.helpers.tools.emulator import Emulator

PROGRAM = """
import os, sys
from types import SimpleNamespace
from kraftops_terminal.pager.pager import OUR_PAGES, Pager

written = 0
streams = SimpleNamespace(
    environment={}, write=sys.stdout.write, flush=sys.stdout.flush, error=print, encode=str.encode,
    shown_lines=str, size=lambda: os.get_terminal_size(1),
)
with Pager(streams, OUR_PAGES) as pager:
    for written in range(1, int(sys.argv[1]) + 1):
        pager.write(f"line {written} {'x' * 30}\\n")
    if sys.argv[2:]:
        raise ValueError("an error")
print("wrote", written, flush=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return [sys.executable, str(path)]


def test_pages_are_turned_and_counted(program: list[str]) -> None:
    with Emulator(*program, "812", columns=80, rows=24) as screen:
        screen.wait_for("lines 1-23, q quits")
        assert screen.lines[22] == f"line 23 {'x' * 30}"
        screen.send(" ")
        screen.wait_for("lines 24-46, q")
        screen.send("G")
        screen.wait_for("lines 790-812 of 812, q quits")
        assert screen.lines[22] == f"line 812 {'x' * 30}"
        screen.send("\x1b[A")
        screen.wait_for("lines 789-811 of 812")
        screen.send("g")
        screen.wait_for("lines 1-23 of 812")
        screen.send("q")

        assert screen.wait_for_end() == 0
        assert screen.is_as_before
        assert "wrote 812" in screen.text


def test_who_writes_is_stopped_by_q(program: list[str]) -> None:
    with Emulator(*program, "1000000", columns=80, rows=24) as screen:
        screen.wait_for("lines 1-23,")
        screen.send("q")

        assert screen.wait_for_end() == 0
        assert "wrote 24" in screen.text


def test_long_lines_are_folded_anew_after_a_change_of_size(program: list[str]) -> None:
    with Emulator(*program, "30", columns=80, rows=10) as screen:
        screen.wait_for("lines 1-9,")
        screen.send("G")
        screen.wait_for("lines 22-30 of 30")
        screen.resize(7, 20)
        screen.wait_for("lines 22-24 of 30")
        assert screen.lines[:2] == ["line 22 xxxxxxxxxxxx", "xxxxxxxxxxxxxxxxxx"]
        assert screen.lines[-1] == "lines 22-24 of 30, q"


@pytest.mark.parametrize(
    ("end", "code"), [("\x03", -signal.SIGINT), (signal.SIGTERM, -signal.SIGTERM)]
)
def test_terminal_is_left_as_it_was(program: list[str], end: str | int, code: int) -> None:
    with Emulator(*program, "100", columns=80, rows=24) as screen:
        screen.wait_for("lines 1-23")
        if isinstance(end, str):
            screen.send(end)
        else:
            screen.signal(end)

        assert screen.wait_for_end() == code
        assert screen.is_as_before


def test_error_of_the_writer_leaves_the_terminal_as_it_was(program: list[str]) -> None:
    with Emulator(*program, "30", "error", columns=80, rows=24) as screen:
        screen.wait_for("lines 1-23")
        screen.send("G")

        assert screen.wait_for_end() == 1
        assert screen.is_as_before
        assert "ValueError: an error" in screen.text


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("", [""]),
        ("abcdef", ["abc", "def"]),
        ("日本語", ["日", "本", "語"]),
        ("\x1b[32mabcd\x1b[0me", ["\x1b[32mabc", "\x1b[32md\x1b[0me"]),
    ],
)
def test_lines_are_folded_by_their_width_with_their_colours(line: str, rows: list[str]) -> None:
    assert list(folded(line, 3)) == rows
