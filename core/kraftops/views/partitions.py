"""The view of partitions: leaders, replicas, ISR, and whether something is missing."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, groupby

from kraftops.answers.fields import boolean, number, numbers, text, texts
from kraftops.display.order import natural_key
from kraftops.engine.metadata_state import (
    ListColumn,
    PartitionState,
    StateColumns,
    columns_of_states,
    is_under_replicated,
)
from kraftops.image.state.changes import Change
from kraftops.image.state.image import MetadataImage
from kraftops.image.state.min_isr import NamedMinIsr
from kraftops.tree.names import RECOVERY_STATES, UUIDS, code_name
from kraftops.tree.node import json_text
from kraftops.views.view import Frame, JsonOf, View, last_change_of, last_columns, last_values

OFFLINE, UNDER_MIN_ISR, UNDER_REPLICATED, HEALTHY = (
    *("offline", "under-min-isr", "under-replicated"),
    "ok",
)
_KEPT = (
    1 << 12
)  # texts of a column: most lists are of a few brokers, and stand in neighbouring rows
_LISTS = {
    "isr": "isr",
    "replicas": "replicas",
    "adding": "adding_replicas",
    "removing": "removing_replicas",
    "elr": "eligible_leader_replicas",
    "lastKnownElr": "last_known_elr",
}
"""Columns with lists of brokers, and their names in `StateColumns`."""

COLUMNS = (
    text("topic", "name of the topic"),
    number("partition", "number of the partition"),
    number("leader", "broker that leads, -1 without one"),
    numbers("isr", "replicas in sync"),
    numbers("replicas", "brokers with a replica"),
    text(
        "state",
        "the worst that holds: offline is without a leader",
        values=(OFFLINE, UNDER_MIN_ISR, UNDER_REPLICATED, HEALTHY),
    ),
    number("preferred", "first replica, which should lead"),
    number("minIsr", "min.insync.replicas, as far as the log tells"),
    number("leaderEpoch", "changes with every election", is_usual=False),
    number("partitionEpoch", "changes with every change", is_usual=False),
    numbers("adding", "replicas that a reassignment adds", is_usual=False),
    numbers("removing", "replicas that a reassignment removes", is_usual=False),
    numbers("elr", "eligible leader replicas", is_usual=False),
    numbers("lastKnownElr", "the last known leader, or ELR", is_usual=False),
    texts("directories", "ids of log directories, one a replica", is_usual=False),
    text("recovery", "whether the leader is unclean", values=RECOVERY_STATES, is_usual=False),
    boolean(
        "underReplicated",
        "whether the ISR has fewer than the replicas, less those being added",
        is_usual=False,
    ),
    boolean("underMinIsr", "whether the ISR has fewer than minIsr", is_usual=False),
    boolean("reassigning", "whether replicas are being added or removed", is_usual=False),
    text("topicId", "id of the topic", is_usual=False),
    *last_columns(is_usual=False),
)


def partitions_frame(image: MetadataImage, topics: Sequence[str] | None = None) -> Frame:
    """Return the partitions of some topics, or of all.

    Raises:
        KraftopsError: a source can no longer be read.
    """
    if topics is None:
        return _frame(image, image.fold.state_columns())
    ids = [image.topic_ids[name] for name in topics if name in image.topic_ids]
    return _frame(
        image, columns_of_states((topic_id, _states(image, topic_id)) for topic_id in ids)
    )


def _states(image: MetadataImage, topic_id: bytes) -> list[tuple[int, int, PartitionState]]:
    fold = image.fold
    return [
        (number, newest.address, state)
        for number, state in fold.partitions(topic_id)
        if (newest := fold.newest(topic_id, number))
    ]


def is_under_min_isr(isr: int, replicas: int, min_isr: int) -> bool:
    """Tell whether an ISR is too small, by sizes (Kafka's `Partition.isUnderMinIsr`)."""
    return isr < max(min(min_isr, replicas), 1)


def _frame(image: MetadataImage, columns: StateColumns) -> Frame:
    places = _Topics(image, columns.topics)
    isr, replicas, leaders = columns.isr.sizes, columns.replicas.sizes, columns.leader
    of, least = places.of_partition, places.min_isr

    def is_short(row: int) -> bool:
        return is_under_min_isr(isr[row], replicas[row], least[of[row]])

    def state(row: int) -> str:
        if leaders[row] < 0:
            return OFFLINE
        if isr[row] < replicas[row] or isr[row] < least[of[row]]:  # few are
            if is_short(row):
                return UNDER_MIN_ISR
            return UNDER_REPLICATED if is_behind(row) else HEALTHY
        return HEALTHY

    def is_behind(row: int) -> bool:
        return is_under_replicated(isr[row], replicas[row], adding[row])

    def last_change(row: int) -> Change | None:
        change = image.change(columns.newest[row])
        if not change.is_upper_bound or image.prior_state is None:
            return change
        return last_change_of(image, "partitions", columns.topics[of[row]][0], columns.numbers[row])

    def preferred(row: int) -> int | None:
        return columns.replicas.at(row)[0] if replicas[row] else None

    adding, removing = columns.adding_replicas.sizes, columns.removing_replicas.sizes
    directories = [UUIDS[directory] for directory in columns.directory_ids]
    lists: dict[str, ListColumn] = {name: getattr(columns, own) for name, own in _LISTS.items()}
    return Frame(
        count=len(columns.numbers),
        columns={
            "topic": lambda row: places.names[of[row]],
            "topicId": lambda row: UUIDS[columns.topics[of[row]][0]],
            "partition": columns.numbers.__getitem__,
            "state": state,
            "leader": leaders.__getitem__,
            "preferred": preferred,
            "leaderEpoch": columns.leader_epoch.__getitem__,
            "partitionEpoch": columns.partition_epoch.__getitem__,
            "minIsr": lambda row: least[of[row]],
            "recovery": lambda row: code_name(RECOVERY_STATES, columns.leader_recovery_state[row]),
            "underReplicated": is_behind,
            "underMinIsr": is_short,
            "reassigning": lambda row: bool(adding[row] or removing[row]),
            "directories": lambda row: [
                directories[number] for number in columns.directories.at(row)
            ],
            **{name: column.at for name, column in lists.items()},
            **last_values(last_change),
        },
        sizes={name: column.sizes.__getitem__ for name, column in lists.items()},
        in_order=partial(_in_order, places),
        json={
            "topic": _json_of(of, lambda place: json_text(places.names[place])),
            "topicId": _json_of(of, lambda place: json_text(UUIDS[columns.topics[place][0]])),
            "minIsr": _json_of(of, least.__getitem__),
            "preferred": _json_of(columns.replicas.places, partial(_first, columns.replicas)),
            "partition": partial(map, columns.numbers.__getitem__),
            "leader": partial(map, leaders.__getitem__),
            "leaderEpoch": partial(map, columns.leader_epoch.__getitem__),
            "partitionEpoch": partial(map, columns.partition_epoch.__getitem__),
            "recovery": _json_of(
                columns.leader_recovery_state,
                lambda code: json_text(code_name(RECOVERY_STATES, code)),
            ),
            **{name: _json_of_lists(column, str) for name, column in lists.items()},
            "directories": _json_of_lists(
                columns.directories, lambda number: f'"{directories[number]}"'
            ),
        },
    )


def _json_of(keys: array[int], json: Callable[[int], object]) -> JsonOf:
    """Make a function to the JSON texts of a column whose keys repeat; texts are cached."""
    of_key = lru_cache(_KEPT)(json)
    return lambda indexes: map(of_key, map(keys.__getitem__, indexes))


def _json_of_lists(column: ListColumn, name: Callable[[int], str]) -> JsonOf:
    def listed(place: int) -> str:
        return f"[{','.join(map(name, column.in_place(place)))}]"

    return _json_of(column.places, listed)


def _first(column: ListColumn, place: int) -> object:
    """Return the first number of a list in JSON."""
    return next(iter(column.in_place(place)), "null")


class _Topics:
    """The topics of partitions, by their place among all topics."""

    def __init__(self, image: MetadataImage, topics: Sequence[tuple[bytes, int]]) -> None:
        min_isrs = NamedMinIsr(image)
        self.names = [topic.name for topic_id, _ in topics if (topic := image.fold.topic(topic_id))]
        self.min_isr = [min_isrs.of(name) for name in self.names]
        counts = [count for _, count in topics]
        self.of_partition = array(
            "I", chain.from_iterable([place] * count for place, count in enumerate(counts))
        )


def _in_order(places: _Topics, indexes: Iterable[int]) -> Iterator[int]:
    """Yield indexes by the names of topics; those of a topic are together, and in order."""
    indexes_by_place = {
        # An array, of four bytes an index: there may be a million.
        place: array("I", group)
        for place, group in groupby(indexes, places.of_partition.__getitem__)
    }
    for place in sorted(indexes_by_place, key=lambda place: natural_key(places.names[place])):
        yield from indexes_by_place[place]


PARTITIONS = View("partitions", COLUMNS, lambda image, _: partitions_frame(image))
