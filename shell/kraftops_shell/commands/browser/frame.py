"""The frame of a browser: the tree, and the details beside or below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kraftops_shell.commands.browser.visible import Row
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.widths import cut, padded

_BESIDE = 60  # columns from which details stand beside the tree
_WIDEST_TREE = 60  # columns: names of topics end before, and details use the others


class Layout(NamedTuple):
    """The sizes of the parts of a frame, in columns and rows."""

    tree: tuple[int, int]
    details: tuple[int, int]
    is_beside: bool


def layout(columns: int, rows: int) -> Layout:
    """Return the parts of a screen; two rows are those of the place and of the keys."""
    height = max(rows - 2, 1)
    if columns >= _BESIDE:
        width = min(columns * 2 // 5, _WIDEST_TREE)
        return Layout((width, height), (columns - width - 3, height), is_beside=True)
    below = height // 2
    return Layout((columns, max(height - below - 1, 1)), (columns, below), is_beside=False)


def body(
    rows: Sequence[Row], chosen: int, details: Sequence[str], parts: Layout, console: Console
) -> list[str]:
    """Return the lines between the place and the keys; *chosen* is a position among the rows."""
    width, height = parts.tree
    lines = [
        _row_line(row, width, console, is_chosen=number == chosen)
        for number, row in enumerate(rows)
    ]
    lines += [" " * width] * (height - len(lines))
    details = details[: parts.details[1]]
    if not parts.is_beside:
        return [*lines, "─" * width, *details]
    details = [*details, *[""] * (height - len(details))]
    return [f"{line} │ {about}" for line, about in zip(lines, details, strict=True)]


def _row_line(row: Row, width: int, console: Console, *, is_chosen: bool) -> str:
    lead = (">" if is_chosen else " ") + "  " * (len(row.path) - 1)
    mark = "▾" if row.is_open else "▸" if row.is_directory else " "
    line = padded(cut(f"{lead}{mark} {escaped(row.path[-1])}", width), width)
    return console.painted(line, "selected") if is_chosen else line
