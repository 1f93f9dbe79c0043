"""Options that exclude each other, or need --controllers."""

from pathlib import Path

import pytest

from tests.helpers.tools.console import run_here


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--files", "0.log", "--timeout", "5"), "--timeout needs --controllers"),
        (("--files", "0.log", "--command-config", "x"), "--command-config needs --controllers"),
        (("-C", "a:1", "--files", "0.log"), "--controllers and --files do not go together"),
        (("-C", "a:1", "--max-bytes", "9"), "--controllers and --max-bytes do not go together"),
        (("--config", "x", "--salvage"), "--config and --salvage do not go together"),
        (("-C", "a:1", "extra.log"), "--controllers and extra.log do not go together"),
        (("-C", "a:1", "--offsets-decoder"), "--controllers and --offsets-decoder do not"),
    ],
)
def test_options_that_do_not_go_together(
    arguments: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    done = run_here(*arguments, cwd=tmp_path)

    assert (done.code, done.text) == (1, "")
    assert reason in done.errors[0]
