"""Status lines on a terminal: replaced, erased, and never in the way."""

import os
from collections.abc import Iterator

import pytest

from kraftops_terminal.status import Status, is_seen
from tests.helpers.tools.own_terminal import OwnTerminal


@pytest.fixture
def terminal() -> Iterator[OwnTerminal]:
    with OwnTerminal(columns=20) as terminal:
        yield terminal


def test_text_is_cut_escaped_replaced_and_erased(terminal: OwnTerminal) -> None:
    status = Status(terminal.fd)

    status.show("a\x1b[2J" + "b" * 50)
    assert terminal.shown() == "\r\x1b[K" + ("a\\x1b[2J" + "b" * 50)[:19]
    status.show_lines(["one", "two"])
    assert terminal.shown() == "\r\x1b[Kone\r\ntwo"
    status.erase()
    assert terminal.shown() == "\r\x1b[K\x1b[A\x1b[K"
    status.erase()
    assert terminal.shown() == ""


def test_job_in_the_background_draws_nothing(
    terminal: OwnTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The terminal is that of others."""
    status = Status(terminal.fd)
    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp() + 1)
    status.show("text")
    assert terminal.shown() == ""

    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp())
    status.show("text")
    assert terminal.shown() == "\r\x1b[Ktext"


def test_closed_terminal_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    status = Status(writing)

    status.show("text")
    status.show("text")
    status.erase()

    os.close(writing)


def test_status_is_seen_on_a_terminal_that_shows_nothing_else(
    terminal: OwnTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    file = os.open(os.devnull, os.O_WRONLY)

    assert is_seen(file, terminal.fd)
    assert not is_seen(terminal.fd, terminal.fd)
    assert not is_seen(file, file)
    assert not is_seen(file, 999)
    assert is_seen(999, terminal.fd)
    assert is_seen(-1, terminal.fd)

    monkeypatch.setenv("TERM", "dumb")
    assert not is_seen(file, terminal.fd)
    os.close(file)
