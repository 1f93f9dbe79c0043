"""Addresses in a server configuration: listeners, protocols, voters, bootstrap servers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kraftops.java.hash_order import map_order
from kraftops.java.hosts import is_ipv4, is_ipv6
from kraftops.java.numbers import parse_integer
from kraftops.java.text import split, string_hash, trim, utf16_length
from kraftops.storage.config.values import ConfigRefused

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - it is refused
LISTENERS = "listeners"
PROTOCOL_MAP = "listener.security.protocol.map"
VOTERS = "controller.quorum.voters"
BOOTSTRAP_SERVERS = "controller.quorum.bootstrap.servers"

# Not compiled here: start-up is short, and most configurations need few of them.
_LISTENER = r"([^\n\r\x85\u2028\u2029]*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)"
_ADDRESS = r"(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)"
_HOST = r"[0-9a-zA-Z\-%._:]*"
_SEPARATOR = r"\s*,\s*"
_PORTS = "ports are numbers up to 65535"


class Listener(NamedTuple):
    """A listener; without *host* it is on all interfaces, and advertised by the machine's name."""

    name: str
    host: str | None
    port: int
    protocol: str


def listener_name(text: str) -> str:
    """Return the name of a listener, in capitals.

    Raises:
        ConfigRefused: it is blank.
    """
    if not trim(text):
        raise ConfigRefused(
            "The provided listener name is null or empty string", PROTOCOL_MAP, LISTENERS
        )
    return text.upper()


def parse_listeners(
    key: str, entries: Sequence[str], protocols: Mapping[str, str], *, distinct_ports: bool = True
) -> tuple[Listener, ...]:
    """Parse *entries*, the listeners in the value of *key*.

    Raises:
        ConfigRefused: an entry has another form or no protocol, or two clash.
    """
    listed = f"[{', '.join(entries)}]"
    try:
        listeners = tuple(_listener(entry, protocols) for entry in entries)
        _check_names(listeners, listed)
        if distinct_ports:
            _check_ports(listeners, listed)
    except ConfigRefused as error:
        raise ConfigRefused(
            f"Error creating broker listeners from '{listed}': {error.message}",
            key,
            *error.keys,
            hint=error.hint,
        ) from None
    return listeners


def _listener(entry: str, protocols: Mapping[str, str]) -> Listener:
    match = re.fullmatch(_LISTENER, entry)
    if not match:
        raise ConfigRefused(f"Unable to parse {entry} to a broker endpoint")
    name = listener_name(match[1])
    port = _port(match[3])
    if name not in protocols:
        raise ConfigRefused(
            f"No security protocol defined for listener {name}",
            hint=f"add {name} to {PROTOCOL_MAP}",
        )
    return Listener(name, match[2] or None, port, protocols[name])


def _port(text: str) -> int:
    port = parse_integer(text, 32)
    if port is None:
        raise ConfigRefused(f'For input string: "{text}"', hint=_PORTS)
    return port


def _check_names(listeners: Sequence[Listener], listed: str) -> None:
    if len({listener.name for listener in listeners}) < len(listeners):
        raise ConfigRefused(f"Each listener must have a different name, listeners: {listed}")


def _check_ports(listeners: Iterable[Listener], listed: str) -> None:
    """Refuse two listeners of one port, unless one has an IPv4 and the other an IPv6 address."""
    by_port: dict[int, list[str | None]] = {}
    for listener in listeners:
        if listener.port:
            by_port.setdefault(listener.port, []).append(listener.host)
    # Java's grouping puts a new port before the others of its bucket, hence `reversed`.
    for port in map_order(reversed(by_port), lambda port: port & 0xFFFFFFFF, capacity=16):
        hosts = by_port[port]
        if len(hosts) == 1:
            continue
        addresses = [host for host in hosts if host and (is_ipv4(host) or is_ipv6(host))]
        names = len(hosts) - len(addresses)
        if names > 1:
            raise ConfigRefused(f"Each listener must have a different port, listeners: {listed}")
        if not addresses:
            continue
        if len(addresses) != 2:
            raise ConfigRefused(
                "Each listener must have a different port unless exactly one listener has an IPv4 "
                f"address and the other IPv6 address, listeners: {listed}, port: {port}"
            )
        if names or is_ipv4(addresses[0]) == is_ipv4(addresses[1]):
            raise ConfigRefused(
                "If you have two listeners on the same port then one needs to be IPv4 and the "
                f"other IPv6, listeners: {listed}, port: {port}"
            )


def is_host(text: str) -> bool:
    """Tell whether *text* has only characters of host names and addresses."""
    return bool(re.fullmatch(_HOST, text))


def parse_map(key: str, text: str) -> dict[str, str]:
    """Parse the pairs of `NAME:VALUE,…`; return them in the order of Kafka's map.

    Raises:
        ConfigRefused: an item has no colon.
    """
    pairs = {}
    for item in split(re.sub(_SEPARATOR, ",", text, flags=re.ASCII), ",") if text else ():
        name, colon, value = item.rpartition(":")
        if not colon:
            length = utf16_length(item)
            raise ConfigRefused(
                f"Error parsing configuration property '{key}': begin 0, end -1, length {length}",
                key,
                hint=f"{item!r} is not a NAME:VALUE",
            )
        pairs[trim(name)] = trim(value)
    return {name: pairs[name] for name in map_order(pairs, string_hash, capacity=16)}


def security_protocols(
    map_text: str, *, given: bool, listeners: Iterable[str], controllers: Sequence[str]
) -> dict[str, str]:
    """Return the protocol of each listener name.

    Args:
        map_text: `NAME:PROTOCOL,…`.
        given: whether the configuration has the map; else controllers are PLAINTEXT, unless a
            listener is named like a secure protocol.
        listeners: the entries of `listeners`.
        controllers: the names of the controller listeners.

    Raises:
        ConfigRefused: the map is malformed, or has an unknown protocol.
    """
    protocols: dict[str, str] = {}
    for text, protocol_text in parse_map(PROTOCOL_MAP, map_text).items():
        name, protocol = listener_name(text), protocol_text.upper()
        if protocol not in PROTOCOLS:
            raise ConfigRefused(
                f"Invalid security protocol `{protocol_text}` defined in {PROTOCOL_MAP}",
                PROTOCOL_MAP,
                hint=f"there are {', '.join(PROTOCOLS)}",
            )
        if name in protocols:
            raise ConfigRefused(
                f"Duplicate key ListenerName({name}) (attempted merging values {protocols[name]} "
                f"and {protocol})",
                PROTOCOL_MAP,
                hint=f"{name} is there twice, whether in capitals or not",
            )
        protocols[name] = protocol
    secure = PROTOCOLS[1:]
    if given or any(name in secure for name in controllers):
        return protocols
    if any(_name_of(listener) in secure for listener in listeners):
        return protocols
    return protocols | {name: "PLAINTEXT" for name in controllers if name != "PLAINTEXT"}


def _name_of(listener: str) -> str:
    name, colon, _ = listener.partition(":")
    if not colon:
        raise ConfigRefused(f"Unable to parse a listener name from {listener}", LISTENERS)
    return name.upper()


def parse_static_voters(
    entries: Sequence[str], *, routable: bool = False
) -> dict[int, tuple[str, int]]:
    """Parse `{id}@{host}:{port}`; return host and port by id, in the order of Java's map.

    Raises:
        ConfigRefused: one is malformed, or not *routable* where it must be.
    """
    form = (
        f"the configuration {VOTERS}. Each entry should be in the form `{{id}}@{{host}}:{{port}}`."
    )
    voters = {}
    for entry in entries:
        parts = split(entry, "@")
        if len(parts) != 2:
            raise ConfigRefused(
                f"Invalid configuration value for {VOTERS}. Each entry should be in the form "
                "`{id}@{host}:{port}`.",
                VOTERS,
            )
        voter_id = parse_integer(parts[0], 32)
        if voter_id is None:
            raise ConfigRefused(f"Failed to parse voter ID as an integer from {parts[0]}", VOTERS)
        address = re.fullmatch(_ADDRESS, parts[1])
        if not address:
            raise ConfigRefused(f"Failed to parse host name from entry {entry} for {form}", VOTERS)
        voters[voter_id] = _host_and_port(address, VOTERS)
        if routable and address[1] == ANY_ADDRESS:
            raise ConfigRefused(f"Host string ({ANY_ADDRESS}) is not routeable", VOTERS)
    order = map_order(voters, lambda number: number & 0xFFFFFFFF, capacity=len(entries))
    return {voter_id: voters[voter_id] for voter_id in order}


def parse_server(entry: str) -> tuple[str, int]:
    """Parse host and port of a bootstrap server, `{host}:{port}`.

    Raises:
        ConfigRefused: it is malformed.
    """
    address = re.fullmatch(_ADDRESS, entry)
    if not address:
        raise ConfigRefused(
            f"Failed to parse host name from {entry} for the configuration {BOOTSTRAP_SERVERS}. "
            'Each entry should be in the form "{host}:{port}"',
            BOOTSTRAP_SERVERS,
        )
    return _host_and_port(address, BOOTSTRAP_SERVERS)


def _host_and_port(address: re.Match[str], key: str) -> tuple[str, int]:
    port = parse_integer(address[2], 32)
    if port is None:
        raise ConfigRefused(f'For input string: "{address[2]}"', key, hint=_PORTS)
    if port > 0xFFFF:
        raise ConfigRefused(f"port out of range:{port}", key, hint=_PORTS)
    return address[1], port
