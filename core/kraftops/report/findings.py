"""The findings of a report: what went wrong, the worst first."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from kraftops.display.times import span_text
from kraftops.dump.check.directories import CheckRequest, check_directories
from kraftops.errors import KraftopsError
from kraftops.findings.finding import Finding, Place, Severity
from kraftops.image.state.findings import DAMAGE
from kraftops.memory import Budget
from kraftops.records.internal_topics import METADATA, USER
from kraftops.report.changes import cut, offset_of
from kraftops.report.commands import MetadataCommands
from kraftops.report.document import Log, NodeBands, OpenTransaction, Timeline, Window
from kraftops.report.metadata_log import MetadataLog
from kraftops.timeline.rules import FLAPS

MOST_FINDINGS = 200  # more are not read one by one; the page says how many it leaves out
UNCLEAN = "unclean-elections"
"""The code of a loss that incidents tell, too."""
NEW_LEADERS = 3
"""The new leaders of the quorum from which on it is unstable: a rolling restart takes two."""
HANGING_MS = 900_000
"""The age of a transaction that hangs: Kafka's default of transaction.max.timeout.ms."""
JUMP_MS = 1000
"""A clock that goes back by less is not news: controllers differ."""

_LARGEST_CHECKED = 256 << 20
"""Bytes of a damaged log that is read again, for what a start makes of it: a second of work."""

_WITH_TRANSACTIONS = (USER, "transaction")
"""Decoders of logs that mention transactions."""


class _Level(NamedTuple):
    """The findings about one of the timeline's levels: the code and the words.

    *at_end* is the severity while partitions are still at that level, *passed* the one afterwards.
    """

    name: str
    code: str
    at_end: Severity
    passed: Severity
    words: str


_LEVELS = (
    # Producers and consumers of an offline partition stand still, as if its server had not started.
    _Level("offline", "offline-partitions", Severity.STOPS, Severity.STOPS, "without a leader"),
    _Level("underMinIsr", "under-min-isr", Severity.STOPS, Severity.RISK, "under their min ISR"),
    _Level("underReplicated", "under-replicated", Severity.RISK, Severity.RISK, "under-replicated"),
)


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' * (number != 1)}"


def metadata_findings(
    log: MetadataLog,
    problems: Sequence[Finding],
    timeline: Timeline | None,
    commands: MetadataCommands,
) -> Iterator[Finding]:
    """Yield the findings about a metadata log; *problems* are those of its replay.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    notes, image = log.timeline, log.image
    for level in _LEVELS:
        still = notes.levels[level.name]
        touched = max(notes.touched[level.name], still)  # without a time none is noted
        if not touched:
            continue
        peak = max([still, *notes.series.get((level.name, None), [])])
        first = notes.firsts.get(level.name)
        offset = None if first is None else offset_of(image, first[1])
        at_end = f"; {still:,} still at the end" if still else ""
        text = f"{_count(touched, 'partition')} {level.words}, up to {peak:,} at once{at_end}"
        place = Place(time=notes.began if first is None else first[0], offset=offset)
        severity = level.at_end if still else level.passed
        yield _finding(level.code, severity, text, place, commands.record(offset), count=touched)
    unclean = sum(notes.series.get(("uncleanElections", None), []))
    if unclean:
        time, address = notes.firsts["uncleanElections"]
        offset = offset_of(image, address)
        text = f"{_count(unclean, 'unclean election')}: the new leaders may lack records"
        place = Place(time=time, offset=offset)
        yield _finding(UNCLEAN, Severity.LOSS, text, place, commands.record(offset), count=unclean)
    if timeline is not None:
        yield from filter(None, map(_flapping, timeline.brokers))
        yield from _quorum(timeline)
    yield from _of_files(problems)
    if dropped := len(image.record_findings):
        address, reason = image.record_findings[0]
        offset = offset_of(image, address)
        text = f"{_count(dropped, 'record')} could not be applied; the first: {cut(reason)}"
        place = Place(offset=offset)
        yield _finding(
            "record-left-out", Severity.RISK, text, place, commands.record(offset), count=dropped
        )
    if notes.odd and (notes.jump >= JUMP_MS or not notes.jump):
        offset = offset_of(image, notes.first_odd)
        jump = f", by up to {span_text(notes.jump)}" if notes.jump else ""
        text = (
            f"{_count(notes.odd, 'record')} with a time before that of the previous record, or an "
            f"impossible one{jump}: they count at the time before"
        )
        place = Place(offset=offset)
        yield _finding(
            "odd-times", Severity.NOTE, text, place, commands.record(offset), count=notes.odd
        )
    if log.snapshot_end is not None:
        text = "the log begins with a snapshot: what came before it is unknown"
        place = Place(time=log.known_since, offset=log.snapshot_end)
        yield Finding("known-since", Severity.NOTE, text, place)


def _flapping(broker: NodeBands) -> Finding | None:
    departures = [
        band
        for before, band in zip(broker.bands, broker.bands[1:], strict=False)
        if before.state == "active"
    ]
    if len(departures) < FLAPS:
        return None
    span = span_text(departures[-1].start - departures[0].start)
    text = f"broker {broker.id} left the active state {len(departures):,} times within {span}"
    place = Place(node=broker.id, time=departures[0].start, offset=departures[0].offset)
    return _finding(
        "flapping-broker", Severity.RISK, text, place, departures[0].command, count=len(departures)
    )


def _quorum(timeline: Timeline) -> Iterator[Finding]:
    changes = timeline.leadership[1:]
    if len(changes) >= NEW_LEADERS:
        first = changes[0]
        span = span_text(changes[-1].start - first.start)
        text = f"the quorum had {len(changes):,} new leaders within {span}"
        place = Place(time=first.start, offset=first.offset)
        yield _finding(
            "quorum-instability", Severity.RISK, text, place, first.command, count=len(changes)
        )


def _of_files(problems: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the first finding of each code, with the number of all."""
    counts = Counter(problem.code for problem in problems)
    firsts = {problem.code: problem for problem in reversed(problems)}
    for code, count in counts.items():
        yield replace(firsts[code], text=cut(firsts[code].text), count=count)


def log_findings(
    logs: Iterable[Log],
    damaged: Collection[str],
    transactions: Iterable[OpenTransaction],
    window: Window,
    budget: Budget,
) -> Iterator[Finding]:
    """Yield the findings by summaries of logs.

    The *window* ends with the last time of all logs. What is checked has the *budget*.

    The replay of a metadata log has reported the files *damaged*.
    """
    since, until = window
    logs = list(logs)
    if since is not None and any(log.kind in _WITH_TRANSACTIONS for log in logs):
        text = "of transactions, only what happened from the beginning of the report on is known"
        yield Finding("transactions-since", Severity.NOTE, text, Place(time=since))
    for log in logs:
        name = log.directory or "the log" if log.topic is None else f"{log.topic}-{log.partition}"
        places = log.damage.count + log.damage.undecodable
        if places and log.damage.first_file not in damaged:
            text = f"{name}: {cut(log.damage.first_reason or '')}"
            place = Place(file=log.damage.first_file, position=log.damage.first_position)
            damage = _finding(
                _damage_code(log), Severity.LOSS, text, place, log.command, count=places
            )
            yield from _checked(log, budget) or [damage]
        # The replay of a metadata log has found its gaps; damage makes one, too.
        if log.gaps.count > log.damage.count and log.kind != METADATA:
            text = f"{name}: {_count(log.gaps.count, 'gap')} between batches"
            text += f", {_count(log.gaps.offsets, 'offset')}; compaction makes gaps too"
            place = Place(topic=log.topic, partition=log.partition)
            yield _finding(
                "offset-gaps", Severity.NOTE, text, place, log.command, count=log.gaps.count
            )
    if until is None:
        return
    for transaction in transactions:
        if transaction.since is None or until - transaction.since < HANGING_MS:
            continue
        who = transaction.transactional_id or f"producer {transaction.producer_id}"
        text = f"a transaction of {who} is open for {span_text(until - transaction.since)}"
        place = Place(time=transaction.since, offset=transaction.first_offset)
        yield _finding("hanging-transaction", Severity.RISK, text, place, transaction.command)


def _checked(log: Log, budget: Budget) -> list[Finding]:
    """Return the losses that a check of a damaged partition finds, where it is in a directory."""
    folder = os.path.dirname(log.damage.first_file or "")
    if log.topic is None or log.kind == METADATA or log.bytes > _LARGEST_CHECKED:
        return []
    with suppress(KraftopsError):
        checks, _ = check_directories(CheckRequest([folder], budget=budget))
        findings = [finding for check in checks for finding in check.findings]
        return [finding for finding in findings if finding.severity is Severity.LOSS]
    return []


def _damage_code(log: Log) -> str:
    if log.kind == METADATA:
        return DAMAGE
    return "bad-batch" if log.damage.count else "bad-record"


def _finding(  # noqa: PLR0913 - the fields of a finding
    code: str, severity: Severity, text: str, place: Place, command: str | None, *, count: int = 1
) -> Finding:
    commands = () if command is None else (command,)
    return Finding(code, severity, text, place, commands=commands, count=count)
