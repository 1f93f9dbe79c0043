"""Leaves have the text of Kafka's classes; `tests/kafka/image/test_same_image.py` asks those themselves."""

import pytest

from kraftops.image.state.changes import Provenance
from kraftops.tree.kafka_text import provenance_text, time_text


@pytest.mark.parametrize(
    ("timestamp", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (100, "1970-01-01T00:00:00.1Z"),
        (120, "1970-01-01T00:00:00.12Z"),
        (1_700_000_000_001, "2023-11-14T22:13:20.001Z"),
        (951_782_400_000, "2000-02-29T00:00:00Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800_000, "+10000-01-01T00:00:00Z"),
        (-62_135_596_800_001, "0000-12-31T23:59:59.999Z"),
        (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
        ((1 << 63) - 1, "+292278994-08-17T07:12:55.807Z"),
        (-(1 << 63), "-292275055-05-16T16:47:04.192Z"),
    ],
)
def test_times_are_those_of_java(timestamp: int, text: str) -> None:
    assert time_text(timestamp) == text


def test_provenance_has_kafkas_count() -> None:
    assert (
        provenance_text(Provenance(12, 3, 0, counted=10))
        == "offset 10, epoch 3, time 1970-01-01T00:00:00Z[UTC]"
    )
    assert (
        provenance_text(Provenance()) == "offset -1, epoch -1, time 1969-12-31T23:59:59.999Z[UTC]"
    )
