"""A data directory without meta.properties is mended as by Kafka's `format -g`, with its old id."""

from pathlib import Path

import pytest

from kraftops.server.partition_data import partition_data_of
from tests.helpers.kafka.cases.damaged_directories import META, format_node, properties
from tests.helpers.kafka.nodes.configs import CLUSTER_ID, Config, combined
from tests.helpers.kafka.nodes.nodes import running
from tests.helpers.kafka.tools.storage_tool import KafkaStorage
from tests.helpers.tools.console import STORAGE, Done, run_command

pytestmark = pytest.mark.kafka

RECORDS = 100
NAMES = ("a", "b", "c")


@pytest.fixture
def used(jars: Path, tmp_path: Path) -> Config:
    """A stopped node with partitions in two directories; the second has no meta.properties."""
    config = format_node(combined(tmp_path, log_dirs=2), standalone=True)
    with running(jars, config) as node:
        node.wait_ready()
        for name in NAMES:
            node.fill(name, records=RECORDS)
        node.stop()
    (config.log_dirs[1] / META).rename(config.log_dirs[1].parent / "lost")
    return config


def arguments(config: Config) -> list[str]:
    return ["format", "-c", str(config.path), "-t", CLUSTER_ID, "-g", "-N"]


def format_again(config: Config) -> Done:
    return run_command(*arguments(config), program=STORAGE)


def records(config: Config) -> list[int | None]:
    folders = [path / f"{name}-0" for name in NAMES for path in config.log_dirs]
    return [partition_data_of(str(folder)).records for folder in folders if folder.exists()]


def test_data_directory_gets_its_id_again(
    jars: Path, used: Config, kafka_storage: KafkaStorage
) -> None:
    lost = used.log_dirs[1].parent / "lost"
    theirs = kafka_storage(*arguments(used))
    (used.log_dirs[1] / META).unlink()

    ours = format_again(used)

    assert (ours.code, ours.text) == (theirs.code, theirs.text)
    assert ours.code == 0
    assert properties(used, f"d2/{META}")["directory.id"] in lost.read_text()
    verified = run_command("verify", "-c", str(used.path), program=STORAGE)
    assert (verified.code, verified.err) == (0, "")
    with running(jars, used) as node:
        node.wait_ready()
        assert node.topics() >= set(NAMES)
        node.stop()
    assert records(used) == [RECORDS] * 3


@pytest.mark.long
def test_metadata_directory_stays_refused(used: Config) -> None:
    (used.log_dirs[0] / META).unlink()

    done = format_again(used)

    assert done.code == 1
    assert "is not formatted, but holds data" in done.err
