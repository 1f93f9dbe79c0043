"""`verify` says which partitions a real Kafka sets aside, makes anew, or keeps."""

import json
import re
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from kraftops.log.batch import Record, batch_bytes
from kraftops.storage.logdirs.partition_data import partition_data_of
from tests.helpers.kafka.cases.damaged_directories import format_node
from tests.helpers.kafka.nodes.configs import Config, broker, combined
from tests.helpers.kafka.nodes.nodes import Node, running, until
from tests.helpers.kafka.nodes.protocol import AnswerError
from tests.helpers.nodes.node_directories import OTHER_ID
from tests.helpers.tools.console import STORAGE, Done, run_command

pytestmark = pytest.mark.kafka

RECORDS = 100


@pytest.fixture
def used(jars: Path, tmp_path: Path) -> Config:
    """A stopped node with two directories and three partitions of 100 records each."""
    config = format_node(combined(tmp_path, log_dirs=2), standalone=True)
    with running(jars, config) as node:
        node.wait_ready()
        for name in ("a", "b", "c"):
            node.create_topic(name)
            assert until(partial(has_produced, node, name))
        node.stop()
    return config


def has_produced(node: Node, name: str) -> bool:
    """Append records, if the new leader takes them already."""
    try:
        node.produce(
            name, batch_bytes([Record(number, 1, None, b"x") for number in range(RECORDS)])
        )
    except AnswerError:
        return False
    return True


def verify(*configs: Config) -> tuple[int, set[tuple[str, str | None, int | None]]]:
    """Return the exit code of verify, and code, partition and records of each finding and note."""
    paths = [argument for config in configs for argument in ("-c", str(config.path))]
    answer = json.loads(storage("verify", *paths, "--format", "json").text)
    found = {
        (one["code"], one["partition"], one["records"])
        for one in (*answer["findings"], *answer["notes"])
    }
    return (0 if answer["isSound"] else 2), found


def storage(*args: str) -> Done:
    return run_command(*args, program=STORAGE)


def place(config: Config, name: str) -> Path:
    """Return the directory of a partition."""
    (found,) = (path / name for path in config.log_dirs if (path / name).exists())
    return found


def elsewhere(config: Config, folder: Path) -> Path:
    """Return the other log directory."""
    (found,) = (path for path in config.log_dirs if path != folder.parent)
    return found


def records(config: Config, name: str) -> int | None:
    return partition_data_of(str(place(config, name))).records


def names(directories: Sequence[Path]) -> set[str]:
    return {
        re.sub(r"\.[0-9a-f]{32}-", ".*-", path.name)
        for directory in directories
        for path in directory.iterdir()
        if path.is_dir()
    }


def test_node_as_it_was_stopped_has_no_findings(used: Config) -> None:
    assert verify(used) == (0, set())


def test_server_does_with_partitions_what_verify_says(jars: Path, used: Config) -> None:
    moved, missing = place(used, "a-0"), place(used, "b-0")
    shutil.move(moved, elsewhere(used, moved))
    foreign = missing.parent / "gone-0"
    missing.rename(foreign)
    (foreign / "partition.metadata").write_text(f"version: 0\ntopic_id: {OTHER_ID}\n")

    assert verify(used) == (
        2,
        {
            ("other-directory", "a-0", RECORDS),
            ("missing-partition", "b-0", None),
            ("unknown-topic", "gone-0", RECORDS),
        },
    )

    with running(jars, used) as node:
        node.wait_ready()
        assert until(lambda: "gone-0.*-stray" in names(used.log_dirs))
        assert until(lambda: "b-0" in names(used.log_dirs))
        node.stop()
    assert [records(used, name) for name in ("a-0", "b-0", "c-0")] == [RECORDS, 0, RECORDS]
    assert place(used, "a-0").parent == elsewhere(used, moved)
    assert verify(used) == (0, set())


def test_directory_of_another_broker_is_not_taken_over(jars: Path, used: Config) -> None:
    """The directory of a node is mounted at another broker; rewrite refuses it."""
    taken = place(used, "a-0").parent
    if (taken / "__cluster_metadata-0").exists():
        taken = elsewhere(used, place(used, "a-0"))
        shutil.move(place(used, "a-0"), taken)
    partitions = sorted(path.name for path in taken.glob("?-0"))
    other = format_node(broker(used.path.parent, 9, [used]))
    with running(jars, used) as node:
        node.wait_ready()
        with running(jars, other) as second:
            second.wait_ready(2)
            second.stop()
        node.stop()
    merged = other.changed({"log.dirs": f"{other.log_dirs[0]},{taken}"})

    code, found = verify(merged)

    assert code == 2
    assert {("other-broker", name, RECORDS) for name in partitions} < found
    text = storage("verify", "-c", str(merged.path)).text
    assert "rewrite --node-id 9" not in text
    assert f"take it out of log.dirs: the metadata has {partitions[0]}" in text
    refused = storage("rewrite", "-c", str(merged.path), "--node-id", "9")
    assert refused.code == 3
    assert partitions[0] in refused.err
    assert storage("rewrite", "-c", str(merged.path), "--node-id", "9", "--force").code == 0
    code, found = verify(merged)
    assert code == 2
    assert {("other-broker", name, RECORDS) for name in partitions} <= found
