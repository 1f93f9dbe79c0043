"""Voters of a dynamic quorum (KIP-853), in the form of `--initial-controllers`."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kraftops.errors import DecodeError, UsageError
from kraftops.java.hosts import host_text
from kraftops.java.numbers import parse_integer
from kraftops.uuids import from_text, is_reserved, to_text


class Voter(NamedTuple):
    """A voting controller: its node id, the id of its metadata directory, its address."""

    node_id: int
    directory_id: bytes
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.node_id}@{host}:{self.port}:{to_text(self.directory_id)}"


def voters_text(voters: Sequence[Voter], ids: Iterable[int] = ()) -> str:
    """Return voters as text: their *ids* where no record has them, as in a static quorum."""
    return ", ".join(map(str, voters) if voters else map(str, sorted(ids))) or "none"


def parse_initial_controllers(text: str) -> tuple[Voter, ...]:
    """Return the voters of `ID@HOST:PORT:DIRECTORY_ID,…` in the order of their ids.

    Raises:
        UsageError: Kafka's `DynamicVoters` refuses it, with its message; or a voter has no host,
            a reserved directory id, or that of another.
    """
    voters: dict[int, Voter] = {}
    for item in text.strip().split(","):
        if item:
            voter = _voter(item.strip())
            if voter.node_id in voters:
                raise UsageError(f"Node id {voter.node_id} was specified more than once.")
            voters[voter.node_id] = voter
    if not voters:
        raise UsageError("No voters given.", hint="name them as ID@HOST:PORT:DIRECTORY_ID,…")
    by_directory: dict[bytes, Voter] = {}
    for voter in voters.values():
        directory_id = to_text(voter.directory_id)
        if not voter.host:
            raise UsageError(
                f"voter {voter.node_id} has no host", hint="other nodes connect to it by that name"
            )
        if is_reserved(voter.directory_id):
            raise UsageError(
                f"voter {voter.node_id} has the reserved directory id {directory_id}",
                hint="kafka-storage random-uuid makes one",
            )
        other = by_directory.setdefault(voter.directory_id, voter)
        if other is not voter:
            raise UsageError(
                f"voters {other.node_id} and {voter.node_id} have one directory id, {directory_id}",
                hint="kafka-storage random-uuid makes another",
            )
    return tuple(voters[node_id] for node_id in sorted(voters))


def _voter(text: str) -> Voter:
    number, separator, rest = text.partition("@")
    if not separator:
        raise UsageError("No @ found in dynamic voter string.")
    if not number:
        raise UsageError("Invalid @ at beginning of dynamic voter string.")
    node_id = _int32(number, "node id")
    if node_id < 0:
        raise UsageError(f"Invalid negative node id {node_id} in dynamic voter string.")
    if not rest:
        raise UsageError("No hostname found after node id.")
    host, rest = _split_host(rest)
    port_text, colon, directory = rest.partition(":")
    if not colon:
        raise UsageError("No colon following port could be found.")
    port = _int32(port_text, "port")
    if not 0 <= port <= 0xFFFF:
        raise UsageError(f"Invalid port {port} in dynamic voter string.")
    try:
        directory_id = from_text(directory)
    except DecodeError as error:
        raise UsageError(
            "Failed to parse directory ID in dynamic voter string.", hint=error.message
        ) from None
    return Voter(node_id, directory_id, host_text(host), port)


def _split_host(text: str) -> tuple[str, str]:
    """Split off the host, which may be in brackets, and its colon."""
    if not text.startswith("["):
        host, colon, rest = text.partition(":")
        if not colon:
            raise UsageError("No colon following hostname could be found.")
        return host, rest
    host, bracket, rest = text[1:].partition("]")
    if not bracket:
        raise UsageError("Hostname began with left bracket, but no right bracket was found.")
    if not rest.startswith(":"):
        raise UsageError("Port section must start with a colon.")
    return host, rest[1:]


def _int32(text: str, what: str) -> int:
    number = parse_integer(text, 32)
    if number is None:
        raise UsageError(f"Failed to parse {what} in dynamic voter string.")
    return number
