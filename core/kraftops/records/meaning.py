"""What decoders make of a record: its meaning, or what is known where there is none."""

from typing import NamedTuple

from kraftops.schema.read import Data


class Decoded(NamedTuple):
    """A key or value that was read: its record type by Kafka's name, its version, its fields."""

    type: str
    version: int
    data: Data


class Unknown(NamedTuple):
    """A key or value that nobody here can read, with all that is known of it."""

    reason: str
    raw: bytes | None
    type: int | None = None
    version: int | None = None
