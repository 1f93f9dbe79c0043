"""Brokers and replicas in an image."""

from pathlib import Path

import pytest

from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops_cli.cluster.broker_states import broker_states, fenced_by_id, replica_counts
from tests.helpers.nodes.lost_quorums import broker
from tests.helpers.wire.metadata_quorums import MetadataLog, topic


@pytest.fixture
def image(tmp_path: Path) -> MetadataImage:
    log = MetadataLog()
    change = ("BrokerRegistrationChangeRecord", {"brokerId": 2, "brokerEpoch": 2, "fenced": -1})
    log.add(broker(2), broker(1), change, *topic(1), *topic(2))
    return load(log.write(tmp_path))


def test_brokers_have_the_changes_after_their_registration(image: MetadataImage) -> None:
    fenced = fenced_by_id(image)

    assert [*broker_states(image)] == [1, 2]
    assert fenced == {1: True, 2: False}


def test_replicas_are_counted_by_topic(image: MetadataImage) -> None:
    assert replica_counts(image) == {1: {"t1": 1, "t2": 1}, 2: {"t1": 1, "t2": 1}}
