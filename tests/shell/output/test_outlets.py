"""Outlets for the output of a command."""

from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops_shell.output.outlets import (
    FileOutlet,
    StandardOutput,
    connect,
)
from kraftops_terminal.pager.program import ReaderGoneError
from tests.helpers.tools.memory_console import Streams
from tests.helpers.tree.small_trees import leaf, session


def test_other_outlets_get_the_text_unchanged() -> None:
    streams = Streams(is_terminal=False)
    with StandardOutput(streams.console) as outlet:
        outlet.write("\x1b[2J\r")

    assert streams.out.getvalue() == "\x1b[2J\r"


def test_file_is_truncated_or_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text, is_append in (("a", False), ("b", True), ("c", False), ("d", True)):
        with FileOutlet(Streams().console, str(path), is_append=is_append) as outlet:
            outlet.write(text)

    assert path.read_text() == "cd"


def test_full_disk_is_an_error() -> None:
    with (
        pytest.raises(SourceError, match="cannot write /dev/full: No space left on device"),
        FileOutlet(Streams().console, "/dev/full", is_append=False) as outlet,
    ):
        outlet.write("x" * 100_000)


def test_error_on_close_does_not_hide_an_earlier_error() -> None:
    file = FileOutlet(Streams().console, "/dev/full", is_append=False)
    file.write("x")

    assert file.__exit__(ValueError, ValueError("mine"), None) is None


@pytest.mark.parametrize(
    ("is_terminal", "color", "environment", "has_color"),
    [
        (True, "auto", {}, True),
        (True, "auto", {"NO_COLOR": "1"}, False),
        (True, "auto", {"NO_COLOR": ""}, True),
        (True, "auto", {"TERM": "dumb"}, False),
        (True, "never", {}, False),
        (False, "auto", {}, False),
        (False, "always", {"NO_COLOR": "1"}, True),
    ],
)
def test_colours_are_for_terminals_by_default(
    is_terminal: bool, color: str, environment: dict[str, str], has_color: bool
) -> None:
    streams = Streams(is_terminal=is_terminal, color=color, environment=environment)

    assert streams.console.has_color(for_terminal=is_terminal) == has_color


def test_session_is_connected_to_its_outlet(tmp_path: Path) -> None:
    streams = Streams()
    one, _, _ = session({})
    long = leaf(["x" * 30] * 5)

    with StandardOutput(streams.console) as outlet:
        connect(one, streams.console, outlet)
        assert one.width == streams.console.size().columns
        assert one.shown_leaf(long).startswith("[\n  \x1b[32m")
        assert one.shown("a\x1b[2J\n") == "a\\x1b[2J\\n"
    with FileOutlet(streams.console, str(tmp_path / "f"), is_append=False) as file:
        connect(one, streams.console, file)
        assert one.width == 0
        assert one.shown_leaf(long).startswith('["x')
        assert one.shown("a\x1b[2J\n") == "a\x1b[2J\n"


def test_standard_output_passes_a_gone_reader_on() -> None:
    """Only the outlet with this reader handles the error."""
    with pytest.raises(ReaderGoneError), StandardOutput(Streams().console):
        raise ReaderGoneError
