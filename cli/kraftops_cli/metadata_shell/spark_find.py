"""`kafka-metadata-shell --spark find`: ask each group of entities, and print all that is found."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kraftops.image.state.image import MetadataImage
    from kraftops.spark.find.search import Answer, Line
    from kraftops.tree.node import Directory, Node
    from kraftops_cli.spark.options import SparkRequest
    from kraftops_cli.terminal.streams import Terminal
    from kraftops_shell.grammar.arguments import Call
    from kraftops_shell.session.session import Session

_DEALT = {"topics": 3, "configs": 2, "clientQuotas": 2, "acls": 3, "scram": 2, "delegationToken": 2}
"""Directories of /image whose nodes are dealt out, and how many names all groups begin with."""
_FINDINGS = ("local", "findings")
_MATCHED = b"\0"  # begins a line that says which target was found
_BELOW, _AGAIN = b"\0\0", b"\0\1"
"""Come before a name below another, and before how often a name was there before.

Within names, a character 0 is written as 0 and 2, so that the order is that of a walk.
"""


class State(NamedTuple):
    """Which state is asked, and in which form; *now* is in ms since the epoch."""

    source: str
    at_offset: int | None
    at_time: int | None
    dialect: str
    is_kafka: bool
    show_secrets: bool
    version: str
    now: int = 0


class _Place(NamedTuple):
    """A node on the way, None where nobody asked for it; *key* sorts as a walk goes."""

    names: tuple[str, ...]
    path: str
    key: bytes
    node: Node | None
    depth: int


@dataclass(frozen=True, slots=True)
class Find:
    """Runs find on the tree of a group, in a worker."""

    words: tuple[str, ...]
    state: State

    def of_image(self, image: MetadataImage, *, is_first: bool) -> Iterator[Line]:
        """Yield what it prints of a group's image."""
        from kraftops.tree.layout import Has, tree_of

        asked = self.state
        form = Has.KAFKA if asked.is_kafka else Has.OURS
        root = tree_of(image, form=form, show_secrets=asked.show_secrets, version=asked.version)
        return self._lines(root, image, is_first=is_first)

    def of_findings(self, image: MetadataImage, first: int) -> Iterator[Line]:
        """Yield what it prints of findings, numbered from *first* on."""
        from kraftops.tree.layout import findings_of
        from kraftops.tree.node import fixed

        root = fixed({"local": fixed({"findings": findings_of(image, first)})})
        return self._lines(root, image, is_first=None)

    def _lines(
        self, root: Directory, image: MetadataImage, *, is_first: bool | None
    ) -> Iterator[Line]:
        """Yield lines by target and path; *is_first* is None where only findings are asked for."""
        from kraftops_shell.commands.find import tests_of
        from kraftops_shell.commands.walking import Found
        from kraftops_shell.grammar.arguments import number_of

        session, call = _session(root, image, self.state), _call(self.words, self.state)
        tests, deepest = list(tests_of(session, call)), number_of(call, "-maxdepth")
        has_nodes = bool(tests) or deepest is not None  # without, find does not look at leaves
        for number, target in enumerate(call.words or (".",)):
            prefix = number.to_bytes(4)
            matches = session.matches(target)
            if matches:
                yield prefix, b"%s%d" % (_MATCHED, number)
            for match in matches:
                start = target if session.is_kafka else match.path
                key = prefix + b"".join(_BELOW + _sorting(name) for name in match.names)
                place = _Place(match.names, start, key, match.node, 0)
                for one in _walk(place, deepest, has_nodes=has_nodes, is_kafka=session.is_kafka):
                    if not _is_shown(one.names, is_first=is_first):
                        continue
                    if tests:
                        assert one.node is not None
                        name = one.names[-1] if one.names else match.name
                        found = Found(one.path, name, one.node, one.depth)
                        if not all(test(found) for test in tests):
                            continue
                    yield one.key, one.path.encode("utf-8", "surrogatepass")


def _session(root: Directory, image: MetadataImage, state: State) -> Session:
    from kraftops_shell.session.origin import Origin
    from kraftops_shell.session.session import Session

    def nowhere(_: str) -> None:
        pass

    session = Session(root, nowhere, nowhere, state.is_kafka, is_one_shot=True)
    session.origin = Origin(image, (state.source,), now=lambda: state.now)
    return session


def _call(words: tuple[str, ...], state: State) -> Call:
    """Return what the words ask for.

    Raises:
        BadLineError: they make no sense.
        UsageError: it is not find.
    """
    from kraftops.errors import UsageError
    from kraftops_shell.grammar.arguments import read_call
    from kraftops_shell.grammar.registry import commands

    call = read_call(words, commands(kafka=state.is_kafka, one_shot=True), kafka=state.is_kafka)
    if call is None or call.command.name != "find":
        raise UsageError("with --spark there is only find", hint="as find /image/topics/byName")
    return call


def _is_shown(names: Sequence[str], *, is_first: bool | None) -> bool:
    """Tell whether a path is this group's to print: others may have it, too."""
    if is_first is None:
        return tuple(names[:2]) == _FINDINGS and len(names) > 2
    if is_first or len(names) < 2 or names[1] not in _DEALT:
        return is_first
    return len(names) > _DEALT[names[1]] + ("byState" in names[2:3])


def _walk(
    place: _Place, deepest: int | None, *, has_nodes: bool, is_kafka: bool
) -> Iterator[_Place]:
    """Yield a node and all below it, as find goes."""
    from kraftops.tree.node import Directory
    from kraftops_shell.grammar.paths import escaped

    yield place
    node, depth = place.node, place.depth + 1
    if not isinstance(node, Directory) or (deepest is not None and depth > deepest):
        return
    prefix, last, times = "" if place.path == "/" else place.path, None, 0
    for name in node.sorted_names():
        last, times = name, times + 1 if name == last else 0
        child = node.get(name) if has_nodes or not node.is_flat else None
        if child is None and has_nodes:
            continue
        key = place.key + _BELOW + _sorting(name) + (_AGAIN + times.to_bytes(4) if times else b"")
        path = f"{prefix}/{name if is_kafka else escaped(name)}"
        below = _Place((*place.names, name), path, key, child, depth)
        if node.is_flat:
            yield below
        else:
            yield from _walk(below, deepest, has_nodes=has_nodes, is_kafka=is_kafka)


def _sorting(name: str) -> bytes:
    """Return what sorts as names do in Java, by UTF-16 code units."""
    name = name.replace("\0", "\0\2")
    if not name.isascii():
        units = memoryview(name.encode("utf-16-le", "surrogatepass")).cast("H")
        name = "".join(map(chr, units))
    return name.encode("utf-8", "surrogatepass")


def run_find(
    words: tuple[str, ...], state: State, request: SparkRequest, terminal: Terminal
) -> int:
    """Run find on Spark; return the exit code."""
    from kraftops.dump.sources.parts import total_size
    from kraftops.image.load.loading import limits_of
    from kraftops.image.load.sources import files_of
    from kraftops.spark.find.search import ask_log
    from kraftops.spark.session.session import started
    from kraftops_cli.spark.options import refuse_local, warn_if_slow, warn_if_small
    from kraftops_cli.spark.progress import SparkProgress

    state = state._replace(now=int(time.time() * 1000))
    call = _checked(words, state, terminal)
    if call is None:
        return 0 if state.is_kafka else 1
    settings = request.settings()
    refuse_local(request, [state.source])
    log = files_of([state.source])
    warn_if_small(settings, total_size(one.path for one in log.snapshots + log.segments), terminal)
    limits = limits_of(state.at_offset, state.at_time)
    targets = call.words or (".",)
    with SparkProgress() as progress, started(settings) as session:
        answer = ask_log(
            session,
            [state.source],
            limits,
            state.dialect,
            Find(words, state),
            with_past="-newer-than" in call.flags,
            with_findings=not state.is_kafka and any(map(_may_be_finding, targets)),
            show=progress.show,
        )
        matched: set[int] = set()
        for line in printed(answer, matched):
            progress.erase()
            terminal.write(f"{line}\n")
        progress.erase()
        warn_if_slow(session, terminal)
    code = _tell(state, answer, terminal)
    for number, target in enumerate(targets):
        if number not in matched:
            text = f"find: {target}: no such file or directory."
            if state.is_kafka:
                terminal.write(f"{text}\n")
            else:
                terminal.line(text)
                code = max(code, 1)
    return code


def _checked(words: tuple[str, ...], state: State, terminal: Terminal) -> Call | None:
    """Return what the words ask for; where they make no sense, say so as the shell does."""
    from kraftops.image.state.image import MetadataImage
    from kraftops.tree.node import fixed
    from kraftops_shell.commands.find import tests_of
    from kraftops_shell.grammar.arguments import BadLineError, number_of

    try:
        call = _call(words, state)
        list(tests_of(_session(fixed({}), MetadataImage(), state), call))
        number_of(call, "-maxdepth")
    except BadLineError as error:
        if state.is_kafka:
            terminal.write(f"{error}\n")
        else:
            terminal.line(str(error))
        return None
    return call


def _may_be_finding(target: str) -> bool:
    """Tell whether a target may be above or among the findings."""
    from kraftops_shell.grammar.globs import component_pattern
    from kraftops_shell.grammar.paths import absolute

    return all(
        part == name or component_pattern(part)
        for part, name in zip(absolute(target, (), with_escapes=True), _FINDINGS, strict=False)
    )


def printed(answer: Answer, matched: set[int]) -> Iterator[str]:
    """Yield the lines of find; the numbers of targets that are there are added to *matched*.

    What several groups show has the same key, and is one line.
    """
    last = b""
    for key, line in answer.lines:
        if line.startswith(_MATCHED):
            matched.add(int(line[1:]))
        elif key != last:
            last = key
            yield line.decode("utf-8", "surrogatepass")


def _tell(state: State, answer: Answer, terminal: Terminal) -> int:
    from kraftops.image.state.image import MetadataImage
    from kraftops_cli.metadata_shell.source import tell_findings

    image = MetadataImage(state.dialect)
    image.log_findings += answer.findings
    for _ in range(answer.failed_records):
        image.fold.drop(0, "")
    return tell_findings(terminal, state.source, image)
