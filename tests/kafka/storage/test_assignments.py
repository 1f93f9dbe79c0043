"""A directory of another broker is set aside by a real Kafka, as `verify` and `rewrite` say."""

import json
import shutil
from pathlib import Path

import pytest

from kraftops.server.partition_data import partition_data_of
from tests.helpers.kafka.cases.damaged_directories import format_node
from tests.helpers.kafka.nodes.configs import Config, broker, combined
from tests.helpers.kafka.nodes.nodes import running
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
            node.fill(name, records=RECORDS)
        node.stop()
    return config


def verify(*configs: Config) -> tuple[int, set[tuple[str, str | None, int | None]]]:
    """Return the exit code of verify, and code, partition and records of each finding and note."""
    paths = [argument for config in configs for argument in ("-c", str(config.path))]
    answer = json.loads(storage("verify", *paths, "--format", "json").text)
    found = {
        (
            finding["code"],
            finding["topic"] and f"{finding['topic']}-{finding['partition']}",
            finding["records"],
        )
        for finding in answer["findings"]
    }
    return (0 if answer["isSound"] else 2), found


def storage(*args: str) -> Done:
    return run_command(*args, program=STORAGE)


def place(config: Config, name: str) -> Path:
    """Return the directory of a partition."""
    (found,) = (path / name for path in config.log_dirs if (path / name).exists())
    return found


def records(config: Config, name: str) -> int | None:
    return partition_data_of(str(place(config, name))).records


def strays(config: Config) -> set[str]:
    """Return the partitions that a broker has set aside."""
    paths = [path for directory in config.log_dirs for path in directory.glob("*-stray")]
    return {path.name.partition(".")[0] for path in paths}


@pytest.mark.long
def test_directory_of_another_broker_is_not_taken_over(jars: Path, used: Config) -> None:
    """The directory of a node is mounted at another broker; rewrite refuses it.

    What verify proposes loses nothing; with --force, all records in it are lost.
    """
    first, taken = used.log_dirs
    if not (taken / "a-0").exists():
        shutil.move(first / "a-0", taken)
    partitions = sorted(path.name for path in taken.glob("?-0"))
    other = format_node(broker(used.path.parent, 9, [used]))
    started(jars, used, other)  # node 1 tells where a-0 is now
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

    other = other.changed(other.settings)
    assert verify(used, other) == (0, set())
    started(jars, used, other)
    assert [records(used, f"{name}-0") for name in "abc"] == [RECORDS] * 3

    merged = other.changed({"log.dirs": f"{other.log_dirs[0]},{taken}"})
    forced = storage("rewrite", "-c", str(merged.path), "--node-id", "9", "--force")
    assert forced.code == 0
    assert f"sets them aside: {', '.join(partitions)} (" in forced.err
    left = used.changed({"log.dirs": str(first)})
    code, found = verify(left, merged)
    assert code == 2
    assert {("other-broker", name, RECORDS) for name in partitions} < found
    assert {("missing-partition", name, None) for name in partitions} < found
    started(jars, left, merged)
    assert strays(merged) == set(partitions)
    assert [records(left, name) for name in partitions] == [0] * len(partitions)


def started(jars: Path, controller: Config, member: Config) -> None:
    """Start a node and then a broker, and stop them."""
    with running(jars, controller) as node:
        node.wait_ready()
        with running(jars, member) as second:
            second.wait_ready(2)
            second.stop()
        node.stop()
