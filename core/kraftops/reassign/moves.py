"""Moves of replicas through a window: when some have ended, the next ones are decided and begun."""

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kraftops.display.sizes import many, size_text
from kraftops.display.times import span_text
from kraftops.errors import AnswerError, KraftopsError, RefusedError
from kraftops.placement.disks import sizes_of
from kraftops.placement.placement import Placement, Replicas, TopicPartition, names, shown
from kraftops.placement.plan import Move
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.copying import CopyMeter, directories_of, look_at_copies
from kraftops.reassign.disks import ask_for_directories
from kraftops.reassign.events import Event, Report
from kraftops.reassign.marks import Load, Mark, new_author
from kraftops.reassign.obstacles import Obstacle, Pace, obstacles_of
from kraftops.reassign.throttles import (
    Throttle,
    clear_throttles,
    find_throttles,
    rates_of_brokers,
    set_rates,
    set_throttle,
)
from kraftops.wire.admin.replicas import Refusal, alter_reassignments
from kraftops.wire.net.deadline import Deadline

# Between two questions: an answer about all reassignments costs the broker little.
PAUSE_SECONDS = 1.0
_SEEN_SECONDS = 10.0
"""Time in which a change that the controllers have made shows in the answers of a broker."""
_LOOK_SECONDS = 5.0
"""Time between two questions for sizes: a broker walks over its files to answer one."""
_NOTE_SECONDS = 10.0
"""Time between two changes of the mark, each of which brokers load as a configuration."""
# A refusal that ten rounds, ten seconds, do not change is not a moment of an election.
_MAX_REFUSED_ROUNDS = 10
_SHOWN = 3  # names that fit into a line of a note
_STILL_SECONDS = 15.0
"""Time after which it is worth a word that nothing moves: three looks at the sizes."""
STALL_SECONDS = 300.0
"""Longer than a broker takes to restart and recover its logs, as a rule."""
_WINDOW_BYTES = 100 << 30
"""Bytes of copies in flight. What is in flight is lost by a cancel, and takes room twice."""


@dataclass(frozen=True, slots=True)
class MoveOptions:
    """Partitions and bytes in flight at once; bytes per second and broker, None without limit.

    If nothing moves for *stall_seconds*, the run ends.
    """

    batch: int
    throttle: int | None
    stall_seconds: float = STALL_SECONDS
    window_bytes: int = _WINDOW_BYTES


class Mover:
    """Moves replicas for an operation, a round a call; the plan is asked for again each time."""

    def __init__(
        self, access: ClusterAccess, options: MoveOptions, report: Report, kind: str
    ) -> None:
        """Make one; *report* gets an event when moves begin, and while they are waited for."""
        self.mark = Mark(kind, new_author())
        self.meter = CopyMeter()
        self._access = access
        self._options = options
        self._report = report
        self._window = Window(options.batch, options.window_bytes)
        self._refused_rounds = 0
        self._may_be_throttled = True
        self._rated: frozenset[int] = frozenset()
        self._sizes: Mapping[TopicPartition, int] | None = None
        self._has_choice = False  # of log directories, on any broker
        self._noted_at = float("-inf")
        self._looked_at = float("-inf")

    def begin(self, placement: Placement) -> None:
        """Refuse throttles of others; give throttles of an earlier run the rate of this one.

        Raises:
            RefusedError: others have set throttles, and --throttle would change them.
            WireError: a broker cannot be asked.
        """
        access = self._access
        throttles = access.with_placement(find_throttles)
        rate = self._options.throttle
        if throttles.others:
            others = ", ".join(throttles.others[:_SHOWN]) + (
                ", …" if throttles.others[_SHOWN:] else ""
            )
            if rate is not None:
                raise RefusedError(
                    f"replication throttles are already set: {others}",
                    hint="kafka-cluster operations clear-throttles throttles removes them; or leave"
                    " --throttle out",
                )
            self._report(Event("throttled-by-others", f"throttles of others apply: {others}"))
        if throttles.ours and placement.moving:
            if rate is None:
                self.clear()
            else:
                access.with_placement(set_rates, throttles.ours, Throttle(rate, self.mark))

    def mark_begin(
        self,
        placement: Placement,
        moves: Sequence[Move],
        brokers: Collection[int] = (),
        partitions: int | None = None,
    ) -> None:
        """Mark the operation, with the partitions and bytes that are to be moved.

        Raises:
            WireError: no server answers.
        """
        load = self._load(placement, moves)
        self.mark = self.mark._replace(
            partitions=len(moves) if partitions is None else partitions,
            size=load.size,
            brokers=tuple(sorted(brokers)),
        )
        self._note_waiting(load)

    def _note_waiting(self, load: Load) -> None:
        """Note in the mark what has not begun yet: `operations` shows it."""
        access, mark = self._access, self.mark._replace(waiting=load)
        self.mark = access.patiently(access.begin_operation, mark)

    def _load(self, placement: Placement, moves: Sequence[Move]) -> Load:
        sizes = self._sizes_for(placement, moves)
        return Load(len(moves), sum(len(move.added) * sizes[move.partition] for move in moves))

    def _sizes_for(
        self, placement: Placement, moves: Sequence[Move]
    ) -> Mapping[TopicPartition, int]:
        """Ask for sizes in bytes, once; a partition that no disk shows has 0."""
        if self._sizes is None or any(move.partition not in self._sizes for move in moves):
            disks = directories_of(self._access, placement, dict.fromkeys(placement.brokers))
            self._has_choice = any(len(directories) > 1 for directories in disks.values())
            unseen = dict.fromkeys((move.partition for move in moves), 0)
            self._sizes = {**unseen, **sizes_of(disks)}
        return self._sizes

    def advance(self, placement: Placement, moves: Sequence[Move]) -> None:
        """Begin what the window has room for, of *moves* that are not in flight; or wait a moment.

        Raises:
            KraftopsError: nothing has moved for too long.
            AnswerError: Kafka refuses all moves again and again.
            WireError: no server answers.
        """
        sizes = self._sizes_for(placement, moves)
        able = [move for move in moves if placement.partitions[move.partition].leader >= 0]
        fit = next_moves(able, placement.moving, sizes, self._window)
        if fit:
            self._begin_moves(fit, len(moves) - len(fit))
        now = time.monotonic()
        load = self._load(placement, [move for move in moves if move not in fit])
        if load != self.mark.waiting and now - self._noted_at >= _NOTE_SECONDS:
            self._noted_at = now
            self._note_waiting(load)
        if not fit:
            self.wait(placement, len(moves))

    def clear(self) -> None:
        """Remove throttles of ours, if there may be any; errors as `clear_throttles`."""
        if not self._may_be_throttled:
            return
        access = self._access
        if access.with_placement(clear_throttles):
            self._report(Event("throttles-removed", "throttles of ours are removed"))
        self._may_be_throttled = False
        self._rated = frozenset()

    def _begin_moves(self, moves: Sequence[Move], waiting: int) -> None:
        access, rate = self._access, self._options.throttle
        if rate is not None:
            self._may_be_throttled = True
            throttle = Throttle(rate, self.mark)
            self._rated |= access.with_placement(set_throttle, moves, throttle, self._rated)
        if self._has_choice:
            ask_for_directories(access, access.patiently(access.placement), moves)
        refused = access.patiently(
            access.ask,
            alter_reassignments,
            {move.partition: move.after for move in moves},
            changes_counts=any(len(move.before) != len(move.after) for move in moves),
        )
        self._note_refused(refused, len(moves))
        begun = [move for move in moves if move.partition not in refused]
        access.expect_counts({move.partition: len(move.after) for move in begun})
        if begun:
            copies = sum(len(move.added) for move in begun)
            waiting += len(moves) - len(begun)
            self._report(
                Event(
                    "batch",
                    f"begun: {many(len(begun), 'partition')}, {many(copies, 'replica')} to copy;"
                    f" {many(waiting, 'partition')} to move after them",
                    {"partitions": len(begun), "replicas": copies, "waiting": waiting},
                )
            )
            self._await_seen(begun)

    def wait(self, placement: Placement, waiting: int) -> None:
        """Report what is in flight, wait a moment, and end a run that has stalled.

        Raises:
            KraftopsError: nothing has moved for too long.
            WireError: no server answers.
        """
        moving, meter = placement.moving, self.meter
        meter.note((frozenset(moving), waiting))
        now = time.monotonic()
        if moving and now - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = now
            meter.add(look_at_copies(self._access, placement, moving))
        if moving:
            self._report(progress(placement, waiting, meter))
        if meter.still_seconds >= self._options.stall_seconds:
            raise stalled(meter, self._obstacles(placement))
        time.sleep(PAUSE_SECONDS)

    def _obstacles(self, placement: Placement) -> list[Obstacle]:
        access, meter = self._access, self.meter
        if not meter.first:
            return []
        newer = look_at_copies(access, placement, placement.moving)
        rates = access.patiently(rates_of_brokers, access, placement)
        pace = Pace(meter.first, newer, meter.still_seconds, rates)
        return obstacles_of(placement, placement.moving, pace)

    def _note_refused(self, refused: Mapping[TopicPartition, Refusal], count: int) -> None:
        """Report refused partitions, and give up where all were refused too often."""
        for partition, (_, message) in sorted(refused.items()):
            self._report(Event("refused", f"{partition} is not moved now: {message}"))
        if len(refused) < count:
            self._refused_rounds = 0
            return
        self._refused_rounds += 1
        if self._refused_rounds >= _MAX_REFUSED_ROUNDS:
            partition, (code, message) = next(iter(refused.items()))
            raise AnswerError(f"{partition} cannot be moved: {message}", error_code=code)
        time.sleep(PAUSE_SECONDS)

    def _await_seen(self, moves: Sequence[Move]) -> None:
        """Wait until the answers show the moves: nothing is decided on what was before them."""
        for _ in Deadline(_SEEN_SECONDS).attempts(0.1):
            now = self._access.patiently(self._access.placement).partitions
            unseen = [
                move
                for move in moves
                if move.partition in now and now[move.partition].target != move.after
            ]
            if not unseen:
                return


def refuse_others(partitions: Collection[TopicPartition]) -> None:
    """Refuse to begin while others move replicas of partitions.

    Raises:
        RefusedError: they do.
    """
    if partitions:
        raise RefusedError(
            f"other reassignments are in flight: {shown(partitions)}",
            hint="kafka-cluster operations shows them; wait --for no-reassignments waits for their"
            " end",
            partitions=names(partitions),
        )


def run_moves(
    access: ClusterAccess,
    options: MoveOptions,
    report: Report,
    left: Callable[[Placement], Sequence[Move]],
    kind: str,
) -> None:
    """Move replicas until no moves are left.

    Args:
        access: the cluster.
        options: of the window.
        report: gets the events.
        left: returns the moves that a placement still lacks.
        kind: of the operation, as in its marks.

    Raises:
        KraftopsError: it cannot go on, or not in time.
    """
    mover = Mover(access, options, report, kind)
    placement = access.patiently(access.placement)
    mover.begin(placement)
    if moves := left(placement):
        mover.mark_begin(placement, moves)
    while True:
        check_time(access)
        placement = access.patiently(access.settled)
        moves = left(placement)
        if not moves and not placement.moving:
            mover.clear()
            access.patiently(access.end_operation, kind)
            return
        mover.advance(placement, moves)


def progress(placement: Placement, waiting: int, meter: CopyMeter) -> Event:
    moving = placement.moving
    copies = sum(len({*replicas.adding} - {*replicas.isr}) for replicas in moving.values())
    takers = {broker for replicas in moving.values() for broker in replicas.adding}
    down = [broker for broker in sorted(takers) if not placement.is_running(broker)]
    text = f"in flight: {many(len(moving), 'partition')}, {many(copies, 'replica')} to copy"
    facts: dict[str, object] = {"partitions": len(moving), "replicas": copies, "waiting": waiting}
    if moving and meter.newest:
        seconds, rate = meter.seconds_left, round(meter.rate)
        text += f", {size_text(meter.newest.bytes_left)}, {size_text(rate)}/s"
        text += "" if seconds is None else f", {span_text(round(seconds) * 1000)} left"
        facts |= {"bytesLeft": meter.newest.bytes_left, "bytesPerSecond": rate}
    if meter.still_seconds >= _STILL_SECONDS:
        text += f"; nothing has moved for {span_text(round(meter.still_seconds) * 1000)}"
    if waiting:
        text += f"; {many(waiting, 'partition')} to move after them"
    if down:
        text += f"; brokers that take replicas are down: {', '.join(map(str, down))}"
    return Event("progress", text, facts)


def stalled(meter: CopyMeter, obstacles: Sequence[Obstacle]) -> KraftopsError:
    """End a run in which nothing has moved for too long, with what stands in the way."""
    reasons = "; ".join(obstacle.text for obstacle in obstacles)
    span = span_text(round(meter.still_seconds) * 1000)
    return KraftopsError(
        f"nothing has moved for {span}" + (f": {reasons}" if reasons else ""),
        hint=(
            "kafka-cluster operations shows it; run it again to go on; operations cancel "
            "takes it back"
        ),
        code="stalled",
        obstacles=[
            {"code": code, "text": text, "partitions": [*map(str, partitions)]}
            for code, text, partitions in obstacles
        ],
    )


def check_time(access: ClusterAccess) -> None:
    """Raise an error if the time for all work on a cluster is over."""
    deadline = access.deadline
    if deadline is not None and deadline.is_over:
        raise KraftopsError(
            f"not done within {deadline.seconds:g} s",
            hint="run it again: it goes on from the state of the cluster",
            code="not-in-time",
        )


class Window(NamedTuple):
    """Most partitions, and bytes of copies, that are in flight at once."""

    partitions: int
    bytes: int = _WINDOW_BYTES


def next_moves(
    moves: Sequence[Move],
    moving: Mapping[TopicPartition, Replicas],
    sizes: Mapping[TopicPartition, int],
    window: Window,
) -> list[Move]:
    """Choose the moves that may begin beside those in flight, in the order to begin them.

    Brokers that get the fewest bytes come first, and of their moves the largest: begun last, it
    alone would be waited for. A broker that gets nothing may always get one move, also one larger
    than the window.
    """
    loads: Counter[int] = Counter()
    copies = 0
    for partition, replicas in moving.items():
        missing = [broker for broker in replicas.adding if broker not in replicas.isr]
        # At least a byte: an empty partition, or one of unknown size, occupies its brokers too.
        loads.update(dict.fromkeys(missing, max(sizes.get(partition, 0), 1)))
        copies += sizes.get(partition, 0) * len(missing)
    queues: dict[tuple[int, ...], deque[Move]] = defaultdict(deque)
    for move in sorted(moves, key=lambda queued: -sizes.get(queued.partition, 0)):
        queues[tuple(sorted(move.added))].append(move)
    chosen: list[Move] = []
    while queues and len(moving) + len(chosen) < window.partitions:
        added, queue = min(
            queues.items(),
            key=lambda queued: (max((loads[b] for b in queued[0]), default=0), queued[0]),
        )
        size = sizes.get(queue[0].partition, 0)
        is_idle = not any(loads[broker] for broker in added)
        if not is_idle and copies + size * len(added) > window.bytes:
            break  # smaller ones do not overtake: it would never fit
        chosen.append(queue.popleft())
        if not queue:
            del queues[added]
        loads.update(dict.fromkeys(added, max(size, 1)))
        copies += size * len(added)
    return chosen
