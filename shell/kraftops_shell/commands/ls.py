"""The command ls."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kraftops.display.times import iso_time
from kraftops.tree.node import Directory, Node
from kraftops_shell.commands.walking import newest_change
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.output.columns import in_columns
from kraftops_shell.session.session import Session

_DIGITS = re.compile(r"(\d+)")


def ls(session: Session, call: Call) -> None:
    """List directories, files first; an empty one prints nothing, its heading neither."""
    files: list[tuple[str, Node]] = []
    directories: list[tuple[str, Directory]] = []
    # Words without letters name nothing, in Kafka's shell neither.
    for target in filter(None, call.words or (".",)):
        found = session.matches(target)
        if not found:
            session.complain(f"ls: {target}: no such file or directory.")
        for match in found:
            if isinstance(match.node, Directory):
                directories.append((match.name, match.node))
            else:
                files.append((match.name, match.node))
    is_long, width = "-l" in call.flags, session.width
    if is_long:
        session.out(_long([name for name, _ in files], dict(files).get))
    else:
        session.out(in_columns([name for name, _ in files], width))
    is_first = not files
    for name, directory in directories:
        names = directory.sorted_names()
        if call.flags.get("--sort") == "natural":
            names.sort(key=_natural)
        if names:
            if not is_first:
                session.out("\n")
            if files or len(directories) > 1:
                session.out(f"{name}:\n")
            session.out(_long(names, directory.get) if is_long else in_columns(names, width))
        is_first = False


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Return the key by which numbers in names count as such."""
    return [
        (0, int(part)) if part.isdecimal() else (1, part) for part in _DIGITS.split(name) if part
    ]


def _long(names: Sequence[str], get: Callable[[str], Node | None]) -> str:
    """Return a line a name: type, size, offset and time of the last change."""
    rows = [_columns(name, node) for name in names if (node := get(name)) is not None]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        f"{kind} {size:>{widths[1]}}  {offset:>{widths[2]}}  {time:<{widths[3]}}  {name}\n"
        for kind, size, offset, time, name in rows
    )
    return "".join(lines)


def _columns(name: str, node: Node) -> tuple[str, str, str, str, str]:
    last = newest_change(node)
    if last is None:
        offset, time = "-", "-"
    else:
        change = last.change
        # What a snapshot has was there by its end; nobody knows since when.
        offset = f"<={change.offset}" if change.is_upper_bound else str(change.offset)
        time = iso_time(change.timestamp) or "-"
    return "d" if isinstance(node, Directory) else "-", str(size_of(node)), offset, time, name


def size_of(node: Node) -> int:
    """Return how many children a directory has, or how many bytes of JSON a leaf."""
    if isinstance(node, Directory):
        return sum(1 for _ in node.names())
    return len(node.json.encode("utf-8", "surrogatepass"))
