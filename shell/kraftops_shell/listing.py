"""The command ls."""

from __future__ import annotations

from kraftops.tree.node import Directory
from kraftops_shell.columns import in_columns
from kraftops_shell.reading import Call
from kraftops_shell.session import Session


def ls(session: Session, call: Call) -> None:
    """List directories, files first; an empty one prints nothing, its heading neither."""
    files: list[str] = []
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
                files.append(match.name)
    session.out(in_columns(files, session.width))
    is_first = not files
    for name, directory in directories:
        names = directory.sorted_names()
        if names:
            if not is_first:
                session.out("\n")
            if files or len(directories) > 1:
                session.out(f"{name}:\n")
            session.out(in_columns(names, session.width))
        is_first = False
