"""Tables of strings that come from data."""

from __future__ import annotations

from collections.abc import Sequence

from kraftops.display.text_table import plain_table
from kraftops_terminal.escaping import escaped


def printable_table(rows: Sequence[Sequence[object]]) -> str:
    """Return rows, the header first, as `plain_table`; control characters are escaped."""
    return plain_table(
        [[escaped(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    )
