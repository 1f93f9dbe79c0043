"""Tables in plain text."""

from __future__ import annotations

from collections.abc import Sequence

NO_VALUE = "-"


def plain_table(rows: Sequence[Sequence[object]]) -> str:
    """Return rows, the header first, as aligned lines; None is shown as a dash."""
    texts = [[NO_VALUE if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = (
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in texts
    )
    return "".join(f"{line}\n" for line in lines)
