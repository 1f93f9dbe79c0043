"""Starts of logs: offsets before the first segment are in a tier, or lost.

Copies of a broker's directories often lack its `remote-log-index-cache`, and what
`__remote_log_metadata` says. The real broker was stopped; `orders` and `kept` are tiered, `compact`
is not.
"""

import shutil
from pathlib import Path

import pytest

from kraftops.dump.check import partition
from kraftops.dump.check.directories import CheckRequest, check_directories
from tests.helpers.logs.metadata_logs import records_batch

REAL = Path(__file__).parents[3] / "data/tiered-4.3.1/stopped"
LOG_START = "log-start-offset-checkpoint"


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy without all that names a tier, but for the checkpoints."""
    monkeypatch.setattr(partition, "_LOOKS", 1)
    folder = Path(shutil.copytree(REAL, tmp_path / "broker"))
    for path in folder.glob("__remote_log_metadata-*"):
        shutil.rmtree(path)
    return folder


def without_remote_topic(folder: Path) -> None:
    """Leave the remote log metadata out of the checkpoints, as on a broker that has none."""
    for path in folder.glob("*-checkpoint"):
        head, _, *lines = path.read_text().splitlines()
        kept = [line for line in lines if not line.startswith("__remote")]
        path.write_text("\n".join([head, str(len(kept)), *kept, ""]))


def lost(folder: Path) -> dict[str, list[tuple[int, int]]]:
    """Return the lost offsets of partitions that have lost some."""
    checks, common = check_directories(CheckRequest([str(folder)]))
    assert {one.code for one in common} <= {"missing-partition"}  # the copy lacks some
    found = {
        Path(one.path).name: [(loss.first, loss.last) for loss in one.losses] for one in checks
    }
    return {name: spans for name, spans in found.items() if spans}


def test_copy_without_the_cache_of_remote_indexes_has_lost_nothing(copy: Path) -> None:
    assert lost(copy) == {}


def test_log_start_of_zero_is_that_of_a_tiered_log(copy: Path) -> None:
    without_remote_topic(copy)

    assert lost(copy) == {}


def test_metadata_log_tells_which_topics_are_tiered(copy: Path) -> None:
    without_remote_topic(copy)
    (copy / LOG_START).write_text("0\n3\norders 0 8\norders 1 16\nkept 0 8\n")
    (copy / "__cluster_metadata-0").mkdir()
    config = {"resourceType": 2, "name": "remote.storage.enable", "value": "true"}
    records = [("ConfigRecord", {**config, "resourceName": name}) for name in ("kept", "orders")]
    records.append(("ConfigRecord", {**config, "resourceName": "kept", "value": None}))
    log = copy / "__cluster_metadata-0" / f"{0:020}.log"
    log.write_bytes(records_batch(0, *records))

    assert lost(copy) == {"kept-0": [(8, 39)]}


def test_lost_first_segment_is_found_where_nothing_speaks_of_a_tier(copy: Path) -> None:
    without_remote_topic(copy)
    (copy / LOG_START).write_text("0\n3\norders 0 40\norders 1 80\nkept 0 45\n")
    for path in (copy / "kept-0").glob(f"{40:020}.*"):
        path.unlink()

    assert lost(copy) == {"kept-0": [(45, 47)]}


def test_lost_first_segment_is_found_beside_tiered_logs(copy: Path) -> None:
    """The broker has stopped, and wrote the starts of all that is tiered."""
    for path in (copy / "compact-0").glob(f"{0:020}.*"):
        path.unlink()

    assert lost(copy) == {"compact-0": [(0, 20)]}


def test_of_a_log_without_segments_the_tier_has_the_start(copy: Path) -> None:
    for path in (copy / "orders-0").glob("*.log"):
        path.unlink()
    alone = lost(copy)
    for path in REAL.glob("__remote_log_metadata-*"):
        shutil.copytree(path, copy / path.name)

    assert alone == {"orders-0": [(40, 59)]}
    assert lost(copy) == {"orders-0": [(56, 59)]}
