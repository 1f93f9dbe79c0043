"""`kafka-storage format -g` mends data directories that lost their meta.properties."""

import json
import shutil
from pathlib import Path

import pytest

from kraftops.uuids import to_text
from tests.helpers.logs.random_logs import new_record
from tests.helpers.nodes.assigned_partitions import D1, D2, D9, assigned, broker, partition, topic
from tests.helpers.nodes.node_directories import META, PROPERTIES, entries, format_node, storage


@pytest.fixture
def lost_meta(tmp_path: Path) -> Path:
    """Return broker 1, whose data directory d2 has t-1 but no meta.properties."""
    registration = new_record(
        "RegisterBrokerRecord", 3, brokerId=1, brokerEpoch=1, logDirs=[D1, D2]
    )
    records = (registration, topic(), assigned(1, {1: D2}), assigned(2, {9: D9}))
    node = broker(tmp_path / "node", 1, {"d1": D1, "d2": D2}, *records)
    partition(node / "d2", "t-1")
    (node / "d2" / META).unlink()
    return node


def test_data_directory_without_meta_properties_is_mended(lost_meta: Path) -> None:
    before = entries(lost_meta / "d2/t-1")

    done = format_node(lost_meta, "-g")

    assert done.code == 0
    assert done.text.splitlines()[1:] == [
        "Formatting data directory d2 with metadata.version 4.3-IV0."
    ]
    message, _ = done.errors
    assert message == (
        "kafka-storage: warning: d2 holds partitions, and has lost its meta.properties: it gets "
        f"the id that the metadata has of it, {to_text(D2)}"
    )
    assert f"directory.id={to_text(D2)}\n" in (lost_meta / "d2" / META).read_text()
    assert entries(lost_meta / "d2/t-1") == before
    assert storage(lost_meta, "verify", "-c", PROPERTIES).code == 0


def test_data_directory_is_not_mended_without_ignore_formatted(lost_meta: Path) -> None:
    assert format_node(lost_meta, "--ensure").code == 1
    assert not (lost_meta / "d2" / META).exists()


def test_data_directory_of_uncertain_id_gets_a_new_one(lost_meta: Path) -> None:
    shutil.rmtree(lost_meta / "d2/t-1")
    partition(lost_meta / "d2", "gone-0", topic_id=D9)

    done = format_node(lost_meta, "-g", "--format", "json")

    answer = json.loads(done.text)
    mended = answer["directories"][1]
    assert (done.code, mended["mends"]) == (0, True)
    assert mended["directoryId"] != to_text(D2)


@pytest.mark.parametrize("form", ["text", "json"])
def test_data_directory_of_another_broker_is_not_mended(lost_meta: Path, form: str) -> None:
    partition(lost_meta / "d2", "t-2", records=300)
    before = entries(lost_meta)

    done = format_node(lost_meta, "-g", "--format", form)

    assert done.code == 3
    assert "t-2 (300 records" in (done.err if form == "text" else done.text)
    assert entries(lost_meta) == before
    assert format_node(lost_meta, "-g", "--force").code == 0


def test_metadata_directory_without_meta_properties_stays_refused(lost_meta: Path) -> None:
    (lost_meta / "d1" / META).rename(lost_meta / "d2" / META)

    done = format_node(lost_meta, "-g")

    assert done.code == 1
    assert "d1 is not formatted, but holds data: __cluster_metadata-0" in done.err
