"""Findings of several checks, joined by cause: one finding for each, its effects as evidence."""

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kraftops.display.sizes import NAMES_IN_LINE, first_names
from kraftops.findings.finding import (
    Evidence,
    Finding,
    Place,
    Severity,
    Stake,
    worst,
    worst_first,
)
from kraftops.image.verify.beside import MISSING_PARTITION, without_contradictions
from kraftops.image.verify.directories import NO_TOPIC_ID

_EVIDENCE = 5
"""Places of a finding and effects that are listed; the number counts all."""
_LOADING = frozenset({"start-refused", "bad-checkpoint", "partition-twice"})
_LOST_METADATA = frozenset({"metadata-log-lost", "metadata-lost", "damage"})
_CAUSES: Mapping[str, frozenset[str]] = {
    # What a refused partition means for its directory and its server.
    **dict.fromkeys(("server-stops", "directory-goes-offline"), _LOADING),
    # Partitions are strays by metadata that have lost their topics.
    **dict.fromkeys(("unknown-topic", "unknown-partition", "other-name"), _LOST_METADATA),
    # An empty disk has none, and a file in its place neither.
    "missing-partition": frozenset({"not-formatted", "not-a-directory"}),
    # The log ends where the damage begins; what to do for its end is what keeps all records.
    "metadata-log-lost": frozenset({"damage", "rival-history"}),
    "disk-full-soon": frozenset({"retention-stuck"}),
    "directory-failed": frozenset({"directory-silent", "disk-full-soon"}),
    "incident": frozenset({"broker-down", "directory-failed"}),
    # A node with both roles stops with both.
    "voter-down": frozenset({"broker-down"}),
}
"""Codes of causes by those of their effects, on the same node."""
_CAUSES_ANYWHERE: Mapping[str, frozenset[str]] = {
    # A majority of voters that is formatted now would begin without what the others have.
    "not-formatted": frozenset({"quorum-lost"}),
}
"""The same for any node."""
_CAUSES_IN_PLACE: Mapping[str, frozenset[str]] = {
    # A partition.metadata that the loader refuses has no topic id that can be read.
    "no-topic-id": frozenset({"start-refused"}),
    "missing-partition": frozenset({"start-refused", "no-topic-id"}),
    # Of a place is what only a refused copy has.
    "records-cut": frozenset({"start-refused"}),
}
"""The same for one partition."""
_OF_COPIES = (
    *("content-differs", "damaged-copies", "start-refused", "missing-partition", "bad-batch"),
    *("missing-offsets", "missing-start", "missing-end", "start-cuts-log", "checkpoint-differs"),
    *("torn-tail", "records-cut"),
)
"""Codes of one damaged copy of a partition, or of several: the first is the cause of the others."""
_OF_ALL_COPIES = frozenset({"content-differs", "damaged-copies"})
"""Those that say what to do with all copies of a partition, whatever nodes have them."""
_BEFORE_ALL = frozenset(
    {"bad-archive", "no-leader", "quorum-lost", "rival-history", "rival-quorums"}
)
"""Codes that stand before all others: without its quorum a cluster does nothing, a start of the
wrong voters loses every topic, and what a damaged archive has need not be on a disk."""
_FIRST = (
    "older-disks",
    "min-isr-above-replicas",
    "directory-failed",
    "broker-down",
    "follower-behind",
    "unclean-elections",
)
"""Codes of one severity that stand before others: more follows from them."""
_RANKS = {code: rank for rank, code in enumerate(_FIRST)}
_HAPPENED = frozenset({"incident", "unclean-elections"})
"""Codes of what happened: one in the same log has nothing to do with another."""

_BY_CURE = frozenset(
    {
        *("bad-batch", "bad-configuration", "missing-end", "missing-offsets", "missing-partition"),
        *("missing-start", "records-cut"),
    }
)
"""Codes of which two may need opposite cures, other brokers first, or another copy."""

NodeOf = Callable[[str], int | None]
"""Returns the id of the node that a path belongs to."""


def joined(findings: Iterable[Finding], node_of: NodeOf) -> list[Finding]:
    alike: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    kinds: dict[tuple[str, Place], tuple[object, ...]] = {}
    for finding in _by_partition(dict.fromkeys(without_contradictions([*findings]))):
        # What a later check says of the same place is as bad as the first says: it knows more.
        kind = kinds.setdefault((finding.code, finding.place), _kind_of(finding))
        alike[kind].append(finding)
    grouped = [_grouped(group) for group in alike.values()]
    partitions = {
        id(finding): {member.place.partition_name for member in group}
        for finding, group in zip(grouped, alike.values(), strict=True)
    }
    nodes = {id(finding): _node(finding, node_of) for finding in grouped}

    lossy = {
        nodes[id(finding)]
        for finding in grouped
        if finding.code == "missing-partition" and finding.severity is Severity.LOSS
    }

    def is_cause(other: Finding, finding: Finding) -> bool:
        code, other_path, path = finding.code, f"{other.place.path}/", f"{finding.place.path}/"
        return (
            (other.code in _CAUSES_ANYWHERE.get(code, ()) and nodes[id(finding)] not in lossy)
            or (_is_put_back(other) and _waits_for(other, partitions[id(other)], finding))
            or (
                _is_replaced(other)
                and code == "records-cut"
                and finding.place.partition_name in partitions[id(other)]
            )
            or (other.code in _CAUSES.get(code, ()) and nodes[id(other)] == nodes[id(finding)])
            or (
                other.code in _CAUSES_IN_PLACE.get(code, ())
                and bool(finding.place.path)
                and other_path.startswith(path)
            )
        )

    def cause_of(finding: Finding) -> Finding | None:
        cause = next((other for other in grouped if is_cause(other, finding)), None)
        return cause and (cause_of(cause) or cause)

    effects: dict[int, list[Finding]] = defaultdict(list)
    stands = []
    for finding in grouped:
        cause = cause_of(finding)
        if cause is None:
            stands.append(finding)
        else:
            names = partitions[id(finding)] - {finding.place.partition_name}
            effects[id(cause)].append(_with_names(finding, sorted(names)))
    stands.sort(key=lambda finding: _RANKS.get(finding.code, len(_FIRST)))
    causes = worst_first(_with_effects(finding, effects[id(finding)]) for finding in stands)
    return sorted(causes, key=lambda finding: finding.code not in _BEFORE_ALL)


def _by_partition(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Join findings about copies of one partition into one for each cause."""
    of_copies: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        name = finding.place.partition_name
        is_of_one = finding.code != "records-cut" or f" of {name}:" in finding.text
        is_of_copies = finding.is_severe and finding.code in _OF_COPIES and is_of_one
        if is_of_copies and finding.place.partition is not None and not _is_put_back(finding):
            of_copies[name].append(finding)
        else:
            yield finding
    for name, of_partition in of_copies.items():
        nodes = {finding.place.node for finding in of_partition} - {None}
        is_one = len(nodes) < 2 or any(finding.code in _OF_ALL_COPIES for finding in of_partition)
        cures = {
            finding.place.node: finding.cure for finding in of_partition if name in finding.cure
        }
        by_cause: dict[object, list[Finding]] = defaultdict(list)
        for finding in of_partition:
            node = finding.place.node
            # What a refused copy alone has is reported with the refusal.
            is_of_refused = finding.code == "records-cut" and finding.place.file is not None
            cause = finding.place.file if is_of_refused else cures.get(node, node)
            by_cause[None if is_one else cause].append(finding)
        yield from map(_with_rest, by_cause.values())


def _with_rest(of_copies: Sequence[Finding]) -> Finding:
    """Return the most specific finding about copies of a partition; the others are evidence."""
    cause, *rest = sorted(of_copies, key=lambda finding: _OF_COPIES.index(finding.code))
    name = cause.place.partition_name
    cures = [finding for finding in (*rest[::-1], cause) if name in finding.cure]
    whole = _with_effects(cause, rest)
    if not cures or cause.code == "content-differs":
        return whole
    best = min(cures, key=lambda finding: finding.code in ("records-cut", "damaged-copies"))
    commands = cause.commands if cause.code == "start-refused" else best.commands
    compare = [
        command
        for finding in of_copies
        for command in finding.commands
        if cause.code != "start-refused" and command.startswith("kafka-storage compare")
    ]
    evidence = whole.evidence if best is cause else (*whole.evidence, *best.evidence)
    commands = tuple(dict.fromkeys((*commands, *compare)))
    return replace(whole, cure=best.cure, commands=commands, evidence=evidence)


def _is_put_back(finding: Finding) -> bool:
    """Tell whether a partition is missing, and its directory lies elsewhere, as evidence tells."""
    return _is_replaced(finding) and bool(finding.evidence)


def _is_replaced(finding: Finding) -> bool:
    """Tell whether commands put a missing partition, another copy of it, or its topic id back."""
    return finding.code in (MISSING_PARTITION, NO_TOPIC_ID) and bool(finding.commands)


def _waits_for(missing: Finding, partitions: Collection[str], finding: Finding) -> bool:
    """Tell whether a finding is about the directory to put back, or about copies to judge then."""
    path, name = finding.place.path, finding.place.partition_name
    is_of_copies = finding.code in ("records-cut", "damaged-copies") and name in partitions
    is_evidence = any(fact.source == path for fact in missing.evidence)
    return finding.code != missing.code and (is_of_copies or is_evidence)


def _kind_of(finding: Finding) -> tuple[object, ...]:
    """Return the key of a cause: a fault of many partitions is one of their disk."""
    place = finding.place
    directory = place.directory or (os.path.dirname(place.file) if place.file else None)
    begin = place.offset if finding.code in _HAPPENED else None
    is_named = finding.code in _BY_CURE or place.partition_name in finding.cure
    cure = finding.cure if is_named else None
    return finding.code, finding.severity, place.node, directory, begin, cure


def _node(finding: Finding, node_of: NodeOf) -> int | None:
    place = finding.place
    return node_of(place.path) if place.node is None else place.node


def _grouped(group: Sequence[Finding]) -> Finding:
    first = group[0]
    if len(group) == 1:
        return first
    others = [Evidence(str(other.place) or other.code, other.text) for other in group[1:]]
    by_place = {finding.place if finding.place.path else id(finding): finding for finding in group}
    stakes = [finding.stake for finding in by_place.values()]
    stake = None
    if all(stakes):
        records = [known_stake.records for known_stake in stakes if known_stake]
        total = None if None in records else sum(number or 0 for number in records)
        stake = Stake(total, sum(known_stake.bytes for known_stake in stakes if known_stake))
    return replace(
        first,
        evidence=(*first.evidence, *others[:_EVIDENCE]),
        count=sum(finding.count for finding in by_place.values()),
        stake=stake or first.stake,
    )


def _with_names(effect: Finding, others: Sequence[str]) -> Finding:
    """Add to a loss the names of the *others* that are lost for the same cause."""
    if effect.severity is not Severity.LOSS or not others:
        return effect
    text = f"{effect.text}, as {first_names(others, NAMES_IN_LINE)}"
    return replace(effect, text=text, count=1)


def _with_effects(cause: Finding, effects: Sequence[Finding]) -> Finding:
    """Return a cause with its effects; as bad as the worst, with a cure if any has one."""
    if not effects:
        return cause
    facts = [Evidence(effect.code, str(effect)) for effect in effects[:_EVIDENCE]]
    severity = worst([cause, *effects]) or Severity.NOTE
    cure = cause.cure or next((effect.cure for effect in effects if effect.cure), "")
    # Only a refused copy with the newest records has these: what restores it would cut them.
    if cause.code in _LOADING:
        cure = next((effect.cure for effect in effects if effect.code in _BY_CURE), cure)
    return replace(cause, severity=severity, cure=cure, evidence=(*cause.evidence, *facts))
