"""The frame of a browser: the tree, and the details of a node beside or below it."""

from collections.abc import Sequence
from typing import NamedTuple

from kraftops.display.times import iso_time
from kraftops.errors import KraftopsError
from kraftops.image.state.changes import Change
from kraftops.tree.node import Directory, Leaf, Node
from kraftops_shell.commands.browser.visible import Path, Row
from kraftops_shell.grammar.paths import escaped as as_component
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped, escaped_lines
from kraftops_terminal.json_text import LeafText
from kraftops_terminal.pager.pages import folded
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


def details(
    node: Node | None, path: Path, width: int, text_of: LeafText, console: Console
) -> list[str]:
    """Return lines about a node, none wider than *width* columns."""
    lines = [console.painted(line, "header") for line in folded(escaped(text_of_path(path)), width)]
    if node is None:
        return [*lines, *folded("it does not exist at this offset", width)]
    try:
        texts = [_change_line(node), "", *_value_lines(node, text_of, has_color=console.has_color)]
    except KraftopsError as error:
        texts = [escaped(error.message)]
    return [*lines, *(row for text in texts for row in folded(text, width))]


def text_of_path(path: Path) -> str:
    """Join names, each with the escapes that the grammar needs."""
    return "/" + "/".join(map(as_component, path))


def _value_lines(node: Node, text_of: LeafText, *, has_color: bool) -> list[str]:
    if isinstance(node, Leaf):
        return escaped_lines(text_of(node), keeps_colors=has_color).split("\n")
    count = node.child_count
    return [f"{count:,} {'entry' if count == 1 else 'entries'}"]


def _change_line(node: Node) -> str:
    """Return the last change; that of a directory only where it is known without a walk."""
    change = _change(node)
    if change is None:
        return "directory" if isinstance(node, Directory) else "no record has made it"
    bound = "≤ " if change.is_upper_bound else ""
    time = f"  {iso_time(change.timestamp)}" if change.timestamp >= 0 else ""
    return f"changed at {bound}{change.offset}{time}"


def _change(node: Node) -> Change | None:
    """Return the last change if the image knows it without reading a log."""
    if isinstance(node, Leaf):
        newest = node.newest
        return None if newest is None else node.image.change(newest.address)
    last = node.newest() if node.newest else None
    if last is None:
        return None
    image, address = last
    change = image.change(address)
    return None if change.is_upper_bound else change
