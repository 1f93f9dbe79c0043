"""`kafka-metadata-shell --spark find`: ask each group of entities, and print all that is found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kraftops.image.image import MetadataImage
    from kraftops.spark.finding import Answer, Line
    from kraftops_cli.spark_options import SparkRequest
    from kraftops_cli.terminal import Terminal

_DEALT = frozenset({"topics", "configs", "acls", "clientQuotas", "scram", "delegationToken"})
"""Directories of /image whose nodes are dealt out; all others are those of the first group."""
_FINDINGS = ["local", "findings"]
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

    def __call__(self, image: MetadataImage, is_first: bool) -> Iterator[Line]:  # noqa: FBT001
        """Yield what it prints, by target and path."""
        from kraftops.tree.layout import Has, tree_of
        from kraftops_shell.find import find
        from kraftops_shell.origin import Origin
        from kraftops_shell.paths import absolute
        from kraftops_shell.reading import read_call
        from kraftops_shell.session import Session

        asked = self.state
        out: list[str] = []
        missing: list[str] = []
        form = Has.KAFKA if asked.is_kafka else Has.OURS
        root = tree_of(image, form=form, show_secrets=asked.show_secrets, version=asked.version)
        session = Session(root, out.append, missing.append, asked.is_kafka, is_one_shot=True)
        session.origin = Origin(image, (asked.source,))
        call = read_call(self.words, session.commands, kafka=asked.is_kafka)
        assert call
        for number, target in enumerate(call.words or (".",)):
            prefix = number.to_bytes(4)
            if session.matches(target):
                yield prefix, f"{_MATCHED}{number}"
                find(session, call._replace(words=(target,)))
            for line in _lines(out):
                names = absolute(line, (), with_escapes=not asked.is_kafka)
                if self._is_shown(names, is_first=is_first):
                    yield prefix + _order(names), line
            out.clear()

    def _is_shown(self, names: Sequence[str], *, is_first: bool) -> bool:
        """Tell whether a path is this group's to print: others may have it, too."""
        is_finding = names[:2] == _FINDINGS and len(names) > 2
        if self.is_about_findings or is_finding:
            return is_finding and self.is_about_findings
        return is_first or (len(names) > 2 and names[1] in _DEALT)


def _lines(out: Sequence[str]) -> Iterator[str]:
    for text in out:
        yield from text.removesuffix("\n").split("\n")


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
    from kraftops_cli.shell_source import tell_findings
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
        findings = _about_findings(words, state, answer)
        for (_, line), _ in groupby(merge(answer.lines, findings)):
            progress.erase()
            if line.startswith(_MATCHED):
                matched.add(int(line[1:]))
            else:
                terminal.write(f"{line}\n")
    code = tell_findings(terminal, state.source, answer.findings, answer.failed_records)
    for number, target in enumerate(targets):
        if number not in matched:
            text = f"find: {target}: no such file or directory."
            if state.is_kafka:
                terminal.write(f"{text}\n")
            else:
                terminal.line(text)
                code = max(code, 1)
    return code


def _about_findings(words: tuple[str, ...], state: State, answer: Answer) -> list[Line]:
    """Return what find prints of all that is wrong with the log."""
    from kraftops.image.findings import Finding, Kind
    from kraftops.image.image import MetadataImage

    image = MetadataImage(state.dialect)
    some = Finding(Kind.RECORD, "a record that cannot be applied")
    image.log_findings += [*answer.findings, *[some] * answer.failed_records]
    return sorted(Find(words, state, is_about_findings=True)(image, True))
