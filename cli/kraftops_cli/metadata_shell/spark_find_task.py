"""Task of `kafka-metadata-shell --spark find`: run find on the tree of one shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.errors import UsageError
from kraftops.image.state.image import MetadataImage
from kraftops.spark.find.search_tasks import Line
from kraftops.tree.layout import findings_of, tree_of
from kraftops.tree.node import Directory, Node, descend, fixed, is_view
from kraftops.tree.view import Form
from kraftops_shell.commands.find import tests_of
from kraftops_shell.commands.walk import WalkedNode
from kraftops_shell.grammar.arguments import Call, number_of, read_call
from kraftops_shell.grammar.paths import escaped
from kraftops_shell.grammar.registry import commands
from kraftops_shell.session.image_source import ImageSource
from kraftops_shell.session.session import Session

FINDINGS = ("local", "findings")
MATCHED = b"\0"
"""First byte of a line with the number of a target that exists."""
_SHARDED = {
    "topics": 3,
    "configs": 2,
    "clientQuotas": 2,
    "acls": 3,
    "scram": 2,
    "delegationToken": 2,
}
"""Directories of /image that are sharded, and the depth down to which all shards have them."""
_BELOW, _AGAIN = b"\0\0", b"\0\1"
"""Come before a name below another, and before the number of a repeated name.

Within names, a character 0 is written as 0 and 2, so that keys sort in the order of a walk.
"""


class FindRequest(NamedTuple):
    """State that is searched, and the form of paths; *now* is in ms since the epoch."""

    source: str
    at_offset: int | None
    at_time: int | None
    dialect: str
    is_kafka: bool
    show_secrets: bool
    version: str
    now: int = 0


class _Visit(NamedTuple):
    """Node on a walk, None where no test needs it; *key* sorts in the order of the walk."""

    names: tuple[str, ...]
    path: str
    key: bytes
    node: Node | None
    depth: int


@dataclass(frozen=True, slots=True)
class Find:
    """Search that runs find on the tree of a shard."""

    words: tuple[str, ...]
    request: FindRequest

    def of_image(self, image: MetadataImage, *, is_first: bool) -> Iterator[Line]:
        """Yield the lines of find in a shard's image."""
        request = self.request
        form = Form.KAFKA if request.is_kafka else Form.OURS
        root = tree_of(image, form=form, show_secrets=request.show_secrets, version=request.version)
        return self._lines(root, image, is_first=is_first)

    def of_findings(self, image: MetadataImage, first: int) -> Iterator[Line]:
        """Yield the lines of find in findings, numbered from *first* on."""
        root = fixed({"local": fixed({"findings": findings_of(image, first)})})
        return self._lines(root, image, is_first=None)

    def _lines(
        self, root: Directory, image: MetadataImage, *, is_first: bool | None
    ) -> Iterator[Line]:
        """Yield lines by target and path; *is_first* is None for findings alone."""
        session, call = session_of(root, image, self.request), call_of(self.words, self.request)
        tests, deepest = list(tests_of(session, call)), number_of(call, "-maxdepth")
        has_nodes = bool(tests) or deepest is not None  # without, find does not look at leaves
        for number, target in enumerate(call.words or (".",)):
            prefix = number.to_bytes(4)
            matches = [
                visited
                for visited in session.matches(target)
                if not _is_in_view(root, visited.names)
            ]
            if matches:
                yield prefix, b"%s%d" % (MATCHED, number)
            for match in matches:
                start = target if session.is_kafka else match.path
                key = prefix + b"".join(_BELOW + _sorting(name) for name in match.names)
                visit = _Visit(match.names, start, key, match.node, 0)
                for visited in _walk(
                    visit, deepest, has_nodes=has_nodes, is_kafka=session.is_kafka
                ):
                    if not _is_shown(visited.names, is_first=is_first):
                        continue
                    if tests:
                        assert visited.node is not None
                        name = visited.names[-1] if visited.names else match.name
                        walked = WalkedNode(visited.path, name, visited.node, visited.depth)
                        if not all(test(walked) for test in tests):
                            continue
                    yield visited.key, visited.path.encode("utf-8", "surrogatepass")


def session_of(root: Directory, image: MetadataImage, request: FindRequest) -> Session:
    """Return a session of the shell that prints nothing."""

    def nowhere(_: str) -> None:
        pass

    session = Session(root, nowhere, nowhere, request.is_kafka, is_one_shot=True)
    session.image_source = ImageSource(image, (request.source,), now=lambda: request.now)
    return session


def call_of(words: tuple[str, ...], request: FindRequest) -> Call:
    """Return the call of find that the words are.

    Raises:
        BadLineError: they make no sense.
        UsageError: they are another command.
    """
    call = read_call(words, commands(kafka=request.is_kafka, one_shot=True), kafka=request.is_kafka)
    if call is None or call.command.name != "find":
        raise UsageError("with --spark there is only find", hint="as find /image/topics/byName")
    return call


def _is_in_view(root: Directory, names: Sequence[str]) -> bool:
    """Tell whether names lead into a view, of which shards have no more than their part."""
    return any(is_view(descend(root, names[:depth])) for depth in range(1, len(names) + 1))


def _is_shown(names: Sequence[str], *, is_first: bool | None) -> bool:
    """Tell whether this shard prints a path that others may have, too."""
    if is_first is None:
        return tuple(names[:2]) == FINDINGS and len(names) > 2
    if is_first or len(names) < 2 or names[1] not in _SHARDED:
        return is_first
    return len(names) > _SHARDED[names[1]] + ("byState" in names[2:3])


def _walk(
    visit: _Visit, deepest: int | None, *, has_nodes: bool, is_kafka: bool
) -> Iterator[_Visit]:
    """Yield a node and all nodes below it, in the order of find."""
    yield visit
    node, depth = visit.node, visit.depth + 1
    if not isinstance(node, Directory) or (deepest is not None and depth > deepest):
        return
    prefix, last, times = "" if visit.path == "/" else visit.path, None, 0
    for name in node.sorted_names():
        last, times = name, times + 1 if name == last else 0
        child = node.get(name) if has_nodes or not node.is_known_flat else None
        if (child is None and has_nodes) or is_view(child):
            continue
        key = visit.key + _BELOW + _sorting(name) + (_AGAIN + times.to_bytes(4) if times else b"")
        path = f"{prefix}/{name if is_kafka else escaped(name)}"
        below = _Visit((*visit.names, name), path, key, child, depth)
        if node.is_known_flat:
            yield below
        else:
            yield from _walk(below, deepest, has_nodes=has_nodes, is_kafka=is_kafka)


def _sorting(name: str) -> bytes:
    """Return a key that sorts names as Java does, by UTF-16 code units."""
    name = name.replace("\0", "\0\2")
    if not name.isascii():
        units = memoryview(name.encode("utf-16-le", "surrogatepass")).cast("H")
        name = "".join(map(chr, units))
    return name.encode("utf-8", "surrogatepass")
