"""Room on disks: whether brokers can take the replicas of a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from kraftops.display.sizes import size_text
from kraftops.errors import RefusedError
from kraftops.placement.placement import Placement
from kraftops.placement.plan import Move
from kraftops.reassign.access import ClusterAccess
from kraftops.wire.admin.log_dirs import ask_disks


def check_room(access: ClusterAccess, placement: Placement, moves: Sequence[Move]) -> None:
    """Refuse a plan for which a broker has too little room in all its directories together.

    Raises:
        RefusedError: one has, or the size of a partition cannot be seen.
        WireError: a broker cannot be asked.
    """
    running = [each for each, place in placement.brokers.items() if not place.is_fenced]
    disks = {
        each: access.patiently(partial(access.ask_broker, each, ask_disks)) for each in running
    }
    needed: Counter[int] = Counter()
    for move in moves:
        known = [
            disks[broker].sizes[move.partition]
            for broker in move.before
            if broker in disks and move.partition in disks[broker].sizes
        ]
        if not known:
            raise RefusedError(f"the size of {move.partition} cannot be seen")
        needed.update(dict.fromkeys(move.added, max(known)))
    for broker, size in sorted(needed.items()):
        usable = disks[broker].usable if broker in disks else 0
        if size > usable:
            raise RefusedError(
                f"broker {broker} would get {size_text(size)}, and has room for"
                f" {size_text(usable)}",
                hint="--to chooses the brokers that take replicas",
            )
