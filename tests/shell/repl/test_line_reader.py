"""Lines from a pipe."""

import io
from dataclasses import replace

import pytest

from kraftops_shell.repl.line_reader import PlainLineReader
from tests.helpers.tools.memory_console import Streams


@pytest.mark.parametrize(
    ("is_strict", "lines"), [(False, ["ls", "pwd"]), (True, ["ls"])], ids=["ours", "kafka"]
)
def test_strict_reader_ignores_a_line_without_end(is_strict: bool, lines: list[str]) -> None:
    streams = Streams()
    console = replace(streams.console, read=io.StringIO("ls\r\npwd").readline)
    reader = PlainLineReader(console, is_prompting=True, is_strict=is_strict)

    assert [reader.read("> ") for _ in lines] == lines
    with pytest.raises(EOFError):
        reader.read("> ")
    assert streams.out.getvalue() == "> " * (len(lines) + 1)
