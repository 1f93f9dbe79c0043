"""The order in which brokers start: the best copy of a partition leads before a worse one can."""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from kraftops.display import quoting
from kraftops.display.sizes import named
from kraftops.fileio.mounts import is_directory
from kraftops.findings.aside import aside_of, given_to_owner, new_folder, obstacle
from kraftops.findings.finding import Cure
from kraftops.recovery.partitions.copies import PartitionCopy, more_complete, newest_of
from kraftops.recovery.partitions.losses import PartitionLoss
from kraftops.server.loader.load_plan import CLEAN_SHUTDOWN, LOG_START

WHILE_STOPPED = "while these brokers are stopped"
NO_ORDER = f"no order of starts keeps all records: {WHILE_STOPPED}"


def start_order(
    brokers: Sequence[int], losses: Iterable[PartitionLoss], *, has_elr: bool
) -> list[int] | None:
    """Return brokers in an order that keeps all records; None if none does for certain.

    Args:
        brokers: in the order to keep where nothing else decides.
        losses: what a start in a wrong order cuts.
        has_elr: whether the cluster has eligible leader replicas (KIP-966).
    """
    before: dict[int, set[int]] = defaultdict(set)
    losses = list(losses)
    copies = [loss.copy for loss in losses]
    for best, leaders in best_copies(losses):
        # As one that was killed registers, the controller takes it out of ISR and ELR, and only the
        # last leader is elected (`ReplicationControlManager.handleUncleanBrokerShutdown`; 4.3.1).
        may_lead = best.is_loaded and best.broker in leaders
        if not may_lead or more_complete(best, copies) or (has_elr and not best.was_clean):
            return None
        for leader in leaders:
            before[leader] |= {best.broker} - {leader}
    order, waiting = list[int](), list(brokers)
    while waiting:
        ready = next((broker for broker in waiting if before[broker].isdisjoint(waiting)), None)
        if ready is None:
            return None
        waiting.remove(ready)
        order.append(ready)
    return order


def best_copies(losses: Iterable[PartitionLoss]) -> list[tuple[PartitionCopy, tuple[int, ...]]]:
    """Return, by partition, the best copy that would be cut, and the brokers that may lead."""
    by_partition: dict[str, list[PartitionLoss]] = defaultdict(list)
    for loss in losses:
        by_partition[loss.copy.name].append(loss)
    return [
        (newest_of([loss.copy for loss in lost], leaders := lost[0].leaders), leaders)
        for lost in by_partition.values()
    ]


def replacement(
    best: PartitionCopy,
    leaders: Iterable[int],
    copies: Iterable[PartitionCopy],
    damaged: Collection[int] = (),
) -> Cure:
    """Return how the best of all *copies* leads whoever starts first; a refused one serves nobody.

    Copies of *damaged* brokers are replaced though they seem equal. Commands are for the copies
    that are on this machine, once the best one was read.
    """
    if not best.is_loaded:
        return Cure(
            f"mend the copy of {best.name} on broker {best.broker}, which has the newest records "
            "and which a start refuses; do not move it away, and compare again"
        )
    copies = list(copies)
    if any(_has_unknown_end(copy) for copy in copies if copy.name == best.name):
        text = f"compare {best.name} with its logs: without them its newest copy is unknown"
        return Cure(text)
    if others := more_complete(best, copies):
        other, lacking = others[0], best.lacks(others[0])
        return Cure(
            f"no copy of {best.name} has all its records: put the segments with offsets"
            f" {lacking[0].start} to {lacking[-1].stop - 1} of broker {other.broker} into that"
            f" of broker {best.broker}, and compare again"
        )
    brokers = [leader for leader in sorted(leaders) if leader != best.broker]
    targets = [copy for copy in copies if copy.name == best.name and copy.broker in brokers]
    hidden = [copy for copy in targets if copy.hidden_to]
    whole = [
        copy.broker for copy in targets if _is_equal(copy, best) and copy.broker not in damaged
    ]
    copied = [broker for broker in brokers if broker not in whole]
    steps = []
    here = {copy.broker for copy in targets}
    places = [f"over that of {named('broker', own)}"] if (own := sorted({*copied} & here)) else []
    if absent := sorted({*copied} - here):
        places.append(f"to {named('broker', absent)}, whose disks are not here")
    if copied:
        steps.append(f"copy {best.name} of broker {best.broker} {' and '.join(places)}")
    if hidden:
        of_brokers = named("broker", [copy.broker for copy in hidden])
        steps.append(f"take {best.name} out of {LOG_START} of {of_brokers}")
    text = " and ".join(steps)
    if any(copy.is_packed for copy in (best, *targets)):
        return Cure(text)
    replaced = [copy for copy in targets if copy.broker in copied]
    return _by_commands(text, best, replaced, hidden, is_copied=bool(copied))


def _by_commands(
    text: str,
    best: PartitionCopy,
    replaced: Sequence[PartitionCopy],
    hidden: Iterable[PartitionCopy],
    *,
    is_copied: bool,
) -> Cure:
    """Return the cure with commands for copies on this machine, once nothing is in their way."""
    if is_copied and not best.is_read:
        check = quoting.join(("kafka-dump-log", "--check", best.place))
        return Cure(f"{text}, if it is whole: see that first", (check,))
    for copy in replaced:
        moved = copy.place if _is_there(copy) else ""
        if reason := obstacle(os.path.dirname(copy.place), moved=moved, copied=best.place):
            return Cure(f"{text}; on broker {copy.broker} {reason}")
    commands = [_copy_command(best, copy) for copy in replaced]
    return Cure(text, (*commands, *map(_reveal_command, hidden)))


def _has_unknown_end(copy: PartitionCopy) -> bool:
    return copy.end > 0 and not (copy.bases or copy.is_end_exact)


def _is_equal(copy: PartitionCopy, best: PartitionCopy) -> bool:
    """Tell whether a copy has all of the best one, if only a checkpoint may hide its start."""
    is_whole = copy.is_loaded and not copy.is_missing and len(copy.holes) == bool(copy.hidden_to)
    return is_whole and (copy.epoch, copy.end) == (best.epoch, best.end)


def _reveal_command(copy: PartitionCopy) -> str:
    """Return the shell command that removes a partition from log-start-offset-checkpoint."""
    path = os.path.join(os.path.dirname(copy.place), LOG_START)
    line = f"{copy.topic} {copy.number} {copy.hidden_to}"
    program = f'NR == 2 {{ $0 = $0 - 1 }} $0 != "{line}"'  # the second line counts the others
    old, new = quoting.quote_path(path), quoting.quote_path(f"{path}.new")
    # A copy that is written over keeps owner and mode.
    return f"cp -p {old} {new} && awk {quoting.quote(program)} {old} > {new} && mv {new} {old}"


def _is_there(copy: PartitionCopy) -> bool:
    return not copy.is_missing or is_directory(copy.place)


def _copy_command(best: PartitionCopy, target: PartitionCopy) -> str:
    """Return the command that replaces a copy, and keeps it beside its log directory.

    The new copy is renamed into place once it is whole. If its broker was killed, its end may be
    torn: only a start without the marker cuts that off.
    """
    directory, name = os.path.split(target.place)
    aside, folder = quoting.quote_path(aside_of(directory)), new_folder(directory, name)
    source, place = quoting.quote_path(f"{best.place}/."), quoting.quote_path(target.place)
    end = given_to_owner('"$kept/new"', directory, best.place)
    steps = [f"mkdir -p {aside}", f"kept={folder}", f'cp -aL {source} "$kept/new"{end}']
    steps += [f'mv {place} "$kept"'] if _is_there(target) else []
    steps.append(f'mv "$kept/new" {place}')
    if not best.was_clean:
        steps.append(f"rm -f {quoting.quote_path(os.path.join(directory, CLEAN_SHUTDOWN))}")
    return " && ".join(steps)
