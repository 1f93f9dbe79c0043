"""The decoder of `__transaction_state` (KIP-98)."""

from kraftops.records.decoders.keyed import KeyedDecoder

DECODER = KeyedDecoder("transaction", "transaction")
