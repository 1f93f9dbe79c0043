"""Health counts of an image."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.image.load.loading import load
from kraftops.image.state.health import health_counts
from tests.helpers.image.model import partition_states
from tests.helpers.logs.random_logs import log_bytes, random_log
from tests.helpers.tools.corpus import SHELL


@given(st.integers(min_value=0, max_value=1 << 32))
def test_counts_match_the_decoded_states(
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
    assert found.under_replicated == sum(
        len(state.isr) < len(state.replicas) - len(state.adding_replicas) for state in states
    )
    assert sum(found.brokers.values()) == len(image.brokers)


def test_brokers_are_counted_by_status() -> None:
    image = load(SHELL / "in/n431", at_offset=549)

    assert health_counts(image).brokers == {
        "active": 1,
        "controlled-shutdown": 1,
        "registered-fenced": 2,
    }
