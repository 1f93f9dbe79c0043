"""Paths typed by people: what they name in the tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kraftops.tree.node import Directory, Node
from kraftops_shell.globs import component_pattern


class Match(NamedTuple):
    """A node that a path names, and the names on the way to it."""

    names: tuple[str, ...]
    node: Node

    @property
    def name(self) -> str:
        """The last of the names; `/` for the root."""
        return self.names[-1] if self.names else "/"

    @property
    def path(self) -> str:
        """The path from the root, in which a slash that is part of a name has a backslash."""
        return "/" + "/".join(map(escaped, self.names))


def escaped(name: str) -> str:
    """Return a name as one component of a path of ours."""
    return name.replace("/", "\\/")


def components(path: str, *, with_escapes: bool = False) -> list[str]:
    r"""Return the components of a path; *with_escapes*, `\/` is a slash within one of them."""
    if not with_escapes or "\\/" not in path:
        return [part for part in path.split("/") if part]
    return [part.replace("\0", "/") for part in path.replace("\\/", "\0").split("/") if part]


def absolute(path: str, working: Iterable[str], *, with_escapes: bool = False) -> list[str]:
    """Return the components from the root on, `.` and `..` taken out before any look-up."""
    found = [] if path.startswith("/") else list(working)
    for part in components(path, with_escapes=with_escapes):
        if part == "..":
            del found[-1:]
        elif part != ".":
            found.append(part)
    return found


def matches(
    root: Directory, path: str, working: Iterable[str], *, with_escapes: bool = False
) -> Iterator[Match]:
    """Yield the nodes that a path names, with patterns several, in the order of their names."""
    # The working directory's names are names: a star in one of them is no pattern.
    fixed = 0 if path.startswith("/") else len(list(working))
    parts = absolute(path, working, with_escapes=with_escapes)
    kept = min(fixed, len(parts)) if parts[:fixed] == list(working)[:fixed] else 0
    yield from _descend(root, (), parts, kept)


def _descend(node: Node, names: tuple[str, ...], parts: list[str], literal: int) -> Iterator[Match]:
    depth = len(names)
    if depth == len(parts):
        yield Match(names, node)
        return
    if not isinstance(node, Directory):
        return
    part = parts[depth]
    pattern = component_pattern(part) if depth >= literal else None
    if pattern is None:
        child = node.get(part)
        if child is not None:
            yield from _descend(child, (*names, part), parts, literal)
        return
    for name in dict.fromkeys(node.sorted_names()):
        if pattern.fullmatch(name):
            child = node.get(name)
            if child is not None:
                yield from _descend(child, (*names, name), parts, literal)
