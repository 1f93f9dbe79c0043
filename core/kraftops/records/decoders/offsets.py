"""The decoder of `__consumer_offsets`: committed offsets, and groups of all protocols."""

from kraftops.records.decoders.keyed import Embedded, KeyedDecoder

DECODER = KeyedDecoder(
    "offsets",
    "kraftops.schema.tables.group",
    Embedded(
        "GroupMetadataValue",
        '{"protocolType":"consumer",',
        "kraftops.schema.tables.consumer",
        (
            ("subscription", "ConsumerProtocolSubscription"),
            ("assignment", "ConsumerProtocolAssignment"),
        ),
    ),
)
