"""Addresses of servers, and lists of addresses from users."""

import re
from typing import NamedTuple

from kraftops.errors import UsageError

# As Kafka's Utils.getHost, which ignores the protocol; the directory ids of KIP-853 are ignored.
_ENTRY = re.compile(
    r"(?:[0-9a-zA-Z\-%._]*://)?(?:(\d{1,10})@)?(?:\[([0-9a-zA-Z%.:]+)\]|([^\[\]:@/\s]+)):(\d{1,10})"
    r"(?::[A-Za-z0-9_-]{22})?"
)
_LAST_PORT = 65535  # a port has 16 bits


class Address(NamedTuple):
    """A host name or IP address, and a port; an IPv6 address is shown in brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Bootstrap(NamedTuple):
    """An address from a user, and the id of the node there, if it is known."""

    address: Address
    node_id: int | None = None


def parse_bootstrap(text: str) -> list[Bootstrap]:
    """Split `HOST:PORT` and `ID@HOST:PORT` at commas; an address that comes again is dropped.

    Raises:
        UsageError: an entry is malformed, or there is none.
    """
    by_address: dict[Address, Bootstrap] = {}
    for entry in filter(None, map(str.strip, text.split(","))):
        match = _ENTRY.fullmatch(entry)
        if not match:
            raise UsageError(
                f"{entry!r} is not an address", hint="addresses are HOST:PORT, separated by commas"
            )
        node_id, numeric, name, port = match.groups()
        if not 0 < int(port) <= _LAST_PORT:
            raise UsageError(f"{entry!r} has a port that is not between 1 and {_LAST_PORT}")
        address = Address(numeric or name, int(port))
        by_address.setdefault(
            address, Bootstrap(address, None if node_id is None else int(node_id))
        )
    if not by_address:
        raise UsageError("no address is given", hint="addresses are HOST:PORT, separated by commas")
    return list(by_address.values())
