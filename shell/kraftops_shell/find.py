"""The command find."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kraftops.tree.node import Directory, Node
from kraftops_shell.paths import escaped
from kraftops_shell.reading import Call
from kraftops_shell.session import Session


def find(session: Session, call: Call) -> None:
    """Print paths and all paths below them."""
    for target in call.words or (".",):
        found = session.matches(target)
        if not found:
            session.complain(f"find: {target}: no such file or directory.")
        for match in found:
            start = target if session.is_kafka else match.path
            name = str if session.is_kafka else escaped
            session.out(f"{start}\n")
            prefix = "" if start == "/" else start
            for path in _below(match.node, prefix, name):
                session.out(f"{path}\n")


def _below(node: Node, prefix: str, shown: Callable[[str], str]) -> Iterator[str]:
    """Yield the paths below a node."""
    if not isinstance(node, Directory):
        return
    if node.is_flat:
        names = [f"{prefix}/{shown(name)}" for name in node.sorted_names()]
        if names:
            yield "\n".join(names)
        return
    for name in node.sorted_names():
        path = f"{prefix}/{shown(name)}"
        yield path
        child = node.get(name)
        if child is not None:
            yield from _below(child, path, shown)
