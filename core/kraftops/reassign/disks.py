"""Log directories of running brokers: asked for, checked for room, and asked for by name."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kraftops.errors import AnswerError, RefusedError
from kraftops.placement.disks import Disks, LogDirectory, Shortage, sizes_of, with_directories
from kraftops.placement.placement import Placement, TopicPartition
from kraftops.placement.plan import ANY, Move
from kraftops.reassign.access import ClusterAccess
from kraftops.wire.admin.log_dirs import REPLICA_NOT_AVAILABLE, alter_log_dirs, ask_log_dirs


def disks_of(access: ClusterAccess, placement: Placement) -> Disks:
    """Ask all running brokers for log directories; without permission there are none.

    Raises:
        WireError: a broker cannot be asked.
    """
    disks: dict[int, Sequence[LogDirectory]] = {}
    for broker in placement.running:
        try:
            disks[broker] = access.patiently(access.ask_broker, broker, ask_log_dirs)
        except AnswerError as error:
            if error.code != "not-permitted":
                raise
            access.note(f"sizes of partitions and disks cannot be seen: {error.message}")
            return {}
    return disks


def check_room(moves: Iterable[Move], shortages: Sequence[Shortage], disks: Disks) -> None:
    """Refuse a plan for which a log directory has too little room.

    Raises:
        RefusedError: one has, or the size of a partition or the disks of a broker are unknown.
    """
    sizes = sizes_of(disks)
    for move in moves:
        unseen = [broker for broker in move.added if broker not in disks]
        if unseen:
            raise RefusedError(f"the log directories of broker {unseen[0]} cannot be seen")
        if move.added and move.partition not in sizes:
            raise RefusedError(f"the size of {move.partition} cannot be seen")
    if shortages:
        raise RefusedError(
            "; ".join(map(str, shortages)),
            hint="--to chooses the brokers that take replicas",
            brokers=sorted({shortage.broker for shortage in shortages}),
        )


def ask_for_directories(access: ClusterAccess, placement: Placement, moves: Sequence[Move]) -> None:
    """Ask brokers for named directories of replicas that will come, where a plan needs them.

    Kafka's own tool does it before a reassignment, too; later the replica would be moved again.

    Raises:
        RefusedError: a broker refuses the directory.
        WireError: a broker cannot be asked.
    """
    disks = disks_of(access, placement)
    paths: dict[int, dict[TopicPartition, str]] = defaultdict(dict)
    for move in with_directories(moves, disks, sizes_of(disks)).moves:
        for broker in move.added:
            if (path := move.directory_on(broker)) != ANY:
                paths[broker][move.partition] = path
    for broker, by_partition in sorted(paths.items()):
        move_between_directories(access, broker, by_partition)


def move_between_directories(
    access: ClusterAccess, broker: int, paths: dict[TopicPartition, str]
) -> None:
    """Have a broker put partitions into directories, now or when it gets them.

    Raises:
        RefusedError: it refuses some.
        WireError: it cannot be asked.
    """
    answers = access.patiently(access.ask_broker, broker, alter_log_dirs, paths)
    for partition, answer in answers.items():
        if answer.code == REPLICA_NOT_AVAILABLE:
            continue  # it has none yet, and keeps the directory in mind
        raise RefusedError(
            f"broker {broker}: {partition} cannot be put into {paths[partition]}: {answer.message}",
            hint=f"kafka-log-dirs --describe --broker-list {broker} lists its directories",
        )
