"""Driver of `kraftops spark find`: check the words, run find in a worker, and print its lines."""

import time

from kraftops.display.sizes import size_text
from kraftops.dump.sources.parts import total_size
from kraftops.errors import KraftopsError
from kraftops.image.load.sources import files_of
from kraftops.image.state.image import MetadataImage
from kraftops.spark.jobs.text_of_worker import run_for_text
from kraftops.spark.session.session import started
from kraftops.tree.node import fixed
from kraftops_cli.metadata_shell.request import ShellRequest
from kraftops_cli.metadata_shell.source import print_findings
from kraftops_cli.metadata_shell.spark_find_task import FindOutcome, FindWork, call_of
from kraftops_cli.spark.options import SparkRequest, refuse_local, warn_if_slow, warn_if_small
from kraftops_cli.spark.progress import SparkProgress
from kraftops_cli.terminal.failure import Failure, conclude
from kraftops_cli.terminal.streams import Terminal
from kraftops_shell.commands.find import tests_of
from kraftops_shell.grammar.arguments import BadLineError, number_of

_BASE_BYTES = 64 << 20  # of a worker without a log
_STATE_SHARE = 2  # of a snapshot's bytes; find in all of the tree takes as much again


def run_find(request: ShellRequest, spark: SparkRequest, terminal: Terminal) -> int:
    if not _makes_sense(request, terminal):
        return 0 if request.is_kafka else 1
    settings = spark.settings()
    refuse_local(spark, [request.source])
    log = files_of([request.source])
    size = total_size(file.path for file in log.snapshots + log.segments)
    state_size = total_size(file.path for file in log.snapshots[:1]) // _STATE_SHARE
    warn_if_small(settings, size, terminal)
    if size > _BASE_BYTES:
        needed = size_text(_BASE_BYTES + size)
        terminal.line(f"one worker holds the state of the log, in {needed} of memory at most")
    with SparkProgress(terminal.status) as progress, started(settings) as session:
        now = int(time.time() * 1000)
        work = FindWork(request, now, terminal.is_escaping, _BASE_BYTES + state_size)
        outcome, chunks = run_for_text(session, [request.source], work, progress.show)
        if isinstance(outcome, KraftopsError):
            raise outcome
        for chunk in chunks:
            terminal.write(chunk.decode("utf-8", "surrogatepass"))
        warn_if_slow(session, terminal)
    return max(_print_findings(request, outcome, terminal), _ended(outcome, terminal))


def _ended(outcome: FindOutcome, terminal: Terminal) -> int:
    """Print what find has said; return its exit code."""
    for text in outcome.errors:
        terminal.line(text)
    if outcome.code and (failure := outcome.failure):
        return max(outcome.code, conclude(terminal, Failure(failure.code, failure.message)))
    return outcome.code


def _makes_sense(request: ShellRequest, terminal: Terminal) -> bool:
    """Tell whether words make sense; if not, after an error as of the shell."""
    try:
        call = call_of(request)
        session = FindWork(request, 0).session(fixed({}), MetadataImage(), str, str)
        list(tests_of(session, call))
        number_of(call, "-maxdepth")
    except BadLineError as error:
        if request.is_kafka:
            terminal.write(f"{error}\n")
        else:
            terminal.line(str(error))
        return False
    return True


def _print_findings(request: ShellRequest, outcome: FindOutcome, terminal: Terminal) -> int:
    """Print the findings about the log; return the exit code."""
    image = MetadataImage(request.dialect)
    image.log_findings += outcome.findings
    for _ in range(outcome.failed_records):
        image.fold.drop(0, "")
    return print_findings(terminal, request.source, image)
