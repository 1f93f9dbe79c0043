"""The decoder of `__cluster_metadata`, in Kafka's dialect and the dialects of KIP-631."""

from kraftops.records.decoders.framed import FramedDecoder

DECODER = FramedDecoder("metadata", has_dialects=True, has_topics=True)
