"""Where output goes, and how much of it is held."""

import io
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from kraftops.errors import SourceError
from kraftops_shell.output.outlets import (
    FileOutlet,
    ReaderGoneError,
    StandardOutput,
    connect,
    printable,
)
from kraftops_shell.output.programs import Pager, ProgramOutlet, pager_command
from kraftops_shell.session.console import Console
from tests.helpers.tree.small_trees import leaf, session


class Streams:
    """A console whose streams stay in memory."""

    def __init__(
        self,
        *,
        is_terminal: bool = True,
        color: str = "auto",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.out = io.StringIO()
        self.errors: list[str] = []
        self.console = Console(
            write=self.out.write,
            flush=lambda: None,
            error=self.errors.append,
            read=lambda: "",
            encode=str.encode,
            environment={"TERM": "xterm", "PATH": os.environ["PATH"], **(environment or {})},
            is_input_terminal=is_terminal,
            is_output_terminal=is_terminal,
            color=color,
        )


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[34;1mkey\x1b[0m", "\x1b[34;1mkey\x1b[0m"),
        ("\x1b[2Jcleared", "?[2Jcleared"),
        ("\x1b]0;title\x07", "?]0;title?"),
        ("over\rwritten\b\b", "over?written??"),
        ("\x9b2J\x7f\x00", "?2J??"),
        ("ü ☃ 漢", "ü ☃ 漢"),
    ],
)
def test_only_colours_reach_a_terminal(text: str, harmless: str) -> None:
    assert printable(text) == harmless


def test_elsewhere_text_stays_what_it_is() -> None:
    streams = Streams(is_terminal=False)
    with StandardOutput(streams.console) as outlet:
        outlet.write("\x1b[2J\r")

    assert streams.out.getvalue() == "\x1b[2J\r"


def test_file_is_replaced_or_added_to(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for text, is_append in (("a", False), ("b", True), ("c", False), ("d", True)):
        with FileOutlet(Streams().console, str(path), is_append=is_append) as outlet:
            outlet.write(text)

    assert path.read_text() == "cd"


def test_full_disk_is_told() -> None:
    with (
        pytest.raises(SourceError, match="cannot write /dev/full: No space left on device"),
        FileOutlet(Streams().console, "/dev/full", is_append=False) as outlet,
    ):
        outlet.write("x" * 100_000)


def test_error_at_the_end_does_not_hide_the_one_before() -> None:
    file = FileOutlet(Streams().console, "/dev/full", is_append=False)
    file.write("x")

    assert file.__exit__(ValueError, ValueError("mine"), None) is None


def test_program_gets_all_and_says_how_it_went(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with ProgramOutlet(Streams().console, f"cat > '{path}'; exit 3") as outlet:
        outlet.write("a")
        outlet.write("b")

    assert path.read_text() == "ab"
    assert outlet.code == 1


def test_program_that_reads_no_more_ends_the_command() -> None:
    count = 0
    with ProgramOutlet(Streams().console, "true") as outlet:
        while count < 10_000:
            outlet.write("x" * 1000)
            count += 1

    assert 0 < count < 10_000
    assert outlet.code == 0


@pytest.fixture
def paged(tmp_path: Path) -> tuple[Streams, Path, str]:
    """Streams, a file that the pager writes, and the pager."""
    path = tmp_path / "paged"
    return Streams(), path, f"echo $LESS > '{path}'; cat >> '{path}'"


def test_what_fits_is_not_paged(paged: tuple[Streams, Path, str]) -> None:
    streams, path, command = paged
    rows = streams.console.size().lines
    with Pager(streams.console, command) as outlet:
        for number in range(rows - 1):
            outlet.write(f"{number}\n")
        assert streams.out.getvalue() == ""

    assert len(streams.out.getvalue().splitlines()) == rows - 1
    assert not path.exists()


@pytest.mark.parametrize("text", ["x\n", "x" * 81, "\n"], ids=["lines", "long lines", "empty"])
def test_what_does_not_fit_is_paged(paged: tuple[Streams, Path, str], text: str) -> None:
    streams, path, command = paged
    with Pager(streams.console, command) as outlet:
        for _ in range(100):
            outlet.write(text)

    assert streams.out.getvalue() == ""
    assert path.read_text() == "FIRX\n" + text * 100


def test_pager_holds_no_more_than_a_screen(paged: tuple[Streams, Path, str]) -> None:
    streams, _, command = paged
    with Pager(streams.console, command) as outlet:
        for _ in range(1000):
            outlet.write("x\n")
            assert len(outlet._buffer) <= streams.console.size().lines


def test_options_of_less_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "paged"
    streams = Streams(environment={"LESS": "S"})
    with Pager(streams.console, f"echo $LESS > '{path}'; cat >> '{path}'") as outlet:
        outlet.write("x\n" * 100)

    assert path.read_text().startswith("S\n")


def test_errors_wait_for_the_pager(paged: tuple[Streams, Path, str]) -> None:
    streams, _, command = paged
    with Pager(streams.console, command) as outlet:
        outlet.error("wrong")
        outlet.write("x\n" * 100)
        assert streams.errors == []

    assert streams.errors == ["wrong"]


@pytest.mark.parametrize("command", ["no-such-pager -x", "~/no/such/pager"])
def test_output_is_shown_without_the_pager_that_is_missing(
    paged: tuple[Streams, Path, str], capfd: pytest.CaptureFixture[str], command: str
) -> None:
    streams, _, _ = paged
    lines = [f"line {number}\n" for number in range(5000)]
    with Pager(streams.console, command) as pager:
        for line in lines:
            pager.write(line)

    assert capfd.readouterr() == ("".join(lines), "")
    assert streams.errors == [f"{command}: there is no such program; PAGER names a pager"]


def test_pager_that_ends_early_ends_the_command() -> None:
    with Pager(Streams().console, "true") as outlet:
        while True:
            outlet.write("x" * 100 + "\n")


@pytest.mark.parametrize(
    ("environment", "command"),
    [
        ({"PAGER": "more -s"}, "more -s"),
        ({"PAGER": ""}, None),
        ({"PAGER": "cat"}, None),
        ({"PATH": "/nowhere"}, None),
    ],
)
def test_pager_is_chosen_by_the_environment(
    environment: dict[str, str], command: str | None
) -> None:
    assert pager_command(environment) == command


def test_less_is_the_pager_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "less").touch(mode=0o755)

    assert pager_command({"PATH": str(tmp_path)}) == "less"


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
def test_colours_are_for_terminals_unless_asked_for(
    is_terminal: bool, color: str, environment: dict[str, str], has_color: bool
) -> None:
    streams = Streams(is_terminal=is_terminal, color=color, environment=environment)

    assert streams.console.has_color(for_terminal=is_terminal) == has_color


def test_session_suits_its_output(tmp_path: Path) -> None:
    streams = Streams()
    one, _, _ = session({})
    long = leaf(["x" * 30] * 5)

    with StandardOutput(streams.console) as outlet:
        connect(one, streams.console, outlet)
        assert one.width == streams.console.size().columns
        assert one.leaf_text(long).startswith("[\n  \x1b[32m")
    with FileOutlet(streams.console, str(tmp_path / "f"), is_append=False) as file:
        connect(one, streams.console, file)
        assert one.width == 0
        assert one.leaf_text(long).startswith('["x')


def test_reader_that_is_gone_is_no_error_elsewhere() -> None:
    """It means something only to the outlet whose reader it is."""
    with pytest.raises(ReaderGoneError), StandardOutput(Streams().console):
        raise ReaderGoneError
