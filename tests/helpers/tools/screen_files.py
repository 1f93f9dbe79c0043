"""Recorded screens in `tests/data/screens`: `pytest --renew-screens` writes them anew."""

from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

import pytest

SCREENS = Path(__file__).parents[2] / "data" / "screens"


class RecordedScreens:
    """Screens that are compared with their files, or written to them."""

    def __init__(self, *, renews: bool) -> None:
        self._renews = renews

    def check(self, name: str, lines: Sequence[str]) -> None:
        """Compare lines with the file of this name; a difference is printed, with its cure."""
        text = "".join(f"{line.rstrip()}\n" for line in lines)
        path = SCREENS / f"{name}.txt"
        if self._renews:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        recorded = path.read_text()
        if recorded != text:
            difference = unified_diff(
                recorded.splitlines(), text.splitlines(), "recorded", "now", lineterm=""
            )
            pytest.fail(
                f"screen {name}: if it is meant, pytest --renew-screens writes it anew\n"
                + "\n".join(difference),
                pytrace=False,
            )
