"""Driver of `kafka-metadata-shell --spark find`: search all shards, and print the lines found."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from kraftops.dump.sources.parts import total_size
from kraftops.image.load.loading import limits_of
from kraftops.image.load.sources import files_of
from kraftops.image.state.image import MetadataImage
from kraftops.spark.find.scan_job import SearchedLog
from kraftops.spark.find.search import SearchResult, search_log
from kraftops.spark.session.session import started
from kraftops.tree.node import fixed
from kraftops_cli.metadata_shell.source import print_findings
from kraftops_cli.metadata_shell.spark_find_task import (
    FINDINGS,
    MATCHED,
    Find,
    FindRequest,
    call_of,
    session_of,
)
from kraftops_cli.spark.options import SparkRequest, refuse_local, warn_if_slow, warn_if_small
from kraftops_cli.spark.progress import SparkProgress
from kraftops_cli.terminal.failure import Failure, conclude
from kraftops_cli.terminal.streams import Terminal
from kraftops_shell.commands.find import tests_of
from kraftops_shell.grammar.arguments import BadLineError, Call, number_of
from kraftops_shell.grammar.globs import component_pattern
from kraftops_shell.grammar.paths import absolute


def run_find(
    words: tuple[str, ...], request: FindRequest, spark: SparkRequest, terminal: Terminal
) -> int:
    """Run find on Spark; return the exit code."""
    request = request._replace(now=int(time.time() * 1000))
    call = _checked(words, request, terminal)
    if call is None:
        return 0 if request.is_kafka else 1
    settings = replace(spark.settings(), has_small_driver=True)
    refuse_local(spark, [request.source])
    log = files_of([request.source])
    warn_if_small(
        settings, total_size(file.path for file in log.snapshots + log.segments), terminal
    )
    limits = limits_of(request.at_offset, request.at_time)
    targets = call.words or (".",)
    with SparkProgress(terminal.status) as progress, started(settings) as session:
        result = search_log(
            session,
            SearchedLog((request.source,), limits, request.dialect, "-newer-than" in call.flags),
            Find(words, request),
            with_findings=not request.is_kafka and any(map(_may_be_finding, targets)),
            show=progress.show,
        )
        matched: set[int] = set()
        for line in printed(result, matched):
            terminal.write(f"{terminal.shown(line)}\n")
        warn_if_slow(session, terminal)
    code = _print_findings(request, result, terminal)
    missing = [
        f"find: {target}: no such file or directory."
        for number, target in enumerate(targets)
        if number not in matched
    ]
    for text in missing:
        if request.is_kafka:
            terminal.write(f"{text}\n")
        else:
            terminal.line(text)
    if missing and not request.is_kafka:
        code = max(code, conclude(terminal, Failure("failed", missing[0])))
    return code


def _checked(words: tuple[str, ...], request: FindRequest, terminal: Terminal) -> Call | None:
    """Return the call of find; None, after an error as of the shell, if the words make no sense."""
    try:
        call = call_of(words, request)
        list(tests_of(session_of(fixed({}), MetadataImage(), request), call))
        number_of(call, "-maxdepth")
    except BadLineError as error:
        if request.is_kafka:
            terminal.write(f"{error}\n")
        else:
            terminal.line(str(error))
        return None
    return call


def _may_be_finding(target: str) -> bool:
    """Tell whether a target may be above or among the findings."""
    return all(
        part == name or component_pattern(part)
        for part, name in zip(absolute(target, (), with_escapes=True), FINDINGS, strict=False)
    )


def printed(result: SearchResult, matched: set[int]) -> Iterator[str]:
    """Yield the lines of find; add the numbers of targets that exist to *matched*.

    A line of several shards has the same key in each, and is yielded once.
    """
    last = b""
    for key, line in result.lines:
        if line.startswith(MATCHED):
            matched.add(int(line[1:]))
        elif key != last:
            last = key
            yield line.decode("utf-8", "surrogatepass")


def _print_findings(request: FindRequest, result: SearchResult, terminal: Terminal) -> int:
    """Print the findings about the log; return the exit code."""
    image = MetadataImage(request.dialect)
    image.log_findings += result.findings
    for _ in range(result.failed_records):
        image.fold.drop(0, "")
    return print_findings(terminal, request.source, image)
