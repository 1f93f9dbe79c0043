"""The findings of a report: what went wrong, the worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kraftops.display.times import span_text
from kraftops.image.state.findings import Finding as LogFinding
from kraftops.image.state.findings import FindingKind
from kraftops.records.internal_topics import METADATA, USER
from kraftops.report.changes import cut, offset_of
from kraftops.report.commands import MetadataCommands
from kraftops.report.document import (
    BrokerBands,
    Finding,
    Log,
    Moment,
    OpenTransaction,
    Severity,
    Timeline,
)
from kraftops.report.metadata_log import MetadataLog

MOST_FINDINGS = 200
FLAPS = 3
"""The times that a broker left the active state, from which on it flaps."""
NEW_LEADERS = 3
"""The new leaders of the quorum from which on it is unstable."""
HANGING_MS = 900_000
"""The age of a transaction that hangs: Kafka's default of transaction.max.timeout.ms."""
JUMP_MS = 1000
"""A clock that goes back by less is no news: controllers differ."""

_SEVERITIES: tuple[Severity, ...] = ("bad", "warning", "note")
_OF_LOG: dict[FindingKind, tuple[str, Severity]] = {
    FindingKind.DAMAGE: ("damage", "bad"),
    FindingKind.GAP: ("gap", "bad"),
    FindingKind.REPEAT: ("repeat", "warning"),
    FindingKind.START: ("start", "note"),
    FindingKind.TRANSACTION: ("open-metadata-transaction", "warning"),
    FindingKind.EPOCH: ("epoch-back", "bad"),
    FindingKind.SNAPSHOT: ("damaged-snapshot", "warning"),
}


_WITH_TRANSACTIONS = (USER, "transaction")
"""Decoders of logs that tell of transactions."""


class _Level(NamedTuple):
    """The findings about one of the timeline's levels: the code, severities, and words."""

    name: str
    code: str
    severity: Severity
    words: str


_LEVELS = (
    _Level("offline", "offline-partitions", "bad", "without a leader"),
    _Level("underMinIsr", "under-min-isr", "warning", "under their min ISR"),
    _Level("underReplicated", "under-replicated", "warning", "under-replicated"),
)


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' * (number != 1)}"


def metadata_findings(
    log: MetadataLog,
    problems: Sequence[LogFinding],
    timeline: Timeline | None,
    commands: MetadataCommands,
) -> Iterator[Finding]:
    """Yield the findings about a metadata log; *problems* are its `shown_findings`.

    Raises:
        KraftopsError: a source cannot be read any more.
    """
    notes, image = log.timeline, log.image
    for level in _LEVELS:
        left = notes.levels[level.name]
        touched = max(notes.touched[level.name], left)  # without a time none is noted
        if not touched:
            continue
        peak = max([left, *notes.series.get((level.name, None), [])])
        first = notes.firsts.get(level.name)
        offset = None if first is None else offset_of(image, first[1])
        at_end = f"; {left:,} still at the end" if left else ""
        yield Finding(
            level.code,
            "bad" if left and level.name != "underReplicated" else level.severity,
            f"{_count(touched, 'partition')} {level.words}, up to {peak:,} at once{at_end}",
            touched,
            Moment(notes.began if first is None else first[0], offset),
            commands.record(offset),
        )
    unclean = sum(notes.series.get(("uncleanElections", None), []))
    if unclean:
        time, address = notes.firsts["uncleanElections"]
        offset = offset_of(image, address)
        text = f"{_count(unclean, 'unclean election')}: the new leaders may lack records"
        moment = Moment(time, offset)
        yield Finding("unclean-elections", "bad", text, unclean, moment, commands.record(offset))
    if timeline is not None:
        yield from filter(None, map(_flapping, timeline.brokers))
        yield from _quorum(timeline)
    yield from _of_files(problems)
    if dropped := len(image.record_findings):
        address, reason = image.record_findings[0]
        offset = offset_of(image, address)
        text = f"{_count(dropped, 'record')} could not be applied; the first: {cut(reason)}"
        moment = Moment(None, offset)
        yield Finding("records-left-out", "warning", text, dropped, moment, commands.record(offset))
    if notes.odd and (notes.jump >= JUMP_MS or not notes.jump):
        offset = offset_of(image, notes.first_odd)
        jump = f", by up to {span_text(notes.jump)}" if notes.jump else ""
        text = (
            f"{_count(notes.odd, 'record')} with a time before that of the record before, or an"
            f" impossible one{jump}: they count at the time before"
        )
        yield Finding(
            "odd-times", "note", text, notes.odd, Moment(None, offset), commands.record(offset)
        )
    if log.snapshot_end is not None:
        text = "the log begins with a snapshot: what came before it is unknown"
        moment = Moment(log.known_since, log.snapshot_end)
        yield Finding("known-since", "note", text, 1, moment, None)


def _flapping(broker: BrokerBands) -> Finding | None:
    left = [
        band
        for before, band in zip(broker.bands, broker.bands[1:], strict=False)
        if before.state == "active"
    ]
    if len(left) < FLAPS:
        return None
    span = span_text(left[-1].start - left[0].start)
    text = f"broker {broker.id} left the active state {len(left):,} times within {span}"
    first = Moment(left[0].start, left[0].offset)
    return Finding("flapping-broker", "warning", text, len(left), first, left[0].command)


def _quorum(timeline: Timeline) -> Iterator[Finding]:
    changes = timeline.leadership[1:]
    if len(changes) >= NEW_LEADERS:
        first = changes[0]
        span = span_text(changes[-1].start - first.start)
        text = f"the quorum had {len(changes):,} new leaders within {span}"
        moment = Moment(first.start, first.offset)
        yield Finding("quorum-instability", "warning", text, len(changes), moment, first.command)


def shown_findings(log: MetadataLog, names: Mapping[str, str]) -> list[LogFinding]:
    """Return the findings of a log's replay; *names* are those to show for files."""
    return [
        one if one.source is None else one._replace(source=names.get(one.source, one.source))
        for one in log.image.log_findings
    ]


def _of_files(problems: Sequence[LogFinding]) -> Iterator[Finding]:
    counts = Counter(one.kind for one in problems)
    for kind, count in counts.items():
        code, severity = _OF_LOG.get(kind, (kind.value, "warning"))
        first = next(one for one in problems if one.kind is kind)
        yield Finding(code, severity, cut(str(first)), count, Moment(None, first.offset), None)


def log_findings(
    logs: Iterable[Log],
    damaged: Collection[str],
    transactions: Iterable[OpenTransaction],
    since: int | None,
    until: int | None,
) -> Iterator[Finding]:
    """Yield the findings by summaries of logs.

    *since* is the beginning of the report, None for that of the logs, and *until* the last time of
    all logs.

    The replay of a metadata log has told of the files *damaged*.
    """
    logs = list(logs)
    if since is not None and any(log.kind in _WITH_TRANSACTIONS for log in logs):
        text = "of transactions, only what happened from the beginning of the report on is known"
        yield Finding("transactions-since", "note", text, 1, Moment(since, None), None)
    for log in logs:
        name = log.directory or "the log" if log.topic is None else f"{log.topic}-{log.partition}"
        places = log.damage.count + log.damage.undecodable
        if places and log.damage.first_file not in damaged:
            text = f"{name}: {cut(log.damage.first_reason or '')}"
            where = f" ({log.damage.first_file}, position {log.damage.first_position})"
            moment = Moment(None, None)
            yield Finding("damage", "bad", text + where, places, moment, log.command)
        if log.gaps.count and log.kind != METADATA:  # whose gaps its own replay has found
            text = f"{name}: {_count(log.gaps.count, 'gap')} between batches"
            text += f", {_count(log.gaps.offsets, 'offset')}; compaction makes them, too"
            moment = Moment(None, None)
            yield Finding("gap", "note", text, log.gaps.count, moment, log.command)
    if until is None:
        return
    for one in transactions:
        if one.since is None or until - one.since < HANGING_MS:
            continue
        who = one.transactional_id or f"producer {one.producer_id}"
        text = f"a transaction of {who} is open for {span_text(until - one.since)}"
        moment = Moment(one.since, one.first_offset)
        yield Finding("hanging-transaction", "bad", text, 1, moment, one.command)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by severity, and else in their order."""
    return sorted(findings, key=lambda one: _SEVERITIES.index(one.severity))
