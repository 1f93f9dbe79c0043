"""Task of `kraftops spark find`: load the state of a log in a worker, and run find there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import IO, NamedTuple

from kraftops.errors import KraftopsError, UsageError
from kraftops.findings.finding import Finding
from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.server.nearby import directory_paths_near
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Directory
from kraftops.tree.view import Form
from kraftops_shell.grammar.arguments import Call, read_call
from kraftops_shell.grammar.registry import commands
from kraftops_shell.run import run_line
from kraftops_shell.session.image_source import ImageSource
from kraftops_shell.session.session import Session
from kraftops_terminal.escaping import escaped


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
    is_escaping: bool = False
    """Whether a terminal shows the paths."""


class FindOutcome(NamedTuple):
    """How find ended: its exit code, what it said, and the findings about the log.

    *failure* is the first error, and *failed_records* counts records that could not be applied.
    """

    code: int
    errors: list[str]
    failure: KraftopsError | None
    findings: list[Finding]
    failed_records: int


@dataclass(frozen=True, slots=True)
class FindWork:
    """Work that runs find on the state of a log."""

    words: tuple[str, ...]
    request: FindRequest

    def __call__(self, out: IO[bytes]) -> FindOutcome | KraftopsError:
        """Write the lines of find; return how it ended, or why the log cannot be read."""
        request = self.request
        try:
            image = load(
                request.source,
                at_offset=request.at_offset,
                at_time=request.at_time,
                dialect=request.dialect,
            )
            root = tree_of(
                image,
                form=Form.KAFKA if request.is_kafka else Form.OURS,
                show_secrets=request.show_secrets,
                version=request.version,
                directory_paths=partial(directory_paths_near, (request.source,)),
            )
            errors: list[str] = []

            def write(text: str) -> None:
                out.write(text.encode("utf-8", "surrogatepass"))

            session = session_of(root, image, request, write, errors.append)
            code = run_line(session, self.words)
        except KraftopsError as error:
            return error
        findings = [finding.moved(address=None) for finding in image.log_findings]
        return FindOutcome(code, errors, session.first_error, findings, len(image.record_findings))


def session_of(
    root: Directory,
    image: MetadataImage,
    request: FindRequest,
    write: Callable[[str], object],
    err: Callable[[str], object],
) -> Session:
    escape = escaped if request.is_escaping else str
    session = Session(root, write, err, request.is_kafka, is_one_shot=True, shown=escape)
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
