"""The decoder of `__share_group_state` (KIP-932)."""

from kraftops.records.decoders.keyed import KeyedDecoder

DECODER = KeyedDecoder("share", "share")
