"""Driver of `kraftops spark find`: check the words, run find in a worker, and print its lines."""

from __future__ import annotations

import time

from kraftops.display.sizes import size_text
from kraftops.dump.sources.parts import total_size
from kraftops.errors import KraftopsError
from kraftops.image.load.sources import files_of
from kraftops.image.state.image import MetadataImage
from kraftops.spark.jobs.text_of_worker import run_for_text
from kraftops.spark.session.session import started
from kraftops.tree.node import fixed
from kraftops_cli.metadata_shell.source import print_findings
from kraftops_cli.metadata_shell.spark_find_task import (
    FindOutcome,
    FindRequest,
    FindWork,
    call_of,
    session_of,
)
from kraftops_cli.spark.options import SparkRequest, refuse_local, warn_if_slow, warn_if_small
from kraftops_cli.spark.progress import SparkProgress
from kraftops_cli.terminal.failure import Failure, conclude
from kraftops_cli.terminal.streams import Terminal
from kraftops_shell.commands.find import tests_of
from kraftops_shell.grammar.arguments import BadLineError, number_of

_BASE_BYTES = 64 << 20  # of a worker without a log; 104 MB with a snapshot of 123 MB


def run_find(
    words: tuple[str, ...], request: FindRequest, spark: SparkRequest, terminal: Terminal
) -> int:
    now = int(time.time() * 1000)
    request = request._replace(now=now, is_escaping=terminal.is_escaping)
    if not _makes_sense(words, request, terminal):
        return 0 if request.is_kafka else 1
    settings = spark.settings()
    refuse_local(spark, [request.source])
    log = files_of([request.source])
    size = total_size(file.path for file in log.snapshots + log.segments)
    warn_if_small(settings, size, terminal)
    if size > _BASE_BYTES:
        needed = size_text(_BASE_BYTES + size)
        terminal.line(f"one worker holds the state of the log, in {needed} of memory at most")
    with SparkProgress(terminal.status) as progress, started(settings) as session:
        work = FindWork(words, request)
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


def _makes_sense(words: tuple[str, ...], request: FindRequest, terminal: Terminal) -> bool:
    """Tell whether words make sense; if not, after an error as of the shell."""
    try:
        call = call_of(words, request)
        session = session_of(fixed({}), MetadataImage(), request, str, str)
        list(tests_of(session, call))
        number_of(call, "-maxdepth")
    except BadLineError as error:
        if request.is_kafka:
            terminal.write(f"{error}\n")
        else:
            terminal.line(str(error))
        return False
    return True


def _print_findings(request: FindRequest, outcome: FindOutcome, terminal: Terminal) -> int:
    """Print the findings about the log; return the exit code."""
    image = MetadataImage(request.dialect)
    image.log_findings += outcome.findings
    for _ in range(outcome.failed_records):
        image.fold.drop(0, "")
    return print_findings(terminal, request.source, image)
