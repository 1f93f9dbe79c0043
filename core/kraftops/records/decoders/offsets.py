"""The decoder of `__consumer_offsets`: committed offsets, and groups of all protocols."""

from kraftops.records.decoders.keyed import Embedded, KeyedDecoder

DECODER = KeyedDecoder(
    "offsets",
    "group",
    Embedded(
        "GroupMetadataValue",
        '{"protocolType":"consumer",',
        "consumer",
        (
            ("subscription", "ConsumerProtocolSubscription"),
            ("assignment", "ConsumerProtocolAssignment"),
        ),
    ),
)
