"""The pages behind the screen: a broker, operations, problems and changes, by the metadata log."""

from collections.abc import Iterable
from typing import NamedTuple

from kraftops.display.columns import Column
from kraftops.display.sizes import number_text
from kraftops_cli.cluster.description import ClusterDescription
from kraftops_terminal.live import Subject
from kraftops_terminal.live_pages import cell, log_parts
from kraftops_terminal.tables import Table

_MOST_MOVING = 500  # rows that one scrolls through; `operations` has all
_MOVING_COLUMNS = Column("PARTITION"), Column("REPLICAS"), Column("ADDING"), Column("REMOVING")
_NEEDS_LOG = "this needs the metadata log: describe --bootstrap-controller HOST:PORT --watch"


class Page(NamedTuple):
    """The answer for a subject: texts and tables, from above."""

    subject: Subject
    parts: tuple[str | Table, ...]


def page_of(subject: Subject, description: ClusterDescription) -> Page:
    """List what is known of a subject; most subjects need the metadata log, so controllers.

    Raises:
        KraftopsError: a source of the metadata can no longer be read.
    """
    live = description.live
    if subject.kind == "operations":
        return Page(subject, tuple(_operations(description)))
    if live is None:
        return Page(subject, (_NEEDS_LOG,))
    return Page(subject, tuple(log_parts(subject, live.image, live.names, description.now)))


def _operations(description: ClusterDescription) -> Iterable[str | Table]:
    """Yield the operations that are under way, and the partitions that move."""
    operations = description.operations
    if operations is None:
        yield "operations cannot be seen"
    elif not operations:
        yield "no operation is under way"
    else:
        named = [[operation.name, operation.state] for operation in operations]
        yield Table((Column("OPERATION"), Column("STATE")), named)
    moving = sorted((description.health.moving if description.health else {}).items())
    yield f"partitions that move: {number_text(len(moving))}"
    if moving:
        rows = [
            [str(partition), *map(cell, (replicas.replicas, replicas.adding, replicas.removing))]
            for partition, replicas in moving[:_MOST_MOVING]
        ]
        yield Table(_MOVING_COLUMNS, rows)
