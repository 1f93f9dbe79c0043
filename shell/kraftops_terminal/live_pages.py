"""Pages of live screens about a metadata log: some of its partitions, and its last changes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from os import PathLike

from kraftops.display.columns import Cell, Column, Styled
from kraftops.display.sizes import number_text
from kraftops.image.load.loading import limits_of
from kraftops.image.state.image import MetadataImage
from kraftops.image.travel.travel import Travel
from kraftops.memory import USUAL, Budget
from kraftops.timeline.changes import read_changes
from kraftops.timeline.selection import CHANGE, ChangeFilter
from kraftops.views.partitions import HEALTHY, OFFLINE, PARTITIONS, UNDER_MIN_ISR
from kraftops.views.selection import parsed_where, selected
from kraftops_terminal.live import Subject
from kraftops_terminal.tables import Table, table_of

SPAN = 3_600_000
"""ms before the moment shown whose changes are listed: an incident fits into an hour."""
CONDITIONS = {"problems": f"state != '{HEALTHY}'", "operations": "reassigning"}
"""The conditions of the partitions of pages."""
_MOST_PARTITIONS, _MOST_CHANGES = 500, 200  # rows that a person scrolls through
_COLUMNS = (
    Column("TOPIC"),
    Column("PARTITION", justify="right"),
    Column("STATE"),
    Column("LEADER", justify="right"),
    Column("ISR"),
    Column("REPLICAS", 1),
)
_FIELDS = ("topic", "partition", "state", "leader", "isr", "replicas")


def log_parts(
    subject: Subject,
    image: MetadataImage,
    log: str | PathLike[str] | Sequence[str] | Travel,
    now: int,
    last: int | None = None,
) -> Iterator[str | Table]:
    """Yield the page of a subject by the metadata log: its partitions, its changes, or both.

    *now* and *last* are those of `change_parts`, whose errors it has.
    """
    condition = CONDITIONS.get(subject.kind)
    brokers: frozenset[int] = frozenset()
    if isinstance(subject.of, int):
        condition, brokers = f"{subject.of} in replicas", frozenset({subject.of})
    if condition is not None:
        yield from partition_parts(image, condition)
    if condition is None or brokers:
        yield from [""] * bool(brokers)
        budget = image.store.budget
        yield from change_parts(log, ChangeFilter(brokers=brokers), now, last, budget)


def partition_parts(image: MetadataImage, condition: str) -> Iterator[str | Table]:
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
        yield Table(_COLUMNS, [[cell(value(index)) for value in get] for index in worst])
    if len(indexes) > len(worst):
        yield f"and {number_text(len(indexes) - len(worst))} more"


def change_parts(
    log: str | PathLike[str] | Sequence[str] | Travel,
    chosen: ChangeFilter,
    now: int,
    last: int | None = None,
    budget: Budget = USUAL,
) -> Iterator[str | Table]:
    """Yield the chosen changes of a log in the hour before *now*, in ms, the newest first.

    *last* is the offset after which nothing is reported.

    Raises:
        KraftopsError: it cannot be read.
    """
    since, until = limits_of(None, now - SPAN), limits_of(last, None)
    changes = read_changes(log, since=since, until=until, budget=budget)
    rows = chosen.chosen(changes.changes)[: -_MOST_CHANGES - 1 : -1]
    none = "no changes in the last hour"
    yield "changes of the last hour, the newest first" if rows else none
    if rows:
        table = table_of(CHANGE, rows)
        yield Table(table.columns, list(table.rows))  # it is drawn again and again


def cell(value: object) -> Cell:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value))
    return Styled(str(value), "bad") if value in (OFFLINE, UNDER_MIN_ISR) else str(value)
