"""Task of `kraftops spark find`: load the state of a log in a worker, and run find there."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, NamedTuple

from kraftops.display.sizes import size_text
from kraftops.errors import KraftopsError, RefusedError, UsageError
from kraftops.findings.finding import Finding
from kraftops.image.state.image import MetadataImage
from kraftops.memory import free_memory
from kraftops.tree.node import Directory
from kraftops_cli.metadata_shell.request import ShellRequest
from kraftops_shell.grammar.arguments import Call, read_call
from kraftops_shell.grammar.registry import commands
from kraftops_shell.run import run_line
from kraftops_shell.session.image_source import ImageSource
from kraftops_shell.session.session import Session
from kraftops_terminal.escaping import escaped


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
    """Work that runs find on the state of a log, which takes *memory* in bytes or more.

    *now* is in ms since the epoch. With *is_escaping*, a terminal shows the paths.
    """

    request: ShellRequest
    now: int
    is_escaping: bool = False
    memory: int = 0

    def __call__(self, out: IO[bytes]) -> FindOutcome | KraftopsError:
        """Write the lines of find; return how it ended, or why the log cannot be read."""
        request = self.request
        try:
            self._refuse_little(free_memory())
            image = request.load()
            root = request.tree(image)
            errors: list[str] = []

            def write(text: str) -> None:
                out.write(text.encode("utf-8", "surrogatepass"))

            session = self.session(root, image, write, errors.append)
            code = run_line(session, request.words)
        except KraftopsError as error:
            return error
        findings = [finding.moved(address=None) for finding in image.log_findings]
        return FindOutcome(
            code=code,
            errors=errors,
            failure=session.first_error,
            findings=findings,
            failed_records=len(image.record_findings),
        )

    def _refuse_little(self, free: float) -> None:
        if free < self.memory:
            needed, there = size_text(self.memory), size_text(int(free))
            raise RefusedError(
                f"{self.request.source}: its state takes {needed} or more, a worker has {there}",
                hint="on a cluster, --conf spark.executor.memoryOverhead=SIZE gives workers more",
            )

    def session(
        self,
        root: Directory,
        image: MetadataImage,
        write: Callable[[str], object],
        err: Callable[[str], object],
    ) -> Session:
        escape = escaped if self.is_escaping else str
        is_kafka, source = self.request.is_kafka, self.request.source
        session = Session(root, write, err, is_kafka, is_one_shot=True, shown=escape)
        session.image_source = ImageSource(image, (source,), now=lambda: self.now)
        return session


def call_of(request: ShellRequest) -> Call:
    """Return the call of find that the words of a request are.

    Raises:
        BadLineError: they make no sense.
        UsageError: they are another command.
    """
    known_commands = commands(kafka=request.is_kafka, one_shot=True)
    call = read_call(request.words, known_commands, kafka=request.is_kafka)
    if call is None or call.command.name != "find":
        raise UsageError("with --spark there is only find", hint="as find /image/topics/byName")
    return call
