"""Leaves have the text of Kafka's classes; `tests/kafka/image/test_same_image.py` asks those themselves."""

from kraftops.image.state.changes import Provenance
from kraftops.tree.kafka_text import provenance_text


def test_provenance_has_kafkas_count() -> None:
    assert (
        provenance_text(Provenance(12, 3, 0, counted=10))
        == "offset 10, epoch 3, time 1970-01-01T00:00:00Z[UTC]"
    )
    assert (
        provenance_text(Provenance()) == "offset -1, epoch -1, time 1969-12-31T23:59:59.999Z[UTC]"
    )
