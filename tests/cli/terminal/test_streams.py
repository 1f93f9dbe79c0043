"""The streams that commands write to."""

import io

import pytest

from kraftops_terminal.escaping import escaped
from tests.helpers.tools.console import MemoryTerminal


def test_output_is_utf_8_and_keeps_the_bytes_of_file_names() -> None:
    out = io.BytesIO()
    terminal = MemoryTerminal("tool", out)

    terminal.write("Dumping é\udcff.log\n")
    terminal.flush()

    assert out.getvalue() == b"Dumping \xc3\xa9\xff.log\n"


def test_error_is_a_line_and_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = MemoryTerminal("tool", io.BytesIO())

    terminal.error("what happened", "what to try")
    terminal.error("without a hint")

    assert capsys.readouterr().err == (
        "tool: what happened\nhint: what to try\ntool: without a hint\n"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é", "plain é"),
        ("two\nlines\r", "two\\nlines\\r"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("name\udcff", "name\\xff"),
    ],
)
def test_line_of_errors_stays_one_and_harmless(text: str, shown: str) -> None:
    """File names come from others."""
    assert escaped(text) == shown


@pytest.mark.parametrize("control", ["\x07", "\x08", "\x9b2J", "\x7f", "\x00"])
def test_no_control_character_reaches_the_terminal(control: str) -> None:
    assert control[0] not in escaped(f"name{control}.log")
