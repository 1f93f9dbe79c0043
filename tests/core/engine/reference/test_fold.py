"""The reference folds drafts of KIP-631, which the compiled engine does not."""

from typing import Any

import pytest

from kraftops.engine.choice import index_records, open_fold
from kraftops.engine.metadata_state import (
    PartitionCondition,
    TopicEntry,
)
from kraftops.engine.reference.fold import ReferenceFold
from kraftops.errors import UsageError
from kraftops.log.batch import HEADER_SIZE
from kraftops.records import metadata_numbers as types
from tests.helpers.engine.fold_driver import ALL, FoldDriver
from tests.helpers.engine.fold_records import (
    T,
)
from tests.helpers.logs.random_logs import MetadataRecord, log_batches, log_bytes, new_record


class TestDrafts:
    def test_reference_folds_drafts(self) -> None:
        fold = open_fold("kip-631", lambda _: b"")

        assert isinstance(fold, ReferenceFold)

    def test_unknown_draft_is_refused(self) -> None:
        with pytest.raises(UsageError, match="no dialect 'x'"):
            open_fold("x", lambda _: b"")
        with pytest.raises(UsageError, match="no dialect 'x'"):
            index_records("x", b"", 0, 0, 0)

    def test_types_are_kafkas(self) -> None:
        dialect = "kip-631-draft"
        record = new_record("TopicRecord", dialect=dialect, topicId=T, name="a", deleting=True)
        data = log_bytes(log_batches([record]))
        fold = open_fold(dialect, lambda _: data)
        fold.apply(data, 0, HEADER_SIZE, 0, 1)

        (groups,) = index_records(dialect, data, HEADER_SIZE, 0, 1)
        assert (groups.type, groups.version) == (types.TOPIC, 0)
        assert fold.topic(T) == TopicEntry("a", HEADER_SIZE, is_deleting=True)

    def test_fenced_broker_leaves_all_isrs(self) -> None:
        def draft(name: str, **data: Any) -> MetadataRecord:
            return new_record(name, dialect="kip-631", **data)

        driver = FoldDriver(ReferenceFold, "kip-631")
        fields: dict[str, Any] = {"topicId": T, "replicas": [1, 2], "leader": 2}
        driver.each(
            draft("RegisterBrokerRecord", brokerId=1, brokerEpoch=7),
            draft("TopicRecord", topicId=T, topicName="a"),
            draft("PartitionRecord", partitionId=0, isr=[1, 2], **fields),
            draft("PartitionRecord", partitionId=1, isr=[2], **fields),
        )
        driver.fold.watch(ALL)
        driver.add(draft("FenceBrokerRecord", brokerId=1, brokerEpoch=7))

        assert driver.changes == {("brokers", (1,)): (0, 4), ("partitions", (T, 0)): (2, 4)}
        assert [one.isr for _, one in driver.fold.partitions(T)] == [[2], [2]]
        assert driver.fold.partitions_with(PartitionCondition.UNDER_REPLICATED) == {T: [0, 1]}

    def test_scram_record_replaces_all_credentials_of_its_user(self) -> None:
        def credentials(*mechanisms: int) -> MetadataRecord:
            fields: dict[str, Any] = dict.fromkeys(("salt", "saltedPassword"), b"x")
            infos = [{"mechanism": one, "iterations": 1, **fields} for one in mechanisms]
            data: dict[str, Any] = {"userName": "u", "credentialInfos": infos}
            return new_record("UserScramCredentialRecord", dialect="kip-631", **data)

        driver = FoldDriver(ReferenceFold, "kip-631")
        driver.add(credentials(1, 2))
        driver.fold.watch(ALL)
        driver.add(credentials(2, 3))

        assert driver.changes == {
            ("scram", (1, "u")): (0, None),
            ("scram", (2, "u")): (0, 1),
            ("scram", (3, "u")): (None, 1),
        }
