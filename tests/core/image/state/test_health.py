"""Counts of an image, and the size of its log."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.image.load.loading import load
from kraftops.image.load.log_size import log_size
from kraftops.image.state.health import health_counts
from tests.helpers.image.model import partition_states
from tests.helpers.logs.metadata_logs import no_ops, snapshot_bytes, write_log
from tests.helpers.logs.random_logs import log_bytes, random_log
from tests.helpers.tools.corpus import SHELL


@given(st.integers(min_value=0, max_value=1 << 32))
def test_counts_are_those_of_the_decoded_states(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "health_counts.log"
    path.write_bytes(log_bytes(random_log(Random(seed))))
    image = load(path)
    states = partition_states(image).values()

    found = health_counts(image)

    assert found.topics == len(image.topics)
    assert found.partitions == len(states)
    assert found.leaderless == sum(state.leader < 0 for state in states)
    assert found.under_replicated == sum(len(state.isr) < len(state.replicas) for state in states)
    assert sum(found.brokers.values()) == len(image.brokers)


def test_brokers_are_counted_by_what_they_may_do() -> None:
    image = load(SHELL / "in/n431", at_offset=549)

    assert health_counts(image).brokers == {
        "active": 1,
        "controlled-shutdown": 1,
        "registered-fenced": 2,
    }


def test_log_goes_on_behind_its_newest_snapshot() -> None:
    size = log_size([str(SHELL / "in/n431")])

    assert (size.segments, size.segment_bytes) == (1, 44056)
    assert (size.snapshots, size.snapshot_bytes) == (2, 5935 + 8321)
    assert (size.end_offset, size.snapshot_end_offset, size.lag) == (584, 413, 171)
    assert size.snapshot_timestamp == 1795258144636


def test_what_is_not_there_has_no_size(tmp_path: Path) -> None:
    write_log(tmp_path, {0: [no_ops(0, 3)]})

    size = log_size([str(tmp_path)])

    assert (size.end_offset, size.snapshot_end_offset, size.lag) == (3, None, None)


def test_snapshot_alone_has_no_lag(tmp_path: Path) -> None:
    write_log(tmp_path, {}, {(5, 1): snapshot_bytes(no_ops(1, 1), end=2)})

    size = log_size([str(tmp_path)])

    assert (size.end_offset, size.snapshot_end_offset, size.lag) == (None, 5, None)
