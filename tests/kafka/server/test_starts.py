"""What is foretold of damaged nodes, and what real ones of Kafka 4.3.1 do."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftops.log.batch import TRANSACTIONAL
from kraftops.log.files import METADATA_PARTITION
from kraftops.server.loader.contract import DiskFolder
from kraftops.server.loader.metadata_log import foretell_metadata_log
from tests.helpers.kafka.cases.damaged_directories import copy_node, format_node
from tests.helpers.kafka.loader.boots import foretell_broker
from tests.helpers.kafka.nodes.configs import Config, combined, controllers
from tests.helpers.kafka.nodes.nodes import running, until
from tests.helpers.nodes.partition_folders import batch

pytestmark = pytest.mark.kafka

SECONDS = 60
SMALL = {
    "internal.metadata.log.segment.bytes": "2000",
    "metadata.log.max.record.bytes.between.snapshots": "500",
    "metadata.max.idle.interval.ms": "10",
}
LOADED = re.compile(r"Loading producer state till offset (\d+)")
OFFLINE = re.compile(r"Stopping serving logs in dir (\S+)")


# Metadata logs


@pytest.fixture(scope="module")
def grown(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A controller that has stopped, with several segments and snapshots."""
    folder = tmp_path_factory.mktemp("grown")
    config = format_node(controllers(folder, 1)[0].changed(SMALL), standalone=True)
    log = config.log_dirs[0] / METADATA_PARTITION
    with running(jars, config) as node:
        node.wait_ready()
        assert until(lambda: len([*log.glob("*.log")]) > 3 and len([*log.glob("*.checkpoint")]) > 3)
        node.stop()
    return config


def _remove_segment(log: Path, index: int) -> None:
    path = sorted(log.glob("*.log"))[index]
    for suffix in (".log", ".index", ".timeindex", ".snapshot"):
        path.with_suffix(suffix).unlink(missing_ok=True)


def _remove_snapshots(log: Path) -> None:
    for path in log.glob("*.checkpoint"):
        path.unlink()


def first_segment_lost(log: Path) -> None:
    _remove_segment(log, 0)


def first_segment_and_snapshots_lost(log: Path) -> None:
    _remove_segment(log, 0)
    _remove_snapshots(log)


def last_segment_lost(log: Path) -> None:
    _remove_segment(log, -1)


def damaged_segment(log: Path) -> None:
    path = sorted(log.glob("*.log"))[1]
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 4
    path.write_bytes(raw)


def zeros_at_the_end(log: Path) -> None:
    path = max(log.glob("*.log"))
    path.write_bytes(path.read_bytes() + bytes(300))


def swapped_segments(log: Path) -> None:
    first, second = sorted(log.glob("*.log"))[1:3]
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)


def odd_snapshot(log: Path) -> None:
    (log / "old.checkpoint").touch()


@pytest.mark.parametrize(
    "damage",
    [
        first_segment_lost,
        first_segment_and_snapshots_lost,
        last_segment_lost,
        damaged_segment,
        zeros_at_the_end,
        swapped_segments,
        odd_snapshot,
    ],
)
def test_metadata_log_loads_as_foretold(
    damage: Callable[[Path], None], grown: Config, jars: Path, tmp_path: Path
) -> None:
    config = copy_node(grown, controllers(tmp_path, 1)[0].changed(SMALL))
    log = config.log_dirs[0] / METADATA_PARTITION
    damage(log)

    foretold = foretell_metadata_log(DiskFolder(str(log)))

    with running(jars, config) as node:
        assert until(lambda: node.exit_code is not None or node.is_ready(), SECONDS)
        assert (node.exit_code is None) == foretold.starts
        if foretold.starts:
            last = LOADED.findall(node.logged())[-1]
            assert int(last) == foretold.end_offset


# Log directories


@pytest.fixture(scope="module")
def used(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A broker with two log directories that has stopped."""
    folder = tmp_path_factory.mktemp("used")
    config = format_node(combined(folder, static=True, log_dirs=2))
    with running(jars, config) as node:
        node.wait_ready()
        node.fill("kept", partitions=4)
        node.stop()
    return config


def _partition(directory: Path) -> Path:
    return min(directory.glob("kept-*"))


def words_for_recovery_points(first: Path, second: Path) -> None:
    (second / "recovery-point-offset-checkpoint").write_text("words\n")


def words_for_recovery_points_beside_an_open_transaction(first: Path, second: Path) -> None:
    words_for_recovery_points(first, second)
    log = max(_partition(second).glob("*.log"))
    begin = batch(100, attributes=TRANSACTIONAL, producer_id=9, producer_epoch=0, base_sequence=0)
    log.write_bytes(log.read_bytes() + begin)


def odd_number_in_log_starts(first: Path, second: Path) -> None:
    (second / "log-start-offset-checkpoint").write_text("0\n1\nkept x 5\n")


def stray_folder(first: Path, second: Path) -> None:
    (second / "lost+found").mkdir()


def partition_twice(first: Path, second: Path) -> None:
    path = _partition(second)
    shutil.copytree(path, first / path.name)


def words_for_epochs(first: Path, second: Path) -> None:
    (_partition(second) / "leader-epoch-checkpoint").write_text("words\n")


def words_for_epochs_beside_the_metadata(first: Path, second: Path) -> None:
    (_partition(first) / "leader-epoch-checkpoint").write_text("words\n")


def empty_partition_metadata(first: Path, second: Path) -> None:
    (_partition(second) / "partition.metadata").write_text("")


def zeros_after_a_clean_stop(first: Path, second: Path) -> None:
    path = max(_partition(second).glob("*.log"))
    path.write_bytes(path.read_bytes() + bytes(100))


def zeros_after_an_unclean_stop(first: Path, second: Path) -> None:
    zeros_after_a_clean_stop(first, second)
    for directory in (first, second):
        (directory / ".kafka_cleanshutdown").unlink()


def metadata_folder(first: Path, second: Path) -> None:
    (second / METADATA_PARTITION).mkdir()


@pytest.mark.parametrize(
    "damage",
    [
        words_for_recovery_points,
        words_for_recovery_points_beside_an_open_transaction,
        odd_number_in_log_starts,
        stray_folder,
        partition_twice,
        words_for_epochs,
        words_for_epochs_beside_the_metadata,
        empty_partition_metadata,
        zeros_after_a_clean_stop,
        zeros_after_an_unclean_stop,
        metadata_folder,
    ],
)
def test_log_directories_load_as_foretold(
    damage: Callable[[Path, Path], None], used: Config, jars: Path, tmp_path: Path
) -> None:
    config = copy_node(used, combined(tmp_path, static=True, log_dirs=2))
    damage(*config.log_dirs)

    foretold = foretell_broker(config.log_dirs)

    with running(jars, config) as node:
        assert until(lambda: node.exit_code is not None or node.is_ready(), SECONDS)
        if foretold.ends:
            assert until(lambda: node.exit_code is not None, SECONDS)
        else:
            assert until(lambda: set(OFFLINE.findall(node.logged())) == foretold.offline)
            assert node.exit_code is None
