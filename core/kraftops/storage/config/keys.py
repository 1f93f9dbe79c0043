"""Keys of a server configuration (Kafka 4.3.1's `KafkaConfig`): types, defaults, limits.

`keys.txt` has a line a key, in the order in which Kafka reads them and so meets the errors in them:

    NAME TYPE[!] [CHECK] [=DEFAULT]

`!` marks a key that must be given; without a default the value is null. A check is one of

    MIN..[MAX]      a number from MIN to MAX, both included
    text            a string that is not empty
    one-of:A|B      one of these strings
    any-case:A|B    one of these strings, in capitals or not
    items[+][:A|B]  a list without empty items, none twice, not empty (`+`), only of these
    gzip            a level of gzip
    voters          `{id}@{host}:{port}` each
    servers         `{host}:{port}` each
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from kraftops.fileio.packaged import packaged_text


class ServerKey(NamedTuple):
    """A key; *type*, *check* and *default* are those of the table, *default* None for null."""

    name: str
    type: str
    required: bool
    check: str
    default: str | None


@cache
def server_keys() -> Mapping[str, ServerKey]:
    """Return every key by its name, in Kafka's order."""
    keys = {}
    for line in packaged_text(__file__, "keys.txt").splitlines():
        text, has_default, default = line.partition(" =")
        name, kind, *check = text.split(" ")
        keys[name] = ServerKey(
            name=name,
            type=kind.removesuffix("!"),
            required=kind[-1] == "!",
            check=check[0] if check else "",
            default=default if has_default else None,
        )
    return keys
