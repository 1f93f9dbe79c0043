"""Message tables, a file for each log, in the notation of `kraftops.schema.message`."""

import os
from functools import cache
from typing import Any

from kraftops.schema.message import Message, parse


@cache
def messages(table: str) -> dict[str, Message]:
    """Return the messages of a table by name, in its order."""
    path = os.path.join(os.path.dirname(__file__), f"{table}.txt")
    loader: Any = __spec__.loader  # Spark's workers import an archive, which has no files
    return parse(loader.get_data(path).decode())
