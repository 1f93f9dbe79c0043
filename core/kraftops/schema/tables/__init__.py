"""Message tables, a file for each log, in the notation of `kraftops.schema.message`."""

from functools import cache

from kraftops.fileio.packaged import packaged_text
from kraftops.schema.message import Message, parse


@cache
def messages(table: str) -> dict[str, Message]:
    return parse(packaged_text(__file__, f"{table}.txt"))
