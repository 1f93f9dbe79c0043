"""The values of the metadata state that a fold returns, and the values that Kafka knows."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from enum import IntEnum, IntFlag
from typing import NamedTuple

VERSION_FEATURE = "metadata.version"
VERSION_LEVELS = range(7, 32)
"""3.3-IV3 to 4.4-IV0, all that Kafka 4.3 knows."""
QUORUM_FEATURE = "kraft.version"
"""A feature that the quorum keeps for itself, in control records."""
TOPIC_RESOURCE = 2  # `ConfigResource.Type.TOPIC`
SECURITY_PROTOCOLS = range(4)
RECOVERY_STATES = range(2)
"""Recovered, recovering."""
KEPT_LEADER = -2
"""The leader in a change that leaves leader and leader epoch as they are."""
LOST_DIRECTORY = bytes(15) + b"\x02"
"""The directory of a replica that its broker has lost (`DirectoryId.LOST`)."""

CHANGED_PARTITIONS = "changed-partitions"
"""What to watch for the changes of "partitions" that were there before and stay.

A log may make a million partitions, each a stop for whoever watches them.
"""

Entity = tuple[tuple[str, str | None], ...]
"""The client of a quota: (type, name) pairs by type; no name stands for the default."""
Resource = tuple[int, str]
"""The resource of a configuration: its type and name; no name stands for the default."""


def is_under_replicated(isr: int, replicas: int, adding: int) -> bool:
    """Tell whether an ISR is too small for the replicas that are not being added, by sizes.

    So do Kafka's `Partition.isUnderReplicated` and `kafka-topics`.
    """
    return isr < replicas - adding


class PartitionCondition(IntFlag):
    """Conditions of a partition that a fold knows without reading its records again."""

    LEADERLESS = 1
    UNDER_REPLICATED = 2
    """See `is_under_replicated`."""
    REASSIGNING = 4
    WITH_ELR = 8
    """It has eligible leader replicas."""
    WITH_DIRECTORIES = 16
    """One of its replicas is in a directory other than the reserved `MIGRATING`."""


class ReplicaRole(IntEnum):
    """The part that one of some brokers has in a partition."""

    LEADER = 1
    FOLLOWER = 2
    """A replica that does not lead."""
    OTHER_LEADER = 3
    """None of the brokers leads: another one, or none at all."""
    UNPREFERRED_LEADER = 4
    """The first replica does not lead; the brokers do not matter."""


PartitionKey = tuple[bytes, int]
"""The id of a topic and the number of a partition."""


class PartitionState(NamedTuple):
    """The state of a partition (Kafka's `PartitionRegistration`); it has a directory a replica."""

    replicas: list[int]
    directories: list[bytes]
    isr: list[int]
    removing_replicas: list[int]
    adding_replicas: list[int]
    eligible_leader_replicas: list[int]
    last_known_elr: list[int]
    leader: int
    leader_recovery_state: int
    leader_epoch: int
    partition_epoch: int

    @property
    def has_one_replica(self) -> bool:
        """Whether no other broker has what this one loses."""
        return len(self.replicas) == 1


class TopicEntry(NamedTuple):
    """A topic: its name and the address of its record."""

    name: str
    address: int
    is_deleting: bool = False
    """Drafts of KIP-631 mark a topic before they remove it."""


class BrokerLoad(NamedTuple):
    """The number of replicas of a broker, and of the partitions that it leads."""

    replicas: int
    leaders: int


class NewestRecord(NamedTuple):
    """The address of the record that changed an entry last, and the number of its records.

    *is_certain* is false in a fold that was seeded where the record may have changed nothing: the
    last change is then this record or an earlier one.
    """

    address: int
    records: int
    is_certain: bool = True


class BrokerEntry(NamedTuple):
    """A registration: its epoch, the addresses of the records that make its state, and the newest.

    The first address is the registration's; the changes that still count follow in order.
    """

    epoch: int
    addresses: tuple[int, ...]
    newest: NewestRecord


class Tables(NamedTuple):
    """The addresses of the records of all entries but topics and brokers.

    Entries are in the order in which they came; *features* and *metadata_version* have levels
    before the addresses.
    """

    controllers: dict[int, int]
    failed_replicas: dict[int, int]
    configs: dict[Resource, dict[str, int]]
    quotas: dict[Entity, dict[str, int]]
    acls: dict[bytes, int]
    scram: dict[int, dict[str, int]]
    tokens: dict[str, int]
    features: dict[str, tuple[int, int]]
    metadata_version: tuple[int, int] | None
    producer_ids: int | None


class ClusterTables(NamedTuple):
    """The part of `Tables` that is about the cluster as a whole, which is small."""

    controllers: dict[int, int]
    features: dict[str, tuple[int, int]]
    metadata_version: tuple[int, int] | None
    producer_ids: int | None


class EntryKey(NamedTuple):
    """The key of an entry, or the beginning of several keys; () is all of a *table*.

    Keys by table:

    topic-names (name), topics (id), partitions (topic id, number), brokers (id), controllers (id),
    failed-replicas (broker id), configs (type, name, key), quotas (entity, key), acls (id),
    scram (mechanism, user), tokens (token id), features (name; metadata.version among them),
    producer-ids (). `CHANGED_PARTITIONS` has the keys of partitions.
    """

    table: str
    key: tuple[object, ...] = ()


class EntryChange(NamedTuple):
    """A record's change of an entry: the addresses of its newest records *before* and *after*.

    None stands for no entry. Removing and putting an entry by one record is one change.
    """

    table: str
    key: tuple[object, ...]
    before: int | None
    after: int | None


StatesOfTopic = tuple[bytes, Sequence[tuple[int, int, PartitionState]]]
"""A topic's id, and number, newest record's address and state of each partition."""


class ListColumn(NamedTuple):
    """Lists of numbers, one a partition: the *places* of their lists among all, which may repeat.

    The list of a place is *items* up to its end, from the end of the one before.
    """

    places: array[int]
    items: array[int]
    ends: array[int]
    sizes: array[int]
    """Of the lists of partitions."""

    def at(self, index: int) -> list[int]:
        return self.in_place(self.places[index])

    def in_place(self, place: int) -> list[int]:
        """Cut the list of one partition out of the items of all."""
        start = self.ends[place - 1] if place else 0
        return self.items[start : self.ends[place]].tolist()


class StateColumns(NamedTuple):
    """The columns of partitions, in the order of topics and numbers.

    *topics* has the id of each topic and the number of its partitions, *newest* the addresses of
    the records that changed them last. The columns after it are those of `PartitionState`;
    *directories* are indexes of *directory_ids*.
    """

    topics: list[tuple[bytes, int]]
    numbers: array[int]
    newest: array[int]
    leader: array[int]
    leader_recovery_state: array[int]
    leader_epoch: array[int]
    partition_epoch: array[int]
    replicas: ListColumn
    directories: ListColumn
    isr: ListColumn
    removing_replicas: ListColumn
    adding_replicas: ListColumn
    eligible_leader_replicas: ListColumn
    last_known_elr: ListColumn
    directory_ids: list[bytes]


_SCALARS = ("leader", "leader_recovery_state", "leader_epoch", "partition_epoch")
_LISTS = (
    *("replicas", "directories", "isr", "removing_replicas", "adding_replicas"),
    *("eligible_leader_replicas", "last_known_elr"),
)


def columns_of_states(topics: Iterable[StatesOfTopic]) -> StateColumns:
    """Lay the states of partitions out in columns, in the order of topics and numbers."""
    counts: list[tuple[bytes, int]] = []
    numbers, newest = array("i"), array("q")
    scalars = {name: array("i") for name in _SCALARS}
    lists = {name: ListColumn(array("I"), array("i"), array("I"), array("I")) for name in _LISTS}
    directories: dict[bytes, int] = {}
    for topic_id, states in topics:
        counts.append((topic_id, len(states)))
        for number, address, state in states:
            numbers.append(number)
            newest.append(address)
            for name, column in scalars.items():
                column.append(getattr(state, name))
            for name, (places, list_items, ends, sizes) in lists.items():
                items = getattr(state, name)
                if name == "directories":
                    items = [directories.setdefault(id_, len(directories)) for id_ in items]
                list_items.extend(items)
                places.append(len(ends))
                ends.append(len(list_items))
                sizes.append(len(items))
    columns = (*scalars.values(), *lists.values())
    return StateColumns._make((counts, numbers, newest, *columns, [*directories]))
