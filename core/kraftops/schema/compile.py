"""The three faces of a message version, each compiled when first used."""

from collections.abc import Callable
from functools import cache, cached_property

from kraftops.schema.message import Message
from kraftops.schema.read import Reader, reader
from kraftops.schema.text import renderer_factory
from kraftops.schema.write import Writer, writer


class Compiled:
    """What can be done with one version of a message."""

    def __init__(self, message: Message, version: int) -> None:
        self.message = message
        self.version = version

    @cached_property
    def read(self) -> Reader:
        """(bytes, position) to (plain data, position after it); see `kraftops.schema.read`."""
        return reader(self.message, self.version)

    @cached_property
    def write(self) -> Writer:
        """Plain data to bytes; see `kraftops.schema.write`."""
        return writer(self.message, self.version)

    @cached_property
    def text(self) -> Callable[[bytes, int, int], str]:
        """(bytes, position, end) to Kafka's JSON; see `kraftops.schema.text`."""
        return renderer_factory(self.message, self.version)("")


@cache
def compiled(message: Message, version: int) -> Compiled:
    """Return the faces of a version of *message*.

    Raises:
        KeyError: the message has no such version.
    """
    if not message.versions.has(version):
        raise KeyError(version)
    return Compiled(message, version)
