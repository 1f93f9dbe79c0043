"""A data directory gets the id again that the metadata has of it, if that is certain."""

from pathlib import Path

import pytest

from kraftops.image.verify.mending import known_directory_ids
from kraftops.storage.config.server_config import load_config
from tests.helpers.logs.random_logs import MetadataRecord, new_record, uuid
from tests.helpers.nodes.assigned_partitions import (
    D1,
    D2,
    D9,
    assigned,
    broker,
    partition,
    topic,
    write_metadata,
)
from tests.helpers.nodes.node_directories import META

OTHER = uuid(1 << 99)


def registered(*directories: bytes) -> MetadataRecord:
    return new_record(
        "RegisterBrokerRecord", 3, brokerId=1, brokerEpoch=1, logDirs=list(directories)
    )


RECORDS = (topic(), assigned(0, {1: D1}), assigned(1, {1: D2}), assigned(2, {9: D9}))


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return broker 1 with t-0 in d1, and t-1 in d2, which has lost its meta.properties."""
    made = broker(tmp_path / "node", 1, {"d1": D1, "d2": D2}, registered(D1, D2), *RECORDS)
    partition(made / "d1", "t-0")
    partition(made / "d2", "t-1")
    (made / "d2" / META).unlink()
    monkeypatch.chdir(made)
    return made


def known() -> dict[str, bytes]:
    return known_directory_ids(load_config("server.properties"))


def test_only_id_that_is_unaccounted_for_is_known(node: Path) -> None:
    partition(node / "d2", f"t-0.{'a' * 32}-future")
    partition(node / "d2", f"t-7.{'a' * 32}-stray")

    assert known() == {"d2": D2}


@pytest.mark.parametrize(
    "records",
    [
        pytest.param((registered(D1, D2, D9), *RECORDS), id="two ids are left"),
        pytest.param((registered(D1), *RECORDS), id="no id is left"),
        pytest.param(RECORDS, id="no registration"),
        pytest.param(
            (registered(D1, D2), *RECORDS, assigned(3, {1: D2})), id="a partition is missing"
        ),
        pytest.param((registered(D1, D9), *RECORDS), id="the id is of another directory"),
    ],
)
def test_uncertain_id_is_not_used(node: Path, records: tuple[MetadataRecord, ...]) -> None:
    write_metadata(node / "d1", *records)

    assert known() == {}


def test_directory_with_an_unknown_partition_gets_a_new_id(node: Path) -> None:
    partition(node / "d2", "gone-0", topic_id=OTHER)

    assert known() == {}


def test_directory_of_another_broker_gets_a_new_id(node: Path) -> None:
    partition(node / "d2", "t-2", records=300)

    assert known() == {}


def test_node_without_metadata_knows_no_ids(node: Path) -> None:
    (node / "d1/__cluster_metadata-0" / f"{0:020}.log").unlink()

    assert known() == {}
