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
from kraftops.tree.names import RECOVERY_STATES, UUIDS, code_name
from kraftops.tree.node import json_text
from kraftops.views.min_isr import MinIsrs, min_isrs_of
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
        KraftopsError: a source cannot be read any more.
    """
    if topics is None:
        return _frame(image, image.fold.state_columns())
    ids = [image.topic_ids[name] for name in topics if name in image.topic_ids]
    return _frame(image, columns_of_states((each, _states(image, each)) for each in ids))


def _states(image: MetadataImage, topic_id: bytes) -> list[tuple[int, int, PartitionState]]:
    fold = image.fold
    return [
        (each, found.address, state)
        for each, state in fold.partitions(topic_id)
        if (found := fold.newest(topic_id, each))
    ]


def is_under_min_isr(isr: int, replicas: int, min_isr: int) -> bool:
    """Tell whether an ISR is too small, by sizes (Kafka's `Partition.isUnderMinIsr`)."""
    return isr < max(min(min_isr, replicas), 1)


def _frame(image: MetadataImage, found: StateColumns) -> Frame:
    places = _Topics(image, found.topics)
    isr, replicas, leaders = found.isr.sizes, found.replicas.sizes, found.leader
    of, least = places.of_partition, places.min_isr

    def is_short(at: int) -> bool:
        return is_under_min_isr(isr[at], replicas[at], least[of[at]])

    def state(at: int) -> str:
        if leaders[at] < 0:
            return OFFLINE
        if isr[at] < replicas[at] or isr[at] < least[of[at]]:  # few are
            if is_short(at):
                return UNDER_MIN_ISR
            return UNDER_REPLICATED if is_behind(at) else HEALTHY
        return HEALTHY

    def is_behind(at: int) -> bool:
        return is_under_replicated(isr[at], replicas[at], adding[at])

    def last_change(at: int) -> Change | None:
        change = image.change(found.newest[at])
        if not change.is_upper_bound or image.prior_state is None:
            return change
        return last_change_of(image, "partitions", found.topics[of[at]][0], found.numbers[at])

    def preferred(at: int) -> int | None:
        return found.replicas.at(at)[0] if replicas[at] else None

    adding, removing = found.adding_replicas.sizes, found.removing_replicas.sizes
    directories = [UUIDS[one] for one in found.directory_ids]
    lists: dict[str, ListColumn] = {name: getattr(found, own) for name, own in _LISTS.items()}
    return Frame(
        len(found.numbers),
        {
            "topic": lambda at: places.names[of[at]],
            "topicId": lambda at: UUIDS[found.topics[of[at]][0]],
            "partition": found.numbers.__getitem__,
            "state": state,
            "leader": leaders.__getitem__,
            "preferred": preferred,
            "leaderEpoch": found.leader_epoch.__getitem__,
            "partitionEpoch": found.partition_epoch.__getitem__,
            "minIsr": lambda at: least[of[at]],
            "recovery": lambda at: code_name(RECOVERY_STATES, found.leader_recovery_state[at]),
            "underReplicated": is_behind,
            "underMinIsr": is_short,
            "reassigning": lambda at: bool(adding[at] or removing[at]),
            "directories": lambda at: [directories[one] for one in found.directories.at(at)],
            **{name: one.at for name, one in lists.items()},
            **last_values(last_change),
        },
        {name: one.sizes.__getitem__ for name, one in lists.items()},
        partial(_in_order, places),
        {
            "topic": _json_of(of, lambda place: json_text(places.names[place])),
            "topicId": _json_of(of, lambda place: json_text(UUIDS[found.topics[place][0]])),
            "minIsr": _json_of(of, least.__getitem__),
            "preferred": _json_of(found.replicas.places, partial(_first, found.replicas)),
            "partition": partial(map, found.numbers.__getitem__),
            "leader": partial(map, leaders.__getitem__),
            "leaderEpoch": partial(map, found.leader_epoch.__getitem__),
            "partitionEpoch": partial(map, found.partition_epoch.__getitem__),
            "recovery": _json_of(
                found.leader_recovery_state,
                lambda code: json_text(code_name(RECOVERY_STATES, code)),
            ),
            **{name: _json_of_lists(one, str) for name, one in lists.items()},
            "directories": _json_of_lists(found.directories, lambda at: f'"{directories[at]}"'),
        },
    )


def _json_of(keys: array[int], json: Callable[[int], object]) -> JsonOf:
    """Return the function to the JSON of a column whose keys repeat."""
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
        known: MinIsrs = min_isrs_of(image)
        self.names = [found.name for one, _ in topics if (found := image.fold.topic(one))]
        self.min_isr = [known.of(name).value for name in self.names]
        counts = [count for _, count in topics]
        self.of_partition = array(
            "I", chain.from_iterable([place] * count for place, count in enumerate(counts))
        )


def _in_order(places: _Topics, indexes: Iterable[int]) -> Iterator[int]:
    """Yield indexes by the names of topics; those of a topic are together, and in order."""
    found = {
        place: list(group) for place, group in groupby(indexes, places.of_partition.__getitem__)
    }
    for place in sorted(found, key=lambda place: natural_key(places.names[place])):
        yield from found[place]


PARTITIONS = View("partitions", COLUMNS, lambda image, _: partitions_frame(image))
