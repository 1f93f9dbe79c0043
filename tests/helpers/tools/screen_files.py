"""Recorded screens in `tests/data/screens`: `pytest --renew-screens` writes them anew."""

from collections.abc import Sequence
from pathlib import Path

SCREENS = Path(__file__).parents[2] / "data" / "screens"


class RecordedScreens:
    """Screens that are compared with their files, or written to them."""

    def __init__(self, *, renews: bool) -> None:
        self._renews = renews

    def check(self, name: str, lines: Sequence[str]) -> None:
        """Compare lines with the file of this name."""
        text = "".join(f"{line.rstrip()}\n" for line in lines)
        path = SCREENS / f"{name}.txt"
        if self._renews:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        assert path.read_text() == text
