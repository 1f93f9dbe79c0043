"""The commands ls and ll."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from math import ceil
from typing import NamedTuple

from kraftops.display.columns import Cell, Column, folded, number
from kraftops.display.order import natural_key
from kraftops.display.times import iso_time
from kraftops.tree.node import About, Directory, Leaf, Node
from kraftops_shell.commands.node_rows import put_nodes
from kraftops_shell.commands.walk import newest_change
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.grammar.paths import Match
from kraftops_shell.session.session import Session
from kraftops_terminal.tables import Table, print_table
from kraftops_terminal.widths import padded, width_of_text


def ls(session: Session, call: Call) -> None:
    """List directories, files first; an empty directory prints nothing, not even its heading."""
    files: list[tuple[str, Node]] = []
    directories: list[tuple[str, Directory]] = []
    # Words without characters name nothing, in Kafka's shell neither.
    is_by_text = session.is_kafka or call.flags.get("--sort") == "name"
    targets = list(session.targets(call, filter(None, call.words or (".",))))
    if not is_by_text:
        targets = [
            target
            for _, group in groupby(targets, lambda target: target[0])
            for target in sorted(group, key=lambda target: [*map(natural_key, target[1].names)])
        ]
    if call.is_json:
        put_nodes(session, call, _listed((match for _, match in targets), is_by_text=is_by_text))
        return
    for _, match in targets:
        if isinstance(match.node, Directory):
            directories.append((match.name, match.node))
        else:
            files.append((match.name, match.node))
    _print(session, call, [name for name, _ in files], dict(files).get)
    is_first = not files
    for name, directory in directories:
        names = directory.sorted_names() if is_by_text else directory.natural_names()
        if names:
            if not is_first:
                session.out("\n")
            if files or len(directories) > 1:
                session.line(f"{name}:")
            _print(session, call, names, directory.get)
        is_first = False


def _listed(matches: Iterable[Match], *, is_by_text: bool) -> Iterator[Match]:
    """Yield leaves that match, and the children of directories."""
    for match in matches:
        if not isinstance(match.node, Directory):
            yield match
            continue
        node = match.node
        for name in node.sorted_names() if is_by_text else node.natural_names():
            if (child := node.get(name)) is not None:
                yield Match((*match.names, name), child)


def ll(session: Session, call: Call) -> None:
    """List nodes with details."""
    ls(session, call._replace(flags={**call.flags, "-l": True}))


def _print(
    session: Session, call: Call, names: Sequence[str], get: Callable[[str], Node | None]
) -> None:
    if "-l" in call.flags:
        nodes = ((name, node) for name in names if (node := get(name)) is not None)
        print_table(session.table_console, _table(nodes))
    else:
        session.out(in_columns([*map(session.shown, names)], session.width))


class _Row(NamedTuple):
    """A node of a long list: its name, what it says of itself, its size, and its last change."""

    name: str
    about: About
    size: tuple[str, int]
    change: tuple[str | None, str | None]


def _table(nodes: Iterable[tuple[str, Node]]) -> Table:
    """Return the table of a long list; nodes that say nothing of themselves have their sizes."""
    rows = [_row(name, node) for name, node in nodes]
    about_keys = list(dict.fromkeys(key for row in rows for key in row.about))
    middle = [_column(key, priority, rows) for priority, key in enumerate(about_keys, 1)]
    if not about_keys:
        middle = [Column("type", 1), number("size", 2)]
    last = (number("offset", len(middle) + 1), Column("last change", len(middle) + 2))
    cells: list[list[Cell]] = []
    for row in rows:
        own = [_cell(row.about.get(key)) for key in about_keys] or [row.size[0], str(row.size[1])]
        cells.append([row.name, *own, *row.change])
    return Table((folded("name"), *middle, *last), cells)


def _column(key: str, priority: int, rows: Sequence[_Row]) -> Column:
    values = [row.about[key] for row in rows if key in row.about]
    is_number = all(value is None or isinstance(value, int) for value in values)
    return number(key, priority) if is_number else Column(key, priority)


def _cell(value: object) -> Cell:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value)) or None
    return None if value is None else str(value)


def _row(name: str, node: Node) -> _Row:
    last = newest_change(node)
    offset = time = None
    if last is not None:
        change = last.change
        offset = f"<={change.offset}" if change.is_upper_bound else str(change.offset)
        time = iso_time(change.timestamp)
    about: About | None
    if isinstance(node, Leaf):
        about = node.about
        size = ("leaf", 0 if about else node.size)
    else:
        about = node.about() if node.about else None
        size = ("directory", 0 if about else node.child_count)
    return _Row(name, about or {}, size, (offset, time))


_GAP = 2  # blanks between columns, as Kafka's shell has them (`LsCommandHandler`)
_NARROWEST = 4  # a column: a name of two letters, and the gap


def in_columns(names: Sequence[str], width: int) -> str:
    """Return names in lines, in as many columns as fit into *width*; 0 means no terminal.

    Names fill each column from the top. All columns but the last are padded, so that lines may end
    in blanks.
    """
    lengths = list(map(width_of_text, names))
    most = min(width // _NARROWEST, width // (min(lengths, default=0) + _GAP))
    rows, widths = len(names), [0]
    for count in range(2, most + 1):
        height = ceil(len(names) / count)
        sizes = [
            max(lengths[index * height : (index + 1) * height], default=0) + _GAP
            for index in range(count)
        ]
        if (count - 1) * height < len(names) and sum(sizes) <= width:
            rows, widths = height, sizes
    lines = []
    for row in range(rows):
        cells = names[row::rows] if rows else []
        last = len(widths) - 1
        lines.append(
            "".join(
                name if index == last else padded(name, widths[index])
                for index, name in enumerate(cells)
            )
        )
    return "".join(f"{line}\n" for line in lines)
