"""The decoder of `__cluster_metadata`, in Kafka's dialect and the dialects of KIP-631."""

from kraftops.log.codecs import MAX_INFLATED_METADATA_BYTES
from kraftops.records.decoders.framed import FramedDecoder

DECODER = FramedDecoder(
    "metadata",
    has_dialects=True,
    has_topics=True,
    max_inflated_bytes=MAX_INFLATED_METADATA_BYTES,
)
