"""The command ls."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kraftops.display.times import iso_time
from kraftops.tree.node import Directory, Node
from kraftops_shell.commands.walk import newest_change
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.output.columns import in_columns
from kraftops_shell.session.session import Session

_DIGITS = re.compile(r"(\d+)")


def ls(session: Session, call: Call) -> None:
    """List directories, files first; an empty directory prints nothing, not even its heading."""
    files: list[tuple[str, Node]] = []
    directories: list[tuple[str, Directory]] = []
    # Words without characters name nothing, in Kafka's shell neither.
    for _, match in session.targets(call, filter(None, call.words or (".",))):
        if isinstance(match.node, Directory):
            directories.append((match.name, match.node))
        else:
            files.append((match.name, match.node))
    session.out(_listing(session, call, [name for name, _ in files], dict(files).get))
    is_first = not files
    for name, directory in directories:
        names = directory.sorted_names()
        if call.flags.get("--sort") == "natural":
            names.sort(key=_natural)
        if names:
            if not is_first:
                session.out("\n")
            if files or len(directories) > 1:
                session.line(f"{name}:")
            session.out(_listing(session, call, names, directory.get))
        is_first = False


def _listing(
    session: Session, call: Call, names: Sequence[str], get: Callable[[str], Node | None]
) -> str:
    if "-l" in call.flags:
        return _long(names, get, session.shown)
    return in_columns([*map(session.shown, names)], session.width)


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Return a sort key that compares numbers in names by value."""
    return [
        (0, int(part)) if part.isdecimal() else (1, part) for part in _DIGITS.split(name) if part
    ]


def _long(
    names: Sequence[str], get: Callable[[str], Node | None], shown: Callable[[str], str]
) -> str:
    """Return a line for each name: type, size, offset and time of the last change."""
    rows = [_columns(name, node) for name in names if (node := get(name)) is not None]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        f"{kind} {size:>{widths[1]}}  {offset:>{widths[2]}}  {time:<{widths[3]}}  {shown(name)}\n"
        for kind, size, offset, time, name in rows
    )
    return "".join(lines)


def _columns(name: str, node: Node) -> tuple[str, str, str, str, str]:
    last = newest_change(node)
    if last is None:
        offset, time = "-", "-"
    else:
        change = last.change
        offset = f"<={change.offset}" if change.is_upper_bound else str(change.offset)
        time = iso_time(change.timestamp) or "-"
    if isinstance(node, Directory):
        return "d", str(node.child_count), offset, time, name
    return "-", str(node.size), offset, time, name
