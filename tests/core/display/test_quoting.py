"""A shell takes a quoted path for the file that has it."""

import os
import subprocess
from pathlib import Path

import pytest

from kraftops.display.quoting import quote, quote_path

NAMES = [
    *("plain", "two words", "it's", '"quoted"', "$HOME", "`id`", "~", "-rf", "--", "a\nb", "a\tb"),
    *(
        "\u00fcn\u00ef",
        "100%d",
        "back\\slash",
        "a\\\n'%s$x\x7f",
        "\u202etxt.exe",
        "\udcff.bytes",
        "*",
    ),
]


@pytest.mark.parametrize("name", NAMES)
def test_shell_touches_the_file_of_the_name(name: str, tmp_path: Path) -> None:
    word = quote_path(name)
    subprocess.run(["sh", "-c", f"touch {word}"], check=True, cwd=tmp_path)

    assert name in os.listdir(tmp_path)
    assert word.isprintable(), "a terminal shows it as it is"


def test_surrogate_that_no_file_has_is_no_failure() -> None:
    assert quote("\ud800") == "'\ud800'"
