"""Plans: what they do to brokers and directories; shown, confirmed and carried out."""

from collections.abc import Callable, Iterator, Sequence

from kraftops.answers.fields import (
    Answer,
    boolean,
    in_some_forms,
    json_of,
    number,
    numbers,
    parts,
    size,
    text,
    texts,
)
from kraftops.display.columns import folded
from kraftops.display.sizes import size_text
from kraftops.placement.disks import Disks
from kraftops.placement.effects import DirectoryEffect, Effects, effects_of
from kraftops.placement.placement import Placement, shown
from kraftops.placement.plan import Move
from kraftops.placement.reassignment_json import plan_json
from kraftops.reassign.disks import check_room
from kraftops.reassign.events import events
from kraftops.reassign.moves import run_moves
from kraftops_cli.cluster.broker_states import state_cell
from kraftops_cli.cluster.moving.access import Work, move_options
from kraftops_cli.cluster.options import NewPlanOptions
from kraftops_terminal.escaping import escaped

BROKER = (
    number("id", "broker", get="broker", column="BROKER"),
    text("rack?", "its rack", get="place.rack", column=folded("RACK", 2)),
    boolean(
        "isFenced",
        "whether it is fenced",
        get="place.is_fenced",
        column=("STATE", 1),
        cell=lambda effect: state_cell("fenced" if effect.place.is_fenced else "unfenced"),
    ),
    number("replicas", "replicas before", column="REPLICAS"),
    number("replicasAfter", "replicas after", column="AFTER"),
    size(
        "bytes?",
        "of these replicas before; null where sizes cannot be seen",
        get="size",
        column="BYTES",
    ),
    size("bytesAfter?", "of these replicas after", get="size_after", column="AFTER"),
)
_DIRECTORY = (
    number("brokerId", "broker", get="broker", column="BROKER"),
    text("path", "log directory", column=folded("DIRECTORY")),
    size("bytes", "in it before", get="size", column="BYTES"),
    size("bytesAfter", "in it after", get="size_after", column="AFTER"),
    size(
        "usableBytes?",
        "room on its volume before; null if the broker does not tell",
        get="usable",
        column=("ROOM", 1),
    ),
)
_EFFECTS = (
    parts("brokers", "all brokers, before and after", BROKER),
    parts("directories", "log directories of brokers that run, before and after", _DIRECTORY),
    number("copiedReplicas", "replicas to copy"),
    size("copiedBytes?", "to copy", get="copied"),
    size(
        "generateBytes?",
        "that a plan of kafka-reassign-partitions --generate would copy, on average",
        get="copied_by_generate",
    ),
    texts("shortages", "directories with too little room"),
)
_MOVE = (
    text(
        "partition",
        "topic and number",
        column=folded("PARTITION"),
        cell=lambda move: str(move.partition),
    ),
    numbers("before", "replicas before", column=folded("REPLICAS")),
    numbers("after", "replicas after", column=folded("AFTER")),
)
"""The moves as people see them."""
_PARTITION = (
    text("topic", "topic"),
    number("partition", "number"),
    numbers("replicas", "broker ids after, the preferred leader first"),
    texts("log_dirs", "a directory of each replica, as Kafka's tool takes it"),
    numbers("previous", "broker ids before; Kafka's tool ignores it"),
)
_EVENTS = events(
    *in_some_forms(
        number("partitions", "partitions in flight"),
        number("replicas", "replicas to copy"),
        number("waiting", "partitions to move after those in flight"),
        numbers("brokers", "brokers that it is about"),
    )
)
PLAN = Answer(
    in_some_forms(
        boolean("changed", "whether anything was moved"),
        number("version", "of Kafka's form of plans"),
        parts("partitions", "the moves", _PARTITION),
        *_EFFECTS,
        _EVENTS,
    ),
    "With --dry-run it is a plan, also for kafka-reassign-partitions; otherwise the outcome.",
)
MOVE_DIRS = Answer(
    (
        boolean("changed", "whether anything was moved", may_be_missing=True),
        parts("directories", "the one that is emptied, then those that take replicas", _DIRECTORY),
        _EVENTS,
    )
)


def print_plan(work: Work, effects: Effects, *, is_whole: bool) -> None:
    """Print what a plan does, and all of its moves if it *is_whole*.

    The JSON of a whole plan is one for --plan, and for kafka-reassign-partitions.
    """
    if is_whole or not work.terminal.is_json:
        plan = {**plan_json(effects.moves), **json_of(_EFFECTS, effects)}
        work.answer(plan, "".join(_lines(work, effects, is_whole=is_whole)))
        work.terminal.flush()


def print_directories(work: Work, effects: Sequence[DirectoryEffect]) -> None:
    """Print what a move between directories does to them."""
    directories = [json_of(_DIRECTORY, effect) for effect in effects]
    work.answer({"directories": directories}, work.table(_DIRECTORY, effects))
    work.terminal.flush()


def _lines(work: Work, effects: Effects, *, is_whole: bool) -> Iterator[str]:
    yield work.table(BROKER, effects.brokers)
    several = {effect.broker for effect in effects.directories}
    if len(several) < len(effects.directories):
        yield work.table(_DIRECTORY, effects.directories)
    yield (
        f"partitions to move: {len(effects.moves)}, replicas to copy: {effects.copied_replicas}\n"
    )
    if effects.copied is not None and effects.copied_by_generate is not None:
        yield (
            f"bytes to copy: {size_text(effects.copied)}; by kafka-reassign-partitions --generate"
            f" about {size_text(effects.copied_by_generate)}\n"
        )
    for shortage in effects.shortages:
        yield f"too little room: {escaped(str(shortage))}\n"
    if effects.fewer_racks:
        yield f"in fewer racks than now: {escaped(shown(effects.fewer_racks))}\n"
    if is_whole:
        yield work.table(_MOVE, effects.moves)


def shown_plan(
    work: Work, placement: Placement, moves: Sequence[Move], disks: Disks, options: NewPlanOptions
) -> Effects:
    """Print a plan, all of it for --dry-run, and return its effects.

    Raises:
        RefusedError: a log directory has too little room.
    """
    effects = effects_of(placement, moves, disks)
    if options.check_disks:
        check_room(effects.moves, effects.shortages, disks)
    if moves or options.dry_run:
        print_plan(work, effects, is_whole=options.dry_run)
    return effects


def carry_out(
    work: Work,
    options: NewPlanOptions,
    moves: Sequence[Move],
    remaining: Callable[[Placement], Sequence[Move]],
    question: tuple[str, str],
) -> int:
    """Carry a plan out when a person agrees, and print how many partitions it was about.

    Args:
        work: the cluster; the operation has the name of the command.
        options: of the moves.
        moves: all of the plan.
        remaining: returns those that a placement still lacks.
        question: the word to type, and what that does.

    Raises:
        KraftopsError: it cannot go on, or not in time.
    """
    if moves:
        work.confirm(*question)
    run_moves(work.access, move_options(options), work.printer(), remaining, work.terminal.command)
    work.answer({"changed": bool(moves)}, f"Moved partitions: {len(moves)}.\n")
    return 0
