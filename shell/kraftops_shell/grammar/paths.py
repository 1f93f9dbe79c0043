"""Paths in arguments, and the nodes of the tree that they match."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from kraftops.tree.node import Directory, Node
from kraftops_shell.grammar.globs import component_pattern
from kraftops_shell.grammar.nearest import meant

_WILDCARD = re.compile(r"[*?{\[]")
_SPECIAL = re.compile(r"([*?{\[\\])")
_MOST_NAMES = 5000  # distances to more take longer than a person waits for an error
_MOST_MEANT = 3  # more would not fit a line
_MOST_LEVELS = 3  # from the root down to byName
_ESCAPE = re.compile(r"\\([*?{\[\\])")


class Match(NamedTuple):
    """A node that a path matches, and the names from the root to it."""

    names: tuple[str, ...]
    node: Node

    @property
    def name(self) -> str:
        """The last of the names; `/` for the root."""
        return self.names[-1] if self.names else "/"

    @property
    def path(self) -> str:
        """The path from the root; a slash in a name is escaped."""
        return "/" + "/".join(map(escaped, self.names))


def escaped(name: str) -> str:
    r"""Return a name as one component of a path of ours: `\/` is a slash, `\*` a star.

    Other backslashes are not escaped, unless the name has a wildcard.
    """
    if _WILDCARD.search(name) and component_pattern(name):
        name = _SPECIAL.sub(r"\\\1", name)
    return name.replace("/", "\\/")


def split_last(path: str, *, with_escapes: bool) -> tuple[str, str]:
    """Return a path up to its last slash, and the rest."""
    end = path.rfind("/")
    while with_escapes and end > 0 and path[end - 1] == "\\":
        end = path.rfind("/", 0, end)
    return path[: end + 1], path[end + 1 :]


def components(path: str, *, with_escapes: bool = False) -> list[str]:
    r"""Return the components of a path; *with_escapes*, `\/` is a slash within one of them."""
    if not with_escapes or "\\/" not in path:
        return [part for part in path.split("/") if part]
    return [part.replace("\0", "/") for part in path.replace("\\/", "\0").split("/") if part]


def absolute(path: str, working: Iterable[str], *, with_escapes: bool = False) -> list[str]:
    """Return the components from the root, with `.` and `..` resolved by text."""
    return _resolved(path, working, with_escapes=with_escapes)[0]


def _resolved(path: str, working: Iterable[str], *, with_escapes: bool) -> tuple[list[str], int]:
    """Return the components from the root, and the number of them from the working directory."""
    names = [] if path.startswith("/") else list(working)
    kept = len(names)
    for part in components(path, with_escapes=with_escapes):
        if part == "..":
            del names[-1:]
            kept = min(kept, len(names))
        elif part != ".":
            names.append(part)
    return names, kept


def meant_instead(root: Directory, names: Iterable[str]) -> list[str]:
    """Suggest names for the first component of a path that does not exist."""
    node: Node | None = root
    for name in names:
        if not isinstance(node, Directory):
            return []
        child = node.get(name)
        if child is None:
            siblings = [*islice(node.names(), _MOST_NAMES + 1)]
            return meant(name, siblings)[:_MOST_MEANT] if len(siblings) <= _MOST_NAMES else []
        node = child
    return []


def below(node: Node, name: str, depth: int = _MOST_LEVELS) -> str | None:
    """Find a directory by name, ignoring case, a few levels below a node; return its path."""
    if not isinstance(node, Directory):
        return None
    children = [*islice(node.names(), _MOST_NAMES)]
    for child in children:
        if child.casefold() == name.casefold():
            return escaped(child)
    for child in children if depth > 1 else ():
        directory = node.get(child)
        path = None if directory is None else below(directory, name, depth - 1)
        if path is not None:
            return f"{escaped(child)}/{path}"
    return None


def matches(
    root: Directory, path: str, working: Iterable[str], *, with_escapes: bool = False
) -> Iterator[Match]:
    """Yield the nodes that a path matches, in the order of their names."""
    # A star in a name of the working directory is not a pattern.
    parts, kept = _resolved(path, working, with_escapes=with_escapes)
    yield from _Descent(parts, kept, with_escapes).from_(root, ())


class _Descent(NamedTuple):
    """A walk along components; the first *literal* ones are names and no patterns."""

    parts: list[str]
    literal: int
    with_escapes: bool

    def from_(self, node: Node, names: tuple[str, ...]) -> Iterator[Match]:
        """Yield the matches below the node with these names."""
        depth = len(names)
        if depth == len(self.parts):
            yield Match(names, node)
            return
        if not isinstance(node, Directory):
            return
        for name in self._children(node, depth):
            child = node.get(name)
            if child is not None:
                yield from self.from_(child, (*names, name))

    def _children(self, node: Directory, depth: int) -> Iterator[str]:
        part = self.parts[depth]
        if depth < self.literal:
            yield part
            return
        pattern = component_pattern(part, kafka=not self.with_escapes)
        if pattern:
            names = [*filter(pattern, dict.fromkeys(node.sorted_names()))]
            # Brackets that match nothing may be those of a name.
            yield from names or ([part] if self.with_escapes else [])
        elif self.with_escapes and _ESCAPE.search(part) and node.get(part) is None:
            yield _ESCAPE.sub(r"\1", part)
        else:
            yield part
