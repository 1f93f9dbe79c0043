"""Keys and values by a decoder that the user names (Kafka's `org.apache.kafka.tools.api`)."""

from __future__ import annotations

from collections.abc import Callable

from kraftops.errors import Underflow
from kraftops.java.text import decode_utf8

Decode = Callable[[bytes], str]


def _integer(width: int) -> Decode:
    def decode(raw: bytes) -> str:
        if len(raw) < width:
            raise Underflow(f"{len(raw)} bytes where a number has {width}")
        return str(int.from_bytes(raw[:width], signed=True))

    return decode


DECODERS: dict[str, Decode] = {
    "org.apache.kafka.tools.api.StringDecoder": decode_utf8,
    "org.apache.kafka.tools.api.IntegerDecoder": _integer(4),
    "org.apache.kafka.tools.api.LongDecoder": _integer(8),
    # Kafka's prints the identity of a Java array, which tells nothing of the bytes.
    "org.apache.kafka.tools.api.DefaultDecoder": bytes.hex,
}
"""Kafka's built-in decoder classes."""

DEFAULT_DECODER = "org.apache.kafka.tools.api.StringDecoder"

IN_PIECES = (DEFAULT_DECODER, "org.apache.kafka.tools.api.DefaultDecoder")
"""The decoders whose text of some bytes is that of their pieces, one after the other."""
