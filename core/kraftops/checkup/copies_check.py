"""The check of copies: what a start of several brokers cuts, and the best of damaged copies."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from kraftops.checkup.disk_checks import kept_from_retention
from kraftops.checkup.examination import Examination
from kraftops.display import quoting
from kraftops.display.sizes import first_names
from kraftops.errors import KraftopsError
from kraftops.findings.catalogue import code_of_cure
from kraftops.findings.finding import Cure, Evidence, Finding, Place, Severity
from kraftops.log.files import METADATA_PARTITION
from kraftops.recovery.partitions.advice import advised, needs_copies
from kraftops.recovery.partitions.comparison import (
    CONTENT_DIFFERS,
    ComparedCopy,
    Comparison,
)
from kraftops.recovery.partitions.content import BY_COMPARISON
from kraftops.recovery.partitions.copies import PartitionCopy
from kraftops.recovery.partitions.losses import PartitionLoss, total_of

CopyKey = tuple[str | None, int | None, int | None]
"""Topic, partition and broker of a copy."""


def copies(examination: Examination) -> Iterator[Finding]:
    """Yield the records that a start of all these brokers would cut, and the copies to keep."""
    table = examination.comparison
    if table is None:
        return
    sources = examination.compared_sources
    names = dict.fromkeys(source.archive or source.name for source in sources)
    command = quoting.join(("kafka-storage", "compare", *names))
    of_content = [finding for finding in table.findings if finding.code == CONTENT_DIFFERS]
    yield from (replace(finding, commands=(command, *finding.commands)) for finding in of_content)
    yield from (finding for finding in table.findings if finding.code in BY_COMPARISON)
    damage = _damage(table)
    damaged = {compared.copy.name for compared in table.copies if _key(compared.copy) in damage}
    unled = {compared.copy.name for compared in table.differing}
    unled -= table.of_other_content | damaged
    if unled and not table.metadata_log:
        yield Finding(
            "records-cut",
            Severity.RISK,
            f"the copies of {first_names(sorted(unled))} end at different offsets: what a start "
            "cuts is unknown, as no metadata log tells which of them may lead",
            cure=f"give {METADATA_PARTITION} of a node of this cluster, too",
            commands=(command,),
        )
    for finding in (*_damaged(table, damage, command), *_cut(table, command)):
        yield kept_from_retention(examination, finding)


def with_intact_copies(findings: list[Finding], examination: Examination) -> list[Finding]:
    """Return findings with cures that name the copies that are whole, where such are at hand."""
    is_one = len(examination.configs) + len(examination.sources) < 2
    if is_one or not any(map(needs_copies, findings)):
        return findings
    # What cannot be compared, and a name that no file can have, other findings tell.
    with suppress(KraftopsError, OSError, ValueError):
        is_running = any(map(examination.is_running, examination.nodes))
        if not is_running and (table := examination.comparison):
            return [
                finding if finding is old else kept_from_retention(examination, finding)
                for old, finding in zip(findings, advised(findings, table), strict=True)
            ]
    return findings


def _cut(table: Comparison, command: str) -> Iterator[Finding]:
    """Yield the records that are cut, by topic, and by what keeps them."""
    rows: dict[tuple[str, int, Cure], list[PartitionLoss]] = defaultdict(list)
    cures = {name: table.keeping(name) for name in table.leaders}
    for loss in table.losses:
        rows[loss.copy.topic, loss.leader, cures[loss.copy.name]].append(loss)
    for (topic, _, cure), lost in rows.items():
        numbers = sorted({loss.copy.number for loss in lost})
        best = table.source(lost[0].copy.name)
        yield Finding(
            "records-cut",
            Severity.LOSS,
            f"a start of these brokers can cut records of {topic}-{','.join(map(str, numbers))}:"
            f" {total_of(lost).clause}",
            Place(topic=topic, partition=numbers[0], file=None if best.is_loaded else best.place),
            cure.text,
            (*cure.commands, command),
        )


def _damage(table: Comparison) -> dict[CopyKey, str]:
    """Return the codes of damaged copies, but of those that are mended where they are."""
    return {
        (finding.place.topic, finding.place.partition, finding.place.node): finding.code
        for finding in table.findings
        if code_of_cure(finding) == finding.code
    }


def _damaged(table: Comparison, damage: Mapping[CopyKey, str], command: str) -> Iterator[Finding]:
    """Yield partitions with several damaged copies, whose cures would each name the other copy."""
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
            finding = _damaged_copies(copies, states, table)
            yield replace(finding, commands=(*finding.commands, command))


def _damaged_copies(
    copies: Sequence[PartitionCopy],
    states: Mapping[int, str],
    table: Comparison,
) -> Finding:
    best = table.source(copies[0].name)
    text = f"{len(states)} of the {len(copies)} copies of {best.name} here are damaged"
    cure = Cure("restore one of them from a backup before any of these brokers starts")
    if not best.is_missing:
        text += (
            f"; the best is that of broker {best.broker}: it ends at offset {best.end}, epoch"
            f" {best.epoch}"
        )
        keeping = table.keeping(best.name, states)
        cure = keeping._replace(text=f"copy all of them aside, {keeping.text}")
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


def _key(copy: PartitionCopy) -> CopyKey:
    return copy.topic, copy.number, copy.broker
