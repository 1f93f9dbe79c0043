"""Each record changes the entries that it is about, and no others."""

from collections.abc import Sequence
from typing import Any

import pytest

from kraftops.engine.metadata_state import (
    CHANGED_PARTITIONS,
    EntryChange,
    EntryKey,
)
from kraftops.records import metadata_numbers as types
from tests.helpers.engine.fold_driver import ALL, FoldDriver, counted
from tests.helpers.engine.fold_records import (
    BEGIN,
    ELR,
    NO_OP,
    T,
    U,
    V,
    broker,
    change,
    clear_elr,
    config,
    feature,
    fence,
    partition,
    quota,
    registration_change,
    removal,
    scram,
    token,
    topic,
    unfence,
)
from tests.helpers.logs.random_logs import MetadataRecord, new_record, unreadable

CHANGES: dict[str, tuple[Sequence[MetadataRecord], MetadataRecord, dict[Any, Any]]] = {
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
        new_record("UnregisterBrokerRecord", brokerId=1),
        {("brokers", (1,)): (1, None)},
    ),
    "gone-unknown-broker": ([broker()], new_record("UnregisterBrokerRecord", brokerId=2), {}),
    "controller": (
        [new_record("RegisterControllerRecord", controllerId=3)],
        new_record("RegisterControllerRecord", controllerId=3),
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
    "acl": ([], new_record("AccessControlEntryRecord", id=V), {("acls", (V,)): (None, 0)}),
    "removed-acl": (
        [new_record("AccessControlEntryRecord", id=V)],
        new_record("RemoveAccessControlEntryRecord", id=V),
        {("acls", (V,)): (0, None)},
    ),
    "scram": ([scram()], scram(), {("scram", (1, "u")): (0, 1)}),
    "removed-scram": (
        [scram()],
        new_record("RemoveUserScramCredentialRecord", name="u", mechanism=1),
        {("scram", (1, "u")): (0, None)},
    ),
    "removed-unknown-scram": (
        [scram()],
        new_record("RemoveUserScramCredentialRecord", name="u", mechanism=2),
        {},
    ),
    "token": ([], token(), {("tokens", ("t",)): (None, 0)}),
    "removed-token": (
        [token()],
        new_record("RemoveDelegationTokenRecord", tokenId="t"),
        {("tokens", ("t",)): (0, None)},
    ),
    "removed-unknown-token": ([], new_record("RemoveDelegationTokenRecord", tokenId="t"), {}),
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
        [new_record("ProducerIdsRecord")],
        new_record("ProducerIdsRecord"),
        {("producer-ids", ()): (0, 1)},
    ),
    "nothing": ([topic()], NO_OP, {}),
    "migration": ([topic()], new_record("ZkMigrationStateRecord"), {}),
    "unreadable": ([topic()], unreadable(b""), {}),
}


class TestChanges:
    @pytest.mark.parametrize(("before", "record", "expected"), CHANGES.values(), ids=CHANGES)
    def test_record_changes_entries(
        self,
        driver: FoldDriver,
        before: Sequence[MetadataRecord],
        record: MetadataRecord,
        expected: Any,
    ) -> None:
        driver.each(*before)
        driver.fold.watch(ALL)

        stop = driver.add(record)

        assert driver.changes == expected
        assert stop.has_changes is bool(expected)
        assert stop.applied + stop.dropped == 1

    def test_fold_stops_after_a_record_that_changes_a_watched_entry(
        self, driver: FoldDriver
    ) -> None:
        driver.fold.watch([EntryKey("partitions", (T, 1)), EntryKey("brokers")])
        batch = driver.put(topic(), partition(), partition(1), change(0), broker(5), NO_OP)

        first = driver.apply(batch)
        assert counted(first) == (3, None, False, True, 3, 0, 0)
        assert driver.place(first) == 3
        assert driver.fold.changes() == [
            EntryChange("partitions", (T, 1), None, driver.addresses[2])
        ]

        second = driver.apply(batch, first)
        assert counted(second) == (5, None, False, True, 2, 0, 0)
        assert driver.changes == {("brokers", (5,)): (None, 4)}

        third = driver.apply(batch, second)
        assert counted(third) == (6, None, False, False, 1, 0, 0)
        assert driver.changes == {}

    @pytest.mark.parametrize("key", [(), (T,), (T, 1)])
    def test_watched_key_stands_for_all_keys_that_begin_with_it(
        self, driver: FoldDriver, key: tuple[object, ...]
    ) -> None:
        others = [(U,), (T, 0), (T, 1, 1)]
        driver.fold.watch(
            [*(EntryKey("partitions", one) for one in others), EntryKey("partitions", key)]
        )

        assert driver.apply(driver.put(topic(), partition(1))).has_changes
        assert driver.changes == {("partitions", (T, 1)): (None, 1)}

    def test_last_call_of_watch_counts(self, driver: FoldDriver) -> None:
        driver.fold.watch([EntryKey("topics")])
        driver.fold.watch([])

        assert not driver.add(topic()).has_changes
        assert driver.fold.changes() == []

    def test_marker_changes_nothing(self, driver: FoldDriver) -> None:
        driver.fold.watch(ALL)
        batch = driver.put(topic(), BEGIN)

        stop = driver.apply(batch, driver.apply(batch))

        assert stop.marker == types.BEGIN_TRANSACTION
        assert driver.changes == {}

    def test_only_partitions_that_were_there_and_stay_are_changed_partitions(
        self, driver: FoldDriver
    ) -> None:
        driver.fold.watch([EntryKey(CHANGED_PARTITIONS)])
        batch = driver.put(topic(), partition(), partition(1, **ELR), change(1), removal(), NO_OP)

        stop = driver.apply(batch)
        assert driver.place(stop) == 4
        assert driver.fold.changes() == [
            EntryChange("partitions", (T, 1), driver.addresses[2], driver.addresses[3])
        ]

        assert not driver.apply(batch, stop).has_changes
