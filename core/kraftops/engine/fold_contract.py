"""What an engine makes of the records of a metadata log: the state, folded record by record.

A fold knows what each record does (Kafka's `MetadataDelta` and its parts) and keeps of it where the
records are that made the state, and no more of their bytes than it must. Addresses are numbers that
who feeds it gives to records; they grow with the log. Where Kafka asks the image from before a
batch, a fold remembers what the unit of this batch, or transaction, has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntFlag
from typing import NamedTuple, Protocol

POSITION_BITS = 28
"""An address is the number of a batch above so many bits, which are a position in its bytes."""

VERSION_FEATURE = "metadata.version"
VERSION_LEVELS = range(7, 32)
"""3.3-IV3 to 4.4-IV0, all that Kafka 4.3 knows."""
QUORUM_FEATURE = "kraft.version"
"""A feature that the quorum keeps for itself, in control records."""
TOPIC_RESOURCE = 2
SECURITY_PROTOCOLS = range(4)
RECOVERY_STATES = range(2)
"""Recovered, recovering."""
KEPT_LEADER = -2
"""A change's leader that leaves leader and epoch as they are."""

Fetch = Callable[[int], bytes]
"""Gives the inflated bytes of the batch of a number, in which positions count.

It raises `SourceError` where they cannot be had any more.
"""

Entity = tuple[tuple[str, str | None], ...]
"""Whom a quota is for: (type, name) pairs by type; no name stands for the default."""
Resource = tuple[int, str]
"""What a configuration is for: its type and name; no name stands for the default."""


class Look(IntFlag):
    """Why a partition is in need of a look, and what else is known of it without reading it."""

    LEADERLESS = 1
    UNDER_REPLICATED = 2
    REASSIGNING = 4
    WITH_ELR = 8
    """It has eligible leader replicas."""
    WITH_DIRECTORIES = 16
    """One of its replicas is in a directory that is known, or reserved but for `MIGRATING`."""


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


class Stop(NamedTuple):
    """Where a fold stopped, and what it did until there.

    *position* and *number* are those of the next record, *last* is the position of the one before,
    if that was read. *marker* is the type of the marker of a
    transaction that was read last, if that is why; *is_odd* says that there is no record at
    *position*; *is_touched* that the record before did something to what is watched. Counted are
    the records that were applied, those that were dropped with a reason, and those among the latter
    that nobody can read; a marker is none of these.
    """

    position: int
    number: int
    last: int
    marker: int | None
    is_odd: bool
    is_touched: bool
    applied: int
    dropped: int
    unreadable: int


class Bounds(NamedTuple):
    """Which batches are ordinary: those of magic 2, without codec or control records, sound.

    In a log, the first has the *expected* offset and at least this *epoch*, and each that follows
    goes on where the one before ends; *expected* is None for a snapshot, whose offsets are its own.
    All offsets are above *after* and up to *until*, and no time, in ms, is above *time*.
    """

    expected: int | None
    epoch: int
    after: int
    until: int
    time: int


class BatchHead(NamedTuple):
    """What the header of a batch says; *time* is the newest of its *records*, in ms."""

    base_offset: int
    last_offset: int
    epoch: int
    time: int
    records: int


RAN_FIELDS = 6


class Ran(NamedTuple):
    """What a fold made of many batches, up to byte *next* of the window.

    *batches* has `RAN_FIELDS` native 64-bit integers for each: position behind the start, checksum,
    count of records, and how many of these were applied, dropped, and such as nobody can read.
    *transactions* has, for each marker that was heeded, its type and address, and of an end how
    many records were then applied and dropped. *last* is the last batch. Where the fold stopped
    inside the batch at *next*, as it does where a transaction begins that does not end in the
    window, *inside* says so, and counts from the beginning of that batch.
    """

    next: int
    batches: bytes
    transactions: list[tuple[int, int, int, int]]
    last: BatchHead | None
    inside: Stop | None


class Watch(NamedTuple):
    """An entry of the state, or some: all of a *table*, or those whose key begins like this.

    Keys are tuples; see `Touch`.
    """

    table: str
    key: tuple[object, ...] = ()


class Touch(NamedTuple):
    """What a record did to an entry: the addresses that were newest *before* and are *after*.

    What is removed and put again by one record is one touch. None is for an entry that was, or is,
    not there. Keys by table:

    topic-names (name), topics (id), partitions (topic id, number), brokers (id), controllers (id),
    failed-replicas (broker id), configs (type, name, key), quotas (entity, key), acls (id),
    scram (mechanism, user), tokens (token id), features (name; metadata.version among them),
    producer-ids ().
    """

    table: str
    key: tuple[object, ...]
    before: int | None
    after: int | None


class TopicEntry(NamedTuple):
    """A topic: its name and the address of its record."""

    name: str
    address: int
    is_deleting: bool = False
    """What drafts of KIP-631 say of a topic before it goes."""


class Newest(NamedTuple):
    """The address of the record that changed an entry last, and how many have made it what it is.

    Where the fold was *seeded* and nobody can tell whether the record changed anything,
    *is_certain* is false: the last change is this one or one before.
    """

    address: int
    records: int
    is_certain: bool = True


class BrokerEntry(NamedTuple):
    """A registration: epoch, the addresses of the records that make its state, and the newest.

    The first is the registration; then come, in order, those changes whose word still counts.
    """

    epoch: int
    addresses: tuple[int, ...]
    newest: Newest


class Tables(NamedTuple):
    """All but topics and brokers: the addresses of the records that made what is there.

    Entries are in the order in which they came; those of *features* have their levels before the
    addresses.
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


class Fold(Protocol):
    """The state that records make; made by `kraftops.engine.choice.open_fold`."""

    def begin_unit(self) -> None:
        """Have what follows be a batch, or transaction, of its own."""

    def seed(self, *, is_seeded: bool) -> None:
        """Say whether the state is later than the records that follow, until this is unsaid.

        Then only the addresses of what they change are to be trusted.
        """

    def apply(self, data: bytes, address: int, position: int, number: int, stop: int) -> Stop:
        """Apply records of a batch: those from *number* up to *stop*.

        It stops behind a marker of a transaction, and behind a record that touches what is watched.

        Args:
            data: the inflated batch.
            address: of its byte 0.
            position: of the first record in it.
            number: of that record in the batch.
            stop: the number of the one after the last.

        Raises:
            SourceError: a record from before is needed, and its batch cannot be read any more; the
                records before this one are applied.
        """

    def skim(self, data: bytes, position: int, number: int, stop: int) -> Stop:
        """Read over records up to the marker of a transaction, without applying them."""

    def run(self, window: bytes, start: int, first: int, bounds: Bounds) -> Ran:
        """Apply the ordinary batches that a window has from *start* on, each a unit of its own.

        It ends before the first that is none, and inside one where `apply` would; it may do nothing
        at all, as it does while something is watched, and leave all batches to that. The first
        batch has number *first*, which is what addresses are made of.
        """

    def drop(self, address: int, reason: str) -> None:
        """Note that a record is left out for a reason that others know."""

    @property
    def dropped(self) -> int:
        """How many records were left out."""

    def dropped_record(self, number: int) -> tuple[int, str]:
        """Return address and reason of one of them, in the order in which they were."""

    def forget_dropped(self) -> None:
        """Have none of them."""

    def watch(self, watches: Sequence[Watch]) -> None:
        """Have `apply` stop behind records that touch one of these; none if empty."""

    def touched(self) -> list[Touch]:
        """Return what the last record touched of what is watched."""

    def topic_names(self) -> dict[str, bytes]:
        """Return the topics that can be named, in the order in which their names came: the ids."""

    def topic_ids(self) -> list[bytes]:
        """Return the ids of all topics, also of one whose name another has taken."""

    def topic_id(self, name: str) -> bytes | None:
        """Return the id of the topic that has a name."""

    def topic(self, topic_id: bytes) -> TopicEntry | None:
        """Return a topic."""

    def partition_count(self, topic_id: bytes | None = None) -> int:
        """Return how many partitions there are, of a topic or in all."""

    def topic_count(self) -> int:
        """Return how many topics there are."""

    def numbers(self, topic_id: bytes) -> list[int]:
        """Return the numbers of a topic's partitions, in order."""

    def newest(self, topic_id: bytes, number: int) -> Newest | None:
        """Return which record changed a partition last; None if it is not there."""

    def newest_below(self, topic_id: bytes | None, exact: Fold | None) -> Newest | None:
        """Return the newest change of a topic and its partitions, or of all; None without any.

        Where *exact* is given, a fold by the same engine, only what is in both counts, with the
        addresses that it has there.
        """

    def partition(self, topic_id: bytes, number: int) -> PartitionState | None:
        """Return the state of a partition; None if it is not there.

        Raises:
            SourceError: its batch cannot be read any more.
            DecodeError: its record is not there any more.
        """

    def partitions(self, topic_id: bytes) -> list[tuple[int, PartitionState]]:
        """Return the partitions of a topic, in the order of their numbers; errors as above."""

    def states(self, chosen: Sequence[tuple[bytes, int]]) -> list[PartitionState | None]:
        """Return the states of partitions, by topic ids and numbers, in this order.

        They are read in the order in which they lie, which takes less time than one by one; errors
        as above.
        """

    def count(self, look: Look) -> int:
        """Return how many partitions have one of these."""

    def having(self, look: Look) -> dict[bytes, list[int]]:
        """Return the partitions that have one of these, by the topics' ids."""

    def suspects(self, directories: Mapping[int, Sequence[bytes]]) -> dict[bytes, list[int]]:
        """Return the partitions whose states no server would have made, as far as one can see.

        They are those with no replicas, with one twice, or one that is not registered; with brokers
        in ISR, ELR, or lists of replicas to add or remove that are no replicas; with a leader below
        -1 or outside the ISR; in a directory that is not reserved and that its broker, which has
        some, has not; or in the ISR with a lost one.

        Args:
            directories: of the registered brokers, by their ids.

        Raises:
            KraftopsError: as `partition`.
        """

    def different(self, other: Fold) -> dict[bytes, list[int]]:
        """Return the partitions whose state is another one in another fold, by the same engine.

        That is of topics that are in both; a partition that is in one of them only is among them.

        Raises:
            KraftopsError: as `partition`.
        """

    def holdings(self) -> dict[int, dict[bytes, int]]:
        """Return how many replicas of which topics brokers have, by broker and topic id.

        Raises:
            KraftopsError: as `partition`.
        """

    def brokers(self) -> dict[int, BrokerEntry]:
        """Return the registered brokers, in the order in which they came."""

    def tables(self) -> Tables:
        """Return all else."""


RANGE_BITS = 13
"""Partitions of a topic go together by all but so many bits of their numbers."""


class Seen(NamedTuple):
    """Records of a batch that follow one another, from byte *start* to *end*.

    There are *total* of them, of which the first is *number* of the batch. Several are of one type
    and version and, where that has one, of one topic, with partition numbers that have all but the
    last `RANGE_BITS` bits in common. *type* is None where nobody can read the record, or it has a
    key or headers; *topic_id* and *partition*, the first of them, are those of partitions and their
    changes alone.
    """

    number: int
    total: int
    start: int
    end: int
    type: int | None
    version: int | None
    topic_id: bytes | None
    partition: int | None
