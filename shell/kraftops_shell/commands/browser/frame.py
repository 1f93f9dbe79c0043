"""The frame of a browser: the tree, the details beside or below it, and the keys."""

from __future__ import annotations

from typing import NamedTuple

from kraftops_shell.commands.browser.visible import Row
from kraftops_terminal.escaping import escaped
from kraftops_terminal.theme import painted
from kraftops_terminal.widths import cut, padded

_BESIDE = 60  # columns from which details stand beside the tree
_WIDEST_TREE = 60
_KEYS = (
    "q quit",
    "/ search",
    "[ ] back, on",
    "{ } by 100",
    "= newest",
    "n next match",
    "←→ close, open",
    "Space details",
)


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


class Shown(NamedTuple):
    """The contents of a frame."""

    place: str
    """The moment that is shown."""
    rows: list[Row]
    """The rows of the tree that fit."""
    chosen: int
    """The position of the chosen row among them."""
    details: list[str]
    note: str
    """A text instead of the keys; empty for none."""


def frame(shown: Shown, size: tuple[int, int], *, has_color: bool) -> list[str]:
    """Return the lines of a screen with these columns and rows."""
    columns, rows = size
    parts = layout(columns, rows)
    width, height = parts.tree
    lines = [
        _row_line(row, width, is_chosen=number == shown.chosen, has_color=has_color)
        for number, row in enumerate(shown.rows)
    ]
    lines += [" " * width] * (height - len(lines))
    about = shown.details[: parts.details[1]]
    if parts.is_beside:
        about = [*about, *[""] * (height - len(about))]
        middle = [f"{left} │ {right}" for left, right in zip(lines, about, strict=True)]
    else:
        middle = [*lines, "─" * columns, *about]
    head = cut(shown.place, columns)
    foot = cut(shown.note or keys_line(columns), columns)
    if has_color:
        head, foot = painted(head, "title"), painted(foot, "warning" if shown.note else "muted")
    body = [*middle, *[""] * max(rows - 2 - len(middle), 0)]
    return [head, *body[: max(rows - 2, 1)], foot]


def keys_line(columns: int) -> str:
    """Return as many of the keys as fit."""
    line = _KEYS[0]
    for key in _KEYS[1:]:
        if len(line) + 3 + len(key) <= columns:
            line += f" · {key}"
    return line


def _row_line(row: Row, width: int, *, is_chosen: bool, has_color: bool) -> str:
    lead = (">" if is_chosen else " ") + "  " * (len(row.path) - 1)
    mark = "▾" if row.is_open else "▸" if row.is_directory else " "
    line = cut(f"{lead}{mark} {escaped(row.path[-1])}", width)
    line = padded(line, width)
    return painted(line, "selected") if is_chosen and has_color else line
