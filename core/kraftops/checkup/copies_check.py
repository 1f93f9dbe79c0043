"""The check of copies: what a start of several brokers cuts, and the best of damaged copies."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kraftops.checkup.disk_checks import kept_from_retention
from kraftops.checkup.examination import UNKNOWN_NODE, Examination, is_packed
from kraftops.display.sizes import named
from kraftops.findings.catalogue import code_of_cure
from kraftops.findings.finding import Cure, Evidence, Finding, Place, Severity
from kraftops.recovery.node_copies import LogSource, sources_of
from kraftops.recovery.partitions.comparison import (
    CONTENT_DIFFERS,
    ComparedCopy,
    Comparison,
    compare_disks,
)
from kraftops.recovery.partitions.content import BY_COMPARISON
from kraftops.recovery.partitions.copies import PartitionCopy, newest_of
from kraftops.recovery.partitions.losses import PartitionLoss, total_of
from kraftops.recovery.partitions.start_order import (
    NO_ORDER,
    WHILE_STOPPED,
    best_copies,
    replacement,
)
from kraftops.recovery.refusal import RecoveryRefused

Leaders = Mapping[str, Sequence[int]]
"""The brokers that may lead, by partition; of those whose copies would be cut."""


def copies(examination: Examination) -> Iterator[Finding]:
    """Yield the records that a start of all these brokers would cut, and the copies to keep."""
    sources = _sources(examination)
    try:
        table = compare_disks(sources, is_deep=examination.is_deep)
    except RecoveryRefused as refusal:
        if refusal.code != "no-partitions":  # as of controllers
            raise
        return
    names = dict.fromkeys(source.archive or source.name for source in sources)
    command = shlex.join(("kafka-storage", "compare", *names))
    leaders = {loss.copy.name: loss.leaders for loss in table.losses}
    of_content = [finding for finding in table.findings if finding.code == CONTENT_DIFFERS]
    yield from (replace(finding, commands=(command, *finding.commands)) for finding in of_content)
    yield from (finding for finding in table.findings if finding.code in BY_COMPARISON)
    for finding in (*_damaged(table, leaders, command), *_cut(table, leaders, command)):
        yield kept_from_retention(examination, finding)


def _sources(examination: Examination) -> list[LogSource]:
    identified = {
        directory.path
        for node in examination.comparable
        for directory in node.directories
        if node.config.node_id != UNKNOWN_NODE and examination.identities.is_sound(node)
    }
    sources = [source for source in examination.alone if source.folder in identified]
    for node in filter(examination.identities.is_sound, examination.named):
        if node in examination.comparable or not is_packed(node):
            sources += sources_of(node.config)
    return sources


def _cut(table: Comparison, leaders: Leaders, command: str) -> Iterator[Finding]:
    """Yield the records that are cut, by topic, and by what keeps them."""
    rows: dict[tuple[str, int, Cure], list[PartitionLoss]] = defaultdict(list)
    best_by_name = {best.name: best for best, _ in best_copies(table.losses)}
    for loss in table.losses:
        cure = _keeping(best_by_name[loss.copy.name], leaders, table)
        rows[loss.copy.topic, loss.leader, cure].append(loss)
    for (topic, _, cure), lost in rows.items():
        numbers = sorted({loss.copy.number for loss in lost})
        best = best_by_name[lost[0].copy.name]
        yield Finding(
            "records-cut",
            Severity.LOSS,
            f"a start of these brokers can cut records of {topic}-{','.join(map(str, numbers))}:"
            f" {total_of(lost).clause}",
            Place(topic=topic, partition=numbers[0], file=None if best.is_loaded else best.place),
            cure.text,
            (*cure.commands, command),
        )


def _keeping(best: PartitionCopy, leaders: Leaders, table: Comparison) -> Cure:
    """Return what keeps the records of the best copy.

    One that lacks its start must not lead at any time: Kafka elects preferred leaders by itself
    (`auto.leader.rebalance.enable`).
    """
    may_lead = leaders.get(best.name, (best.broker,))
    incomplete = [
        copy.broker for copy in table.all_copies if copy.name == best.name and copy.lacks(best)
    ]
    if not best.is_loaded:
        return replacement(best, may_lead, table.all_copies)
    if not table.has_order or incomplete:
        targets = incomplete if table.has_order else may_lead
        before = WHILE_STOPPED if table.has_order else NO_ORDER
        cure = replacement(best, targets, table.all_copies)
        return cure._replace(text=f"{before}, {cure.text}")
    others = [broker for broker in may_lead if broker != best.broker]
    before = f" before {named('broker', others)}" if others else ""
    return Cure(f"start broker {best.broker}{before}, and wait until it leads")


def _damaged(table: Comparison, leaders: Leaders, command: str) -> Iterator[Finding]:
    """Yield the partitions with several damaged copies: each cure alone names the other copy."""
    damage = {
        (finding.place.topic, finding.place.partition, finding.place.node): finding.code
        for finding in table.findings
        if code_of_cure(finding) == finding.code  # others are mended where they are
    }
    partitions: dict[str, list[ComparedCopy]] = defaultdict(list)
    for compared in table.copies:
        partitions[compared.copy.name].append(compared)
    for of_partition in partitions.values():
        states = {
            compared.copy.broker: damage.get(_key(compared.copy)) or "missing-partition"
            for compared in of_partition
            if _key(compared.copy) in damage or compared.copy.is_missing
        }
        if len(states) > 1:
            copies = [compared.copy for compared in of_partition]
            finding = _damaged_copies(copies, states, leaders, table)
            yield replace(finding, commands=(*finding.commands, command))


def _damaged_copies(
    copies: Sequence[PartitionCopy],
    states: Mapping[int, str],
    leaders: Leaders,
    table: Comparison,
) -> Finding:
    may_lead = leaders.get(copies[0].name, ())
    best = newest_of(copies, may_lead)
    text = f"{len(states)} of the {len(copies)} copies of {best.name} here are damaged"
    cure = Cure("restore one of them from a backup before any of these brokers starts")
    if not best.is_missing:
        text += (
            f"; the best is that of broker {best.broker}: it ends at offset {best.end}, epoch"
            f" {best.epoch}"
        )
        keeping = _keeping(best, leaders, table)
        cure = keeping._replace(
            text=f"copy all of them aside, {keeping.text}; the others fetch from it, refused ones"
            " after their directory is moved away"
        )
    return Finding(
        "damaged-copies",
        Severity.LOSS,
        text,
        Place(topic=best.topic, partition=best.number),
        cure.text,
        cure.commands,
        evidence=tuple(
            Evidence(copy.place, f"{copy} ({states.get(copy.broker, 'sound')})") for copy in copies
        ),
    )


def _key(copy: PartitionCopy) -> tuple[str, int, int]:
    return copy.topic, copy.number, copy.broker
