"""The decoders of coordinators' topics, by name."""

from collections.abc import Mapping

from kraftops.records.decoders.keyed import KeyedDecoder
from kraftops.records.decoders.offsets import DECODER as OFFSETS
from kraftops.records.decoders.share import DECODER as SHARE
from kraftops.records.decoders.transaction import DECODER as TRANSACTION
from kraftops.schema.message import Message

COORDINATORS: dict[str, KeyedDecoder] = {one.name: one for one in (OFFSETS, TRANSACTION, SHARE)}


def messages(decoder: str) -> Mapping[int, tuple[Message, Message]]:
    """Return the (key, value) messages of a decoder by record type."""
    return COORDINATORS[decoder].messages()
