"""Plain tables of the subcommands of `kafka-cluster`."""

from __future__ import annotations

from collections.abc import Sequence

UNKNOWN = "-"


def columns(rows: Sequence[Sequence[object]]) -> str:
    """Return rows, the head first, as lines in columns two blanks apart; None is `-`."""
    texts = [[UNKNOWN if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in texts]
    return "".join(f"{line}\n" for line in lines)
