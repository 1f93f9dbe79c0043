"""Help of a tool."""

from pathlib import Path

import pytest

from tests.helpers.tools.console import run_here


@pytest.mark.parametrize("argument", ["--help", "-h", "-help"])
def test_help_is_on_standard_output(argument: str, tmp_path: Path) -> None:
    done = run_here(argument, cwd=tmp_path)

    assert done.code == 0
    assert done.errors == []
    for part in ("Usage: kafka-dump-log", "Examples:", "--files", "Exit status"):
        assert part in done.text
