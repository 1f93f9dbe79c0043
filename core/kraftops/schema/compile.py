"""The faces of a message version, each imported and compiled when first used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import TYPE_CHECKING

from kraftops.schema.message import Message

if TYPE_CHECKING:
    from kraftops.schema.read import Reader
    from kraftops.schema.write import Writer


class Compiled:
    """What can be done with one version of a message."""

    def __init__(self, message: Message, version: int) -> None:
        self.message = message
        self.version = version

    @cached_property
    def read(self) -> Reader:
        """(bytes, position) to (plain data, position after it); see `kraftops.schema.read`."""
        from kraftops.schema.read import reader

        return reader(self.message, self.version)

    @cached_property
    def outline(self) -> Reader:
        """The same without what is in lists of structs, which may take fifty times their bytes."""
        from kraftops.schema.read import reader

        return reader(self.message, self.version, keeps_structs=False)

    @cached_property
    def write(self) -> Writer:
        """Plain data to bytes; see `kraftops.schema.write`."""
        from kraftops.schema.write import writer

        return writer(self.message, self.version)

    @cached_property
    def text(self) -> Callable[[bytes, int, int], str]:
        """(bytes, position, end) to Kafka's JSON; see `kraftops.schema.text`."""
        from kraftops.schema.text import renderer

        return renderer(self.message, self.version)


@cache
def compiled(message: Message, version: int) -> Compiled:
    """Return the faces of a version of *message*.

    Raises:
        KeyError: the message has no such version.
    """
    if not message.versions.has(version):
        raise KeyError(version)
    return Compiled(message, version)
