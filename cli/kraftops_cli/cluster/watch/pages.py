"""The pages behind the screen: a broker, operations, problems and changes, by the metadata log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from kraftops.display.columns import Cell, Column, Styled
from kraftops.display.sizes import number_text
from kraftops.image.load.loading import limits_of
from kraftops.image.state.image import MetadataImage
from kraftops.timeline.changes import read_changes
from kraftops.timeline.selection import CHANGE, ChangeFilter
from kraftops.views.partitions import HEALTHY, OFFLINE, PARTITIONS, UNDER_MIN_ISR
from kraftops.views.selection import parsed_where, selected
from kraftops_cli.cluster.description import ClusterDescription
from kraftops_cli.cluster.watch.past import SPAN
from kraftops_terminal.tables import Table, table_of

_MOST_PARTITIONS, _MOST_CHANGES = 500, 200
_PARTITION_COLUMNS = (
    Column("TOPIC"),
    Column("PARTITION", justify="right"),
    Column("STATE"),
    Column("LEADER", justify="right"),
    Column("ISR"),
    Column("REPLICAS", 1),
)
_MOVING_COLUMNS = Column("PARTITION"), Column("REPLICAS"), Column("ADDING"), Column("REMOVING")
_FIELDS = ("topic", "partition", "state", "leader", "isr", "replicas")
_NEEDS_LOG = "this needs the metadata log: describe --bootstrap-controller HOST:PORT --watch"


class Kind(StrEnum):
    """What a page is about."""

    BROKER = "broker"
    OPERATIONS = "operations"
    PROBLEMS = "problems"
    CHANGES = "changes"


class Subject(NamedTuple):
    """What a page shows; *broker* of a page about one."""

    kind: Kind
    broker: int | None = None

    @property
    def title(self) -> str:
        """The subject in words."""
        return self.kind if self.broker is None else f"{self.kind} {self.broker}"


class Page(NamedTuple):
    """The answer for a subject: texts and tables, from above."""

    subject: Subject
    parts: tuple[str | Table, ...]


def page_of(subject: Subject, description: ClusterDescription) -> Page:
    """Return the page of a subject.

    Raises:
        KraftopsError: a source of the metadata cannot be read any more.
    """
    if subject.kind is Kind.OPERATIONS:
        return Page(subject, tuple(_operations(description)))
    live = description.live
    if live is None:
        return Page(subject, (_NEEDS_LOG,))
    if subject.kind is Kind.PROBLEMS:
        return Page(subject, tuple(_partitions(live.image, f"state != '{HEALTHY}'")))
    chosen = ChangeFilter(
        brokers=frozenset() if subject.broker is None else frozenset({subject.broker})
    )
    log = read_changes(live.names, since=limits_of(None, description.now - SPAN))
    changes = chosen.chosen(log.changes)[: -_MOST_CHANGES - 1 : -1]
    parts: list[str | Table] = []
    if subject.broker is not None:
        parts += [*_partitions(live.image, f"{subject.broker} in replicas"), ""]
    none = "no changes in the last hour"
    parts.append("changes of the last hour, the newest first" if changes else none)
    if changes:
        table = table_of(CHANGE, changes)
        parts.append(Table(table.columns, list(table.rows)))  # it is drawn again and again
    return Page(subject, tuple(parts))


def _partitions(image: MetadataImage, condition: str) -> Iterable[str | Table]:
    """Yield a summary of the partitions of which a condition is true, and the worst of them."""
    frame = PARTITIONS.frame(image, False)  # noqa: FBT003 - the contract of views
    get = [frame.columns[name] for name in _FIELDS]
    state_of = frame.columns["state"]
    indexes = selected(frame, parsed_where(PARTITIONS, [condition], 0))
    states = Counter(str(state_of(index)) for index in indexes)
    counts = ", ".join(f"{number_text(count)} {state}" for state, count in sorted(states.items()))
    yield f"partitions: {counts or 'none'}"
    worst = sorted(indexes, key=lambda index: state_of(index) == HEALTHY)[:_MOST_PARTITIONS]
    if worst:
        rows = [[_cell(value(index)) for value in get] for index in worst]
        yield Table(_PARTITION_COLUMNS, rows)
    if len(indexes) > len(worst):
        yield f"and {number_text(len(indexes) - len(worst))} more"


def _cell(value: object) -> Cell:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value))
    return Styled(str(value), "bad") if value in (OFFLINE, UNDER_MIN_ISR) else str(value)


def _operations(description: ClusterDescription) -> Iterable[str | Table]:
    """Yield the operations that are under way, and the partitions that move."""
    operations = description.operations
    if operations is None:
        yield "operations cannot be seen"
    elif not operations:
        yield "no operation is under way"
    else:
        rows = [[operation.name, operation.state] for operation in operations]
        yield Table((Column("OPERATION"), Column("STATE")), rows)
    moving = sorted((description.health.moving if description.health else {}).items())
    yield f"partitions that move: {number_text(len(moving))}"
    if moving:
        yield Table(
            _MOVING_COLUMNS,
            [
                [
                    str(partition),
                    *map(_cell, (replicas.replicas, replicas.adding, replicas.removing)),
                ]
                for partition, replicas in moving[:_MOST_PARTITIONS]
            ],
        )
