"""What a fold says and where it stops; what each record does to the state is in the image's tests."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kraftops.engine.choice import index_records, open_fold
from kraftops.engine.fold_contract import POSITION_BITS, Fetch, Fold, FoldProgress
from kraftops.engine.index_contract import RecordGroup
from kraftops.engine.metadata_state import (
    BrokerEntry,
    EntryChange,
    EntryKey,
    NewestRecord,
    PartitionCondition,
    TopicEntry,
)
from kraftops.engine.reference.fold import ReferenceFold
from kraftops.engine.reference.index import index_records as index_in_python
from kraftops.errors import DecodeError, SourceError, UsageError
from kraftops.log.batch import HEADER_SIZE, Record, batch_bytes, inflated, read_record, record_bytes
from kraftops.records import metadata_numbers as types
from kraftops.records.meaning import LARGEST_DECODED
from tests.helpers.engine.comparing import has_native
from tests.helpers.logs.random_logs import Made, log_bytes, lots, made, unreadable, uuid
from tests.helpers.logs.segments import batches_of

Make = Callable[[str, Fetch], Fold]
Index = Callable[[str, bytes, int, int, int], list[RecordGroup]]
FOLDS: dict[str, Make] = {"reference": ReferenceFold}
INDEXES: dict[str, Index] = {"reference": index_in_python}
if has_native():
    from kraftops.engine import native_fold, native_rules

    FOLDS["native"] = lambda _, fetch: native_fold.NativeFold(fetch)
    INDEXES["native"] = lambda _, *records: native_rules.index_records(*records)

T, U, V = uuid(1), uuid(2), uuid(3)
D1, D2, D3, LOST = uuid(201), uuid(202), uuid(203), uuid(2)
ELR: dict[str, Any] = {"eligibleLeaderReplicas": [2], "lastKnownElr": [1]}
BEGIN, END, ABORT = (made(f"{name}TransactionRecord") for name in ("Begin", "End", "Abort"))
MARKERS = [
    pytest.param(BEGIN, types.BEGIN_TRANSACTION, id="begin"),
    pytest.param(END, types.END_TRANSACTION, id="end"),
    pytest.param(ABORT, types.ABORT_TRANSACTION, id="abort"),
]
NO_OP = made("NoOpRecord")
TABLES = (
    "topic-names",
    "topics",
    "partitions",
    "brokers",
    "controllers",
    "failed-replicas",
    "configs",
    "quotas",
    "acls",
    "scram",
    "tokens",
    "features",
    "producer-ids",
)
ALL = [EntryKey(table) for table in TABLES]


def counted(stop: FoldProgress) -> tuple[object, ...]:
    """Return all but the positions."""
    return stop.number, *stop[3:]


def topic(topic_id: bytes = T, name: str = "a") -> Made:
    return made("TopicRecord", topicId=topic_id, name=name)


def removal(topic_id: bytes = T) -> Made:
    return made("RemoveTopicRecord", topicId=topic_id)


def partition(number: int = 0, topic_id: bytes = T, **changes: Any) -> Made:
    data: dict[str, Any] = {
        "partitionId": number,
        "topicId": topic_id,
        "replicas": [1, 2],
        "isr": [1, 2],
        "leader": 1,
    }
    return made("PartitionRecord", **data | changes)


def change(number: int = 0, topic_id: bytes = T, **changes: Any) -> Made:
    return made("PartitionChangeRecord", partitionId=number, topicId=topic_id, **changes)


def clear_elr(name: str = "") -> Made:
    return made("ClearElrRecord", topicName=name)


def broker(number: int = 1, **changes: Any) -> Made:
    return made("RegisterBrokerRecord", **{"brokerId": number, "brokerEpoch": 7} | changes)


def registration_change(**changes: Any) -> Made:
    return made("BrokerRegistrationChangeRecord", brokerId=1, brokerEpoch=7, **changes)


def fence(number: int = 1) -> Made:
    return made("FenceBrokerRecord", id=number, epoch=7)


def unfence(number: int = 1) -> Made:
    return made("UnfenceBrokerRecord", id=number, epoch=7)


def config(value: str | None, key: str = "k", kind: int = 2) -> Made:
    data: dict[str, Any] = {"resourceType": kind, "resourceName": "a", "name": key, "value": value}
    return made("ConfigRecord", **data)


def quota(*, remove: bool = False) -> Made:
    entity = [{"entityType": "user", "entityName": None}]
    return made("ClientQuotaRecord", entity=entity, key="k", value=1.0, remove=remove)


def feature(level: int, name: str = "group.version") -> Made:
    return made("FeatureLevelRecord", name=name, featureLevel=level)


def scram(salt: bytes = b"x") -> Made:
    keys: dict[str, Any] = {"salt": salt, "storedKey": b"x", "serverKey": b"x"}
    return made("UserScramCredentialRecord", name="u", mechanism=1, iterations=4096, **keys)


def token() -> Made:
    return made("DelegationTokenRecord", tokenId="t")


class Fed:
    """A fold, and the batches that it is fed: records are numbered through all of them."""

    def __init__(self, make: Make, dialect: str = "kafka") -> None:
        """Begin with nothing."""
        self._batches: list[tuple[bytes, int, int]] = []
        self.addresses: list[int] = []
        self.fold = make(dialect, lambda number: self._batches[number][0])

    def put(self, *records: Made) -> int:
        """Add a batch, and apply nothing of it; return its number."""
        (batch,) = batches_of(log_bytes(lots(records)))
        data, position = inflated(batch, batch.header)
        self._batches.append((data, position, len(records)))
        number, at = len(self._batches) - 1, position
        for _ in records:
            self.addresses.append((number << POSITION_BITS) + at)
            at = read_record(data, at, 0, 0)[1]
        return number

    def apply(self, batch: int, after: FoldProgress | None = None) -> FoldProgress:
        """Apply a batch, or what is left of it."""
        data, position, count = self._batches[batch]
        position, number = (position, 0) if after is None else (after.position, after.number)
        return self.fold.apply(data, batch << POSITION_BITS, position, number, count)

    def skim(self, batch: int, after: FoldProgress | None = None) -> FoldProgress:
        """Read over a batch, or what is left of it."""
        data, position, count = self._batches[batch]
        position, number = (position, 0) if after is None else (after.position, after.number)
        return self.fold.skim(data, position, number, count)

    def add(self, *records: Made) -> FoldProgress:
        """Apply a batch of its own unit; nothing is in its way."""
        self.fold.begin_unit()
        batch = self.put(*records)
        stop = self.apply(batch)
        assert stop.number == len(records)
        return stop

    def each(self, *records: Made) -> None:
        """Apply a batch for each of the records."""
        for record in records:
            self.add(record)

    def place(self, stop: FoldProgress, batch: int = 0) -> int | None:
        """Return the number of the record before which a fold stopped; None at the batch's end."""
        address = (batch << POSITION_BITS) + stop.position
        return self.addresses.index(address) if address in self.addresses else None

    @property
    def reasons(self) -> dict[int, str]:
        """Why records were dropped, by their numbers."""
        found = map(self.fold.dropped_record, range(self.fold.dropped))
        return {self.addresses.index(address): reason for address, reason in found}

    @property
    def touched(self) -> dict[tuple[str, tuple[object, ...]], tuple[int | None, int | None]]:
        """What the last record touched: the numbers of the newest records before and after."""
        touches = self.fold.changes()
        found = {
            (one.table, one.key): (self._number(one.before), self._number(one.after))
            for one in touches
        }
        assert len(found) == len(touches)
        return found

    def _number(self, address: int | None) -> int | None:
        return None if address is None else self.addresses.index(address)


@pytest.fixture(params=FOLDS)
def make(request: pytest.FixtureRequest) -> Make:
    return FOLDS[request.param]


@pytest.fixture
def fed(make: Make) -> Fed:
    return Fed(make)


class TestApply:
    def test_counts_what_it_did_up_to_the_end(self, fed: Fed) -> None:
        records = [topic(), partition(), change(4), unreadable(b"\1"), NO_OP]

        stop = fed.add(*records)

        assert counted(stop) == (5, None, False, False, 3, 2, 1)
        assert fed.place(stop) is None
        assert list(fed.reasons) == [2, 3]

    @pytest.mark.parametrize(("marker", "number"), MARKERS)
    def test_stops_behind_a_marker_and_counts_it_not(
        self, fed: Fed, marker: Made, number: int
    ) -> None:
        batch = fed.put(topic(), marker, partition(), change(9))

        stop = fed.apply(batch)
        rest = fed.apply(batch, stop)

        assert counted(stop) == (2, number, False, False, 1, 0, 0)
        assert fed.place(stop) == 2
        assert counted(rest) == (4, None, False, False, 1, 1, 0)

    def test_stops_before_what_is_no_record(self, fed: Fed) -> None:
        record = topic().value
        body = record_bytes(Record(0, 0, None, record), 0, 0)

        stop = fed.fold.apply(body + b"\x7e\0", 0, 0, 0, 3)

        assert stop == FoldProgress(len(body), 1, 0, None, True, False, 1, 0, 0)
        assert fed.fold.topic_count() == 1

    def test_stops_at_the_number_that_is_asked_for(self, fed: Fed) -> None:
        (batch,) = batches_of(log_bytes(lots([topic(), partition(), partition(1)])))
        stop = fed.fold.apply(batch.data, 0, HEADER_SIZE, 0, 2)

        assert stop.number == 2
        assert fed.fold.numbers(T) == [0]

    @pytest.mark.parametrize("where", ["key", "header"])
    def test_record_with_more_than_a_value_is_unreadable(self, fed: Fed, where: str) -> None:
        key, headers = (b"k", ()) if where == "key" else (None, ((b"k", None),))
        data = batch_bytes([Record(0, 0, key, topic().value, headers)])

        stop = fed.fold.apply(data, 1 << POSITION_BITS, HEADER_SIZE, 0, 1)

        assert counted(stop) == (1, None, False, False, 0, 1, 1)
        address = (1 << POSITION_BITS) + HEADER_SIZE
        reason = "a metadata record with a key or headers"
        assert fed.fold.dropped_record(0) == (address, reason)

    @pytest.mark.parametrize(
        ("value", "reason"),
        [
            (None, "Error while reading frame version"),
            (
                b"\1\6\0\0",
                "org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id 6",
            ),
            (b"\1\3\0", "Failed to deserialize record with type 3"),
            (b"\1\24\0\0\0", "Found 1 byte(s) of garbage after 20"),
        ],
    )
    def test_unreadable_record_says_why(self, fed: Fed, value: bytes | None, reason: str) -> None:
        fed.add(unreadable(value))

        assert fed.reasons == {0: reason}

    @pytest.mark.parametrize("more", [0, 1])
    def test_large_record_is_not_decoded(self, fed: Fed, more: int) -> None:
        size = LARGEST_DECODED + more
        small = scram().value
        assert small is not None
        # The length of the salt takes four bytes instead of one.
        large = scram(salt=bytes(size - len(small) - 2))
        assert large.value is not None
        assert len(large.value) == size

        stop = fed.add(large)

        assert stop.unreadable == more
        reason = f"a record of {size} bytes is not decoded, only up to {LARGEST_DECODED}"
        assert fed.reasons == ({0: reason} if more else {})


class TestSkim:
    def test_applies_and_drops_nothing(self, fed: Fed) -> None:
        stop = fed.skim(fed.put(topic(), unreadable(b""), change(4)))

        assert counted(stop) == (3, None, False, False, 0, 0, 1)
        assert fed.fold.topic_count() == fed.fold.dropped == 0

    @pytest.mark.parametrize(("marker", "number"), MARKERS)
    def test_stops_behind_a_marker(self, fed: Fed, marker: Made, number: int) -> None:
        batch = fed.put(topic(), unreadable(b""), marker, NO_OP)

        stop = fed.skim(batch)

        assert counted(stop) == (3, number, False, False, 0, 0, 1)
        assert fed.place(stop) == 3
        assert counted(fed.skim(batch, stop)) == (4, None, False, False, 0, 0, 0)

    def test_stops_before_what_is_no_record(self, fed: Fed) -> None:
        body = record_bytes(Record(0, 0, None, NO_OP.value), 0, 0)

        stop = fed.fold.skim(body + b"\x7e\0", 0, 0, 3)

        assert stop == FoldProgress(len(body), 1, 0, None, True, False, 0, 0, 0)


class TestDropped:
    def test_are_in_the_order_in_which_they_were(self, fed: Fed) -> None:
        fed.add(change(), topic())
        fed.fold.drop(5, "because")
        fed.add(change())

        found = [fed.fold.dropped_record(number) for number in range(fed.fold.dropped)]
        assert found == [
            (fed.addresses[0], "there is no topic with this id"),
            (5, "because"),
            (fed.addresses[2], "there is no such partition"),
        ]

    def test_are_forgotten(self, fed: Fed) -> None:
        fed.add(change())

        fed.fold.forget_dropped()

        assert fed.fold.dropped == 0
        fed.add(change())
        assert list(fed.reasons) == [1]


TOUCHES: dict[str, tuple[Sequence[Made], Made, dict[Any, Any]]] = {
    "topic": ([], topic(), {("topics", (T,)): (None, 0), ("topic-names", ("a",)): (None, 0)}),
    "topic-of-a-known-name": (
        [topic()],
        topic(U),
        {("topics", (U,)): (None, 1), ("topic-names", ("a",)): (0, 1)},
    ),
    "topic-again": (
        [topic(), partition(), partition(3), change(3)],
        topic(),
        {
            ("topics", (T,)): (0, 4),
            ("topic-names", ("a",)): (0, 4),
            ("partitions", (T, 0)): (1, None),
            ("partitions", (T, 3)): (3, None),
        },
    ),
    "topic-by-another-name": (
        [topic()],
        topic(name="b"),
        {
            ("topics", (T,)): (0, 1),
            ("topic-names", ("a",)): (0, None),
            ("topic-names", ("b",)): (None, 1),
        },
    ),
    "removed-topic": (
        [topic(), partition(), config("1"), config("2", "l"), config("3", kind=4)],
        removal(),
        {
            ("topics", (T,)): (0, None),
            ("topic-names", ("a",)): (0, None),
            ("partitions", (T, 0)): (1, None),
            ("configs", (2, "a", "k")): (2, None),
            ("configs", (2, "a", "l")): (3, None),
        },
    ),
    "removed-topic-of-a-name-that-another-has": (
        [topic(), topic(U)],
        removal(),
        {("topics", (T,)): (0, None)},
    ),
    "unknown-topic": ([topic()], removal(U), {}),
    "partition": ([topic()], partition(), {("partitions", (T, 0)): (None, 1)}),
    "partition-again": (
        [topic(), partition(), change()],
        partition(),
        {("partitions", (T, 0)): (2, 3)},
    ),
    "change": ([topic(), partition(5)], change(5), {("partitions", (T, 5)): (1, 2)}),
    "refused-change": ([topic(), partition()], change(leaderRecoveryState=7), {}),
    "cleared-elr": (
        [
            topic(),
            partition(),
            partition(1, **ELR),
            topic(U, "b"),
            partition(0, U, lastKnownElr=[1]),
        ],
        clear_elr(),
        {("partitions", (T, 1)): (2, 5), ("partitions", (U, 0)): (4, 5)},
    ),
    "broker": ([], broker(), {("brokers", (1,)): (None, 0)}),
    "broker-again": ([broker(), fence()], broker(), {("brokers", (1,)): (1, 2)}),
    "fenced-broker": ([broker()], fence(), {("brokers", (1,)): (0, 1)}),
    "unfenced-broker": ([broker()], unfence(), {("brokers", (1,)): (0, 1)}),
    "changed-broker": ([broker()], registration_change(), {("brokers", (1,)): (0, 1)}),
    "unknown-broker": ([broker()], fence(2), {}),
    "gone-broker": (
        [broker(), fence()],
        made("UnregisterBrokerRecord", brokerId=1),
        {("brokers", (1,)): (1, None)},
    ),
    "gone-unknown-broker": ([broker()], made("UnregisterBrokerRecord", brokerId=2), {}),
    "controller": (
        [made("RegisterControllerRecord", controllerId=3)],
        made("RegisterControllerRecord", controllerId=3),
        {("controllers", (3,)): (0, 1)},
    ),
    "config": ([config("1")], config("2"), {("configs", (2, "a", "k")): (0, 1)}),
    "removed-config": ([config("1")], config(None), {("configs", (2, "a", "k")): (0, None)}),
    "removed-unknown-config": ([config("1")], config(None, "l"), {}),
    "quota": ([], quota(), {("quotas", ((("user", None),), "k")): (None, 0)}),
    "removed-quota": (
        [quota()],
        quota(remove=True),
        {("quotas", ((("user", None),), "k")): (0, None)},
    ),
    "removed-unknown-quota": ([], quota(remove=True), {}),
    "acl": ([], made("AccessControlEntryRecord", id=V), {("acls", (V,)): (None, 0)}),
    "removed-acl": (
        [made("AccessControlEntryRecord", id=V)],
        made("RemoveAccessControlEntryRecord", id=V),
        {("acls", (V,)): (0, None)},
    ),
    "scram": ([scram()], scram(), {("scram", (1, "u")): (0, 1)}),
    "removed-scram": (
        [scram()],
        made("RemoveUserScramCredentialRecord", name="u", mechanism=1),
        {("scram", (1, "u")): (0, None)},
    ),
    "removed-unknown-scram": (
        [scram()],
        made("RemoveUserScramCredentialRecord", name="u", mechanism=2),
        {},
    ),
    "token": ([], token(), {("tokens", ("t",)): (None, 0)}),
    "removed-token": (
        [token()],
        made("RemoveDelegationTokenRecord", tokenId="t"),
        {("tokens", ("t",)): (0, None)},
    ),
    "removed-unknown-token": ([], made("RemoveDelegationTokenRecord", tokenId="t"), {}),
    "feature": ([feature(1)], feature(2), {("features", ("group.version",)): (0, 1)}),
    "removed-feature": ([feature(1)], feature(0), {("features", ("group.version",)): (0, None)}),
    "removed-unknown-feature": ([], feature(0), {}),
    "metadata-version": (
        [feature(20, "metadata.version")],
        feature(21, "metadata.version"),
        {("features", ("metadata.version",)): (0, 1)},
    ),
    "kraft-version": ([], feature(1, "kraft.version"), {}),
    "producer-ids": (
        [made("ProducerIdsRecord")],
        made("ProducerIdsRecord"),
        {("producer-ids", ()): (0, 1)},
    ),
    "nothing": ([topic()], NO_OP, {}),
    "migration": ([topic()], made("ZkMigrationStateRecord"), {}),
    "unreadable": ([topic()], unreadable(b""), {}),
}


class TestTouches:
    @pytest.mark.parametrize(("before", "record", "expected"), TOUCHES.values(), ids=TOUCHES)
    def test_record_touches(
        self, fed: Fed, before: Sequence[Made], record: Made, expected: Any
    ) -> None:
        fed.each(*before)
        fed.fold.watch(ALL)

        stop = fed.add(record)

        assert fed.touched == expected
        assert stop.has_changes is bool(expected)
        assert stop.applied + stop.dropped == 1

    def test_fold_stops_behind_a_record_that_touches_what_is_watched(self, fed: Fed) -> None:
        fed.fold.watch([EntryKey("partitions", (T, 1)), EntryKey("brokers")])
        batch = fed.put(topic(), partition(), partition(1), change(0), broker(5), NO_OP)

        first = fed.apply(batch)
        assert counted(first) == (3, None, False, True, 3, 0, 0)
        assert fed.place(first) == 3
        assert fed.fold.changes() == [EntryChange("partitions", (T, 1), None, fed.addresses[2])]

        second = fed.apply(batch, first)
        assert counted(second) == (5, None, False, True, 2, 0, 0)
        assert fed.touched == {("brokers", (5,)): (None, 4)}

        third = fed.apply(batch, second)
        assert counted(third) == (6, None, False, False, 1, 0, 0)
        assert fed.touched == {}

    @pytest.mark.parametrize("key", [(), (T,), (T, 1)])
    def test_watch_is_for_all_keys_that_begin_like_it(
        self, fed: Fed, key: tuple[object, ...]
    ) -> None:
        others = [(U,), (T, 0), (T, 1, 1)]
        fed.fold.watch(
            [*(EntryKey("partitions", one) for one in others), EntryKey("partitions", key)]
        )

        assert fed.apply(fed.put(topic(), partition(1))).has_changes
        assert fed.touched == {("partitions", (T, 1)): (None, 1)}

    def test_last_watches_count(self, fed: Fed) -> None:
        fed.fold.watch([EntryKey("topics")])
        fed.fold.watch([])

        assert not fed.add(topic()).has_changes
        assert fed.fold.changes() == []

    def test_marker_touches_nothing(self, fed: Fed) -> None:
        fed.fold.watch(ALL)
        batch = fed.put(topic(), BEGIN)

        stop = fed.apply(batch, fed.apply(batch))

        assert stop.marker == types.BEGIN_TRANSACTION
        assert fed.touched == {}


class TestSeed:
    def test_unneeded_clearing_may_be_the_newest_change(self, fed: Fed) -> None:
        fed.each(topic(), partition(), partition(1, **ELR), topic(U, "b"), partition(0, U))
        before = fed.fold.partition(T, 0)
        fed.fold.seed(is_seeded=True)
        fed.each(clear_elr("a"))

        addresses = fed.addresses
        assert fed.fold.newest(T, 0) == NewestRecord(addresses[5], 1, is_certain=False)
        assert fed.fold.newest(T, 1) == NewestRecord(addresses[5], 2)
        assert fed.fold.newest(U, 0) == NewestRecord(addresses[4], 1)
        assert fed.fold.partition(T, 0) == before

    def test_later_change_is_certain_again(self, fed: Fed) -> None:
        fed.each(topic(), partition())
        fed.fold.seed(is_seeded=True)
        fed.each(clear_elr(), clear_elr(), change())

        assert fed.fold.newest(T, 0) == NewestRecord(fed.addresses[4], 2)

    def test_is_unsaid(self, fed: Fed) -> None:
        fed.each(topic(), partition())
        fed.fold.seed(is_seeded=True)
        fed.fold.seed(is_seeded=False)
        fed.each(clear_elr())

        assert fed.fold.newest(T, 0) == NewestRecord(fed.addresses[1], 1)


class TestTopics:
    def test_are_found_by_name_and_id(self, fed: Fed) -> None:
        fed.each(topic(), topic(U, "b"), topic(V, "b"))

        fold, addresses = fed.fold, fed.addresses
        assert list(fold.topic_names().items()) == [("a", T), ("b", V)]
        assert fold.topic_ids() == [T, U, V]
        assert fold.topic_count() == 3
        assert (fold.topic_id("b"), fold.topic_id("c")) == (V, None)
        assert fold.topic(U) == TopicEntry("b", addresses[1])
        assert fold.topic(uuid(99)) is None

    def test_partitions_are_in_the_order_of_their_numbers(self, fed: Fed) -> None:
        fed.each(topic(), *(partition(number) for number in (5, -1, 70_000, 0)), topic(U, "b"))
        fed.each(change(5, leader=9), partition(0, U))

        fold = fed.fold
        assert fold.numbers(T) == [-1, 0, 5, 70_000]
        assert [(number, one.leader) for number, one in fold.partitions(T)] == [
            (-1, 1),
            (0, 1),
            (5, 9),
            (70_000, 1),
        ]
        assert (fold.partition_count(), fold.partition_count(T), fold.partition_count(U)) == (
            5,
            4,
            1,
        )
        assert fold.newest(T, 5) == NewestRecord(fed.addresses[6], 2)
        assert fold.newest(T, 0) == NewestRecord(fed.addresses[4], 1)

    def test_what_is_not_there(self, fed: Fed) -> None:
        fed.each(topic(), partition())

        fold = fed.fold
        assert fold.numbers(U) == []
        assert fold.partitions(U) == []
        assert fold.partition_count(U) == 0
        assert fold.partition(T, 1) is fold.partition(U, 0) is None
        assert fold.newest(T, 1) is fold.newest(U, 0) is None

    def test_batch_that_cannot_be_read_again_is_an_error(self, make: Make) -> None:
        def fetch(_: int) -> bytes:
            raise SourceError("it has changed")

        fold = make("kafka", fetch)
        data = log_bytes(lots([topic(), partition()]))
        assert fold.apply(data, 0, HEADER_SIZE, 0, 2).applied == 2

        with pytest.raises(SourceError, match="it has changed"):
            fold.partition(T, 0)
        with pytest.raises(SourceError, match="it has changed"):
            fold.partitions(T)

    @pytest.mark.parametrize(
        "other",
        [[topic(), NO_OP, NO_OP], [topic(), unreadable(b"\1\3\2")], [topic()]],
        ids=["another", "unreadable", "none"],
    )
    def test_record_that_is_not_there_any_more_is_an_error(
        self, make: Make, other: list[Made]
    ) -> None:
        fold = make("kafka", lambda _: log_bytes(lots(other)))
        data = log_bytes(lots([topic(), partition()]))
        fold.apply(data, 0, HEADER_SIZE, 0, 2)

        with pytest.raises(DecodeError):
            fold.partition(T, 0)


class TestBrokers:
    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ([], [0]),
            ([fence(), unfence()], [0, 2]),
            ([unfence(), registration_change(fenced=1)], [0, 2]),
            ([registration_change(fenced=-1), registration_change()], [0, 1]),
            ([registration_change(inControlledShutdown=1), fence()], [0, 1, 2]),
            ([registration_change(fenced=1, inControlledShutdown=1)], [0, 1]),
            ([registration_change(logDirs=[D1]), registration_change(logDirs=[D2])], [0, 2]),
            ([registration_change(logDirs=[D1]), registration_change(logDirs=[])], [0, 1]),
            ([registration_change(cordonedLogDirs=[D1])] * 2, [0, 2]),
            (
                [registration_change(cordonedLogDirs=[]), fence(), registration_change()],
                [0, 1, 2],
            ),
            ([fence(), broker(), unfence()], [2, 3]),
        ],
    )
    def test_entry_has_the_records_whose_word_counts(
        self, fed: Fed, changes: list[Made], expected: list[int]
    ) -> None:
        fed.each(broker(), *changes)

        entry = fed.fold.brokers()[1]
        assert entry.addresses == tuple(fed.addresses[number] for number in expected)
        records = len(changes) + 1 - expected[0]
        assert entry.newest == NewestRecord(fed.addresses[-1], records)

    def test_refused_change_counts_nothing(self, fed: Fed) -> None:
        fed.each(broker(), made("FenceBrokerRecord", id=1, epoch=6), registration_change(fenced=2))

        address = fed.addresses[0]
        assert fed.fold.brokers() == {1: BrokerEntry(7, (address,), NewestRecord(address, 1))}

    def test_are_in_the_order_in_which_they_came(self, fed: Fed) -> None:
        fed.each(broker(3), broker(1), broker(2), made("UnregisterBrokerRecord", brokerId=1))
        fed.each(broker(3, brokerEpoch=8), broker(1))

        assert [(number, one.epoch) for number, one in fed.fold.brokers().items()] == [
            (3, 8),
            (2, 7),
            (1, 7),
        ]


class TestTables:
    def test_entries_have_the_addresses_of_their_records(self, fed: Fed) -> None:
        fed.each(
            made("RegisterControllerRecord", controllerId=3),
            config("1"),
            quota(),
            made("AccessControlEntryRecord", id=V),
            scram(),
            token(),
            feature(1),
            feature(20, "metadata.version"),
            feature(1, "kraft.version"),
            made("ProducerIdsRecord"),
        )

        at = fed.addresses
        assert fed.fold.tables()._asdict() == {
            "controllers": {3: at[0]},
            "failed_replicas": {},
            "configs": {(2, "a"): {"k": at[1]}},
            "quotas": {(("user", None),): {"k": at[2]}},
            "acls": {V: at[3]},
            "scram": {1: {"u": at[4]}},
            "tokens": {"t": at[5]},
            "features": {"group.version": (1, at[6])},
            "metadata_version": (20, at[7]),
            "producer_ids": at[9],
        }

    def test_update_keeps_its_place_and_what_comes_again_is_last(self, fed: Fed) -> None:
        fed.each(config("1"), config("1", "l"), config("1", "m"), config("2"), config(None, "l"))
        fed.each(config("2", "l"))

        assert list(fed.fold.tables().configs[2, "a"]) == ["k", "m", "l"]

    def test_what_was_given_is_left_alone(self, fed: Fed) -> None:
        fed.add(config("1"))
        tables, names = fed.fold.tables(), fed.fold.topic_names()

        fed.each(config("1", "l"), topic(), token())

        assert list(tables.configs[2, "a"]) == ["k"]
        assert not tables.tokens
        assert not names


class TestLooks:
    @pytest.mark.parametrize(
        ("changes", "look"),
        [
            ({"leader": -1}, PartitionCondition.LEADERLESS),
            ({"isr": [1]}, PartitionCondition.UNDER_REPLICATED),
            ({"addingReplicas": [2]}, PartitionCondition.REASSIGNING),
            ({"removingReplicas": [2]}, PartitionCondition.REASSIGNING),
            ({"eligibleLeaderReplicas": [2]}, PartitionCondition.WITH_ELR),
            ({"directories": [uuid(0), D1]}, PartitionCondition.WITH_DIRECTORIES),
            ({"directories": [uuid(1), uuid(1)]}, PartitionCondition.WITH_DIRECTORIES),
        ],
    )
    def test_record_and_change_give_a_look(
        self, fed: Fed, changes: dict[str, Any], look: PartitionCondition
    ) -> None:
        fed.each(topic(), partition(), partition(9, **changes), partition(2), partition(1))
        fed.each(topic(U, "b"), partition(0, U), change(1, **changes))

        assert fed.fold.partitions_with(look) == {T: [1, 9]}
        assert fed.fold.count_with(look) == 2
        for other in set(PartitionCondition) - {look}:
            assert fed.fold.partitions_with(other) == {}
            assert fed.fold.count_with(other) == 0

    def test_one_of_several_is_enough(self, fed: Fed) -> None:
        fed.each(topic(), partition(isr=[]), partition(1, leader=-1), partition(2), partition(3))
        fed.each(change(3, isr=[1], leader=-1), change(3, isr=[1, 2]))

        looks = PartitionCondition.LEADERLESS | PartitionCondition.UNDER_REPLICATED
        assert fed.fold.partitions_with(looks) == {T: [0, 1, 3]}
        assert fed.fold.count_with(looks) == 3

    def test_cleared_elr_is_none(self, fed: Fed) -> None:
        fed.each(topic(), partition(**ELR), clear_elr())

        assert fed.fold.partitions_with(PartitionCondition.WITH_ELR) == {}


class TestSuspects:
    @pytest.mark.parametrize(
        ("changes", "is_suspect"),
        [
            pytest.param({}, False, id="healthy"),
            pytest.param({"leader": -1, "isr": []}, False, id="offline"),
            pytest.param({"replicas": [], "isr": [], "leader": -1}, True, id="no-replicas"),
            pytest.param({"replicas": [1, 1], "isr": [1]}, True, id="twice"),
            pytest.param({"replicas": [1, 3]}, True, id="unknown-broker"),
            pytest.param({"isr": [1, 3]}, True, id="isr"),
            pytest.param({"eligibleLeaderReplicas": [3]}, True, id="elr"),
            pytest.param({"lastKnownElr": [3]}, False, id="last-known-elr"),
            pytest.param({"addingReplicas": [2]}, False, id="adding"),
            pytest.param({"addingReplicas": [3]}, True, id="adding-another"),
            pytest.param({"removingReplicas": [3]}, True, id="removing-another"),
            pytest.param({"leader": -3}, True, id="no-such-leader"),
            pytest.param({"isr": [2]}, True, id="leader-outside-isr"),
            pytest.param({"directories": [D1, D3]}, False, id="directories"),
            pytest.param({"directories": [D2, D3]}, True, id="another-directory"),
            pytest.param({"directories": [D1, uuid(99)]}, False, id="reserved-directory"),
            pytest.param({"directories": [D1, LOST]}, True, id="lost-in-isr"),
            pytest.param({"directories": [D1, LOST], "isr": [1]}, False, id="lost"),
        ],
    )
    def test_states(self, fed: Fed, changes: dict[str, Any], is_suspect: bool) -> None:
        full = {"directories": [D1, uuid(0)]} | changes
        if len(full.get("replicas", [1, 2])) != 2:
            del full["directories"]
        fed.each(topic(), partition(4, **full), topic(U, "b"), partition(0, U), partition(1, U))

        found = fed.fold.suspects({1: [D1], 2: []})
        assert found == ({T: [4]} if is_suspect else {})
        assert fed.fold.suspects({1: [D1], 2: [D3]}) == found

    def test_directory_is_of_its_own_broker(self, fed: Fed) -> None:
        fed.each(topic(), partition(directories=[D2, D1]))

        assert fed.fold.suspects({1: [D1], 2: [D2]}) == {T: [0]}
        assert fed.fold.suspects({1: [D1, D2], 2: [D2, D1]}) == {}
        assert fed.fold.suspects({1: [], 2: []}) == {}

    def test_are_in_the_order_of_topics_and_numbers(self, fed: Fed) -> None:
        fed.each(topic(U, "b"), topic(), partition(7), partition(3), partition(1, U), topic(U, "b"))
        fed.each(partition(1, U))

        assert list(fed.fold.suspects({}).items()) == [(T, [3, 7]), (U, [1])]


class TestDifferent:
    def test_states_are_compared_and_not_what_made_them(self, make: Make) -> None:
        one, other = Fed(make), Fed(make)
        one.each(topic(), partition(leaderEpoch=0, partitionEpoch=0), partition(1), partition(2))
        other.each(NO_OP, topic(), partition(), change(leader=1), partition(1, isr=[1]))
        other.each(partition(3))

        assert one.fold.different(other.fold) == {T: [1, 2, 3]}
        assert other.fold.different(one.fold) == {T: [1, 2, 3]}
        assert one.fold.different(one.fold) == {}

    def test_topics_that_are_in_one_of_them_are_left_out(self, make: Make) -> None:
        one, other = Fed(make), Fed(make)
        one.each(topic(), partition())
        other.each(topic(U), partition(0, U))

        assert one.fold.different(other.fold) == {}


class TestHoldings:
    def test_replicas_are_counted_by_broker_and_topic(self, fed: Fed) -> None:
        fed.each(topic(), partition(), partition(1, replicas=[1, 3]), partition(2))
        fed.each(topic(U, "b"), partition(0, U), change(2, replicas=[4, 5]))

        assert fed.fold.replica_counts() == {
            1: {T: 2, U: 1},
            2: {T: 1, U: 1},
            3: {T: 1},
            4: {T: 1},
            5: {T: 1},
        }


class TestNewestBelow:
    def test_is_that_of_a_topic_or_one_of_its_partitions(self, fed: Fed) -> None:
        fed.each(topic(), partition(), partition(1), change(0), topic(U, "b"))

        fold, addresses = fed.fold, fed.addresses
        assert fold.newest_below(T, None) == NewestRecord(addresses[3], 2)
        assert fold.newest_below(U, None) == NewestRecord(addresses[4], 1)
        assert fold.newest_below(None, None) == NewestRecord(addresses[4], 1)
        assert fold.newest_below(V, None) is None

    def test_nothing_is_below_nothing(self, make: Make) -> None:
        assert Fed(make).fold.newest_below(None, None) is None

    def test_certain_change_of_a_record_counts_before_an_uncertain_one(self, fed: Fed) -> None:
        fed.each(topic(), partition(), partition(1, **ELR), partition(2))
        fed.fold.seed(is_seeded=True)
        fed.each(clear_elr())

        assert fed.fold.newest_below(T, None) == NewestRecord(fed.addresses[4], 2)

    def test_uncertain_change_is_the_newest(self, fed: Fed) -> None:
        fed.each(topic(), partition())
        fed.fold.seed(is_seeded=True)
        fed.each(clear_elr())

        newest = NewestRecord(fed.addresses[2], 1, is_certain=False)
        assert fed.fold.newest_below(None, None) == newest

    def test_exact_addresses_count_of_what_is_in_both(self, make: Make) -> None:
        fed, exact = Fed(make), Fed(make)
        fed.each(topic(), partition(), partition(1), topic(U, "b"), NO_OP, NO_OP)
        exact.each(topic(), NO_OP, NO_OP, NO_OP, partition(), change(), topic(V, "c"))
        below = fed.fold.newest_below

        assert below(T, exact.fold) == NewestRecord(exact.addresses[5], 2)
        assert below(U, exact.fold) is None
        assert below(V, exact.fold) is None
        assert below(None, exact.fold) == NewestRecord(exact.addresses[5], 2)

    def test_exact_addresses_may_be_lower(self, make: Make) -> None:
        fed, exact = Fed(make), Fed(make)
        fed.each(NO_OP, NO_OP, topic(), partition())
        exact.each(topic(), partition())

        assert fed.fold.newest_below(T, exact.fold) == NewestRecord(exact.addresses[1], 1)


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
class TestIndex:
    def _seen(self, index: Index, *records: Made) -> list[tuple[Any, ...]]:
        """Return what is seen, but for positions, which are looked at."""
        (batch,) = batches_of(log_bytes(lots(records)))
        found = index("kafka", batch.data, HEADER_SIZE, 0, len(records))
        ends = [HEADER_SIZE]
        for _ in records:
            ends.append(read_record(batch.data, ends[-1], 0, 0)[1])
        for one in found:
            assert (one.start, one.end) == (ends[one.number], ends[one.number + one.total])
        assert sum(one.total for one in found) == len(records)
        return [(one.number, one.total, *one[4:]) for one in found]

    def test_partitions_of_a_topic_are_together(self, index: Index) -> None:
        records = [partition(0), partition(5), partition(1), partition(0, U), partition(1, U)]

        assert self._seen(index, topic(), *records, change(3), change(2)) == [
            (0, 1, types.TOPIC, 0, None, None),
            (1, 3, types.PARTITION, 2, T, 0),
            (4, 2, types.PARTITION, 2, U, 0),
            (6, 2, types.PARTITION_CHANGE, 2, T, 3),
        ]

    def test_numbers_far_apart_are_not(self, index: Index) -> None:
        numbers = (8191, 0, 8192, 16383, 16384, -1, -8192, -8193)

        seen = self._seen(index, *map(partition, numbers))

        assert [(total, number) for _, total, *_, number in seen] == [
            (2, 8191),
            (2, 8192),
            (1, 16384),
            (2, -1),
            (1, -8193),
        ]

    def test_versions_and_types_are_not(self, index: Index) -> None:
        old = made("PartitionRecord", 1, partitionId=1, topicId=T)

        assert self._seen(index, partition(), old, old, change(), partition()) == [
            (0, 1, types.PARTITION, 2, T, 0),
            (1, 2, types.PARTITION, 1, T, 1),
            (3, 1, types.PARTITION_CHANGE, 2, T, 0),
            (4, 1, types.PARTITION, 2, T, 0),
        ]

    def test_of_all_else_only_what_does_nothing_is_together(self, index: Index) -> None:
        odd = [unreadable(b""), unreadable(b"")]
        records = [NO_OP, NO_OP, config("1"), config("1"), *odd, topic(), topic(), BEGIN]

        nothing = (None, None)
        assert self._seen(index, *records) == [
            (0, 2, types.NO_OP, 0, *nothing),
            (2, 1, types.CONFIG, 0, *nothing),
            (3, 1, types.CONFIG, 0, *nothing),
            (4, 1, None, None, *nothing),
            (5, 1, None, None, *nothing),
            (6, 1, types.TOPIC, 0, *nothing),
            (7, 1, types.TOPIC, 0, *nothing),
            (8, 1, types.BEGIN_TRANSACTION, 0, *nothing),
        ]

    def test_record_with_a_key_has_no_type(self, index: Index) -> None:
        data = batch_bytes([Record(0, 0, b"k", NO_OP.value), Record(1, 0, None, NO_OP.value)])

        seen = index("kafka", data, HEADER_SIZE, 0, 2)
        assert [one.type for one in seen] == [None, types.NO_OP]

    def test_begins_and_ends_where_it_is_told(self, index: Index) -> None:
        (batch,) = batches_of(log_bytes(lots([NO_OP] * 5)))
        position = read_record(batch.data, HEADER_SIZE, 0, 0)[1]

        (seen,) = index("kafka", batch.data, position, 1, 4)
        assert (seen.number, seen.total, seen.start) == (1, 3, position)

    def test_ends_before_what_is_no_record(self, index: Index) -> None:
        body = record_bytes(Record(0, 0, None, NO_OP.value), 0, 0)

        (seen,) = index("kafka", body * 2 + b"\x7e\0", 0, 0, 4)
        assert (seen.total, seen.end) == (2, 2 * len(body))


class TestDrafts:
    def test_are_folded_by_the_reference(self) -> None:
        fold = open_fold("kip-631", lambda _: b"")

        assert isinstance(fold, ReferenceFold)

    def test_unknown_one_is_refused(self) -> None:
        with pytest.raises(UsageError, match="no dialect 'x'"):
            open_fold("x", lambda _: b"")
        with pytest.raises(UsageError, match="no dialect 'x'"):
            index_records("x", b"", 0, 0, 0)

    def test_types_are_those_of_kafka(self) -> None:
        dialect = "kip-631-draft"
        record = made("TopicRecord", dialect=dialect, topicId=T, name="a", deleting=True)
        data = log_bytes(lots([record]))
        fold = open_fold(dialect, lambda _: data)
        fold.apply(data, 0, HEADER_SIZE, 0, 1)

        (seen,) = index_records(dialect, data, HEADER_SIZE, 0, 1)
        assert (seen.type, seen.version) == (types.TOPIC, 0)
        assert fold.topic(T) == TopicEntry("a", HEADER_SIZE, is_deleting=True)

    def test_fenced_broker_leaves_all_isrs(self) -> None:
        def draft(name: str, **data: Any) -> Made:
            return made(name, dialect="kip-631", **data)

        fed = Fed(ReferenceFold, "kip-631")
        fields: dict[str, Any] = {"topicId": T, "replicas": [1, 2], "leader": 2}
        fed.each(
            draft("RegisterBrokerRecord", brokerId=1, brokerEpoch=7),
            draft("TopicRecord", topicId=T, topicName="a"),
            draft("PartitionRecord", partitionId=0, isr=[1, 2], **fields),
            draft("PartitionRecord", partitionId=1, isr=[2], **fields),
        )
        fed.fold.watch(ALL)
        fed.add(draft("FenceBrokerRecord", brokerId=1, brokerEpoch=7))

        assert fed.touched == {("brokers", (1,)): (0, 4), ("partitions", (T, 0)): (2, 4)}
        assert [one.isr for _, one in fed.fold.partitions(T)] == [[2], [2]]
        assert fed.fold.partitions_with(PartitionCondition.UNDER_REPLICATED) == {T: [0, 1]}

    def test_record_has_all_credentials_of_its_user(self) -> None:
        def credentials(*mechanisms: int) -> Made:
            fields: dict[str, Any] = dict.fromkeys(("salt", "saltedPassword"), b"x")
            infos = [{"mechanism": one, "iterations": 1, **fields} for one in mechanisms]
            data: dict[str, Any] = {"userName": "u", "credentialInfos": infos}
            return made("UserScramCredentialRecord", dialect="kip-631", **data)

        fed = Fed(ReferenceFold, "kip-631")
        fed.add(credentials(1, 2))
        fed.fold.watch(ALL)
        fed.add(credentials(2, 3))

        assert fed.touched == {
            ("scram", (1, "u")): (0, None),
            ("scram", (2, "u")): (0, 1),
            ("scram", (3, "u")): (None, 1),
        }
