"""The metadata log and the span of time that a command is about."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from kraftops.dump.sources.missing import refuse_configurations, refuse_missing
from kraftops.errors import SourceError, UsageError
from kraftops.image.load.log_size import newest_time
from kraftops.image.state.findings import CUTS_SHORT
from kraftops.report.metadata_log import Span
from kraftops.timeline.changes import ChangeLog, read_changes
from kraftops_cli.live.options import QuorumOptions
from kraftops_cli.report.sources import furthest_log, log_span, metadata_log_names
from kraftops_cli.syntax.option_fields import argument, option
from kraftops_cli.syntax.shared_options import SpanOptions
from kraftops_cli.terminal.answer import FORM_ATTRIBUTES
from kraftops_cli.terminal.failure import code_with_skipped
from kraftops_cli.terminal.streams import Terminal

CUT_SHORT = 2
"""The exit code where damage hides a part of the log."""


@dataclass(frozen=True, kw_only=True)
class LogOptions(QuorumOptions, SpanOptions):
    """The values of the options that name a log and a span; *form* is text or json."""

    sources: tuple[str, ...] = argument(metavar="[SOURCE…]", nargs=-1)
    form: str = option("--format", **FORM_ATTRIBUTES)


class OpenedLog(NamedTuple):
    """The names of a log's files, the span to read, and what of archives cannot be read."""

    names: tuple[str, ...]
    span: Span
    skipped: Sequence[SourceError] = ()


@contextmanager
def opened(options: LogOptions, terminal: Terminal) -> Iterator[OpenedLog]:
    """Yield the log that options name, or that of running controllers.

    Raises:
        KraftopsError: they cannot be read, or a time is wrong.
    """
    sources = options.sources
    is_live = options.is_about_quorum
    if sources and is_live:
        raise UsageError(
            "name files of a metadata log, or controllers, and not both",
            hint="--config is a server.properties, whose controllers are asked; changes of"
            " configurations are kraftops changes DIR --kind config",
        )
    if not is_live:
        sources = sources or _logs_of_this_host(terminal)
        refuse_missing(sources)
        refuse_configurations(sources, "--config {} asks its controllers")
        furthest = furthest_log(sources, terminal)
        with metadata_log_names(furthest, terminal) as (names, skipped):
            yield OpenedLog(
                names, log_span(options, partial(newest_time, names), terminal), skipped
            )
        return
    from kraftops_cli.live.connect import live_image

    with live_image(terminal, options) as live:
        yield OpenedLog(live.names, log_span(options, partial(newest_time, live.names), terminal))


def _logs_of_this_host(terminal: Terminal) -> tuple[str, ...]:
    """Return the directories of the metadata logs of the Kafka of this host.

    Raises:
        UsageError: there is none.
        KraftopsError: a configuration cannot be read.
    """
    from kraftops.storage.config.host import kafka_of_this_host
    from kraftops.storage.config.server_config import load_config

    directories = []
    for kafka in kafka_of_this_host():
        terminal.error(f"note: looking at {kafka}")
        config = load_config(kafka.path, kafka.overrides, os.environ)
        directories.append(config.metadata_log_dir)
    return tuple(directories)


def changes_of(
    opened_log: OpenedLog, terminal: Terminal, *, is_for_incidents: bool = False
) -> tuple[ChangeLog, int]:
    """Return the changes of a log within a span, and the exit code; errors as `read_changes`."""
    names, span, skipped = opened_log
    log = read_changes(
        names,
        since=span.before,
        until=span.end,
        budget=terminal.budget,
        is_for_incidents=is_for_incidents,
    )
    cuts = [finding for finding in log.image.log_findings if finding.code in CUTS_SHORT]
    for finding in cuts:
        terminal.error(f"note: {finding}")
    return log, code_with_skipped(CUT_SHORT if cuts else 0, skipped)
