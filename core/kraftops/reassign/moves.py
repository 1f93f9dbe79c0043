"""Moves of replicas in batches: one batch is in flight, the next is decided when it has ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kraftops.display.sizes import many
from kraftops.errors import AnswerError, KraftopsError, RefusedError
from kraftops.placement.placement import Placement, TopicPartition
from kraftops.placement.plan import Move
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.disks import ask_for_directories, have_choice
from kraftops.reassign.events import Event, Report
from kraftops.reassign.throttles import (
    clear_throttles,
    find_throttles,
    set_rates,
    set_throttle,
)
from kraftops.wire.admin.replicas import Refusal, alter_reassignments
from kraftops.wire.net.deadline import Deadline

PAUSE_SECONDS = 1.0
_SEEN_SECONDS = 10.0
"""Time in which a change that the controllers have made shows in the answers of a broker."""
_MAX_REFUSED_BATCHES = 10
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class MoveOptions:
    """Partitions of a batch; bytes per second and broker, None without limit."""

    batch: int
    throttle: int | None


class Mover:
    """Moves replicas, one step a call; the plan is asked for again at each batch."""

    def __init__(self, access: ClusterAccess, options: MoveOptions, report: Report) -> None:
        """Make one; *report* gets an event for each batch, and while one is waited for."""
        self._access = access
        self._options = options
        self._report = report
        self._refused_batches = 0
        self._may_be_throttled = True
        self._has_choice: bool | None = None  # of log directories: not known yet

    def begin(self, placement: Placement) -> None:
        """Refuse throttles of others; give throttles of an earlier run the rate of this one.

        Raises:
            RefusedError: others have set throttles, and --throttle would change them.
            WireError: a broker cannot be asked.
        """
        access = self._access
        found = access.patiently(lambda: find_throttles(access, access.placement()))
        rate = self._options.throttle
        if found.others:
            shown = ", ".join(found.others[:_SHOWN]) + (", …" if found.others[_SHOWN:] else "")
            if rate is not None:
                raise RefusedError(
                    f"replication throttles are set already: {shown}",
                    hint="remove them with kafka-configs, or leave --throttle out",
                )
            self._report(Event("throttled-by-others", f"throttles of others apply: {shown}"))
        if found.ours and placement.moving:
            if rate is None:
                self.clear()
            else:
                access.patiently(lambda: set_rates(access, access.placement(), found.ours, rate))

    def step(self, moves: Sequence[Move]) -> None:
        """Begin the next batch of *moves*; none of their partitions is in flight.

        Raises:
            AnswerError: Kafka refuses the batch again and again.
            WireError: nobody answers.
        """
        access = self._access
        self.clear()
        batch = moves[: self._options.batch]
        rate = self._options.throttle
        if rate is not None:
            self._may_be_throttled = True
            access.patiently(lambda: set_throttle(access, access.placement(), batch, rate))
        if self._has_choice is None:
            self._has_choice = have_choice(access, access.patiently(access.placement))
        if self._has_choice:
            ask_for_directories(access, access.patiently(access.placement), batch)
        wanted = {move.partition: move.after for move in batch}
        changes_counts = any(len(move.before) != len(move.after) for move in batch)
        refused = access.patiently(
            lambda: access.ask(
                lambda connection: alter_reassignments(
                    connection, wanted, changes_counts=changes_counts
                )
            )
        )
        self._note_refused(refused, len(batch))
        begun = [move for move in batch if move.partition not in refused]
        access.expect_counts({move.partition: len(move.after) for move in begun})
        if begun:
            copies = sum(len(move.added) for move in begun)
            self._report(
                Event(
                    "batch",
                    f"begun: {many(len(begun), 'partition')}, {many(copies, 'replica')} to copy;"
                    f" {many(len(moves) - len(begun), 'partition')} to move after them",
                    {
                        "partitions": len(begun),
                        "replicas": copies,
                        "waiting": len(moves) - len(begun),
                    },
                )
            )
            self._await_seen(begun)

    def clear(self) -> None:
        """Remove throttles of ours, if there may be any; errors as `clear_throttles`."""
        if not self._may_be_throttled:
            return
        access = self._access
        if access.patiently(lambda: clear_throttles(access, access.placement())):
            self._report(Event("throttles-removed", "throttles of ours are removed"))
        self._may_be_throttled = False

    def _note_refused(self, refused: Mapping[TopicPartition, Refusal], count: int) -> None:
        """Report refused partitions, and give up where all were refused too often."""
        for partition, (_, message) in sorted(refused.items()):
            self._report(Event("refused", f"{partition} is not moved now: {message}"))
        if len(refused) < count:
            self._refused_batches = 0
            return
        self._refused_batches += 1
        if self._refused_batches >= _MAX_REFUSED_BATCHES:
            partition, (code, message) = next(iter(refused.items()))
            raise AnswerError(f"{partition} cannot be moved: {message}", error_code=code)
        time.sleep(PAUSE_SECONDS)

    def _await_seen(self, moves: Sequence[Move]) -> None:
        """Wait until the answers show the moves: nothing is decided on what was before them."""
        limit = Deadline(_SEEN_SECONDS)
        while not limit.is_over:
            now = self._access.patiently(self._access.placement).partitions
            unseen = [
                each
                for each in moves
                if each.partition in now and now[each.partition].target != each.after
            ]
            if not unseen:
                return
            time.sleep(0.1)


def run_moves(
    access: ClusterAccess,
    options: MoveOptions,
    report: Report,
    left: Callable[[Placement], Sequence[Move]],
) -> None:
    """Move replicas until no moves are left.

    Args:
        access: the cluster.
        options: of the batches.
        report: gets the events.
        left: returns the moves that a placement still lacks.

    Raises:
        KraftopsError: it cannot go on, or not in time.
    """
    mover = Mover(access, options, report)
    mover.begin(access.patiently(access.placement))
    while True:
        check_time(access)
        placement = access.patiently(access.settled)
        moves = left(placement)
        moving = placement.moving
        if moving:
            report(progress(placement, len(moves)))
            time.sleep(PAUSE_SECONDS)
        elif moves:
            mover.step(moves)
        else:
            mover.clear()
            return


def progress(placement: Placement, waiting: int) -> Event:
    """Return the event of a batch that is in flight."""
    moving = placement.moving
    copies = sum(len({*each.adding} - {*each.isr}) for each in moving.values())
    down = {
        broker
        for each in moving.values()
        for broker in each.adding
        if broker not in placement.brokers or placement.brokers[broker].is_fenced
    }
    text = f"in flight: {many(len(moving), 'partition')}, {many(copies, 'replica')} to copy"
    if waiting:
        text += f"; {many(waiting, 'partition')} to move after them"
    if down:
        text += f"; brokers that take replicas are down: {', '.join(map(str, sorted(down)))}"
    known: dict[str, object] = {"partitions": len(moving), "replicas": copies, "waiting": waiting}
    return Event("progress", text, known)


def check_time(access: ClusterAccess) -> None:
    """Raise an error if the time for all work on a cluster is over."""
    deadline = access.deadline
    if deadline is not None and deadline.is_over:
        raise KraftopsError(
            f"not done within {deadline.seconds:g} s",
            hint="run it again: it goes on where the cluster is",
            code="not-in-time",
        )
