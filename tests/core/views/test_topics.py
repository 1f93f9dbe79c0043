"""The view of topics."""

from pathlib import Path

import pytest

from kraftops.image.load.loading import load
from kraftops.views.topics import TOPICS
from tests.helpers.nodes.lost_quorums import broker
from tests.helpers.wire.metadata_quorums import MetadataLog, topic


@pytest.mark.parametrize(
    ("value", "shown"), [("-1", -1), ("86400000", 86400000), ("9" * 5000, None), ("many", None)]
)
def test_retention_is_a_number_of_64_bits_or_nothing(
    tmp_path: Path, value: str, shown: int | None
) -> None:
    log = MetadataLog()
    config = {
        "resourceType": 2, "resourceName": "t1", "name": "retention.ms", "value": value,
    }  # fmt: skip
    log.add(broker(1), broker(2), *topic(1), ("ConfigRecord", config))

    frame = TOPICS.frame(load(log.write(tmp_path)), False)

    assert frame.columns["retentionMs"](0) == shown
