"""Plans as text and JSON: what brokers and log directories have before and after, and the moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

from kraftops.answers.cells import cells_of, columns_of
from kraftops.answers.fields import (
    Answer,
    Field,
    boolean,
    json_of,
    number,
    numbers,
    parts,
    text,
    texts,
)
from kraftops.display import columns
from kraftops.display.columns import Column, Styled, folded
from kraftops.display.sizes import size_text
from kraftops.placement.effects import DirectoryEffect, Effects
from kraftops.placement.placement import shown
from kraftops.placement.reassignment_json import plan_json
from kraftops.reassign.disks import shortage_text
from kraftops_cli.cluster.broker_states import state_style
from kraftops_cli.cluster.moving.access import Work
from kraftops_terminal.console import Console
from kraftops_terminal.escaping import escaped
from kraftops_terminal.tables import Table, table_text

_MOVES = (folded("PARTITION"), folded("REPLICAS"), folded("AFTER"))


_BROKER = (
    number(
        "id",
        "broker",
        get=attrgetter("broker"),
        column=columns.number("BROKER"),
        cell=lambda effect: str(effect.broker),
    ),
    text(
        "rack", "its rack", may_be_null=True, get=attrgetter("place.rack"), column=folded("RACK", 2)
    ),
    boolean(
        "isFenced",
        "whether it is fenced",
        get=attrgetter("place.is_fenced"),
        column=Column("STATE", 1),
        cell=lambda effect: state_cell("fenced" if effect.place.is_fenced else "unfenced"),
    ),
    number("replicas", "replicas before", column=columns.number("REPLICAS")),
    number("replicasAfter", "replicas after", column=columns.number("AFTER")),
    number(
        "bytes",
        "of these replicas before; null where sizes cannot be seen",
        numeral="size",
        may_be_null=True,
        get=attrgetter("size"),
        column=columns.number("BYTES"),
    ),
    number(
        "bytesAfter",
        "of these replicas after",
        numeral="size",
        may_be_null=True,
        get=attrgetter("size_after"),
        column=columns.number("AFTER"),
    ),
)
_DIRECTORY = (
    number(
        "brokerId",
        "broker",
        get=attrgetter("broker"),
        column=columns.number("BROKER"),
        cell=lambda effect: str(effect.broker),
    ),
    text("path", "log directory", column=folded("DIRECTORY")),
    number(
        "bytes",
        "in it before",
        numeral="size",
        get=attrgetter("size"),
        column=columns.number("BYTES"),
    ),
    number(
        "bytesAfter",
        "in it after",
        numeral="size",
        get=attrgetter("size_after"),
        column=columns.number("AFTER"),
    ),
    number(
        "usableBytes",
        "room on its volume before; null if the broker does not tell",
        numeral="size",
        may_be_null=True,
        get=attrgetter("usable"),
        column=columns.number("ROOM", 1),
    ),
)
_EFFECTS = (
    parts("brokers", "all brokers, before and after", _BROKER),
    parts("directories", "log directories of brokers that run, before and after", _DIRECTORY),
    number("copiedReplicas", "replicas to copy"),
    number("copiedBytes", "to copy", numeral="size", may_be_null=True, get=attrgetter("copied")),
    number(
        "generateBytes",
        "that a plan of kafka-reassign-partitions --generate would copy, on average",
        numeral="size",
        may_be_null=True,
        get=attrgetter("copied_by_generate"),
    ),
    texts(
        "shortages",
        "directories with too little room",
        get=lambda effects: [*map(shortage_text, effects.shortages)],
    ),
)
_PARTITION = (
    text("topic", "topic"),
    number("partition", "number"),
    numbers("replicas", "broker ids after, the preferred leader first"),
    texts("log_dirs", "a directory of each replica, as Kafka's tool takes it"),
    numbers("previous", "broker ids before; Kafka's tool ignores it"),
)
_EVENT = (
    text("event", "kind of step"),
    text("text", "what was done, or is waited for"),
    *(
        replace(field, may_be_missing=True)
        for field in (
            number("partitions", "partitions in flight"),
            number("replicas", "replicas to copy"),
            number("waiting", "partitions to move after those in flight"),
        )
    ),
)
EVENTS = replace(parts("events", "steps", _EVENT), may_be_missing=True)
PLAN = Answer(
    tuple(
        replace(field, may_be_missing=True)
        for field in (
            boolean("changed", "whether anything was moved"),
            number("version", "of Kafka's form of plans"),
            parts("partitions", "the moves", _PARTITION),
            *_EFFECTS,
            EVENTS,
        )
    ),
    "With --dry-run it is a plan, also for kafka-reassign-partitions; otherwise the outcome.",
)

MOVE_DIRS = Answer(
    (
        replace(boolean("changed", "whether anything was moved"), may_be_missing=True),
        parts("directories", "the one that is emptied, then those that take replicas", _DIRECTORY),
        EVENTS,
    )
)


def print_plan(work: Work, command: str, effects: Effects, *, is_whole: bool) -> None:
    """Print what a plan does, and all of its moves if it *is_whole*.

    The JSON of a whole plan is one for --plan, and for kafka-reassign-partitions.
    """
    if not work.is_json:
        work.terminal.write("".join(_lines(effects, work.terminal.console, is_whole=is_whole)))
        work.terminal.flush()
    elif is_whole:
        plan = {**plan_json(effects.moves), **json_of(_EFFECTS, effects)}
        work.terminal.answer(command, plan)


def print_directories(work: Work, effects: Sequence[DirectoryEffect]) -> None:
    """Print what a move between directories does to them."""
    if work.is_json:
        fields = {"directories": [json_of(_DIRECTORY, effect) for effect in effects]}
        work.terminal.answer(work.terminal.command, fields)
    else:
        work.terminal.write(_table(work.terminal.console, _DIRECTORY, effects))
        work.terminal.flush()


def _lines(effects: Effects, console: Console, *, is_whole: bool) -> Iterator[str]:
    yield _table(console, _BROKER, effects.brokers)
    several = {effect.broker for effect in effects.directories}
    if len(several) < len(effects.directories):
        yield _table(console, _DIRECTORY, effects.directories)
    yield (
        f"partitions to move: {len(effects.moves)}, replicas to copy: {effects.copied_replicas}\n"
    )
    if effects.copied is not None and effects.copied_by_generate is not None:
        yield (
            f"bytes to copy: {size_text(effects.copied)}; by kafka-reassign-partitions --generate"
            f" about {size_text(effects.copied_by_generate)}\n"
        )
    for shortage in effects.shortages:
        yield f"too little room: {escaped(shortage_text(shortage))}\n"
    if effects.fewer_racks:
        yield f"in fewer racks than now: {escaped(shown(effects.fewer_racks))}\n"
    if is_whole:
        rows = (
            [str(move.partition), _ids(move.before), _ids(move.after)] for move in effects.moves
        )
        yield table_text(console, Table(_MOVES, rows))


def _table(console: Console, fields: Sequence[Field], effects: Sequence[object]) -> str:
    rows = (cells_of(fields, effect) for effect in effects)
    return table_text(console, Table(columns_of(fields), rows))


def state_cell(state: str) -> Styled:
    """Return the cell of a broker's state."""
    return Styled(state, state_style(state))


def _ids(brokers: Sequence[int]) -> str:
    return ",".join(map(str, brokers))
