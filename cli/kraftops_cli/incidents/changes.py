"""`kraftops changes`: what changed in a cluster, by its metadata log."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import click

from kraftops.answers.fields import parts
from kraftops.display.times import iso_time
from kraftops.dump.sources.missing import refuse_missing
from kraftops.errors import UsageError
from kraftops.memory import Budget
from kraftops.timeline.answer import LIKELY, NOBODY, UNLOGGED
from kraftops.timeline.authorizer import allowed_requests, with_principals
from kraftops.timeline.changes import CLIENT, KINDS, ChangeLog, read_changes
from kraftops.timeline.selection import CHANGE, GROUP, ChangeFilter, by_cause, changes_where
from kraftops_cli.incidents.sources import LogOptions, OpenedLog, changes_of, opened
from kraftops_cli.syntax.argparse4j import Argparse4j
from kraftops_cli.syntax.chapters import AUTHORIZER, environment, manual
from kraftops_cli.syntax.command import tool_command
from kraftops_cli.syntax.option_fields import option
from kraftops_cli.syntax.shared_options import PRINCIPALS, AuthorizerOptions
from kraftops_cli.syntax.values import Number
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.tables import table_of, table_text

_MOST = 8
"""Names in a hint: it stays a line."""


@dataclass(frozen=True, kw_only=True)
class ChangeOptions(LogOptions, AuthorizerOptions):
    """The values of the options."""

    kinds: tuple[str, ...] = option(
        "--kind", type=click.Choice(KINDS), multiple=True, help="Only changes of this kind."
    )
    brokers: tuple[int, ...] = option(
        "--broker ID",
        type=Number(0x7FFFFFFF),
        multiple=True,
        help="Only changes about this broker: that it leads, led, joined an ISR or left it, or "
        "of its configuration or that of all brokers.",
    )
    topics: tuple[str, ...] = option(
        "--topic GLOB", multiple=True, help="Only changes of these topics."
    )
    where: tuple[str, ...] = option(
        "--where CONDITION",
        multiple=True,
        help="Only changes for which this is true, as \"new ~ 'unclean' and offset > 100\".",
    )
    group_by: str | None = option(
        "--group-by", type=click.Choice(("cause",)), help="A line for each cause, with its changes."
    )


@tool_command(
    Argparse4j(expands_files=False),
    name="changes",
    options=ChangeOptions,
    answer="kraftops.timeline.answer:CHANGES",
    **manual(__file__, more=PRINCIPALS | environment(AUTHORIZER)),
)
def changes(terminal: Terminal, options: ChangeOptions) -> int:
    """Print the changes that options choose; return the exit code."""
    refuse_missing(options.authorizer_logs)
    selection = ChangeFilter(
        frozenset(options.kinds),
        frozenset(options.brokers),
        options.topics,
        changes_where(options.where, int(time.time() * 1000)),
    )
    with opened(options, terminal) as opened_log:
        log, code = changes_of(opened_log, terminal)
        _refuse_unknown(options.topics, log, opened_log, terminal.budget)
    requests = allowed_requests(options.authorizer_logs)
    chosen = selection.chosen(with_principals(log.changes, requests))
    is_grouped = options.group_by is not None
    name, fields = ("groups", GROUP) if is_grouped else ("changes", CHANGE)
    rows = by_cause(chosen) if is_grouped else chosen
    print_answer(
        terminal,
        [parts(name, "", fields, get=list)],
        rows,
        lambda: table_text(terminal.console, table_of(fields, rows)),
    )
    if options.form == "text":
        if not rows:
            what = "nothing of that kind" if log.changes else "nothing"
            terminal.error(
                f"note: {what} changed", hint=_changed_topics(log) * bool(options.topics)
            )
        elif any(change.likely_principals for change in chosen):
            terminal.error(f"note: {LIKELY}")
        elif any(change.cause == CLIENT for change in chosen):
            terminal.error(f"note: {UNLOGGED if options.authorizer_logs else NOBODY}")
    return code


def _refuse_unknown(
    patterns: Sequence[str], log: ChangeLog, opened_log: OpenedLog, budget: Budget
) -> None:
    """Refuse patterns of topics that did not exist in the span of *log*.

    Raises:
        UsageError: none that one matches did.
        KraftopsError: the log cannot be read any more.
    """
    topics = {*log.image.topic_ids, *(change.topic for change in log.changes if change.topic)}
    for pattern in patterns:
        if any(fnmatchcase(topic, pattern) for topic in topics):
            continue
        from difflib import get_close_matches

        whole = read_changes(opened_log.names, budget=budget)
        near = get_close_matches(pattern, topics)
        meant = f": did you mean {' or '.join(sorted(near))}?" if near else ""
        text, hint = f"there is no topic {pattern!r}{meant}", _changed_topics(log)
        if times := [
            f"{change.topic} was {'created' if change.old is None else 'deleted'} at"
            f" {iso_time(change.time)}, offset {change.offset}"
            for change in whole.changes
            if change.what == f"topic {change.topic}" and fnmatchcase(change.topic or "", pattern)
        ]:
            text = f"there was no topic {pattern!r} in this span: {', '.join(times[:_MOST])}"
        raise UsageError(text, hint, code="not-found")


def _changed_topics(log: ChangeLog) -> str:
    topics = sorted({change.topic for change in log.changes if change.topic})
    return f"topics with changes: {', '.join(topics[:_MOST])}" if topics else ""
