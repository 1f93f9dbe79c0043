"""Compiled messages: reader, writer and renderer of a message version, generated on first use."""

from __future__ import annotations

from functools import cache, cached_property

from kraftops.schema.message import Message
from kraftops.schema.read import Reader, reader
from kraftops.schema.text import Render, renderer
from kraftops.schema.write import Writer, writer


class CompiledMessage:
    """Reader, writer and renderer of one version of a message."""

    def __init__(self, message: Message, version: int) -> None:
        self.message = message
        self.version = version

    @cached_property
    def read(self) -> Reader:
        """(bytes, position) to (plain data, position after it); see `kraftops.schema.read`."""
        return reader(self.message, self.version)

    @cached_property
    def outline(self) -> Reader:
        """As `read`, with empty lists of structs; as data they can take fifty times their bytes."""
        return reader(self.message, self.version, keeps_structs=False)

    @cached_property
    def write(self) -> Writer:
        """Plain data to bytes; see `kraftops.schema.write`."""
        return writer(self.message, self.version)

    @cached_property
    def text(self) -> Render:
        """(bytes, position, end) to Kafka's JSON; see `kraftops.schema.text`."""
        return renderer(self.message, self.version)


@cache
def compiled(message: Message, version: int) -> CompiledMessage:
    """Return a version of *message*, compiled.

    Raises:
        KeyError: the message has no such version.
    """
    if not message.versions.has(version):
        raise KeyError(version)
    return CompiledMessage(message, version)
