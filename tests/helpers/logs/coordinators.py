"""The decoders of coordinators' topics, by name."""

from collections.abc import Mapping

from kraftops.records.decoders import decoder_named
from kraftops.records.decoders.keyed import KeyedDecoder
from kraftops.records.internal_topics import decoder_names
from kraftops.schema.message import Message

COORDINATORS: dict[str, KeyedDecoder] = {
    name: decoder
    for name in decoder_names()
    if isinstance(decoder := decoder_named(name), KeyedDecoder)
}


def messages(decoder: str) -> Mapping[int, tuple[Message, Message]]:
    """Return the (key, value) messages of a decoder by record type."""
    return COORDINATORS[decoder].messages()
