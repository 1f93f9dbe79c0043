"""`kafka-metadata-shell --spark find`: ask each group of entities, and print all that is found."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kraftops.image.image import MetadataImage
    from kraftops.spark.finding import Answer, Line
    from kraftops.tree.node import Node
    from kraftops_cli.spark_options import SparkRequest
    from kraftops_cli.terminal import Terminal

_DEALT = {"topics": 3, "configs": 2, "acls": 3, "scram": 2, "delegationToken": 2}
"""Directories of /image whose nodes are dealt out, and how many names all groups begin with."""
_FINDINGS = ("local", "findings")
_DEEPEST = "1000000"
_MATCHED = "\0"  # begins a line that says which target was found


class State(NamedTuple):
    """Which state is asked, and in which form."""

    source: str
    at_offset: int | None
    at_time: int | None
    dialect: str
    is_kafka: bool
    show_secrets: bool
    version: str


@dataclass(frozen=True, slots=True)
class Find:
    """Runs find on the tree of a group, in a worker."""

    words: tuple[str, ...]
    state: State
    is_about_findings: bool = False
    """Whether to print nothing but what is wrong: no group knows all of that."""

    def __call__(self, image: MetadataImage, is_first: bool) -> Iterator[Line]:
        """Yield what it prints, by target and path."""
        from kraftops.tree.layout import Has, tree_of
        from kraftops_shell.find import find
        from kraftops_shell.origin import Origin
        from kraftops_shell.paths import escaped
        from kraftops_shell.reading import read_call
        from kraftops_shell.session import Session

        asked = self.state
        out: list[str] = []
        form = Has.KAFKA if asked.is_kafka else Has.OURS
        root = tree_of(image, form=form, show_secrets=asked.show_secrets, version=asked.version)
        session = Session(root, out.append, out.append, asked.is_kafka, is_one_shot=True)
        session.origin = Origin(image, (asked.source,))
        call = read_call(self.words, session.commands, kafka=asked.is_kafka)
        assert call
        # A path at a time: names may have newlines.
        call = call._replace(flags={"-maxdepth": _DEEPEST, **call.flags})
        for number, target in enumerate(call.words or (".",)):
            prefix = number.to_bytes(4)
            matches = session.matches(target)
            if matches:
                yield prefix, f"{_MATCHED}{number}"
                find(session, call._replace(words=(target,)))
            left = deque(out)
            out.clear()
            for match in matches:
                start = target if asked.is_kafka else match.path
                for names, path in _walk(
                    match.node, match.names, start, str if asked.is_kafka else escaped
                ):
                    # Kafka's find has no tests: all that is there is printed.
                    if not asked.is_kafka and (not left or left[0][:-1] != path):
                        continue
                    if not asked.is_kafka:
                        left.popleft()
                    if self._is_shown(names, is_first=is_first):
                        yield prefix + _order(names), path

    def _is_shown(self, names: Sequence[str], *, is_first: bool) -> bool:
        """Tell whether a path is this group's to print: others may have it, too."""
        is_finding = tuple(names[:2]) == _FINDINGS and len(names) > 2
        if self.is_about_findings or is_finding:
            return is_finding and self.is_about_findings
        if is_first or len(names) < 2 or names[1] not in _DEALT:
            return is_first
        return len(names) > _DEALT[names[1]] + ("byState" in names[2:3])


def _walk(
    node: Node, names: tuple[str, ...], path: str, shown: Callable[[str], str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the names that lead to a node and to all below it, and their paths."""
    from kraftops.tree.node import Directory

    yield names, path
    if not isinstance(node, Directory):
        return
    prefix = "" if path == "/" else path
    for name in node.sorted_names():
        child = None if node.is_flat else node.get(name)
        below = (*names, name), f"{prefix}/{shown(name)}"
        if child is None:
            yield below
        else:
            yield from _walk(child, *below, shown)


def _order(names: Sequence[str]) -> bytes:
    """Return what sorts as a walk goes: by names in Java's order, what is above first."""
    return b"".join(b"\0\0" + name.encode("utf-16-be", "surrogatepass") for name in names)


def run_find(
    words: tuple[str, ...], state: State, request: SparkRequest, terminal: Terminal
) -> int:
    """Run find on Spark; return the exit code."""
    from kraftops.errors import UsageError
    from kraftops.image.loading import limits_of
    from kraftops.spark.finding import ask_log
    from kraftops.spark.session import started
    from kraftops.uris import is_remote
    from kraftops_cli.spark_progress import SparkProgress
    from kraftops_shell.reading import BadLineError, read_call
    from kraftops_shell.table import commands

    try:
        call = read_call(words, commands(kafka=state.is_kafka, one_shot=True), kafka=state.is_kafka)
    except BadLineError as error:
        raise UsageError(str(error)) from None
    if call is None or call.command.name != "find":
        raise UsageError("with --spark there is only find", hint="as find /image/topics/byName")
    settings = request.settings()
    if not settings.is_local and not request.shared_paths and not is_remote(state.source):
        raise UsageError(
            f"{state.source} is a path of this machine, and the workers are others",
            hint="--shared-paths, if all of them see the same there",
        )
    limits = limits_of(state.at_offset, state.at_time)
    targets = call.words or (".",)
    with SparkProgress() as progress, started(settings) as session:
        answer = ask_log(session, [state.source], limits, state.dialect, Find(words, state))
        matched: set[int] = set()
        for line in printed(words, state, answer, matched):
            progress.erase()
            terminal.write(f"{line}\n")
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


def printed(
    words: tuple[str, ...], state: State, answer: Answer, matched: set[int]
) -> Iterator[str]:
    """Yield the lines of find; the numbers of targets that are there are added to *matched*."""
    findings = _about_findings(words, state, answer)
    shared = _order(["image", "scram"])  # has directories that several groups may show
    last: Line | None = None
    for one in merge(answer.lines, findings):
        key, line = one
        if line.startswith(_MATCHED):
            matched.add(int(line[1:]))
        elif one != last or not key.startswith(shared, 4):
            yield line
        last = one


def _tell(state: State, answer: Answer, terminal: Terminal) -> int:
    from kraftops.image.image import MetadataImage
    from kraftops_cli.shell_source import tell_findings

    image = MetadataImage(state.dialect)
    image.log_findings += answer.findings
    for _ in range(answer.failed_records):
        image.record_findings.add(0, "")
    return tell_findings(terminal, state.source, image)


def _about_findings(words: tuple[str, ...], state: State, answer: Answer) -> list[Line]:
    """Return what find prints of all that is wrong with the log."""
    from kraftops.image.findings import Finding, Kind
    from kraftops.image.image import MetadataImage

    image = MetadataImage(state.dialect)
    some = Finding(Kind.RECORD, "a record that cannot be applied")
    image.log_findings += [*answer.findings, *[some] * answer.failed_records]
    return sorted(Find(words, state, is_about_findings=True)(image, True))
