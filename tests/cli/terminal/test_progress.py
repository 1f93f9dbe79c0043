"""The progress bar: late, brief, and gone in the end."""

import fcntl
import os
import pty
import struct
import termios
from collections.abc import Iterator

import pytest

from kraftops_cli.terminal.progress import Progress, is_wanted, progress_line


class Screen:
    """Takes what is meant for a terminal; *shown* is what came since the last look."""

    def __init__(self) -> None:
        self._reader, self.fd = os.pipe()
        os.set_blocking(self._reader, False)

    def shown(self) -> str:
        try:
            return os.read(self._reader, 1 << 16).decode()
        except BlockingIOError:
            return ""

    def close(self) -> None:
        os.close(self._reader)
        os.close(self.fd)


@pytest.fixture
def screen() -> Iterator[Screen]:
    screen = Screen()
    yield screen
    screen.close()


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """A terminal of 60 columns: what its user sees, and what programs write to."""
    seen, fd = pty.openpty()
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    yield seen, fd
    os.close(seen)
    os.close(fd)


class Clock:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def progress(screen: Screen, clock: Clock, total: int = 1000) -> Progress:
    return Progress(total, is_shown=True, fd=screen.fd, clock=clock)


def test_short_work_shows_nothing(screen: Screen) -> None:
    clock = Clock()
    with progress(screen, clock) as bar:
        for _ in range(9):
            clock.now += 0.1
            bar.advance(100)

    assert screen.shown() == ""


def test_long_work_shows_and_clears_a_bar(screen: Screen) -> None:
    clock = Clock()
    with progress(screen, clock) as bar:
        clock.now += 2
        bar.advance(500)
        first = screen.shown()

    bar_ = f"[{'#' * 17}{'.' * 18}]"
    assert first == f"\r{bar_}  50%  500 B of 1.0 kB  250 B/s  0:02 left\x1b[K"
    assert screen.shown() == "\r\x1b[K"


def test_bar_is_as_wide_as_the_terminal(terminal: tuple[int, int]) -> None:
    clock = Clock()
    seen, fd = terminal
    bar = Progress(1000, is_shown=True, fd=fd, clock=clock)
    clock.now += 2
    bar.advance(500)

    shown = ""
    while not shown.endswith("\x1b[K"):
        shown += os.read(seen, 1000).decode()

    assert len(shown) == 59 + len("\r\x1b[K")


def test_bar_is_not_drawn_at_every_step(screen: Screen) -> None:
    clock = Clock()
    bar = progress(screen, clock)
    clock.now += 2
    for _ in range(500):
        clock.now += 0.001
        bar.advance(1)

    assert 3 <= screen.shown().count("\r") <= 6


def test_line_takes_the_place_of_the_bar(screen: Screen) -> None:
    clock = Clock()
    bar = progress(screen, clock)
    bar.erase()
    assert screen.shown() == ""
    clock.now += 2
    bar.advance(1)
    screen.shown()

    bar.erase()
    bar.erase()

    assert screen.shown() == "\r\x1b[K"


def test_unwanted_bar_is_not_drawn(screen: Screen) -> None:
    clock = Clock()
    with Progress(1000, is_shown=False, fd=screen.fd, clock=clock) as bar:
        clock.now += 5
        bar.advance(500)

    assert screen.shown() == ""


def test_closed_terminal_is_no_error() -> None:
    clock = Clock()
    reading, writing = os.pipe()
    os.close(reading)
    with Progress(1000, is_shown=True, fd=writing, clock=clock) as bar:
        for _ in range(3):
            clock.now += 5
            bar.advance(300)
    os.close(writing)


def test_bar_of_a_job_in_the_background_waits(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The terminal is that of others."""
    clock = Clock()
    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp() + 1)
    bar = progress(screen, clock)
    clock.now += 5
    bar.advance(300)
    assert screen.shown() == ""

    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp())
    clock.now += 5
    bar.advance(300)

    assert " 60% " in screen.shown()


def test_bar_is_wanted_on_a_terminal_that_shows_nothing_else(
    screen: Screen, terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, fd = terminal
    monkeypatch.setenv("TERM", "xterm")

    assert is_wanted(screen.fd, fd)
    assert not is_wanted(fd, fd)
    assert not is_wanted(screen.fd, screen.fd)
    assert not is_wanted(screen.fd, 999)
    assert is_wanted(999, fd)

    monkeypatch.setenv("TERM", "dumb")
    assert not is_wanted(screen.fd, fd)


@pytest.mark.parametrize(
    ("done", "total", "seconds", "columns", "line"),
    [
        (0, 2_000, 2, 60, "[..............................]   0%  0 B of 2.0 kB  0 B/s"),
        (
            1_234_567_890,
            4_000_000_000,
            60,
            80,
            "[#########.......................]  31%  1.2 GB of 4.0 GB  20.6 MB/s  2:14 left",
        ),
        (5, 9, 4000, 60, "[###########..........]  56%  5 B of 9 B  0 B/s  53:20 left"),
        (5_000, 4_000, 1, 80, f"[{'#' * 33}] 100%  5.0 kB of 4.0 kB  5.0 kB/s  0:00 left"),
        (1, 10**15, 3600, 40, "[..........]   0%  1 B of 1.0 PB  0 B/s"),
        (999_600, 10**9, 1, 12, "  0%  1.0 M"),
        (123_000, 0, 1, 80, "123 kB  123 kB/s"),
        (123_000, 0, 1, 8, "123 kB "),
    ],
)
def test_line_has_share_sizes_speed_and_time_left(
    done: int, total: int, seconds: float, columns: int, line: str
) -> None:
    got = progress_line(done, total, seconds, columns)

    assert got == line
    assert len(got) < columns
