"""Programs get the output of commands."""

from pathlib import Path

from kraftops_shell.output.outlets import ProgramOutlet
from tests.helpers.tools.memory_console import Streams


def test_program_gets_the_output_and_gives_its_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with ProgramOutlet(Streams().console, f"cat > '{path}'; exit 3") as outlet:
        outlet.write("a")
        outlet.write("b")

    assert path.read_text() == "ab"
    assert outlet.code == 1


def test_program_that_closes_its_input_ends_the_command() -> None:
    count = 0
    with ProgramOutlet(Streams().console, "true") as outlet:
        while count < 10_000:
            outlet.write("x" * 1000)
            count += 1

    assert 0 < count < 10_000
    assert outlet.code == 0
