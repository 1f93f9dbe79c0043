"""Compiled messages: reader, writer and renderer of a message version, generated on first use."""

from __future__ import annotations

import struct
from functools import cache, cached_property
from typing import TYPE_CHECKING

from kraftops.errors import DecodeError
from kraftops.schema.message import Message

if TYPE_CHECKING:
    from kraftops.schema.codegen.read import Reader
    from kraftops.schema.codegen.text import Render
    from kraftops.schema.codegen.write import Writer

MALFORMED = (DecodeError, IndexError, struct.error)
"""Errors that a renderer raises for malformed bytes."""


class CompiledMessage:
    """Reader, writer and renderer of one version of a message."""

    def __init__(self, message: Message, version: int) -> None:
        self.message = message
        self.version = version

    @cached_property
    def read(self) -> Reader:
        """(bytes, position) to (plain data, position after it); see `codegen.read`."""
        from kraftops.schema.codegen.read import reader

        return reader(self.message, self.version)

    @cached_property
    def outline(self) -> Reader:
        """As `read`, with empty lists of structs; as data they can take fifty times their bytes."""
        from kraftops.schema.codegen.read import reader

        return reader(self.message, self.version, keeps_structs=False)

    @cached_property
    def write(self) -> Writer:
        """Plain data to bytes; see `kraftops.schema.codegen.write`."""
        from kraftops.schema.codegen.write import writer

        return writer(self.message, self.version)

    @cached_property
    def text(self) -> Render:
        """(bytes, position, end) to Kafka's JSON; see `kraftops.schema.codegen.text`."""
        from kraftops.schema.codegen.text import renderer

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
