"""Frames and keys on a terminal, which is left as it was."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kraftops_terminal.screen import Screen, keys_of
from tests.helpers.tools.emulator import Emulator
from tests.helpers.tools.own_terminal import OwnTerminal

PROGRAM = """
import sys
from kraftops_terminal.screen import Screen

print("before", flush=True)
with Screen(1, 0) as screen:
    frame = 0
    while True:
        columns, rows = screen.size
        screen.draw([f"{columns} x {rows}", *map(str, range(1, rows - 1)), "x" * (columns + 5)])
        keys = screen.wait(None)
        if "e" in keys:
            raise ValueError("an error")
        if "end-of-input" in keys:
            sys.exit(3)
        if "q" in keys:
            break
print("after", flush=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return [sys.executable, str(path)]


@pytest.mark.parametrize(
    ("end", "code"),
    [
        pytest.param("q", 0, id="quit"),
        pytest.param("e", 1, id="error"),
        pytest.param("\x03", -signal.SIGINT, id="ctrl-c"),
        pytest.param(signal.SIGTERM, -signal.SIGTERM, id="term"),
        pytest.param(signal.SIGHUP, -signal.SIGHUP, id="hup"),
        pytest.param("\x1c", -signal.SIGQUIT, id="ctrl-backslash"),
    ],
)
def test_terminal_is_left_as_it_was(program: list[str], end: str | int, code: int) -> None:
    with Emulator(*program, columns=40, rows=6) as screen:
        screen.wait_for("40 x 6")
        assert not screen.is_as_before
        if isinstance(end, str):
            screen.send(end)
        else:
            screen.signal(end)

        assert screen.wait_for_end() == code
        assert screen.is_as_before


def test_frames_fit_each_size_and_lines_end_at_the_edge(program: list[str]) -> None:
    with Emulator(*program, columns=40, rows=6) as screen:
        screen.wait_for("40 x 6")
        assert screen.lines == ["40 x 6", "1", "2", "3", "4", "x" * 40]

        screen.resize(3, 20)
        screen.wait_for("20 x 3")
        assert screen.lines == ["20 x 3", "1", "x" * 20]


def test_suspended_program_gives_the_terminal_back(program: list[str]) -> None:
    with Emulator(*program, columns=40, rows=6) as screen:
        screen.wait_for("40 x 6")
        os.kill(screen.process.pid, signal.SIGTSTP)
        # The program leads its session, and such a one is not stopped by the terminal's signals.
        screen.wait(lambda found: found.raw.count(b"\x1b[?1049h") == 2)
        assert screen.raw.count(b"\x1b[?1049l") == 1

        screen.wait_for("40 x 6")
        screen.send("q")
        assert screen.wait_for_end() == 0
        assert screen.is_as_before


def test_only_changed_lines_are_written_again() -> None:
    with OwnTerminal(columns=20) as terminal:
        screen = Screen(terminal.fd, -1)
        screen.draw(["one", "two"])
        terminal.shown()

        screen.draw(["one", "2"])

        assert terminal.shown() == "\x1b[2;1H\x1b[0m\x1b[2K2\x1b[0m"
        screen.draw(["one", "2"])
        assert terminal.shown() == ""


def test_wait_is_ended_by_another_thread_and_without_keys() -> None:
    with OwnTerminal() as terminal:
        screen = Screen(terminal.fd, -1)
        screen.wake()
        screen.wake()

        assert screen.wait(60) == []
        assert not screen.has_keys


def test_terminal_that_is_gone_ends_the_keys(program: list[str]) -> None:
    master, terminal = os.openpty()
    with subprocess.Popen(
        program, stdin=terminal, stdout=terminal, stderr=subprocess.DEVNULL
    ) as run:
        os.close(terminal)
        while b"24" not in os.read(master, 1 << 12):
            pass
        os.close(master)

        assert run.wait(60) != 0


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"qS/ ", ["q", "S", "/", " "]),
        (b"\x1b[A\x1b[B\x1bOA\x1bOB", ["up", "down", "up", "down"]),
        (b"\x1b[5~\x1b[6~\x1b[H\x1b[F\x1b[1~\x1b[4~", ["page-up", "page-down", *["home", "end"] * 2]),
        (b"\r\n\x7f\b\x04", ["enter", "enter", "backspace", "backspace", "end-of-input"]),
        ("zürich日".encode(), [*"zürich日"]),
        (b"\x1b[1;5Ha\x1b[3~b\x1bOPc", ["home", "a", "b", "c"]),
        (b"\x1b[C\x1bOD\x1b[1;2C\x1b[1;3D", ["right", "left", "shift-right", "shift-left"]),
        (b"a\x00\x01\tb", ["a", "b"]),
        (b"\xffa", ["a"]),
        (b"\x1b\x1b[A", ["escape", "up"]),
    ],
)  # fmt: skip
def test_keys_have_names(data: bytes, keys: list[str]) -> None:
    assert keys_of(data, is_all=False) == (keys, b"")


@pytest.mark.parametrize("data", [b"\x1b[5~", "日".encode(), b"\x1bOA", b"\x1b[1;5A"])
def test_keys_may_come_byte_by_byte(data: bytes) -> None:
    whole, _ = keys_of(data, is_all=True)
    keys: list[str] = []
    rest = b""
    for byte in data:
        more, rest = keys_of(rest + bytes([byte]), is_all=False)
        keys += more

    assert (keys, rest) == (whole, b"")
    assert len(whole) == 1


def test_escape_is_a_key_when_nothing_follows() -> None:
    assert keys_of(b"\x1b", is_all=False) == ([], b"\x1b")
    assert keys_of(b"\x1b", is_all=True) == (["escape"], b"")
    assert keys_of("ü".encode()[:1], is_all=True) == ([], b"")
