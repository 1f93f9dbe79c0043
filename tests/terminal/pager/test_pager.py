"""The pager gets the output of commands."""

from pathlib import Path

import pytest

from kraftops_terminal.pager.pager import OUR_PAGES, Pager, pager_command
from tests.helpers.tools.memory_console import Streams


@pytest.fixture
def paged(tmp_path: Path) -> tuple[Streams, Path, str]:
    """Streams, a file that the pager writes, and the pager."""
    path = tmp_path / "paged"
    return Streams(), path, f"echo $LESS > '{path}'; cat >> '{path}'"


def test_output_of_one_screen_is_not_paged(paged: tuple[Streams, Path, str]) -> None:
    streams, path, command = paged
    rows = streams.console.size().lines
    with Pager(streams.console, command) as outlet:
        for number in range(rows - 1):
            outlet.write(f"{number}\n")
        assert streams.out.getvalue() == ""

    assert len(streams.out.getvalue().splitlines()) == rows - 1
    assert not path.exists()


@pytest.mark.parametrize("text", ["x\n", "x" * 81, "\n"], ids=["lines", "long lines", "empty"])
def test_longer_output_is_paged(paged: tuple[Streams, Path, str], text: str) -> None:
    streams, path, command = paged
    with Pager(streams.console, command) as outlet:
        for _ in range(100):
            outlet.write(text)

    assert streams.out.getvalue() == ""
    options, _, came = path.read_text().partition("\n")
    assert options.startswith("FIRX-Pslines ")
    assert came == text * 100


def test_pager_holds_no_more_than_a_screen(paged: tuple[Streams, Path, str]) -> None:
    streams, _, command = paged
    with Pager(streams.console, command) as outlet:
        for _ in range(1000):
            outlet.write("x\n")
            assert len(outlet._buffer) <= streams.console.size().lines


def test_users_options_of_less_are_kept(tmp_path: Path) -> None:
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
def test_missing_pager_does_not_hide_the_output(
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
        ({"PATH": "/nowhere"}, OUR_PAGES),
    ],
)
def test_environment_names_the_pager(environment: dict[str, str], command: str | None) -> None:
    assert pager_command(environment) == command


def test_less_is_the_pager_if_it_is_installed(tmp_path: Path) -> None:
    (tmp_path / "less").touch(mode=0o755)

    assert pager_command({"PATH": str(tmp_path)}) == "less"
