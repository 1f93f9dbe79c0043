"""Keys of a server configuration."""

import pytest

from tests.helpers.nodes.server_configs import load_with

pytestmark = pytest.mark.usefixtures("working_directory")


def test_every_key_of_kafka_has_a_value() -> None:
    config = load_with({})

    assert len(config.values) == 360
    assert config.values["num.partitions"] == 1
    assert config.values["log.cleaner.min.cleanable.ratio"] == 0.5
    assert config.values["auto.create.topics.enable"] is True
    assert config.values["compression.type"] == "producer"
    assert config.values["group.consumer.assignors"] == ("uniform", "range")
    assert config.values["log.retention.ms"] is None
